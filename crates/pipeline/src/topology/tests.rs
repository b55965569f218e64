//! Who holds which end, told from censuses made up one by one.

use std::collections::BTreeSet;

use fullbore_pipe::PipeId;

use super::*;

const SHELL: i32 = 10;
const STAGE: i32 = 11;
const MS: u64 = 1_000_000;

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn output(pipe: PipeId) -> Vec<PipeEnd> {
    vec![PipeEnd { fd: 1, pipe, path: None, reads: false, writes: true }]
}

fn census(at_ns: u64, ends: Vec<PipeEnd>) -> Census {
    Census { at_ns, ends: Some(vec![HeldEnds { pid: STAGE, ends }]), ..Census::default() }
}

/// A copy of the shell, long enough ago that it counts, which still has the shell's own output.
fn with_a_slow_copy(outside: PipeId) -> Topology {
    let roots =
        Roots { shell: SHELL, shell_words: words("sh -c line"), own: 1, words_after_line: 0 };
    let mut topology = Topology::new(roots, Pipes::new(BTreeSet::from([outside])));
    let born = |pid, parent| Born { pid, parent, words: words("sh -c line"), ends: vec![] };
    let born = vec![born(SHELL, 1), born(STAGE, SHELL)];
    topology.take_in_census(&Census { born, ..Census::default() });
    topology.take_in_census(&census(20 * MS, output(outside)));
    assert!(has_writers(&topology, outside), "it may be a function that writes there");
    topology
}

fn executes(topology: &mut Topology, text: &str) {
    let process = ProcessLook { pid: STAGE, words: Some(words(text)), ..ProcessLook::default() };
    topology.take_in_look(&Look { at_ns: 21 * MS, processes: vec![process], ..Look::default() });
}

fn has_writers(topology: &Topology, pipe: PipeId) -> bool {
    topology.pipes.iter().any(|(_, known)| known.id == pipe && !known.writers.is_empty())
}

#[test]
fn what_a_copy_of_the_shell_held_until_it_called_execve_was_never_its_own() {
    let outside = PipeId::anonymous(7);
    let mut topology = with_a_slow_copy(outside);
    executes(&mut topology, "wc -c");
    topology.take_in_census(&census(22 * MS, vec![]));
    assert!(!has_writers(&topology, outside));
}

#[test]
fn a_copy_that_never_calls_execve_keeps_only_what_it_does_not_close() {
    let (outside, next) = (PipeId::anonymous(7), PipeId::anonymous(8));
    let mut topology = with_a_slow_copy(outside);
    topology.take_in_census(&census(30 * MS, output(next)));
    assert!(!has_writers(&topology, outside) && has_writers(&topology, next));
}

#[test]
fn what_a_program_held_when_it_began_counts_even_when_it_is_never_seen_again() {
    let (outside, next) = (PipeId::anonymous(7), PipeId::anonymous(8));
    let mut topology = with_a_slow_copy(outside);
    let process = ProcessLook { pid: STAGE, words: Some(words("cat")), ..ProcessLook::default() };
    let ends = vec![HeldEnds { pid: STAGE, ends: output(next) }];
    topology.take_in_look(&Look {
        at_ns: 21 * MS,
        processes: vec![process],
        ends,
        ..Look::default()
    });
    topology.take_in_census(&Census { at_ns: 900 * MS, ends: Some(vec![]), ..Census::default() });
    assert!(!has_writers(&topology, outside) && has_writers(&topology, next));
}

#[test]
fn what_a_program_held_it_has_used_even_when_it_closes_it() {
    let pipe = PipeId::anonymous(7);
    let mut topology = with_a_slow_copy(pipe);
    executes(&mut topology, "daemon");
    topology.take_in_census(&census(22 * MS, output(pipe)));
    topology.take_in_census(&census(30 * MS, vec![]));
    assert!(has_writers(&topology, pipe));
}

#[test]
fn what_a_copy_was_seen_to_wait_for_it_uses() {
    let pipe = PipeId::anonymous(7);
    let mut topology = with_a_slow_copy(pipe);
    let key = topology.pipes.find(pipe).unwrap();
    let stage = topology.processes[&STAGE].stage;
    topology.note_wait(stage, key, End::Write);
    topology.take_in_census(&census(30 * MS, vec![]));
    assert!(has_writers(&topology, pipe));
}

