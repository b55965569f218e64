//! A stage: one command of the pipeline with all processes it started.

use fullbore_diagnose::Copies;

use crate::sample::{Born, Environment};

/// A stage.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// Process it began as a child of; 0 for the shell itself.
    pub(crate) container: i32,
    pub(crate) leader: Leader,
    /// What its leader runs.
    pub(crate) words: Vec<String>,
    /// The environment in which its leader was started.
    pub(crate) environment: Environment,
    /// What its leader ran when first seen.
    pub(crate) first_words: Vec<String>,
    /// Its leader only starts stages and waits for them.
    pub(crate) is_container: bool,
    /// Processes ever seen in it.
    pub(crate) processes: u32,
    /// Processes alive in it at the last sample.
    pub(crate) alive: u32,
    pub(crate) start_ns: u64,
    /// When it was last seen alive.
    pub(crate) last_ns: u64,
    pub(crate) exit_status: Option<i32>,
    /// The stage that this one repeats (another turn of a loop), as an index.
    pub(crate) repeats: Option<usize>,
}

/// The process that a stage began with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leader {
    pub(crate) pid: i32,
    pub(crate) is_alive: bool,
}

/// A process of `fullbore par`.
#[derive(Clone, Debug)]
pub(crate) struct Par {
    pub(crate) pid: i32,
    /// What it runs copies of.
    pub(crate) copies: Copies,
    /// Most children of it that were seen at one time.
    pub(crate) children: u32,
}

impl Stage {
    /// It began with `fullbore par`, perhaps behind a wrapper such as `nice`.
    pub(crate) fn is_par(&self) -> bool {
        Copies::of(&self.words).is_some()
    }

    /// A stage that begins with a process that was just born.
    pub(crate) fn new(container: i32, leader: &Born, start_ns: u64) -> Self {
        Self {
            container,
            leader: Leader { pid: leader.pid, is_alive: true },
            words: leader.words.clone(),
            environment: Environment::default(),
            first_words: leader.words.clone(),
            is_container: false,
            processes: 0,
            alive: 0,
            start_ns,
            last_ns: start_ns,
            exit_status: None,
            repeats: None,
        }
    }
}

/// When two stages are the same command again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// The same words.
    SameWords,
    /// The same program with any arguments.
    SameProgram,
}

/// A stage that lived shorter and was never seen to call execve has no name of its own.
const UNNAMED_NS: u64 = 10_000_000;

/// Joins stages of one shell that ran one after the other and are alike: the turns of a loop. The stages of the container
/// `apart` are none.
pub(crate) fn join_repetitions(stages: &mut [Stage], likeness: Likeness, apart: Option<i32>) {
    for index in 0..stages.len() {
        let stage = &stages[index];
        if stage.repeats.is_some() || stage.alive > 0 || Some(stage.container) == apart {
            continue;
        }
        let (before, after) = stages.split_at_mut(index);
        let later = &mut after[0];
        let Some(first) = before.iter().position(|first| is_repetition(first, later, likeness))
        else {
            continue;
        };
        let first_stage = &mut before[first];
        later.repeats = Some(first);
        first_stage.processes += later.processes;
        first_stage.last_ns = first_stage.last_ns.max(later.last_ns);
        first_stage.exit_status = later.exit_status.or(first_stage.exit_status);
    }
}

fn is_repetition(first: &Stage, later: &Stage, likeness: Likeness) -> bool {
    // A child of a loop that was never seen to call execve: one of its siblings, only shorter.
    let is_unnamed = later.words == later.first_words
        && later.last_ns - later.start_ns < UNNAMED_NS
        && first.words != first.first_words;
    let is_alike = match likeness {
        Likeness::SameWords => first.words == later.words,
        Likeness::SameProgram => first.words.first() == later.words.first(),
    };
    (is_alike || is_unnamed)
        && first.repeats.is_none()
        && first.alive == 0
        && first.container == later.container
        // Two that were found at one time lived side by side, however soon the first one ended.
        && first.start_ns < later.start_ns
        && first.last_ns <= later.start_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(words: &[&str], start_ns: u64, last_ns: u64) -> Stage {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let born = Born { pid: 9, parent: 1, words, ends: Vec::new() };
        Stage { last_ns, processes: 1, ..Stage::new(1, &born, start_ns) }
    }

    #[test]
    fn the_turns_of_a_loop_become_one_stage() {
        let turns =
            || [turn(&["cp", "a"], 0, 50), turn(&["cp", "b"], 50, 90), turn(&["cp", "a"], 90, 120)];
        let (mut stages, mut alike) = (turns(), turns());
        join_repetitions(&mut stages, Likeness::SameWords, None);
        assert_eq!(stages.each_ref().map(|stage| stage.repeats), [None, None, Some(0)]);
        join_repetitions(&mut alike, Likeness::SameProgram, None);
        assert_eq!(alike.each_ref().map(|stage| stage.repeats), [None, Some(0), Some(0)]);
        assert_eq!((alike[0].processes, alike[0].last_ns), (3, 120));
    }

    /// `head -n 9 f | while read -r l; do …`: head ends before it is looked at again.
    #[test]
    fn one_that_ended_at_once_is_no_earlier_turn_of_its_neighbour() {
        let mut stages = [turn(&["sh", "-c", "line"], 5, 5), turn(&["sh", "-c", "line"], 5, 60)];
        join_repetitions(&mut stages, Likeness::SameWords, None);
        assert!(stages.iter().all(|stage| stage.repeats.is_none()));
    }

    #[test]
    fn stages_side_by_side_stay_two() {
        let mut stages = [turn(&["cat"], 0, 50), turn(&["cat"], 10, 60)];
        join_repetitions(&mut stages, Likeness::SameWords, None);
        assert!(stages.iter().all(|stage| stage.repeats.is_none()));
    }

    /// `seq 9 | while …; do …; done`: seq ends before it is seen to call execve.
    #[test]
    fn the_stages_of_one_pipeline_stay_apart_even_if_the_first_ended_before_the_second_was_seen() {
        let mut stages = [turn(&["sh", "-c", "line"], 0, 5), turn(&["sh", "-c", "line"], 6, 60)];
        join_repetitions(&mut stages, Likeness::SameWords, Some(1));
        assert!(stages.iter().all(|stage| stage.repeats.is_none()));
    }
}
