//! Runs made up sample by sample: what must hold whatever Linux answers.

use std::collections::BTreeSet;

use fullbore_measure::Bytes;
use fullbore_pipe::{Limits, PipeId};
use fullbore_record::Outcome;

use super::*;
use crate::account::stage::StageAccount;
use crate::sample::{
    Awaited, Born, Doing, HeldEnds, IoCount, PipeCapacity, PipeEnd, ProcessLook, TaskLook,
};
use crate::topology::Roots;
use crate::topology::pipes::Pipes;
use crate::tune::Tuning;

const SHELL: i32 = 10;
const WRITER: i32 = 11;
const READER: i32 = 12;
const MS: u64 = 1_000_000;

/// A shell that runs `writer | reader`.
struct MadeUp {
    observed: Observed,
    now_ns: u64,
    pipe: PipeId,
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn end(fd: i32, pipe: PipeId) -> PipeEnd {
    PipeEnd { fd, pipe, path: None, reads: fd == 0, writes: fd == 1 }
}

fn task(pid: i32, doing: Doing, running_ns: u64) -> ProcessLook {
    let tasks = vec![TaskLook { tid: 0, running_ns, waiting_ns: 0, slices: 0, doing }];
    ProcessLook { pid, tasks, ..ProcessLook::default() }
}

impl MadeUp {
    fn new() -> Self {
        let roots =
            Roots { shell: SHELL, shell_words: words("sh -c line"), own: 1, words_after_line: 0 };
        let topology = Topology::new(roots, Pipes::new(BTreeSet::new()));
        let tuner = Tuner::new(Tuning::Auto, Limits::DEFAULT);
        let observed = Observed::new(topology, 2, tuner);
        let mut made_up = Self { observed, now_ns: 0, pipe: PipeId::anonymous(77) };
        let born = |pid, parent, text: &str| Born { pid, parent, words: words(text), ends: vec![] };
        let census = Census {
            born: vec![
                born(SHELL, 1, "sh -c line"),
                born(WRITER, SHELL, "writer"),
                born(READER, SHELL, "reader"),
            ],
            ..Census::default()
        };
        made_up.observed.take_in_census(&census);
        made_up.now_ns = 10 * MS;
        made_up.hold_pipe(made_up.pipe);
        let capacities = vec![PipeCapacity { pipe: made_up.pipe, bytes: 65_536 }];
        made_up.look(vec![], capacities);
        made_up
    }

    fn hold_pipe(&mut self, pipe: PipeId) {
        self.now_ns += MS;
        let held = |pid, fd| HeldEnds { pid, ends: vec![end(fd, pipe)] };
        let ends = Some(vec![held(WRITER, 1), held(READER, 0)]);
        let census = Census { at_ns: self.now_ns, born: vec![], ends, ..Census::default() };
        self.observed.take_in_census(&census);
    }

    fn look(&mut self, seen: Vec<ProcessLook>, capacities: Vec<PipeCapacity>) -> Vec<Change> {
        self.now_ns += 2 * MS;
        let mut processes = vec![task(SHELL, Doing::Waiting(fullbore_record::Cause::Child), 0)];
        processes.extend(seen);
        self.observed.take_in_look(&Look {
            at_ns: self.now_ns,
            processes,
            capacities,
            ..Look::default()
        })
    }

    /// Both sides wait on the pipe in turn for as long as it takes until the tuner asks for something.
    fn contest(&mut self) -> Vec<Change> {
        for turn in 0..1000 {
            let place = Awaited::Pipe(self.pipe);
            let (writer, reader) = if turn % 2 == 0 {
                (task(WRITER, Doing::Writing(place), 0), task(READER, Doing::Running, 2 * MS))
            } else {
                (task(WRITER, Doing::Running, 2 * MS), task(READER, Doing::Reading(place), 0))
            };
            let changes = self.look(vec![writer, reader], vec![]);
            if !changes.is_empty() {
                return changes;
            }
        }
        Vec::new()
    }

    fn answer(&mut self, mut changes: Vec<Change>, answer: &Answer) -> Option<Change> {
        let change = changes.pop().expect("a change");
        assert!(changes.is_empty());
        self.observed.take_in_answer(change, answer, self.now_ns)
    }

