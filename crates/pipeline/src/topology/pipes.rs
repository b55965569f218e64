//! The pipes of a pipeline: who holds which end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fullbore_measure::Bytes;
use fullbore_pipe::{End, Handle, PipeId};

/// A pipe for as long as the run lasts. Linux gives inode numbers away again, so an identity is not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PipeKey(u32);

/// A pipe.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    pub(crate) id: PipeId,
    pub(crate) path: Option<PathBuf>,
    /// Stages that ever held the write end, by index.
    pub(crate) writers: BTreeSet<usize>,
    /// Stages that ever held the read end, by index.
    pub(crate) readers: BTreeSet<usize>,
    /// The ends that stages hold only by processes which have not called execve, with these. A copy of the shell
    /// has the ends that the shell had, until it closes them.
    claims: BTreeMap<(End, usize), BTreeSet<i32>>,
    /// The ends that stages hold only by descriptors which seem to be leaked.
    leaked: BTreeSet<(End, usize)>,
    /// The ends on which stages were seen to wait.
    waits: BTreeSet<(End, usize)>,
    /// Live descriptors that lead to it.
    pub(crate) handles: Vec<Held>,
    /// It was there before the run: the world outside holds an end, too.
    pub(crate) is_outside: bool,
    pub(crate) initial_capacity: Option<Bytes>,
    pub(crate) capacity: Option<Bytes>,
}

/// A descriptor that leads to a pipe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) handle: Handle,
    /// Stage of its process.
    pub(crate) stage: usize,
    pub(crate) purpose: Purpose,
    /// Its process has not called execve.
    pub(crate) is_copy: bool,
}

/// What a process has a descriptor for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read or write there.
    Use,
    /// Apparently left open by its shell by mistake: it counts only while nobody holds the end for use.
    Leaked,
    /// Not to use it: the shell's own copy, or where messages go.
    Other,
}

/// All pipes that matter so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipes {
    list: BTreeMap<PipeKey, Pipe>,
    by_id: BTreeMap<PipeId, PipeKey>,
    outside: BTreeSet<PipeId>,
    next: u32,
}

impl Pipe {
    fn new(id: PipeId, path: Option<PathBuf>, is_outside: bool) -> Self {
        Self {
            id,
            path,
            writers: BTreeSet::new(),
            readers: BTreeSet::new(),
            claims: BTreeMap::new(),
            leaked: BTreeSet::new(),
            waits: BTreeSet::new(),
            handles: Vec::new(),
            is_outside,
            initial_capacity: None,
            capacity: None,
        }
    }

    /// Stages that hold `end` at this moment.
    pub(crate) fn holders(&self, end: End) -> BTreeSet<usize> {
        self.held(end).map(|held| held.stage).collect()
    }

    /// The same, of those that hold it for use; of those to which it was leaked when there are no others.
    fn users(&self, end: End) -> BTreeSet<usize> {
        let stages = |purpose: Purpose| -> BTreeSet<usize> {
            let held = self.held(end).filter(|held| held.purpose == purpose);
            held.map(|held| held.stage).collect()
        };
        let users = stages(Purpose::Use);
        if users.is_empty() { stages(Purpose::Leaked) } else { users }
    }

    /// The descriptors by which a stage may use an end.
    fn held_by(&self, stage: usize, end: End) -> impl Iterator<Item = &Held> {
        self.held(end).filter(move |held| held.stage == stage && held.purpose != Purpose::Other)
    }

    fn held(&self, end: End) -> impl Iterator<Item = &Held> {
        self.handles.iter().filter(move |held| held.handle.end == end)
    }

