//! Towers for tests.

use crate::tower::{Kind, Node, Profile, Tower};

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
