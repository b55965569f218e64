//! Two profiles compared, stack by stack.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

/// A function in two profiles, with everything that it called.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Time in it and in what it called, before, in the unit of the stacks.
    pub before: f64,
    /// … and after.
    pub after: f64,
    /// What it called, the longest first.
    pub children: Vec<Change>,
}

/// The difference of two profiles.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// Everything; its name is empty.
    pub root: Change,
}

/// Deeper functions count for the last one that is kept.
const DEPTH_MAX: usize = 1000;

impl Diff {
    /// Compares stacks, as [`parse_folded`](crate::parse_folded) reads them.
    ///
    /// The first name of a stack of fullbore is its stage: its number and its words. A stage is compared with the one of the
    /// same words, wherever it stands, else with the one of the same number, under the name of the later.
    #[must_use]
    pub fn of(before: &[(&str, f64)], after: &[(&str, f64)]) -> Self {
        let renamed = pairs(&stages(before), &stages(after));
        let mut tree = Tree::default();
        for (stack, time) in after {
            tree.add(stack.split(';'), [0.0, *time]);
        }
        for (stack, time) in before {
            let (stage, rest) =
                stack.split_once(';').map_or((*stack, None), |(stage, rest)| (stage, Some(rest)));
            let stage = renamed.get(stage).copied().unwrap_or(stage);
            let names =
                std::iter::once(stage).chain(rest.into_iter().flat_map(|rest| rest.split(';')));
            tree.add(names, [*time, 0.0]);
        }
        let mut diff = Self { root: tree.change(0) };
        diff.root.sort();
        diff
    }
}

/// The first names of stacks, each once, in their order.
fn stages<'t>(stacks: &[(&'t str, f64)]) -> Vec<&'t str> {
    let mut known = HashSet::new();
    let names = stacks.iter().map(|(stack, _)| stack.split(';').next().unwrap_or_default());
    names.filter(|name| known.insert(*name)).collect()
}

/// A profile of more stages is compared by their names.
const STAGES_MAX: usize = 1000;

/// The stage after for each stage before that has another name.
fn pairs<'t>(before: &[&'t str], after: &[&'t str]) -> HashMap<&'t str, &'t str> {
    let (mut before, mut after) = (numbered(before), numbered(after));
    let mut pairs = HashMap::new();
    if before.len().max(after.len()) > STAGES_MAX {
        return pairs;
    }
    for (old, new) in common(&before, &after).into_iter().rev() {
        pairs.insert(before.remove(old).name, after.remove(new).name);
    }
    for old in before {
        if let Some(new) = after.iter().find(|new| new.number == old.number) {
            pairs.insert(old.name, new.name);
        }
    }
    pairs
}

/// A stage: its name is its number and its words.
struct Stage<'t> {
    number: u32,
    words: &'t str,
    name: &'t str,
}

/// The stages of fullbore among first names, in their order.
fn numbered<'t>(names: &[&'t str]) -> Vec<Stage<'t>> {
    let stage = |name: &&'t str| {
        let (number, words) = name.split_once(' ')?;
        Some(Stage { number: number.parse().ok()?, words, name })
    };
    let mut stages: Vec<Stage<'t>> = names.iter().filter_map(stage).collect();
    stages.sort_by_key(|stage| stage.number);
    stages
}

