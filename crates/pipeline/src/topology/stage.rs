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
    /// Its leader is a copy of its parent, and was not seen to call execve.
    pub(crate) is_copy: bool,
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
            is_copy: false,
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

/// A copy that lived shorter would have called execve, or ended without.
const UNNAMED_NS: u64 = 10_000_000;

impl Stage {
    /// The name of its program: from its words, or from Linux where it ended before these were read.
    fn program(&self) -> &str {
        let name = self.words.first().map_or("", String::as_str);
        self.name_in_brackets().unwrap_or_else(|| name.rsplit('/').next().unwrap_or(name))
    }

    /// `[head]`: what Linux calls a process that has ended.
    pub(crate) fn name_in_brackets(&self) -> Option<&str> {
        let [word] = self.words.as_slice() else { return None };
        word.strip_prefix('[')?.strip_suffix(']')
    }

    /// It ended before it could be known what it runs.
    fn is_short_copy(&self) -> bool {
        self.is_copy && self.last_ns - self.start_ns < UNNAMED_NS
    }

    fn is_nameless(&self) -> bool {
        self.is_short_copy() || self.name_in_brackets().is_some()
    }

    fn may_repeat(&self, apart: Option<i32>) -> bool {
        self.repeats.is_none()
            && self.alive == 0
            && !self.is_container
            && Some(self.container) != apart
    }
}

/// Joins stages of one shell that ran one after the other and are alike: the turns of a loop. The stages of the container
/// `apart` are none.
pub(crate) fn join_repetitions(stages: &mut [Stage], likeness: Likeness, apart: Option<i32>) {
    join_alike(stages, likeness, apart, |stage| !stage.is_nameless());
    let mut turns = vec![1_u32; stages.len()];
    stages.iter().filter_map(|stage| stage.repeats).for_each(|first| turns[first] += 1);
    for index in 0..stages.len() {
        if stages[index].may_repeat(apart)
            && let Some(home) = home_of(stages, &turns, index)
        {
            join(stages, home, index);
        }
    }
    join_alike(stages, likeness, apart, Stage::is_nameless);
}

fn join_alike(
    stages: &mut [Stage],
    likeness: Likeness,
    apart: Option<i32>,
    is_meant: impl Fn(&Stage) -> bool,
) {
    for index in 0..stages.len() {
        let stage = &stages[index];
        if !stage.may_repeat(apart) || !is_meant(stage) {
            continue;
        }
        let mut before = stages[..index].iter();
        if let Some(first) = before.position(|first| is_repetition(first, stage, likeness)) {
            join(stages, first, index);
        }
    }
}

fn is_repetition(first: &Stage, later: &Stage, likeness: Likeness) -> bool {
    let is_alike = match likeness {
        Likeness::SameWords => first.words == later.words,
        Likeness::SameProgram => first.words.first() == later.words.first(),
    };
    is_alike
        && first.repeats.is_none()
        && first.alive == 0
        && first.container == later.container
        // Two that were found at one time lived side by side, however soon the first one ended.
        && first.start_ns < later.start_ns
        && first.last_ns <= later.start_ns
}

/// Of the stages that are turns of a loop, the one to which a stage without words of its own belongs most likely: one of its name,
/// if it has a name; else the one with most turns.
fn home_of(stages: &[Stage], turns: &[u32], index: usize) -> Option<usize> {
    let stage = &stages[index];
    let name = stage.name_in_brackets();
    if !stage.is_nameless() {
        return None;
    }
    let is_home = |home: &usize| {
        let other = &stages[*home];
        turns[*home] > 1
            && !other.is_nameless()
            && other.repeats.is_none()
            && !other.is_container
            && other.container == stage.container
            && name.is_none_or(|name| other.program().starts_with(name))
    };
    (0..stages.len()).filter(is_home).max_by_key(|home| turns[*home])
}

fn join(stages: &mut [Stage], first: usize, later: usize) {
    let Ok([first_stage, stage]) = stages.get_disjoint_mut([first, later]) else { return };
    stage.repeats = Some(first);
    // There may be thousands.
    stage.words = Vec::new();
    stage.environment = Environment::default();
    first_stage.processes += stage.processes;
    first_stage.last_ns = first_stage.last_ns.max(stage.last_ns);
    first_stage.exit_status = stage.exit_status.or(first_stage.exit_status);
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

    /// `for i in $(seq 9); do sleep 0.01; done`, where some ended before their words were read.
    #[test]
    fn turns_without_words_belong_to_the_loop() {
        let copy = |start_ns| Stage { is_copy: true, ..turn(&["sh"], start_ns, start_ns + 5) };
        let mut stages = [
            turn(&["seq", "9"], 0, 1),
            copy(2),
            turn(&["sleep", "1"], 10, 20),
            turn(&["[sleep]"], 20, 30),
            turn(&["sleep", "1"], 30, 40),
            turn(&["[cat]"], 40, 50),
            copy(60),
        ];
        join_repetitions(&mut stages, Likeness::SameWords, None);
        let repeats = stages.each_ref().map(|stage| stage.repeats);
        assert_eq!(repeats, [None, Some(2), None, Some(2), Some(2), None, Some(2)]);
        assert_eq!((stages[2].processes, stages[2].last_ns), (5, 65));
    }

    #[test]
    fn a_copy_belongs_to_nothing_that_ran_once() {
        let copy = Stage { is_copy: true, ..turn(&["sh"], 5, 6) };
        let mut stages = [turn(&["mkdir", "d"], 0, 4), copy, turn(&["[head]"], 7, 8)];
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
