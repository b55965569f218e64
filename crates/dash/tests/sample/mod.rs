//! Made-up pipelines, for the tests and the demonstration.
#![allow(dead_code, reason = "each user takes its own part")]
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small and made up")]

use fullbore_measure::Host;
use fullbore_record::{
    AdvicePart, Cause, Finding, FindingKind, Outcome, PipeRecord, RunRecord, Snapshot, StageRecord,
    StageTimeline, Timeline, TuningRecord,
};

/// Length of a step of the made-up timelines.
const STEP_NS: u64 = 250_000_000;

/// What a made-up stage does all the time.
struct Habit {
    command: &'static str,
    /// Running, runnable, blocked reading, blocked writing, blocked on something else, in percent.
    shares: [f32; 5],
    read_rate: f64,
    written_rate: f64,
}

const HABITS: [Habit; 5] = [
    Habit {
        command: "zstdcat /data/logs/2024-11.json.zst",
        shares: [31.0, 4.0, 0.0, 55.0, 10.0],
        read_rate: 14e6,
        written_rate: 134e6,
    },
    Habit {
        command: "jq -r '.user.id // empty'",
        shares: [93.0, 5.0, 2.0, 0.0, 0.0],
        read_rate: 134e6,
        written_rate: 9.6e6,
    },
    Habit {
        command: "grep -v '^anon'",
        shares: [6.0, 1.0, 93.0, 0.0, 0.0],
        read_rate: 9.6e6,
        written_rate: 9.1e6,
    },
    Habit {
        command: "sort -u -S 1G",
        shares: [22.0, 2.0, 48.0, 0.0, 28.0],
        read_rate: 9.1e6,
        written_rate: 0.0,
    },
    Habit {
        command: "wc -l",
        shares: [0.0, 0.0, 100.0, 0.0, 0.0],
        read_rate: 0.0,
        written_rate: 0.0,
    },
];

/// A number between -1 and 1 that looks like chance and is always the same for the same arguments.
fn wobble(step: usize, stage: usize) -> f64 {
    let phase = step as f64 * 0.37 + stage as f64 * 1.9;
    0.6 * phase.sin() + 0.4 * (phase * 2.7).sin()
}

/// The pipeline of the demonstration, `steps` quarters of a second after its start.
pub(crate) fn pipeline(steps: usize) -> Snapshot {
    let elapsed_ns = steps as u64 * STEP_NS;
    let timelines: Vec<_> = HABITS
        .iter()
        .enumerate()
        .map(|(index, habit)| stage_timeline(habit, index, steps))
        .collect();
    let stages: Vec<_> =
        HABITS.iter().zip(&timelines).map(|(habit, line)| stage(habit, line, elapsed_ns)).collect();
    let pipes: Vec<_> = (1..HABITS.len() as u32).map(|number| pipe(number, steps)).collect();
    let fill = |pipe: usize| {
        let capacity = pipes[pipe].capacity_bytes.unwrap_or(0) as f64;
        Some(
            (capacity * [0.97, 0.12, 0.05, 0.0][pipe] * (1.0 + 0.03 * wobble(steps, pipe)).min(1.0))
                as u64,
        )
    };
    Snapshot {
        pipe_fill_bytes: (0..pipes.len()).map(fill).collect(),
        stage_is_alive: vec![true; HABITS.len()],
        record: RunRecord {
            elapsed_ns,
            parallelism: 1.52,
            host: Host { cpus: 2, ..Host::default() },
            tuning: pipes
                .iter()
                .filter(|pipe| pipe.capacity_bytes > pipe.initial_capacity_bytes)
                .map(tuning)
                .collect(),
            findings: if steps > 4 { vec![finding()] } else { Vec::new() },
            timeline: Timeline { start_ns: 0, step_ns: STEP_NS, stages: timelines },
            stages,
            pipes,
            ..RunRecord::default()
        },
    }
}

fn stage_timeline(habit: &Habit, index: usize, steps: usize) -> StageTimeline {
    let [running, runnable, reading, writing, other] = habit.shares;
    let bytes = |rate: f64| {
        (0..steps).map(|step| (rate / 4.0 * (1.0 + 0.5 * wobble(step, index))) as u64).collect()
    };
    StageTimeline {
        stage: index as u32 + 1,
        running: vec![running; steps],
        runnable: vec![runnable; steps],
        blocked_reading: vec![reading; steps],
        blocked_writing: vec![writing; steps],
        blocked_other: vec![other; steps],
        read_bytes: bytes(habit.read_rate),
        written_bytes: bytes(habit.written_rate),
    }
}

fn stage(habit: &Habit, line: &StageTimeline, elapsed_ns: u64) -> StageRecord {
    StageRecord {
        stage: line.stage,
        command: habit.command.to_owned(),
        life_ns: elapsed_ns,
        cpu_ns: (elapsed_ns as f64 * f64::from(habit.shares[0]) / 100.0) as u64,
        blocked_other_causes: [(Cause::Disk, f64::from(habit.shares[4]))].into(),
        read_bytes: Some(line.read_bytes.iter().sum()),
        written_bytes: Some(line.written_bytes.iter().sum()),
        ..StageRecord::default()
    }
}

fn pipe(number: u32, steps: usize) -> PipeRecord {
    let is_tuned = number == 1 && steps > 8;
    PipeRecord {
        pipe: number,
        writers: vec![number],
        readers: vec![number + 1],
        initial_capacity_bytes: Some(64 << 10),
        capacity_bytes: Some(if is_tuned { 1 << 20 } else { 64 << 10 }),
        ..PipeRecord::default()
    }
}

fn tuning(pipe: &PipeRecord) -> TuningRecord {
    TuningRecord {
        pipe: pipe.pipe,
        at_ns: 2_000_000_000,
        from_bytes: 64 << 10,
        to_bytes: 1 << 20,
        outcome: Outcome::Kept,
        reason: "both its sides were starved in turn".to_owned(),
    }
}

fn finding() -> Finding {
    let message = "jq is on a CPU 93 % of the time; zstdcat waits for it 55 % of the time.";
    Finding::new(FindingKind::Bottleneck, message).about_stage(2).with_advice(vec![
        AdvicePart::text("Run several at once, if its lines are independent: "),
        AdvicePart::command("parallel -q --pipe -k jq -r '.user.id // empty'"),
        AdvicePart::text("."),
    ])
}

/// Marks stages as ended, with an exit status each.
pub(crate) fn end(snapshot: &mut Snapshot, ended: &[(usize, i32)]) {
    for &(index, exit_status) in ended {
        snapshot.stage_is_alive[index] = false;
        snapshot.record.stages[index].exit_status = Some(exit_status);
    }
}

/// A pipeline of `count` stages.
pub(crate) fn long_pipeline(count: u32) -> Snapshot {
    let mut snapshot = Snapshot::default();
    snapshot.record.timeline.step_ns = STEP_NS;
    for number in 1..=count {
        let running = ((number * 37) % 100) as f32;
        let record = &mut snapshot.record;
        record.stages.push(StageRecord {
            stage: number,
            command: format!("filter --number {number}"),
            ..StageRecord::default()
        });
        record.timeline.stages.push(StageTimeline {
            stage: number,
            running: vec![running; 8],
            ..StageTimeline::default()
        });
        record.pipes.push(PipeRecord {
            pipe: number,
            writers: vec![number],
            readers: vec![number + 1],
            ..PipeRecord::default()
        });
        snapshot.stage_is_alive.push(true);
    }
    snapshot
}
