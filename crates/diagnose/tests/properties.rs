//! Properties of `diagnose`: it never panics, and it finds the slowest stage of pipelines whose answer is known.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use fullbore_diagnose::diagnose;
use fullbore_measure::Host;
use fullbore_record::{
    Cause, CommandIs, FindingKind, Incident, Outcome, PipeRecord, RunRecord, StageRecord,
    StageTimeline, Timeline, TuningRecord, advice_text,
};
use proptest::prelude::*;

fn wild_percent() -> impl Strategy<Value = f64> {
    prop_oneof![8 => 0.0..101.0, 1 => any::<f64>()]
}

fn wild_count() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..100_000_000_000_u64, 1 => any::<u64>(), 1 => 0..3_u64]
}

fn cause() -> impl Strategy<Value = Cause> {
    prop::sample::select(vec![
        Cause::Disk,
        Cause::Network,
        Cause::LocalSocket,
        Cause::Terminal,
        Cause::Sleep,
        Cause::Lock,
        Cause::Event,
        Cause::Child,
        Cause::FifoPeer,
        Cause::Stopped,
        Cause::Unknown,
    ])
}

fn command() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "jq .a",
            "dd bs=1",
            "while read l; do\n echo $l; done",
            "sh -c x",
            "grep --line-buffered x",
            "sort",
            "",
            "/",
            "env",
            "A=1",
            "-",
            "python3 -u a",
            "xz -T0",
            "cat",
            "…",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,40}",
        "(?s).{0,40}",
    ]
}

prop_compose! {
    fn wild_stage()(
        stage in 0_u32..6, command in command(), processes in 0_u32..2000, pid in any::<i32>(), is_text in any::<bool>(),
        times in prop::array::uniform3(wild_count()), shares in prop::array::uniform3(wild_percent()),
        blocked in prop::array::uniform2(prop::option::of(wild_percent())),
        causes in prop::collection::btree_map(cause(), wild_percent(), 0..4),
        moved in prop::array::uniform4(prop::option::of(wild_count())),
    ) -> StageRecord {
        let mut record = StageRecord::default();
        record.stage = stage;
        record.pid = pid;
        record.processes = processes;
        record.threads = 1;
        record.words = command.split(' ').map(str::to_owned).collect();
        record.command = command;
        record.command_is = if is_text { CommandIs::ShellText } else { CommandIs::Program };
        [record.start_ns, record.life_ns, record.cpu_ns] = times;
        [record.running_percent, record.runnable_percent, record.blocked_other_percent] = shares;
        [record.blocked_reading_percent, record.blocked_writing_percent] = blocked;
        record.blocked_other_causes = causes;
        [record.read_bytes, record.written_bytes, record.read_calls, record.write_calls] = moved;
        record
    }
}

prop_compose! {
    fn wild_pipe()(
        pipe in 0_u32..6, writers in prop::collection::vec(0_u32..7, 0..3), readers in prop::collection::vec(0_u32..7, 0..3),
        outside in any::<(bool, bool)>(), capacities in prop::array::uniform2(prop::option::of(wild_count())),
        blocked in prop::array::uniform2(prop::option::of(wild_percent())), life_ns in wild_count(),
    ) -> PipeRecord {
        let mut record = PipeRecord::default();
        record.pipe = pipe;
        record.writers = writers;
        record.readers = readers;
        (record.outside_writer, record.outside_reader) = outside;
        [record.initial_capacity_bytes, record.capacity_bytes] = capacities;
        [record.writer_blocked_percent, record.reader_blocked_percent] = blocked;
        record.life_ns = life_ns;
        record
    }
}

fn wild_incident() -> impl Strategy<Value = Incident> {
    prop_oneof![
        (0_u32..7, 0_u32..7, prop::option::of(0_u32..7), any::<i32>(), command(), wild_count())
            .prop_map(
                |(pipe, waiting_stage, holder_stage, holder_pid, holder_command, lasted_ns)| {
                    Incident::LeakedEnd {
                        pipe,
                        waiting_stage,
                        holder_stage,
                        holder_pid,
                        holder_command,
                        lasted_ns,
                    }
                }
            ),
        (
            prop::collection::vec(0_u32..7, 0..4),
            prop::collection::vec(0_u32..7, 0..4),
            wild_count(),
            any::<bool>()
        )
            .prop_map(|(stages, pipes, lasted_ns, to_the_end)| Incident::Deadlock {
                stages,
                pipes,
                lasted_ns,
                to_the_end
            }),
        (prop::option::of(0_u32..7), wild_count())
            .prop_map(|(stage, lasted_ns)| Incident::Stalled { stage, lasted_ns }),
    ]
}

