//! Watching on a Linux that withholds facts, shown by folders laid out like its `/proc`.

use std::fs;

use fullbore_measure::Host;
use fullbore_pipe::Limits;
use tempfile::TempDir;

use super::*;
use crate::observed::Observed;
use crate::summarise::{Frame, record};
use crate::topology::Roots;
use crate::topology::pipes::Pipes;
use crate::tune::{Tuner, Tuning};

const OWN: i32 = 1;
const SHELL: i32 = 10;
const STAGE: i32 = 11;
const MS: u64 = 1_000_000;

/// A `/proc` in which a process has nothing but its `stat`.
struct Bare {
    folder: TempDir,
}

impl Bare {
    /// These processes, each with its parent.
    fn with(processes: &[(i32, i32)]) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        processes.iter().for_each(|(pid, parent)| place.show(*pid, *parent, 250));
        place
    }

    /// A process that sleeps and has run for so many clock ticks.
    fn show(&self, pid: i32, parent: i32, ticks: u64) {
        let task = self.folder.path().join(format!("{pid}/task/{pid}"));
        fs::create_dir_all(&task).unwrap();
        let line = format!(
            "{pid} (cat) S {parent} {pid} 9 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 98765 0 0\n"
        );
        fs::write(self.folder.path().join(format!("{pid}/stat")), &line).unwrap();
        fs::write(task.join("stat"), &line).unwrap();
    }

    fn sampler(&self, strangers: &[i32]) -> Sampler {
        Sampler::new(Root::at(self.folder.path()), OWN, strangers.iter().copied().collect(), None)
    }
}

fn topology() -> Topology {
    let roots =
        Roots { shell: SHELL, shell_words: vec!["sh".to_owned()], own: OWN, words_after_line: 0 };
    Topology::new(roots, Pipes::default())
}

fn found(census: &Census) -> Vec<(i32, i32)> {
    census.born.iter().map(|born| (born.parent, born.pid)).collect()
}

#[test]
fn without_lists_of_children_processes_are_found_by_their_parent() {
    // Two do not belong to the run: a child that fullbore had before it, and the child of a process elsewhere.
    let place =
        Bare::with(&[(OWN, 0), (SHELL, OWN), (STAGE, SHELL), (12, STAGE), (13, OWN), (14, 2)]);
    let mut sampler = place.sampler(&[13]);
    let census = sampler.census(&topology(), 0);
    assert_eq!(found(&census), [(OWN, SHELL), (SHELL, STAGE), (STAGE, 12)]);
    // One whose parent has ended is a child of fullbore by then.
    place.show(15, OWN, 0);
    let mut later = Vec::new();
    for sample in 1..=TASKS_INTERVAL {
        sampler.look(&topology(), sample * MS);
        later.extend(found(&sampler.census(&topology(), sample * MS)));
    }
    assert_eq!(later, [(OWN, 15)]);
}

#[test]
fn without_the_count_of_the_scheduler_cpu_time_comes_from_clock_ticks() {
    let place = Bare::with(&[(OWN, 0), (SHELL, OWN)]);
    let mut sampler = place.sampler(&[]);
    sampler.census(&topology(), 0);
    sampler.look(&topology(), 0);
    place.show(SHELL, OWN, 257);
    sampler.census(&topology(), 100 * MS);
    let look = sampler.look(&topology(), 100 * MS);
    let ProcessLook { has_ended, tasks, .. } = &look.processes[0];
    assert!(!has_ended, "it has no schedstat, but it lives");
    assert_eq!((tasks[0].running_ns, tasks[0].waiting_ns), (7 * sampler.tick_ns, 0));
}

#[test]
fn what_a_kernel_withholds_is_said_fact_by_fact() {
    let gaps_of = |folder: &str| {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../proc/fixtures");
        let root = Root::at(format!("{fixtures}/{folder}"));
        let gaps = Sampler::new(root, 4242, BTreeSet::new(), None).gaps().to_vec();
        // Fixtures leave out the folder of descriptors.
        gaps.into_iter().filter(|gap| !gap.starts_with("/proc/PID/fd: ")).collect::<Vec<_>>()
    };
    let times = "/proc/PID/schedstat: this kernel does not provide it: \
                 CPU time is known to a clock tick only; waiting for a CPU is unknown and counts as none";
    let others = [
        "/proc/PID/syscall: this kernel does not provide it: what stages wait for is unknown",
        "/proc/PID/io: this kernel does not provide it: bytes and calls are unknown",
        "/proc/PID/children: this kernel does not provide it: \
         processes are found by reading all of /proc, so short ones may be missed",
    ];
    assert_eq!(gaps_of("6.12-x86_64-without"), [&[times][..], &others[..]].concat());
    // It has the file, but counts nothing in it.
    assert_eq!(gaps_of("6.12-x86_64-uncounted"), [times]);
}

#[test]
fn where_nobodys_waits_are_shown_blocked_shares_are_unknown_from_the_first_sample() {
    let place = Bare::with(&[(OWN, 0), (SHELL, OWN), (STAGE, SHELL)]);
    let mut sampler = place.sampler(&[]);
    let tuner = Tuner::new(Tuning::Off, Limits::DEFAULT);
    let mut observed = Observed::new(topology(), 2, tuner);
    let host = Host::default();
    for sample in 1..=u64::from(UNSEEN_SAMPLES_MAX) + 1 {
        let census = sampler.census(&observed.topology, sample * MS);
        observed.take_in_census(&census);
        observed.take_in_look(&sampler.look(&observed.topology, sample * MS));
        let frame = Frame {
            command: "cat",
            started_unix_ns: 0,
            elapsed_ns: sample * MS,
            exit_status: None,
            job: None,
            cpu_ns: None,
            observer_cpu_ns: 0,
            idle_cpu_ns: None,
            wake_ups: crate::wake::WakeUps::default(),
            host: &host,
        };
        let (record, _) = record(&observed, &frame);
        let stage = record.stages.iter().find(|stage| stage.pid == STAGE).expect("a stage");
        let shares = (stage.blocked_reading_percent, stage.blocked_writing_percent);
        assert_eq!(shares, (None, None), "sample {sample}");
    }
    // The gap of the whole run says it; a sentence for each process would blame its owner.
    assert!(observed.gaps.is_empty(), "{:?}", observed.gaps);
}

#[test]
fn where_waits_are_shown_a_process_counts_as_closed_only_after_some_samples() {
    let place = Bare::with(&[(OWN, 0), (SHELL, OWN)]);
    fs::write(place.folder.path().join("1/task/1/syscall"), "running\n").unwrap();
    let mut sampler = place.sampler(&[]);
    sampler.census(&topology(), 0);
    let looks = (1..=UNSEEN_SAMPLES_MAX + 1).map(|sample| {
        let look = sampler.look(&topology(), u64::from(sample) * MS);
        (look.processes[0].waits_are_hidden, look.processes[0].waits_are_withheld)
    });
    let looks: Vec<_> = looks.collect();
    let at_first = [(false, false); UNSEEN_SAMPLES_MAX as usize - 1];
    assert_eq!(looks, [&at_first[..], &[(true, false), (false, false)]].concat());
}