/// The longest list of stages with the same words that both have in this order, as places in both.
fn common(one: &[Stage<'_>], two: &[Stage<'_>]) -> Vec<(usize, usize)> {
    let mut longest = vec![vec![0_usize; two.len() + 1]; one.len() + 1];
    for i in (0..one.len()).rev() {
        for j in (0..two.len()).rev() {
            longest[i][j] = if one[i].words == two[j].words {
                longest[i + 1][j + 1] + 1
            } else {
                longest[i + 1][j].max(longest[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < one.len() && j < two.len() {
        if one[i].words == two[j].words {
            found.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[i + 1][j] >= longest[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

/// Functions by caller, each with its time before and after.
#[derive(Default)]
struct Tree<'t> {
    nodes: Vec<(&'t str, [f64; 2], Vec<usize>)>,
    known: HashMap<(usize, &'t str), usize>,
}

impl<'t> Tree<'t> {
    fn add(&mut self, names: impl Iterator<Item = &'t str>, times: [f64; 2]) {
        if self.nodes.is_empty() {
            self.nodes.push(("", [0.0; 2], Vec::new()));
        }
        let mut at = 0;
        self.nodes[0].1 = sum(self.nodes[0].1, times);
        for name in names.take(DEPTH_MAX) {
            let next = self.nodes.len();
            let found = *self.known.entry((at, name)).or_insert(next);
            if found == next {
                self.nodes.push((name, [0.0; 2], Vec::new()));
                self.nodes[at].2.push(found);
            }
            at = found;
            self.nodes[at].1 = sum(self.nodes[at].1, times);
        }
    }

    fn change(&self, node: usize) -> Change {
        let Some((name, [before, after], children)) = self.nodes.get(node) else {
            return Change::default();
        };
        let children = children.iter().map(|child| self.change(*child)).collect();
        Change { name: (*name).to_owned(), before: *before, after: *after, children }
    }
}

fn sum(one: [f64; 2], two: [f64; 2]) -> [f64; 2] {
    [one[0] + two[0], one[1] + two[1]]
}

impl Change {
    /// By how much it took longer.
    #[must_use]
    pub fn longer(&self) -> f64 {
        self.after - self.before
    }

    fn sort(&mut self) {
        let largest = |change: &Change| change.before.max(change.after);
        self.children.sort_by(|one, two| largest(two).total_cmp(&largest(one)));
        self.children.iter_mut().for_each(Self::sort);
    }

    /// The functions whose own time changed most, the largest change first: name and how much longer it takes itself.
    #[must_use]
    pub fn largest(&self, count: usize) -> Vec<(String, f64)> {
        let mut own: std::collections::BTreeMap<&str, f64> = std::collections::BTreeMap::new();
        fn go<'c>(change: &'c Change, own: &mut std::collections::BTreeMap<&'c str, f64>) {
            let below: f64 = change.children.iter().map(Change::longer).sum();
            *own.entry(&change.name).or_default() += change.longer() - below;
            change.children.iter().for_each(|child| go(child, own));
        }
        self.children.iter().for_each(|child| go(child, &mut own));
        let mut list: Vec<(String, f64)> =
            own.into_iter().map(|(name, by)| (name.to_owned(), by)).collect();
        list.retain(|(_, by)| by.abs() > 0.0);
        list.sort_by(|one, two| two.1.abs().total_cmp(&one.1.abs()));
        list.truncate(count);
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_its_time_before_and_after() {
        let before = [("1 sort;main;compare", 6.0), ("1 sort;main;read", 2.0)];
        let after = [
            ("1 sort -n;main;compare", 3.0),
            ("1 sort -n;main;number", 1.0),
            ("1 sort -n;main;read", 2.0),
        ];
        let diff = Diff::of(&before, &after);
        assert_eq!((diff.root.before, diff.root.after), (8.0, 6.0));
        let sort = &diff.root.children[0];
        assert_eq!((diff.root.children.len(), sort.name.as_str()), (1, "1 sort -n"));
        let main: Vec<(&str, f64, f64)> = sort.children[0]
            .children
            .iter()
            .map(|child| (child.name.as_str(), child.before, child.after))
            .collect();
        assert_eq!(main, [("compare", 6.0, 3.0), ("read", 2.0, 2.0), ("number", 0.0, 1.0)]);
        assert_eq!(
            diff.root.largest(5),
            [("compare".to_owned(), -3.0), ("number".to_owned(), 1.0)]
        );
    }

    #[test]
    fn the_same_against_itself_has_no_change() {
        let stacks = [("1 a;b", 1.0), ("2 c", 2.0)];
        assert_eq!(Diff::of(&stacks, &stacks).root.largest(9), []);
        assert_eq!(Diff::of(&[], &[]).root, Change::default());
    }

    #[test]
    fn stages_are_compared_by_their_words_and_then_by_their_number() {
        let before = [("1 cat;a", 1.0), ("2 sort;a", 2.0), ("3 uniq;a", 4.0)];
        let after = [("1 cat;a", 1.0), ("2 grep;a", 8.0), ("3 sort;a", 2.0), ("4 uniq -c;a", 4.0)];
        let diff = Diff::of(&before, &after);
        let mut stages: Vec<(&str, f64, f64)> = diff
            .root
            .children
            .iter()
            .map(|stage| (stage.name.as_str(), stage.before, stage.after))
            .collect();
        stages.sort_by_key(|stage| stage.0);
        let expected = [
            ("1 cat", 1.0, 1.0),
            ("2 grep", 0.0, 8.0),
            ("3 sort", 2.0, 2.0),
            ("3 uniq", 4.0, 0.0),
            ("4 uniq -c", 0.0, 4.0),
        ];
        assert_eq!(stages, expected);
    }

    #[test]
    fn no_stack_is_too_deep() {
        let deep = vec!["f"; 300_000].join(";");
        let diff = Diff::of(&[(&deep, 1.0)], &[]);
        assert_eq!((diff.root.before, diff.root.largest(3)), (1.0, vec![("f".to_owned(), -1.0)]));
    }

    #[test]
    fn stages_of_the_same_words_keep_their_order() {
        let of = |before: &[&'static str], after: &[&'static str]| {
            let mut pairs: Vec<_> = pairs(before, after).into_iter().collect();
            pairs.sort_unstable();
            pairs
        };
        let found = of(
            &["1 x", "2 sort", "3 uniq", "4 sort"],
            &["1 a", "2 b", "3 x", "4 sort", "5 uniq", "6 sort"],
        );
        let expected =
            [("1 x", "3 x"), ("2 sort", "4 sort"), ("3 uniq", "5 uniq"), ("4 sort", "6 sort")];
        assert_eq!(found, expected);
        assert_eq!(of(&["1 a", "2 b"], &["1 c", "2 b"]), [("1 a", "1 c"), ("2 b", "2 b")]);
        assert_eq!(of(&["main", "x"], &["x", "y"]), [], "names of another profiler");
    }

    #[test]
    fn many_first_names_are_compared_at_once() {
        let names: Vec<String> = (0..100_000).map(|number| format!("{number} f")).collect();
        let stacks: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
        assert_eq!(Diff::of(&stacks, &stacks).root.largest(1), []);
    }
}
