//! The largest memory and the CPU time of each process of a trial, by looking again and again.
//!
//! `ru_maxrss` of wait4(2) is no use for that: it begins at the size of the process that forked, and remembers only the
//! largest of a family.

use std::collections::BTreeMap;

use fullbore_proc::Root;

use crate::Side;

/// What was seen so far, by process.
#[derive(Debug, Default)]
pub(super) struct Peaks {
    seen: BTreeMap<i32, Side>,
    first: Option<i32>,
}

impl Peaks {
    /// Looks at a process and all its descendants.
    pub(super) fn look(&mut self, first: i32) {
        self.first = Some(first);
        let root = Root::system();
        let mut to_see = vec![first];
        while let Some(pid) = to_see.pop() {
            let threads = root.threads(pid);
            for thread in &threads {
                let path = root.path().join(format!("{pid}/task/{thread}/children"));
                let children = std::fs::read_to_string(path).unwrap_or_default();
                to_see.extend(
                    children.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()),
                );
            }
            let (Some(stat), Some(status)) = (root.stat(pid), root.status(pid)) else { continue };
            let running = |thread: &i32| Some(root.schedstat(pid, *thread)?.running_ns);
            let cpu_ns = threads.iter().filter_map(running).sum();
            let side = self.seen.entry(pid).or_insert_with(|| Side {
                name: String::new(),
                cpu_ns: 0,
                peak_memory_bytes: None,
            });
            side.name = stat.comm; // a process is its parent until it executes
            side.cpu_ns = side.cpu_ns.max(cpu_ns);
            side.peak_memory_bytes = side.peak_memory_bytes.max(status.peak_memory_bytes);
        }
    }

    /// One side a process, in the order they were started; the shell that only waits for the others is none.
    pub(super) fn sides(mut self) -> Vec<Side> {
        let is_shell = |side: &Side| ["sh", "dash", "bash"].contains(&side.name.as_str());
        if let Some(first) = self.first
            && self.seen.len() > 1
            && self.seen.get(&first).is_some_and(is_shell)
        {
            self.seen.remove(&first);
        }
        self.seen.into_values().collect()
    }
}