    fn attempts(&self) -> Vec<(u64, u64, Outcome)> {
        let attempts = self.observed.tuner.attempts.iter();
        attempts.map(|attempt| (attempt.from.0, attempt.to.0, attempt.outcome)).collect()
    }
}

const GRANTED: Answer = Answer::Granted(Bytes(262_144));

/// Limits under which a pipe can grow in two steps, so that the first is judged before the second.
fn grow_once(made_up: &mut MadeUp) {
    let changes = made_up.contest();
    assert_eq!(made_up.answer(changes, &GRANTED).map(|change| change.to), None);
}

#[test]
fn a_growth_is_recorded_when_the_next_one_is_refused() {
    let mut made_up = MadeUp::new();
    grow_once(&mut made_up);
    let next = made_up.contest();
    let refused = Answer::Refused("over the limit".to_owned());
    let follow_up = made_up.answer(next, &refused).expect("the pipe is put back");
    assert_eq!(follow_up.to, Bytes(65_536));
    made_up.observed.take_in_answer(follow_up, &Answer::Granted(Bytes(65_536)), made_up.now_ns);
    let attempts = made_up.attempts();
    assert_eq!(attempts[0].2, Outcome::Refused);
    assert_eq!(attempts[1], (65_536, 262_144, Outcome::Reverted));
}

#[test]
fn a_pipe_does_not_grow_where_the_user_has_no_room_left() {
    let mut made_up = MadeUp::new();
    let changes = made_up.contest();
    let room = changes[0].room.expect("other programs of the user count").more;
    let growth = changes[0].to.0 - 65_536;
    assert_eq!(room.0, growth + Limits::DEFAULT.user_soft.unwrap().0 / 4);
    assert!(made_up.answer(changes, &Answer::Crowded).is_none());
    let attempt = made_up.observed.tuner.attempts[0].clone();
    assert_eq!(attempt.outcome, Outcome::Refused);
    assert!(attempt.reason.contains("less than a quarter"), "{}", attempt.reason);
    assert!(made_up.contest().is_empty(), "it rests");
}

#[test]
fn a_growth_is_recorded_when_the_pipe_is_gone_before_it_is_judged() {
    let mut made_up = MadeUp::new();
    grow_once(&mut made_up);
    let next = made_up.contest();
    assert!(made_up.answer(next, &Answer::Gone).is_none());
    assert_eq!(made_up.attempts(), [(65_536, 262_144, Outcome::Kept)]);
}

#[test]
fn a_growth_is_recorded_when_the_pipe_ends_on_trial() {
    let mut made_up = MadeUp::new();
    grow_once(&mut made_up);
    made_up.hold_pipe(PipeId::anonymous(78));
    made_up.contest();
    assert_eq!(made_up.attempts(), [(65_536, 262_144, Outcome::Kept)]);
    let first = made_up.observed.tuner.attempts[0].pipe;
    assert!(made_up.observed.topology.pipes.get(first).is_some(), "the record needs it");
}

#[test]
fn a_pipe_that_is_too_full_to_shrink_is_put_back_later() {
    let mut made_up = MadeUp::new();
    grow_once(&mut made_up);
    let largest = made_up.contest();
    made_up.answer(largest, &Answer::Granted(Bytes(1 << 20)));
    let put_back = made_up.contest();
    let busy = Answer::Refused("more is queued than would fit".to_owned());
    assert!(made_up.answer(put_back, &busy).is_none());
    let again = made_up.contest();
    assert_eq!(again[0].to, Bytes(65_536));
    made_up.answer(again, &Answer::Granted(Bytes(65_536)));
    assert_eq!(made_up.attempts(), [(65_536, 1 << 20, Outcome::Reverted)]);
}

#[test]
fn the_pipes_of_a_loop_do_not_pile_up_and_none_takes_the_place_of_another() {
    let mut made_up = MadeUp::new();
    grow_once(&mut made_up);
    let on_trial = made_up.observed.topology.pipes.find(made_up.pipe).unwrap();
    for inode in 1000..4000 {
        made_up.hold_pipe(PipeId::anonymous(inode));
        made_up.look(vec![], vec![]);
    }
    assert!(made_up.observed.topology.pipes.count() <= PIPES_MAX + 1);
    let pipe = made_up.observed.topology.pipes.get(on_trial).expect("it was tuned");
    assert_eq!(pipe.id, made_up.pipe);
    made_up.observed.finish();
    assert_eq!(made_up.attempts(), [(65_536, 262_144, Outcome::Kept)]);
}

#[test]
fn a_process_that_cannot_be_looked_into_is_a_named_gap() {
    let mut made_up = MadeUp::new();
    let hidden = ProcessLook { waits_are_hidden: true, ..task(READER, Doing::Running, 0) };
    made_up.look(vec![hidden], vec![]);
    let gaps: Vec<&String> = made_up.observed.gaps.iter().collect();
    assert!(matches!(&gaps[..], [gap] if gap.contains("reader (process 12)")), "{gaps:?}");
}

const HELPER: i32 = 13;

#[test]
fn a_process_that_becomes_a_stage_takes_along_what_it_did() {
    let mut made_up = MadeUp::new();
    let inner = PipeId::anonymous(78);
    let born =
        vec![Born { pid: HELPER, parent: WRITER, words: words("gzip"), ends: vec![end(0, inner)] }];
    let to_helper = PipeEnd { fd: 3, reads: false, writes: true, ..end(3, inner) };
    let held = |ends: &[PipeEnd], pid| HeldEnds { pid, ends: ends.to_vec() };
    let ends =
        vec![held(&[end(1, made_up.pipe), to_helper], WRITER), held(&[end(0, inner)], HELPER)];
    let census =
        Census { at_ns: made_up.now_ns, born, ends: Some(ends.clone()), ..Census::default() };
    made_up.observed.take_in_census(&census);
    let begin_ns = made_up.now_ns;
    let step = |made_up: &mut MadeUp, written_bytes| {
        let io = Some(IoCount { written_bytes, ..IoCount::default() });
        let writer = task(WRITER, Doing::Writing(Awaited::Pipe(inner)), 0);
        let helper = ProcessLook { io, ..task(HELPER, Doing::Running, 2 * MS) };
        made_up.look(vec![writer, helper], vec![]);
    };
    for turn in 1..=100 {
        step(&mut made_up, turn * 10);
    }
    assert_eq!(made_up.observed.topology.processes[&HELPER].stage, 1, "it is the writer's child");
    let census =
        Census { at_ns: made_up.now_ns, born: vec![], ends: Some(ends), ..Census::default() };
    made_up.observed.take_in_census(&census);
    step(&mut made_up, 1010);

    let stage = made_up.observed.topology.processes[&HELPER].stage;
    let accounts = &made_up.observed.accounts.stages;
    let (writer, helper) = (&accounts[1], &accounts[stage]);
    let life_ns = (made_up.now_ns - begin_ns) as f64;
    assert_eq!((writer.cpu_ns, helper.cpu_ns), (0, 202 * MS));
    assert!((helper.life_ns() - life_ns).abs() < 1e-3 * life_ns, "{} ns", helper.life_ns());
    assert!(helper.spent.running_ns > 0.99 * life_ns, "{:?}", helper.spent);
    let written = |stage: &StageAccount| stage.io.total.unwrap_or_default().written_bytes;
    assert_eq!((written(writer), written(helper)), (0, 1010));
}

/// `sh -c 'a; b'`: the shell ends in the same moment as the last command, and what it has read is that of both.
#[test]
fn what_the_last_command_read_is_not_that_of_the_one_before() {
    let read = |read_bytes| Some(IoCount { read_bytes, ..IoCount::default() });
    let ends = |pid, io| ProcessLook { has_ended: true, io, ..task(pid, Doing::Running, 0) };
    let runs = |pid, io| ProcessLook { io, ..task(pid, Doing::Running, 2 * MS) };
    let mut made_up = MadeUp::new();
    made_up.look(vec![runs(WRITER, read(10))], vec![]);
    made_up.look(vec![runs(WRITER, read(100))], vec![]);
    // The shell has waited for the first command already when it is read.
    made_up.look(vec![ends(WRITER, None), runs(SHELL, read(100))], vec![]);
    made_up.look(vec![runs(READER, read(1_000_000))], vec![]);
    let all = vec![ends(SHELL, read(1_000_100)), ends(READER, read(1_000_000))];
    made_up.look(all, vec![]);
    let totals = made_up.observed.accounts.stages.iter().map(|stage| stage.io.total);
    let read: Vec<u64> = totals.map(|io| io.unwrap_or_default().read_bytes).collect();
    assert_eq!(read[1..], [100, 1_000_000]);
}

/// `bash -c 'a; b'`: the shell becomes the last command, and its count has that of the first in it.
#[test]
fn what_a_shell_reads_as_its_last_command_is_not_that_of_the_one_before() {
    let read = |read_bytes| Some(IoCount { read_bytes, ..IoCount::default() });
    let runs = |pid, io| ProcessLook { io, ..task(pid, Doing::Running, 2 * MS) };
    let mut made_up = MadeUp::new();
    made_up.look(vec![runs(WRITER, read(10))], vec![]);
    made_up.look(vec![runs(WRITER, read(100))], vec![]);
    let ended = ProcessLook { has_ended: true, ..task(WRITER, Doing::Running, 0) };
    made_up.look(vec![ended], vec![]);
    let became = ProcessLook { words: Some(words("grep x")), ..runs(SHELL, read(1_000_100)) };
    made_up.look(vec![became], vec![]);
    let total = made_up.observed.accounts.stages[1].io.total.unwrap_or_default();
    assert_eq!(total.read_bytes, 100);
}

/// Numbers of processes begin anew when the largest was given out.
#[test]
fn a_child_with_a_lower_number_than_its_parent_is_counted_once() {
    const CHILD: i32 = 5;
    let mut made_up = MadeUp::new();
    let born = vec![Born { pid: CHILD, parent: WRITER, words: words("gzip"), ends: vec![] }];
    let census = Census { at_ns: made_up.now_ns, born, ends: None, ..Census::default() };
    made_up.observed.take_in_census(&census);
    made_up.look(vec![task(CHILD, Doing::Running, 2 * MS)], vec![]);
    let ended = |pid| ProcessLook { has_ended: true, ..task(pid, Doing::Running, 0) };
    made_up.look(vec![ended(CHILD), ended(WRITER)], vec![]);
    let shell = ProcessLook {
        children_cpu_ns: Some(2 * MS),
        ..task(SHELL, Doing::Waiting(fullbore_record::Cause::Child), 0)
    };
    made_up.look(vec![shell], vec![]);
    let stages = &made_up.observed.accounts.stages;
    let cpu_ns: Vec<u64> = stages.iter().map(|stage| stage.cpu_ns).collect();
    assert_eq!(cpu_ns, [0, 2 * MS, 0]);
}