const LATER: u64 = 200 * MS;
const FIRST: i32 = 20;
const SECOND: i32 = 21;

fn end(fd: i32, pipe: u64, writes: bool) -> PipeEnd {
    PipeEnd { fd, pipe: PipeId::anonymous(pipe), path: None, reads: !writes, writes }
}

/// `a | b` started by processes, each the child of the one before, and each with the words and ends given; what `b`
/// writes goes into pipe 9.
fn with_a_pipeline_below(starters: &[(&str, Vec<PipeEnd>)]) -> Topology {
    let roots =
        Roots { shell: SHELL, shell_words: words("sh -c line"), own: 1, words_after_line: 0 };
    let mut topology = Topology::new(roots, Pipes::default());
    let born = |pid, parent, text: &str, ends: &[PipeEnd]| Born {
        pid,
        parent,
        words: words(text),
        ends: ends.to_vec(),
    };
    let mut all = vec![born(SHELL, 1, "sh -c line", &[])];
    let mut parent = SHELL;
    for (place, (text, ends)) in starters.iter().enumerate() {
        let pid = STAGE + i32::try_from(place).unwrap();
        all.push(born(pid, parent, text, ends));
        parent = pid;
    }
    all.push(born(FIRST, parent, "a", &[end(1, 8, true)]));
    all.push(born(SECOND, parent, "b", &[end(0, 8, false), end(1, 9, true)]));
    let held = all.iter().map(|born| HeldEnds { pid: born.pid, ends: born.ends.clone() });
    let ends: Vec<HeldEnds> = held.collect();
    begin_and_settle(&mut topology, all, ends);
    topology
}

/// They begin, and still hold these ends when all have had time to close what they do not use.
fn begin_and_settle(topology: &mut Topology, born: Vec<Born>, ends: Vec<HeldEnds>) {
    let ends = Some(ends);
    topology.take_in_census(&Census { born, ends: ends.clone(), ..Census::default() });
    topology.take_in_census(&Census { at_ns: LATER, ends, ..Census::default() });
}

/// What the stages run that are more than starters of others.
fn working(topology: &Topology) -> Vec<String> {
    let stages = topology.stages.iter().filter(|stage| !stage.is_container);
    stages.map(|stage| stage.words.join(" ")).collect()
}

/// The words of the stages that hold an end of a pipe.
fn holders(topology: &Topology, pipe: u64, end: End) -> Vec<String> {
    let key = topology.pipes.find(PipeId::anonymous(pipe)).unwrap();
    let pipe = topology.pipes.get(key).unwrap();
    let stages = if end == End::Write { &pipe.writers } else { &pipe.readers };
    stages.iter().map(|stage| topology.stages[*stage].words.join(" ")).collect()
}

#[test]
fn programs_that_only_start_others_are_no_stages() {
    let output = || vec![end(1, 9, true)];
    let starters = [("timeout 5 nice sh -c a|b", output()), ("sh -c a|b", output())];
    let topology = with_a_pipeline_below(&starters);
    assert_eq!(working(&topology), ["a", "b"]);
    assert_eq!(holders(&topology, 8, End::Write), ["a"]);
    assert_eq!(holders(&topology, 8, End::Read), ["b"]);
    assert_eq!(holders(&topology, 9, End::Write), ["b"], "the others had it to pass it on");
}

#[test]
fn a_program_that_wakes_itself_by_a_pipe_only_starts_others() {
    let starters = [
        ("fullbore run a|b", vec![end(3, 6, false), end(4, 6, true)]),
        ("sh -c a|b", vec![end(1, 9, true)]),
    ];
    assert_eq!(working(&with_a_pipeline_below(&starters)), ["a", "b"]);
}

#[test]
fn a_program_with_pipes_of_its_own_stays_a_stage() {
    // It reads the names of files, and starts a pipeline for them.
    let starters = [
        ("xargs sh -c a|b", vec![end(0, 7, false), end(1, 9, true)]),
        ("sh -c a|b", vec![end(1, 9, true)]),
    ];
    let topology = with_a_pipeline_below(&starters);
    assert_eq!(working(&topology), ["xargs sh -c a|b", "a", "b"]);
    assert_eq!(holders(&topology, 7, End::Read), ["xargs sh -c a|b"]);
}

