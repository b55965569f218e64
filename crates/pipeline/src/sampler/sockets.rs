//! Network sockets that join processes of the run: `socat - TCP:localhost:9000`, `curl http://localhost:8000/`.

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
        if now_ns < self.due_ns {
            return;
        }
        let sockets = processes.iter().flat_map(|(pid, process)| {
            let inodes = process.fds.iter().filter_map(|fd| match fd.target {
                Target::Socket(inode) => Some(inode),
                _ => None,
            });
            inodes.map(move |inode| (*pid, inode))
        });
        let sockets: Vec<(i32, u64)> = sockets.collect();
        let holders: BTreeSet<i32> = sockets.iter().map(|(pid, _)| *pid).collect();
        // A process alone talks to others, or to itself.
        let Some(pid) = holders.first().filter(|_| holders.len() > 1) else { return };
        let [least_ns, most_ns] = INTERVALS_NS;
        self.due_ns = now_ns + (now_ns / SHARE).clamp(least_ns, most_ns);
        let ours = sockets.iter().map(|(_, inode)| *inode).collect();
        self.joined.append(&mut joined(&root.tcp_sockets(*pid), &ours));
    }

    pub(super) fn are_joined(&self, inode: u64) -> bool {
        self.joined.contains(&inode)
    }
}
