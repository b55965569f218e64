//! Network sockets that join processes of the run: `socat - TCP:localhost:9000`, `curl http://localhost:8000/`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use fullbore_proc::{Root, Target, joined};

use crate::sampler::files::ProcessFiles;

/// Connections are looked for again after this part of the time the run has lasted …
const SHARE: u64 = 10;
/// … and between these times.
const INTERVALS_NS: [u64; 2] = [50_000_000, 2_000_000_000];

/// The network sockets whose other side a process of the run has.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    joined: BTreeSet<u64>,
    /// Sockets that processes were seen to wait for, each with its process.
    awaited: RefCell<BTreeSet<(i32, u64)>>,
    due_ns: u64,
}

impl Sockets {
    /// Looks for connections between these processes, now and then.
    pub(super) fn look(
        &mut self,
        root: &Root,
        processes: &BTreeMap<i32, ProcessFiles>,
        now_ns: u64,
    ) {
        if now_ns < self.due_ns || self.awaited.get_mut().is_empty() {
            return;
        }
        let sockets = processes.iter().flat_map(|(pid, process)| {
            let inodes = process.fds.iter().filter_map(|fd| match fd.target {
                Target::Socket(inode) => Some(inode),
                _ => None,
            });
            inodes.map(move |inode| (*pid, inode))
        });
        let sockets: BTreeSet<(i32, u64)> = sockets.chain(self.awaited.take()).collect();
        let holders: BTreeSet<i32> = sockets.iter().map(|(pid, _)| *pid).collect();
        // A process alone talks to others, or to itself.
        let Some(pid) = holders.first().filter(|_| holders.len() > 1) else { return };
        let [least_ns, most_ns] = INTERVALS_NS;
        self.due_ns = now_ns + (now_ns / SHARE).clamp(least_ns, most_ns);
        let ours = sockets.iter().map(|(_, inode)| *inode).collect();
        self.joined.append(&mut joined(&root.tcp_sockets(*pid), &ours));
    }

    /// Whether the other side of a socket, for which a process waits, belongs to the run, as far as it is known.
    pub(super) fn are_joined(&self, pid: i32, inode: u64) -> bool {
        let is_joined = self.joined.contains(&inode);
        if !is_joined {
            self.awaited.borrow_mut().insert((pid, inode));
        }
        is_joined
    }
}