prop_compose! {
    fn wild_tuning()(
        pipe in 0_u32..7, at_ns in wild_count(), sizes in prop::array::uniform2(wild_count()), reason in command(),
        outcome in prop::sample::select(vec![Outcome::Kept, Outcome::Reverted, Outcome::Refused]),
    ) -> TuningRecord {
        TuningRecord::new(pipe, at_ns, sizes[0], sizes[1], outcome).with_reason(reason)
    }
}

prop_compose! {
    fn wild_timeline()(
        start_ns in wild_count(), step_ns in wild_count(),
        stages in prop::collection::vec(
            (0_u32..6, prop::collection::vec(any::<f32>(), 0..12), prop::collection::vec(0_f32..100.0, 0..12)), 0..5)
    ) -> Timeline {
        let mut timeline = Timeline::default();
        timeline.start_ns = start_ns;
        timeline.step_ns = step_ns;
        for (stage, blocked_writing, blocked_reading) in stages {
            let mut line = StageTimeline::default();
            line.stage = stage;
            line.blocked_writing = blocked_writing;
            line.blocked_reading = blocked_reading;
            line.read_bytes = vec![start_ns; 9];
            line.written_bytes = vec![step_ns; 9];
            timeline.stages.push(line);
        }
        timeline
    }
}