    /// Notes the stages that hold an end now. A stage that holds both is the user of the end that no other
    /// stage holds.
    pub(crate) fn note_users(&mut self) {
        let (writers, readers) = (self.users(End::Write), self.users(End::Read));
        let only = |here: &BTreeSet<usize>, there: &BTreeSet<usize>| -> BTreeSet<usize> {
            let own: BTreeSet<usize> = here.difference(there).copied().collect();
            if own.is_empty() { here.clone() } else { own }
        };
        for (end, stages) in
            [(End::Write, only(&writers, &readers)), (End::Read, only(&readers, &writers))]
        {
            let is_for_use = |held: &Held| held.purpose == Purpose::Use;
            if stages.iter().any(|stage| self.held_by(*stage, end).any(is_for_use)) {
                self.forget_leaks(end);
                stages.iter().for_each(|stage| self.note_user(*stage, end));
            } else if self.users_ever(end).is_empty() {
                stages.iter().for_each(|stage| self.note_leak(*stage, end));
            }
        }
    }

    /// Notes that a stage is the only one that could use an end, for as long as its processes hold it.
    fn note_leak(&mut self, stage: usize, end: End) {
        let holders = self.held_by(stage, end).map(|held| held.handle.pid).collect();
        self.claims.insert((end, stage), holders);
        self.leaked.insert((end, stage));
        self.users_ever(end).insert(stage);
    }

    /// Somebody holds the end for use, so those to which it leaked do not use it.
    fn forget_leaks(&mut self, end: End) {
        for (of, stage) in std::mem::take(&mut self.leaked) {
            if of == end {
                self.claims.remove(&(end, stage));
                self.users_ever(end).remove(&stage);
            } else {
                self.leaked.insert((of, stage));
            }
        }
    }

    /// Notes that a stage holds an end: for good, or as long as the copies that hold it do.
    fn note_user(&mut self, stage: usize, end: End) {
        let holders: Vec<(i32, bool)> = self
            .held_by(stage, end)
            .filter(|held| held.purpose == Purpose::Use)
            .map(|held| (held.handle.pid, held.is_copy))
            .collect();
        if holders.iter().any(|(_, is_copy)| !is_copy) {
            return self.note_use(stage, end);
        }
        let is_new = self.users_ever(end).insert(stage);
        let copies = holders.iter().map(|(pid, _)| *pid);
        if is_new {
            self.claims.insert((end, stage), copies.collect());
        } else if let Some(claim) = self.claims.get_mut(&(end, stage)) {
            claim.extend(copies);
        }
    }

    /// Notes that a stage was seen to wait on an end, so it uses it.
    pub(crate) fn note_wait(&mut self, stage: usize, end: End) {
        self.waits.insert((end, stage));
        self.note_use(stage, end);
    }

    /// Forgets what a stage held, does not hold any more, and was never seen to wait on.
    pub(crate) fn forget_holder(&mut self, stage: usize) {
        for end in [End::Read, End::Write] {
            let holds = self.held_by(stage, end).any(|held| held.purpose == Purpose::Use)
                || self.leaked.contains(&(end, stage));
            if self.is_alive() && !holds && !self.waits.contains(&(end, stage)) {
                self.claims.remove(&(end, stage));
                self.leaked.remove(&(end, stage));
                self.users_ever(end).remove(&stage);
            }
        }
    }

    /// Notes that a stage uses an end, whatever it holds later.
    fn note_use(&mut self, stage: usize, end: End) {
        self.claims.remove(&(end, stage));
        self.leaked.remove(&(end, stage));
        self.users_ever(end).insert(stage);
    }

    fn users_ever(&mut self, end: End) -> &mut BTreeSet<usize> {
        if end == End::Write { &mut self.writers } else { &mut self.readers }
    }

    /// Takes back what rests only on copies that live and have let go of the end.
    pub(crate) fn revoke_claims(&mut self, lives: impl Fn(i32) -> bool) {
        let mut claims = std::mem::take(&mut self.claims);
        claims.retain(|(end, stage), copies| {
            let holds = |pid: i32| self.held(*end).any(|held| held.handle.pid == pid);
            copies.retain(|pid| holds(*pid) || !lives(*pid));
            if copies.is_empty() {
                self.leaked.remove(&(*end, *stage));
                self.users_ever(*end).remove(stage);
            }
            !copies.is_empty()
        });
        self.claims = claims;
    }

    /// Whether somebody of the pipeline holds an end.
    pub(crate) fn is_alive(&self) -> bool {
        !self.handles.is_empty()
    }