#[test]
fn a_program_that_uses_the_pipe_to_its_child_works() {
    let roots =
        Roots { shell: SHELL, shell_words: words("sh -c line"), own: 1, words_after_line: 0 };
    let mut topology = Topology::new(roots, Pipes::default());
    let born = |pid, parent, text: &str| Born { pid, parent, words: words(text), ends: vec![] };
    let born =
        vec![born(SHELL, 1, "sh -c line"), born(STAGE, SHELL, "tee"), born(FIRST, STAGE, "gzip")];
    let ends = vec![
        HeldEnds { pid: STAGE, ends: vec![end(3, 8, true), end(1, 9, true)] },
        HeldEnds { pid: FIRST, ends: vec![end(0, 8, false)] },
    ];
    begin_and_settle(&mut topology, born, ends);
    assert_eq!(working(&topology), ["tee", "gzip"]);
    assert_eq!(holders(&topology, 8, End::Write), ["tee"]);
    assert_eq!(holders(&topology, 9, End::Write), ["tee"]);
}

/// A loop runs `gzip` twice; the second begins in the time between two looks in which the first ends.
#[test]
fn turns_of_a_loop_that_follow_without_a_break_become_one_stage() {
    let roots =
        Roots { shell: SHELL, shell_words: words("sh -c line"), own: 1, words_after_line: 0 };
    let mut topology = Topology::new(roots, Pipes::default());
    let born = |pid, parent, text: &str| Born { pid, parent, words: words(text), ends: vec![] };
    let look = |at_ns, pids: &[(i32, bool)]| Look {
        at_ns,
        processes: pids
            .iter()
            .map(|(pid, has_ended)| ProcessLook {
                pid: *pid,
                has_ended: *has_ended,
                ..ProcessLook::default()
            })
            .collect(),
        ..Look::default()
    };
    let begin = vec![born(SHELL, 1, "sh -c line"), born(FIRST, SHELL, "gzip")];
    topology.take_in_census(&Census { born: begin, ends: None, at_ns: 0, ..Census::default() });
    topology.take_in_look(&look(10 * MS, &[(SHELL, false), (FIRST, false)]));
    let next = vec![born(SECOND, SHELL, "gzip")];
    topology.take_in_census(&Census {
        born: next,
        ends: None,
        at_ns: 60 * MS,
        ..Census::default()
    });
    topology.take_in_look(&look(60 * MS, &[(SHELL, false), (FIRST, true), (SECOND, false)]));
    topology.take_in_look(&look(99 * MS, &[(SHELL, false), (SECOND, true)]));
    topology.join_repetitions();
    let repeats: Vec<Option<usize>> = topology.stages.iter().map(|stage| stage.repeats).collect();
    assert_eq!(repeats, [None, None, Some(1)]);
}

/// The line is one pipeline, and the shell has started as many processes as it has stages.
#[test]
fn a_stage_that_ended_before_it_had_a_name_of_its_own_is_no_turn_of_a_loop() {
    for (line, expected) in [("seq 9 | while read x; do :; done", None), ("a; b", Some(1))] {
        let shell_words = vec!["sh".to_owned(), "-c".to_owned(), line.to_owned()];
        let roots =
            Roots { shell: SHELL, shell_words: shell_words.clone(), own: 1, words_after_line: 0 };
        let mut topology = Topology::new(roots, Pipes::default());
        let born = |pid, parent| Born { pid, parent, words: shell_words.clone(), ends: vec![] };
        let census = |born, at_ns| Census { born, ends: None, at_ns, ..Census::default() };
        let look = |at_ns, pid, has_ended| Look {
            at_ns,
            processes: vec![ProcessLook { pid, has_ended, ..ProcessLook::default() }],
            ..Look::default()
        };
        topology.take_in_census(&census(vec![born(SHELL, 1), born(FIRST, SHELL)], 0));
        topology.take_in_look(&look(MS, FIRST, true));
        topology.take_in_census(&census(vec![born(SECOND, SHELL)], 2 * MS));
        topology.take_in_look(&look(90 * MS, SECOND, true));
        topology.join_repetitions();
        assert_eq!(topology.stages[2].repeats, expected, "{line}");
    }
}

