//! Towers as files that other programs read.

mod firefox;
mod folded;
mod pprof;
mod speedscope;

use std::io::{self, Write};

use crate::tower::{Node, Profile};

pub use folded::parse as parse_folded;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line for each stack, with its time in microseconds: what flamegraph.pl, inferno and speedscope read.
    Folded,
    /// The Firefox Profiler's processed profile, compressed with gzip.
    Firefox,
    /// speedscope's own.
    Speedscope,
    /// `profile.proto` of pprof, compressed with gzip.
    Pprof,
}

impl Format {
    /// The format that the name of a file asks for; `None` for any other name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let ends = [
            (".folded", Self::Folded),
            (".speedscope.json", Self::Speedscope),
            (".json.gz", Self::Firefox),
            (".pb.gz", Self::Pprof),
        ];
        ends.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, format)| format)
    }

    /// Writes the towers.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(self, profile: &Profile, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Folded => folded::write(profile, to),
            Self::Firefox => firefox::write(profile, to),
            Self::Speedscope => speedscope::write(profile, to),
            Self::Pprof => pprof::write(profile, to),
        }
    }
}

/// A stage as a line of text names it.
fn stage_name(stage: u32, root: &Node) -> String {
    format!("{stage} {}", root.name)
}

/// Every node of a tower with time of its own, and those above it from the stage on.
fn own_times(root: &Node) -> Vec<(Vec<&Node>, f64)> {
    let mut found = Vec::new();
    root.walk(&mut |above, node| {
        let own_ns = node.own_ns();
        // What is left over by rounding is no time of its own.
        if own_ns > root.ns * 1e-9 {
            let path = above.iter().copied().chain([node]).collect();
            found.push((path, own_ns));
        }
    });
    found
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a time is positive and far below 2^63 ns"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tower::{Kind, Tower};

    /// Two stages: one that reads and works, and one that only works.
    pub(crate) fn sample() -> Profile {
        let mut root = Node::new("sort -n; a".to_owned(), Kind::Caller, 1e9);
        let mut main = Node::new("main".to_owned(), Kind::User, 1e9);
        let mut read = Node::new("read".to_owned(), Kind::Caller, 6e8);
        read.children.push(Node::new("waits for cat (stage 1)".to_owned(), Kind::Reading, 6e8));
        main.children.push(read);
        main.children.push(Node::new("std::sort<int>".to_owned(), Kind::User, 3e8));
        root.children.push(main);
        let mut other = Node::new("cat".to_owned(), Kind::Caller, 5e8);
        other.children.push(Node::new("vfs_read".to_owned(), Kind::Kernel, 5e8));
        Profile {
            command: "cat f | sort -n".to_owned(),
            elapsed_ns: 1_000_000_000,
            started_unix_ns: 1_700_000_000_000_000_000,
            towers: vec![
                Tower { stage: 1, start_ns: 0, root: other },
                Tower { stage: 2, start_ns: 0, root },
            ],
            samples: (100, 100),
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_name_of_the_file_says_which_format() {
        let of = Format::of_name;
        assert_eq!(of("a/b.folded"), Some(Format::Folded));
        assert_eq!(of("x.speedscope.json"), Some(Format::Speedscope));
        assert_eq!([of("x.json.gz"), of("x.pb.gz")], [Some(Format::Firefox), Some(Format::Pprof)]);
        assert_eq!([of("x.json"), of("x.svg"), of("folded")], [None, None, None]);
    }

    #[test]
    fn own_times_of_a_tower_are_its_height() {
        for tower in sample().towers {
            let sum: f64 = own_times(&tower.root).iter().map(|(_, ns)| ns).sum();
            assert!((sum - tower.root.ns).abs() < 1.0, "{sum}");
        }
    }
}