prop_compose! {
    fn wild_record()(
        command in command(), times in (wild_count(), wild_count()), overlap_percent in prop::option::of(wild_percent()),
        cpus in prop_oneof![0_u32..9, any::<u32>()], limits in prop::array::uniform2(prop::option::of(wild_count())),
        stages in prop::collection::vec(wild_stage(), 0..6), pipes in prop::collection::vec(wild_pipe(), 0..6),
        incidents in prop::collection::vec(wild_incident(), 0..3), tuning in prop::collection::vec(wild_tuning(), 0..4),
        timeline in wild_timeline(),
    ) -> RunRecord {
        let mut record = RunRecord::default();
        record.command = command;
        (record.elapsed_ns, record.samples) = times;
        record.overlap_percent = overlap_percent;
        record.host = Host { cpus, pipe_max_bytes: limits[0], pipe_user_pages_soft: limits[1], ..Host::default() };
        record.stages = stages;
        record.pipes = pipes;
        record.incidents = incidents;
        record.tuning = tuning;
        record.timeline = timeline;
        record
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_the_record_says_the_findings_are_sound(record in wild_record()) {
        for finding in diagnose(&record) {
            prop_assert!(finding.stage.is_none_or(|n| record.stages.iter().any(|s| s.stage == n)));
            prop_assert!(finding.pipe.is_none_or(|n| record.pipes.iter().any(|p| p.pipe == n)));
            prop_assert!(finding.message.ends_with('.'), "{}", finding.message);
            prop_assert!(!finding.message.contains(char::is_control), "{:?}", finding.message);
            let advice = advice_text(&finding.advice);
            prop_assert!(!advice.contains(char::is_control), "{advice:?}");
            prop_assert!(!finding.evidence.is_empty());
            for (name, value) in &finding.evidence {
                prop_assert!(value.is_finite(), "{name}");
                let units = ["_ns", "_percent", "_bytes", "_calls", "_count", "_cpus", "_number", "_pages"];
                prop_assert!(units.iter().any(|unit| name.ends_with(unit)), "{name}");
            }
        }
    }
}

/// `percent` of the ten seconds that a steady chain lives.
#[expect(clippy::cast_possible_truncation, reason = "a percentage")]
fn ns(percent: f64) -> u64 {
    (percent * 1e8) as u64
}

/// A chain of stages that work steadily: `work[i]` is the share of the time that stage `i` is busy.
///
/// Stages before the slowest are blocked writing for the rest of the time, stages after it blocked reading;
/// `noise` moves some of it, and part of the busy time is spent waiting for a CPU or for `cause`.
fn steady_chain(work: &[f64], cause: Option<Cause>, noise: &[f64]) -> RunRecord {
    const LIFE_NS: u64 = 10_000_000_000;
    let slowest = (0..work.len()).max_by(|&a, &b| work[a].total_cmp(&work[b])).unwrap();
    let mut record = RunRecord::default();
    record.elapsed_ns = LIFE_NS + 30_000_000;
    record.samples = 400;
    record.host.cpus = 16;
    for (index, &share) in work.iter().enumerate() {
        let noise = noise[index];
        let busy = (share * 97.0 + noise).clamp(0.0, 100.0);
        let waits = 100.0 - busy;
        let elsewhere = if index == slowest { waits / 2.0 } else { waits * noise.abs() / 20.0 };
        let (reading, writing) = if index <= slowest {
            (elsewhere, waits - elsewhere)
        } else {
            (waits - elsewhere, elsewhere)
        };
        let in_cause = cause.filter(|_| index == slowest).map(|cause| (cause, busy * 0.8));
        let on_cpu = busy - in_cause.map_or(0.0, |(_, percent)| percent);
        let mut stage = StageRecord::default();
        stage.stage = u32::try_from(index).unwrap() + 1;
        stage.command = format!("program{index} --fast");
        stage.words = vec![format!("program{index}"), "--fast".to_owned()];
        stage.life_ns = LIFE_NS;
        stage.cpu_ns = ns(on_cpu);
        stage.running_percent = on_cpu * 0.95;
        stage.runnable_percent = on_cpu * 0.05;
        stage.blocked_reading_percent = Some(reading);
        stage.blocked_writing_percent = Some(writing);
        stage.blocked_other_percent = in_cause.map_or(0.0, |(_, percent)| percent);
        stage.blocked_other_causes = in_cause.into_iter().collect::<BTreeMap<_, _>>();
        stage.read_bytes = Some(1 << 30);
        stage.written_bytes = Some(1 << 30);
        record.stages.push(stage);
    }
    for (index, pair) in record.stages.windows(2).enumerate() {
        let mut pipe = PipeRecord::default();
        pipe.pipe = u32::try_from(index).unwrap() + 1;
        pipe.writers = vec![pair[0].stage];
        pipe.readers = vec![pair[1].stage];
        pipe.initial_capacity_bytes = Some(65536);
        pipe.capacity_bytes = Some(65536);
        pipe.writer_blocked_percent = pair[0].blocked_writing_percent;
        pipe.reader_blocked_percent = pair[1].blocked_reading_percent;
        pipe.life_ns = LIFE_NS;
        record.pipes.push(pipe);
    }
    record
}

proptest! {
    #[test]
    fn the_slowest_of_steady_stages_is_the_verdict(
        others in prop::collection::vec(0.01_f64..0.85, 1..6), place in any::<prop::sample::Index>(),
        noise in prop::collection::vec(-3.0_f64..3.0, 7),
        cause in prop::option::of(prop::sample::select(vec![Cause::Sleep, Cause::Lock, Cause::Child, Cause::Disk, Cause::Network])),
    ) {
        let slowest = place.index(others.len() + 1);
        let mut work = others;
        work.insert(slowest, 1.0);
        let findings = diagnose(&steady_chain(&work, cause, &noise));
        let verdict = &findings[0];
        prop_assert_eq!(verdict.stage, Some(u32::try_from(slowest).unwrap() + 1), "{}", &verdict.message);
        let is_device = matches!(cause, Some(Cause::Disk | Cause::Network | Cause::Sleep));
        let kind = match slowest {
            0 if is_device => FindingKind::SourceBound,
            last if last + 1 == work.len() && is_device => FindingKind::SinkBound,
            _ => FindingKind::Bottleneck,
        };
        prop_assert_eq!(verdict.kind, kind);
        prop_assert!(findings.iter().skip(1).all(|f| f.kind != FindingKind::Bottleneck));
    }

    #[test]
    fn equal_stages_on_too_few_cpus_starve(stages in 3_usize..8, work in 0.9_f64..1.0) {
        let cpus = 2.0;
        let share = cpus / stages as f64;
        let mut record = steady_chain(&vec![work; stages], None, &[0.0; 8]);
        record.host.cpus = 2;
        for stage in &mut record.stages {
            let busy = stage.running_percent + stage.runnable_percent;
            stage.running_percent = share * 97.0;
            stage.runnable_percent = busy - stage.running_percent;
            stage.cpu_ns = ns(share * 97.0);
        }
        let findings = diagnose(&record);
        prop_assert_eq!(findings[0].kind, FindingKind::CpuStarved, "{}", &findings[0].message);
        prop_assert_eq!(findings.len(), 1);
    }
}