/// `tee >(gzip) >(md5sum)` as bash starts it: md5sum also has the write end of gzip's pipe.
#[test]
fn a_descriptor_that_a_shell_left_open_joins_no_stages() {
    let roots =
        Roots { shell: SHELL, shell_words: words("bash -c line"), own: 1, words_after_line: 0 };
    let mut topology = Topology::new(roots, Pipes::default());
    let born = |pid, text: &str| Born { pid, parent: SHELL, words: words(text), ends: vec![] };
    let shell = Born { parent: 1, ..born(SHELL, "bash -c line") };
    let all = vec![shell, born(FIRST, "gzip"), born(SECOND, "md5sum")];
    let held = |pid, ends| HeldEnds { pid, ends };
    let helpers = [held(FIRST, vec![end(0, 8, false)]), held(SECOND, vec![end(63, 8, true)])];
    topology.take_in_census(&Census {
        born: all,
        ends: Some(helpers.to_vec()),
        at_ns: 0,
        ..Census::default()
    });
    let again =
        Census { born: vec![], ends: Some(helpers.to_vec()), at_ns: LATER, ..Census::default() };
    topology.take_in_census(&again);
    assert_eq!(holders(&topology, 8, End::Write), ["md5sum"], "nobody else could be the writer");
    let tee = held(STAGE, vec![end(63, 8, true), end(3, 8, true)]);
    let ends = Some([helpers.to_vec(), vec![tee]].concat());
    let born = vec![born(STAGE, "tee /dev/fd/63")];
    topology.take_in_census(&Census {
        born,
        ends: ends.clone(),
        at_ns: 2 * LATER,
        ..Census::default()
    });
    topology.take_in_census(&Census { born: vec![], ends, at_ns: 3 * LATER, ..Census::default() });
    assert_eq!(holders(&topology, 8, End::Write), ["tee /dev/fd/63"]);
}

/// Two copies of a process that a pipe joins for long, and what they run.
fn with_two_copies_of(text: &str) -> Topology {
    let roots =
        Roots { shell: SHELL, shell_words: words("sh -c line"), own: 1, words_after_line: 0 };
    let mut topology = Topology::new(roots, Pipes::default());
    let born = |pid, parent, text: &str| Born { pid, parent, words: words(text), ends: vec![] };
    let copies = [born(FIRST, STAGE, text), born(SECOND, STAGE, text)];
    let born = [vec![born(SHELL, 1, "sh -c line"), born(STAGE, SHELL, text)], copies.to_vec()];
    let ends = vec![
        HeldEnds { pid: FIRST, ends: vec![end(1, 8, true)] },
        HeldEnds { pid: SECOND, ends: vec![end(0, 8, false)] },
    ];
    topology.take_in_census(&Census {
        born: born.concat(),
        ends: Some(ends.clone()),
        at_ns: 0,
        ..Census::default()
    });
    topology.take_in_census(&Census {
        born: vec![],
        ends: Some(ends),
        at_ns: LATER,
        ..Census::default()
    });
    topology
}

#[test]
fn a_pool_of_workers_is_one_stage_and_the_copies_of_a_shell_are_several() {
    assert_eq!(working(&with_two_copies_of("python3 pool.py")), ["python3 pool.py"]);
    let copies = working(&with_two_copies_of("bash -c loops"));
    assert_eq!(copies, ["bash -c loops", "bash -c loops"]);
}

#[test]
fn nobody_begins_while_all_are_stopped() {
    let began_ns = |all_were_stopped| {
        let roots =
            Roots { shell: SHELL, shell_words: words("sh -c line"), own: 1, words_after_line: 0 };
        let mut topology = Topology::new(roots, Pipes::new(BTreeSet::new()));
        let born = |pid, parent| Born { pid, parent, words: words("sh -c line"), ends: vec![] };
        topology.take_in_census(&Census { born: vec![born(SHELL, 1)], ..Census::default() });
        topology.take_in_look(&Look { at_ns: 10 * MS, ..Look::default() });
        let born = vec![born(STAGE, SHELL)];
        topology.take_in_census(&Census { at_ns: 1010 * MS, born, all_were_stopped, ends: None });
        topology.stages[1].start_ns
    };
    assert_eq!((began_ns(true), began_ns(false)), (10 * MS, 510 * MS));
}
