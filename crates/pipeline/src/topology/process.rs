//! A process of the pipeline: where it belongs, what it runs, which ends it holds.

use crate::sample::{Born, Environment, PipeEnd};

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
    pub(crate) kin: Kin,
    /// What it runs; a child of a shell runs the shell until it calls execve.
    pub(crate) words: Vec<String>,
    pub(crate) program: Program,
    /// The environment in which that was started.
    pub(crate) environment: Environment,
    /// What it ran when first seen.
    pub(crate) first_words: Vec<String>,
    /// The ends of pipes it holds, as last read.
    pub(crate) ends: Vec<PipeEnd>,
    /// When it was first seen.
    pub(crate) first_ns: u64,
}

/// What is known of the processes above and below it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kin {
    pub(crate) has_children: bool,
    /// The process of `fullbore par` that it is or works for.
    pub(crate) par: Option<i32>,
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

/// Shells keep descriptors for themselves from here on, out of the way of scripts (POSIX gives these 0 to 9).
const SHELLS_OWN_FD: i32 = 10;

impl Process {
    pub(crate) fn new(born: &Born, stage: usize, program: Program, now_ns: u64) -> Self {
        Self {
            pid: born.pid,
            parent: born.parent,
            stage,
            is_leader: false,
            role: Role::Worker,
            kin: Kin::default(),
            program,
            words: born.words.clone(),
            environment: Environment::default(),
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
        self.program == Program::Own || now_ns.saturating_sub(self.first_ns) > SETTLED_NS
    }

    /// See [`may_be_leaked`].
    pub(crate) fn may_have_by_mistake(&self, fd: i32) -> bool {
        may_be_leaked(fd, &self.words)
    }

    /// When an unsettled process should be looked at again.
    pub(crate) fn settles_soon(now_ns: u64) -> u64 {
        now_ns + SETTLED_NS / 2
    }
}

/// Whether a shell may have left a descriptor open by mistake in a process with these words, as bash does with the pipes of
/// earlier `>( )`: shells keep their own at 10 and up, and name those they hand on (`/dev/fd/63`).
pub(crate) fn may_be_leaked(fd: i32, words: &[String]) -> bool {
    if fd < SHELLS_OWN_FD {
        return false;
    }
    let number = fd.to_string();
    let is_number =
        |word: &String| word.split(|c: char| !c.is_ascii_digit()).any(|digits| digits == number);
    !words.iter().any(is_number)
}
