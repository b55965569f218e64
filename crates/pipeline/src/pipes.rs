//! The pipes of a pipeline while they are watched: who holds which end, who waits on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fullbore_measure::Bytes;
use fullbore_pipe::{End, Handle, PipeId};

/// A pipe.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) id: PipeId,
    pub(crate) path: Option<PathBuf>,
    /// Stages that ever held the write end, by index.
    pub(crate) writers: BTreeSet<usize>,
    /// Stages that ever held the read end, by index.
    pub(crate) readers: BTreeSet<usize>,
    /// Live descriptors that lead to it.
    pub(crate) handles: Vec<Held>,
    /// It was there before the run: the world outside holds an end, too.
    pub(crate) is_outside: bool,
    pub(crate) initial_capacity: Option<Bytes>,
    pub(crate) capacity: Option<Bytes>,
    pub(crate) life_ns: f64,
    pub(crate) writer_blocked_ns: f64,
    pub(crate) reader_blocked_ns: f64,
    /// Since the tuner last looked.
    pub(crate) window: Window,
    /// Who waits on it, as of the last look.
    pub(crate) writer_waits: bool,
    pub(crate) reader_waits: bool,
}

/// A descriptor that leads to a pipe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) handle: Handle,
    /// Stage of its process.
    pub(crate) stage: usize,
    /// It is there to be used: not the shell's own copy, and not where messages go.
    pub(crate) is_for_use: bool,
}

/// Waits on a pipe over a short time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    pub(crate) length_ns: f64,
    pub(crate) writer_blocked_ns: f64,
    pub(crate) reader_blocked_ns: f64,
    pub(crate) looks: u32,
}

/// All pipes seen so far.
#[derive(Debug, Default)]
pub(crate) struct Pipes {
    pub(crate) list: Vec<Pipe>,
    by_id: BTreeMap<PipeId, usize>,
    outside: BTreeSet<PipeId>,
    /// Places in the list whose pipe has ended and need not be remembered.
    free: Vec<usize>,
}

/// Pipes remembered apart from each other.
const PIPES_MAX: usize = 1024;

impl Pipe {
    fn new(id: PipeId, path: Option<PathBuf>, is_outside: bool) -> Self {
        Self {
            id,
            path,
            writers: BTreeSet::new(),
            readers: BTreeSet::new(),
            handles: Vec::new(),
            is_outside,
            initial_capacity: None,
            capacity: None,
            life_ns: 0.0,
            writer_blocked_ns: 0.0,
            reader_blocked_ns: 0.0,
            window: Window::default(),
            writer_waits: false,
            reader_waits: false,
        }
    }

    /// Nothing of it belongs into the record: the `echo | sed` of a loop's body.
    fn is_forgettable(&self) -> bool {
        let was_waited_for = self.writer_blocked_ns + self.reader_blocked_ns > 0.0;
        !was_waited_for && !self.joins_stages() && !self.is_outside && self.path.is_none()
    }

    /// Stages that hold `end` at this moment.
    pub(crate) fn holders(&self, end: End) -> BTreeSet<usize> {
        self.handles.iter().filter(|held| held.handle.end == end).map(|held| held.stage).collect()
    }

    /// The same, of those that hold it for use.
    pub(crate) fn users(&self, end: End) -> BTreeSet<usize> {
        self.handles
            .iter()
            .filter(|held| held.handle.end == end && held.is_for_use)
            .map(|held| held.stage)
            .collect()
    }

    /// Whether it leads from one stage to another: not to itself, and not nowhere.
    pub(crate) fn joins_stages(&self) -> bool {
        self.writers.iter().any(|writer| self.readers.iter().any(|reader| reader != writer))
    }

    /// Its input comes from outside the pipeline.
    pub(crate) fn has_outside_writer(&self) -> bool {
        self.writers.is_empty()
            && !self.readers.is_empty()
            && (self.is_outside || self.path.is_some())
    }

    /// Its output goes outside the pipeline.
    pub(crate) fn has_outside_reader(&self) -> bool {
        self.readers.is_empty()
            && !self.writers.is_empty()
            && (self.is_outside || self.path.is_some())
    }
}

impl Pipes {
    /// No pipes yet; those of `outside` lead out of the pipeline.
    pub(crate) fn new(outside: BTreeSet<PipeId>) -> Self {
        Self { outside, ..Self::default() }
    }

    /// Whether a pipe was there before the run.
    pub(crate) fn is_outside(&self, id: PipeId) -> bool {
        self.outside.contains(&id)
    }