    /// Whether it leads from one stage to another: not to itself, and not nowhere.
    pub(crate) fn joins_stages(&self) -> bool {
        self.writers.iter().any(|writer| self.readers.iter().any(|reader| reader != writer))
    }

    /// Whether one stage holds both ends for itself: a program and its helper.
    pub(crate) fn is_within(&self, stage: usize) -> bool {
        self.writers.len() == 1 && self.writers == self.readers && self.writers.contains(&stage)
    }

    /// Its input comes from outside the pipeline.
    pub(crate) fn has_outside_writer(&self) -> bool {
        self.writers.is_empty() && !self.readers.is_empty() && self.leads_outside()
    }

    /// Its output goes outside the pipeline.
    pub(crate) fn has_outside_reader(&self) -> bool {
        self.readers.is_empty() && !self.writers.is_empty() && self.leads_outside()
    }

    /// Whether somebody who is not of the pipeline may hold an end.
    pub(crate) fn leads_outside(&self) -> bool {
        self.is_outside || self.path.is_some()
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

    /// A live pipe by its identity.
    pub(crate) fn find(&self, id: PipeId) -> Option<PipeKey> {
        self.by_id.get(&id).copied()
    }

    /// The pipe of a key; `None` when it was forgotten.
    pub(crate) fn get(&self, key: PipeKey) -> Option<&Pipe> {
        self.list.get(&key)
    }

    pub(crate) fn get_mut(&mut self, key: PipeKey) -> Option<&mut Pipe> {
        self.list.get_mut(&key)
    }

    /// All pipes, in the order in which they were found.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (PipeKey, &Pipe)> {
        self.list.iter().map(|(key, pipe)| (*key, pipe))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Pipe> {
        self.list.values_mut()
    }

    /// The key of a pipe, which becomes known.
    pub(crate) fn learn(&mut self, id: PipeId, path: Option<PathBuf>) -> PipeKey {
        if let Some(key) = self.find(id) {
            return key;
        }
        let key = PipeKey(self.next);
        self.next += 1;
        self.list.insert(key, Pipe::new(id, path, self.outside.contains(&id)));
        self.by_id.insert(id, key);
        key
    }

    /// Forgets who holds which end, before that is found out anew.
    pub(crate) fn forget_handles(&mut self) {
        for pipe in self.list.values_mut() {
            pipe.handles.clear();
        }
    }

    /// Lets go of the identities of pipes that nobody holds; returns these pipes. An identity may come back
    /// as another pipe.
    pub(crate) fn retire(&mut self) -> Vec<PipeKey> {
        let mut ended = Vec::new();
        self.by_id.retain(|_, key| {
            let lives = self.list.get(key).is_some_and(Pipe::is_alive);
            if !lives {
                ended.push(*key);
            }
            lives
        });
        ended
    }

    /// Forgets a pipe that has ended.
    pub(crate) fn forget(&mut self, key: PipeKey) {
        self.list.remove(&key);
    }

    /// The first pipe between the same stages as `key`, if that is an earlier one.
    pub(crate) fn earlier_twin(&self, key: PipeKey) -> Option<PipeKey> {
        let pipe = self.list.get(&key)?;
        let is_same = |other: &Pipe| other.writers == pipe.writers && other.readers == pipe.readers;
        self.list.range(..key).find(|(_, other)| is_same(other)).map(|(key, _)| *key)
    }

    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_that_comes_back_is_another_pipe() {
        let mut pipes = Pipes::default();
        let first = pipes.learn(PipeId::anonymous(1), None);
        assert_eq!(pipes.learn(PipeId::anonymous(1), None), first);
        assert_eq!(pipes.retire(), [first]);
        let second = pipes.learn(PipeId::anonymous(1), None);
        assert_ne!(second, first);
        pipes.forget(first);
        assert!(pipes.get(first).is_none() && pipes.get(second).is_some());
        assert_ne!(pipes.learn(PipeId::anonymous(2), None), first, "a key is never given again");
    }
}
