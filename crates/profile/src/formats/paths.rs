//! What every format writes: the stacks of a tower with time of their own.

use crate::tower::Node;

/// A stage as a line of text names it.
pub(super) fn stage_name(stage: u32, root: &Node) -> String {
    format!("{stage} {}", root.name)
}

/// Every node of a tower with time of its own, and those above it from the stage on.
pub(super) fn own_times(root: &Node) -> Vec<(Vec<&Node>, f64)> {
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
pub(super) fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tower::{Kind, Profile, Tower};

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
    fn own_times_of_a_tower_are_its_height() {
        for tower in sample().towers {
            let sum: f64 = own_times(&tower.root).iter().map(|(_, ns)| ns).sum();
            assert!((sum - tower.root.ns).abs() < 1.0, "{sum}");
        }
    }
}
