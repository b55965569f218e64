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
    let roots = Roots { shell: SHELL, shell_words: words("sh -c line"), own: 1 };
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
    topology.take_in_look(&Look { at_ns: 21 * MS, processes: vec![process], capacities: vec![] });
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
    topology.note_use(stage, key, End::Write);
    topology.take_in_census(&census(30 * MS, vec![]));
    assert!(has_writers(&topology, pipe));
}
