//! The wall-clock time of a stage as a tree of functions, down to what it waited for.

use serde::Serialize;

use crate::frame::Frame;
use crate::names::{CUT, Names};
use crate::tally::{Stacks, Tally};

/// Where threads begin; the tables for unwinding do not say of all of them that nobody calls them.
const BEGINNINGS: [&str; 4] = ["_start", "_dl_start_user", "clone3", "__clone"];

/// What the time of a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// On a CPU, in the program.
    User,
    /// On a CPU, in the kernel.
    Kernel,
    /// Waiting for a CPU.
    Runnable,
    /// Waiting for data.
    Reading,
    /// Waiting for room.
    Writing,
    /// Waiting for something else.
    Waiting,
    /// A function that only called others.
    Caller,
}

/// A function, or what it waited for, with everything that it called.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Time in it and in what it called, in nanoseconds.
    pub ns: f64,
    /// What it called, the longest first.
    pub children: Vec<Node>,
}

impl Node {
    /// A node without anything below it.
    #[must_use]
    pub fn new(name: String, kind: Kind, ns: f64) -> Self {
        Self { name, kind, ns, children: Vec::new() }
    }

    /// Time in itself, without what it called.
    #[must_use]
    pub fn own_ns(&self) -> f64 {
        let below: f64 = self.children.iter().map(|child| child.ns).sum();
        (self.ns - below).max(0.0)
    }

    pub(crate) fn child(&mut self, name: &str, kind: Kind) -> &mut Node {
        // A function on the way to several kinds of time is one.
        let is_leaf = |kind: Kind| !matches!(kind, Kind::User | Kind::Caller);
        let same = |node: &Node| {
            node.name == name && (node.kind == kind || !is_leaf(node.kind) && !is_leaf(kind))
        };
        let place = self.children.iter().position(same).unwrap_or_else(|| {
            self.children.push(Node::new(name.to_owned(), kind, 0.0));
            self.children.len() - 1
        });
        &mut self.children[place]
    }

    fn sort(&mut self) {
        self.children.sort_by(|one, two| two.ns.total_cmp(&one.ns).then(one.name.cmp(&two.name)));
        self.children.iter_mut().for_each(Node::sort);
    }

    /// Visits every node after those above it, with the names above it.
    pub fn walk<'n>(&'n self, visit: &mut impl FnMut(&[&'n Node], &'n Node)) {
        fn go<'n>(
            node: &'n Node,
            above: &mut Vec<&'n Node>,
            visit: &mut impl FnMut(&[&'n Node], &'n Node),
        ) {
            visit(above, node);
            above.push(node);
            node.children.iter().for_each(|child| go(child, above, visit));
            above.pop();
        }
        go(self, &mut Vec::new(), visit);
    }
}

/// A part of a stage's time: what it is, how long it was, and the stacks that divide it.
#[derive(Clone, Debug)]
pub struct Part {
    /// How long, in nanoseconds.
    pub ns: f64,
    /// What it is.
    pub kind: Kind,
    /// What the innermost function did: `waits for sort (stage 4)`; `None` for time in the function itself.
    pub leaf: Option<String>,
    /// Where it was met; if nowhere, all of it belongs to the stage itself.
    pub stacks: Stacks,
}

/// One stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tower {
    /// Its number.
    pub stage: u32,
    /// When it was first seen, in nanoseconds from the start of the run.
    pub start_ns: u64,
    /// The stage itself, with all of its life.
    pub root: Node,
}

