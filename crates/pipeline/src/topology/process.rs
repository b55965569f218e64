//! A process of the pipeline: where it belongs, what it runs, which ends it holds.

use crate::sample::{Born, PipeEnd};

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// Its stage, as an index.
    pub(crate) stage: usize,
    /// Its stage began with it.
    pub(crate) is_leader: bool,
    pub(crate) role: Role,
    pub(crate) has_children: bool,
    /// What it runs; a child of a shell runs the shell until it calls execve.
    pub(crate) words: Vec<String>,
    pub(crate) program: Program,
    /// What it ran when first seen.
    pub(crate) first_words: Vec<String>,
    /// The ends of pipes it holds, as last read.
    pub(crate) ends: Vec<PipeEnd>,
    /// When it was first seen.
    pub(crate) first_ns: u64,
}

/// Whose program a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// Its parent's: it is a copy and has not called execve.
    Parents,
    /// One of its own.
    Own,
}

/// What a process is to its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It works, and its children work for its stage.
    Worker,
    /// It works, and its children are stages of their own: `tee >(gzip)`.
    Parent,
    /// It only starts stages and waits for them: a shell, `timeout 5 sh -c 'a | b'`.
    Container,
}

/// A process this old has closed the ends it does not use, even if it never calls execve (a subshell).
const SETTLED_NS: u64 = 4_000_000;

impl Process {
    pub(crate) fn new(born: &Born, stage: usize, program: Program, now_ns: u64) -> Self {
        Self {
            pid: born.pid,
            parent: born.parent,
            stage,
            is_leader: false,
            role: Role::Worker,
            has_children: false,
            program,
            words: born.words.clone(),
            first_words: born.words.clone(),
            ends: born.ends.clone(),
            first_ns: now_ns,
        }
    }

    pub(crate) fn is_container(&self) -> bool {
        self.role == Role::Container
    }

    /// Whether its ends are those it will keep: a copy of the shell holds others until it calls execve.
    pub(crate) fn is_settled(&self, now_ns: u64) -> bool {
        self.words != self.first_words || now_ns.saturating_sub(self.first_ns) > SETTLED_NS
    }

    /// When an unsettled process should be looked at again.
    pub(crate) fn settles_soon(now_ns: u64) -> u64 {
        now_ns + SETTLED_NS / 2
    }
}