    /// The index of a pipe that is known.
    pub(crate) fn find(&self, id: PipeId) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// The index of a pipe, which becomes known.
    pub(crate) fn learn(&mut self, id: PipeId, path: Option<PathBuf>) -> usize {
        if let Some(index) = self.find(id) {
            return index;
        }
        let pipe = Pipe::new(id, path, self.outside.contains(&id));
        let index = match self.free.pop() {
            Some(index) => {
                self.list[index] = pipe;
                index
            }
            None => {
                self.list.push(pipe);
                self.list.len() - 1
            }
        };
        self.by_id.insert(id, index);
        index
    }

    /// Forgets who holds which end, before it is found out anew; a pipe nobody holds has ended, and
    /// its inode number may come back as another pipe.
    pub(crate) fn forget_handles(&mut self) {
        for pipe in &mut self.list {
            pipe.handles.clear();
        }
    }

    /// Lets go of the identities of pipes that nobody holds.
    pub(crate) fn retire(&mut self) {
        let list = &self.list;
        let mut ended = Vec::new();
        self.by_id.retain(|_, index| {
            let lives = !list[*index].handles.is_empty();
            if !lives {
                ended.push(*index);
            }
            lives
        });
        for index in ended {
            if self.list[index].is_forgettable() || self.fold(index) {
                self.free.push(index);
            }
        }
    }

    /// Adds a pipe that has ended to an earlier one between the same stages, when there are very many;
    /// says whether it did.
    fn fold(&mut self, index: usize) -> bool {
        if self.list.len() < PIPES_MAX {
            return false;
        }
        let (before, after) = self.list.split_at_mut(index);
        let ended = &after[0];
        let is_same =
            |pipe: &&mut Pipe| pipe.writers == ended.writers && pipe.readers == ended.readers;
        let Some(first) = before.iter_mut().find(is_same) else { return false };
        first.life_ns += ended.life_ns;
        first.writer_blocked_ns += ended.writer_blocked_ns;
        first.reader_blocked_ns += ended.reader_blocked_ns;
        true
    }

    /// Time passes for every pipe that is held.
    pub(crate) fn pass(&mut self, length_ns: f64) {
        for pipe in &mut self.list {
            (pipe.writer_waits, pipe.reader_waits) = (false, false);
            if !pipe.handles.is_empty() {
                pipe.life_ns += length_ns;
                pipe.window.length_ns += length_ns;
                pipe.window.looks += 1;
            }
        }
    }

    /// The writer of a pipe was blocked on it.
    pub(crate) fn writer_blocked(&mut self, index: usize, stage: usize, ns: f64) {
        let pipe = &mut self.list[index];
        pipe.writers.insert(stage);
        pipe.writer_blocked_ns += ns;
        pipe.window.writer_blocked_ns += ns;
    }

    /// The reader of a pipe was blocked on it.
    pub(crate) fn reader_blocked(&mut self, index: usize, stage: usize, ns: f64) {
        let pipe = &mut self.list[index];
        pipe.readers.insert(stage);
        pipe.reader_blocked_ns += ns;
        pipe.window.reader_blocked_ns += ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(pipes: &mut Pipes, index: usize, end: End, stage: usize) {
        let handle = Handle { pid: 1, fd: 0, pipe: pipes.list[index].id, end };
        pipes.list[index].handles.push(Held { handle, stage, is_for_use: true });
    }

    #[test]
    fn the_pipes_of_a_loop_do_not_pile_up() {
        let mut pipes = Pipes::default();
        for turn in 0..10_000 {
            pipes.forget_handles();
            pipes.retire();
            let index = pipes.learn(PipeId::anonymous(turn), None);
            held(&mut pipes, index, End::Write, 1);
        }
        assert!(pipes.list.len() <= 2, "{}", pipes.list.len());
    }

    #[test]
    fn a_pipe_between_stages_is_remembered_when_it_has_ended() {
        let mut pipes = Pipes::default();
        let index = pipes.learn(PipeId::anonymous(1), None);
        pipes.writer_blocked(index, 1, 5.0);
        pipes.reader_blocked(index, 2, 7.0);
        pipes.retire();
        assert_ne!(pipes.learn(PipeId::anonymous(1), None), index);
        assert!(pipes.list[index].joins_stages());
    }

    #[test]
    fn very_many_pipes_between_the_same_stages_become_one() {
        let mut pipes = Pipes::default();
        for turn in 0..5000 {
            let index = pipes.learn(PipeId::anonymous(turn), None);
            pipes.writer_blocked(index, 1, 1.0);
            pipes.reader_blocked(index, 2, 1.0);
            pipes.retire();
        }
        assert!(pipes.list.len() <= PIPES_MAX, "{}", pipes.list.len());
        let total: f64 =
            pipes.list.iter().take(PIPES_MAX - 1).map(|pipe| pipe.writer_blocked_ns).sum();
        assert!((total - 5000.0).abs() < 1.5, "{total}");
    }
}