impl Tower {
    /// Builds the tower of a stage.
    #[must_use]
    pub fn new<K: Ord + Clone>(
        stage: u32,
        command: String,
        start_ns: u64,
        parts: &[Part],
        tally: &Tally<K>,
        names: &Names,
    ) -> Self {
        let mut root = Node::new(command, Kind::Caller, 0.0);
        for part in parts.iter().filter(|part| part.ns > 0.0) {
            root.ns += part.ns;
            let weight = part.stacks.weight();
            if weight <= 0.0 {
                add(&mut root, &[], part, part.ns);
                continue;
            }
            for (stack, share) in part.stacks.iter() {
                let frames: Vec<(&str, bool)> = tally
                    .stack(stack)
                    .iter()
                    .flat_map(|frame| {
                        let in_kernel = matches!(frame, Frame::Kernel(_));
                        names.get(*frame).iter().map(move |name| (name.as_str(), in_kernel))
                    })
                    .collect();
                add(&mut root, &frames, part, part.ns * share / weight);
            }
        }
        root.sort();
        Self { stage, start_ns, root }
    }
}

/// Adds time to every node of a stack.
fn add(root: &mut Node, frames: &[(&str, bool)], part: &Part, ns: f64) {
    let mut node = root;
    let is_whole = matches!(frames, [(CUT, _), (name, _), ..] if BEGINNINGS.contains(name));
    let frames = if is_whole { &frames[1..] } else { frames };
    for (place, (name, in_kernel)) in frames.iter().enumerate() {
        let is_last = place + 1 == frames.len() && part.leaf.is_none();
        let kind = match (in_kernel, is_last) {
            (true, _) => Kind::Kernel,
            (false, true) => part.kind,
            (false, false) => Kind::Caller,
        };
        node = node.child(name, kind);
        node.ns += ns;
        // Time of its own makes a caller a function that works.
        if node.kind == Kind::Caller && kind == Kind::User {
            node.kind = Kind::User;
        }
    }
    let leaf = part.leaf.as_deref().or(frames.is_empty().then_some("[on a CPU, where is unknown]"));
    if let Some(leaf) = leaf {
        node.child(leaf, part.kind).ns += ns;
    }
}

/// The towers of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// The line that ran.
    pub command: String,
    /// How long it ran, in nanoseconds.
    pub elapsed_ns: u64,
    /// When it began, in nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// One for each stage, in their order.
    pub towers: Vec<Tower>,
    /// Stacks that were taken on a CPU, and while waiting.
    pub samples: (u64, u64),
    /// What is missing and why, one sentence each.
    pub notes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn times_add_up_and_a_caller_of_both_kinds_is_one_node() {
        let mut tally = Tally::default();
        let frame = |address| Frame::Made { pid: 1, address };
        let (main, work, read) = (frame(1), frame(2), frame(3));
        tally.add(0, &[work, main], 3.0);
        tally.add(0, &[main], 1.0);
        tally.add(1, &[read, main], 5.0);
        let names = Names(HashMap::from([
            (main, vec!["main".to_owned()]),
            (work, vec!["work".to_owned(), "inner".to_owned()]),
            (read, vec!["read".to_owned()]),
        ]));
        let stacks: Vec<Stacks> = tally.all().map(|(_, stacks)| stacks).collect();
        let leaf = Some("waits for a (stage 1)".to_owned());
        let parts = [
            Part { ns: 400.0, kind: Kind::User, leaf: None, stacks: stacks[0].clone() },
            Part { ns: 600.0, kind: Kind::Reading, leaf, stacks: stacks[1].clone() },
            Part {
                ns: 50.0,
                kind: Kind::Runnable,
                leaf: Some("waits for a CPU".to_owned()),
                stacks: Stacks::default(),
            },
        ];
        let tower = Tower::new(2, "b".to_owned(), 0, &parts, &tally, &names);
        let mut lines = Vec::new();
        tower.root.walk(&mut |above, node| {
            lines.push(format!(
                "{}{} {:?} {}",
                " ".repeat(above.len()),
                node.name,
                node.kind,
                node.ns
            ));
        });
        assert_eq!(
            lines,
            [
                "b Caller 1050",
                " main User 1000",
                "  read Caller 600",
                "   waits for a (stage 1) Reading 600",
                "  work Caller 300",
                "   inner User 300",
                " waits for a CPU Runnable 50",
            ]
        );
    }
}
