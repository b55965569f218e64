//! Made-up pipelines, for the tests and the demonstration.
#![allow(dead_code, reason = "each user takes its own part")]
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small and made up")]

use fullbore_record::{
    AdvicePart, Cause, Finding, FindingKind, Outcome, PipeRecord, Snapshot, StageRecord,
    StageTimeline, TuningRecord,
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
    let mut snapshot = Snapshot::default();
    snapshot.pipe_fill_bytes = (0..pipes.len()).map(fill).collect();
    snapshot.stage_is_alive = vec![true; HABITS.len()];
    let record = &mut snapshot.record;
    record.elapsed_ns = elapsed_ns;
    record.parallelism = 1.52;
    record.host.cpus = 2;
    record.tuning = pipes
        .iter()
        .filter(|pipe| pipe.capacity_bytes > pipe.initial_capacity_bytes)
        .map(tuning)
        .collect();
    if steps > 4 {
        record.findings.push(finding());
    }
    record.timeline.step_ns = STEP_NS;
    record.timeline.stages = timelines;
    record.stages = stages;
    record.pipes = pipes;
    snapshot
}

fn stage_timeline(habit: &Habit, index: usize, steps: usize) -> StageTimeline {
    let [running, runnable, reading, writing, other] = habit.shares;
    let bytes = |rate: f64| {
        (0..steps).map(|step| (rate / 4.0 * (1.0 + 0.5 * wobble(step, index))) as u64).collect()
    };
    let mut line = StageTimeline::default();
    line.stage = index as u32 + 1;
    line.running = vec![running; steps];
    line.runnable = vec![runnable; steps];
    line.blocked_reading = vec![reading; steps];
    line.blocked_writing = vec![writing; steps];
    line.blocked_other = vec![other; steps];
    line.read_bytes = bytes(habit.read_rate);
    line.written_bytes = bytes(habit.written_rate);
    line
}

fn stage(habit: &Habit, line: &StageTimeline, elapsed_ns: u64) -> StageRecord {
    let mut stage = StageRecord::default();
    stage.stage = line.stage;
    stage.command = habit.command.to_owned();
    stage.life_ns = elapsed_ns;
    stage.cpu_ns = (elapsed_ns as f64 * f64::from(habit.shares[0]) / 100.0) as u64;
    stage.blocked_other_causes = [(Cause::Disk, f64::from(habit.shares[4]))].into();
    stage.read_bytes = Some(line.read_bytes.iter().sum());
    stage.written_bytes = Some(line.written_bytes.iter().sum());
    stage
}

fn pipe(number: u32, steps: usize) -> PipeRecord {
    let is_tuned = number == 1 && steps > 8;
    let mut pipe = pipe_behind(number);
    pipe.initial_capacity_bytes = Some(64 << 10);
    pipe.capacity_bytes = Some(if is_tuned { 1 << 20 } else { 64 << 10 });
    pipe
}

/// The pipe from stage `number` to the next.
fn pipe_behind(number: u32) -> PipeRecord {
    let mut pipe = PipeRecord::default();
    pipe.pipe = number;
    pipe.writers = vec![number];
    pipe.readers = vec![number + 1];
    pipe
}

fn tuning(pipe: &PipeRecord) -> TuningRecord {
    TuningRecord::new(pipe.pipe, 2_000_000_000, 64 << 10, 1 << 20, Outcome::Kept)
        .with_reason("both its sides were starved in turn")
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
        let mut stage = StageRecord::default();
        stage.stage = number;
        stage.command = format!("filter --number {number}");
        let mut line = StageTimeline::default();
        line.stage = number;
        line.running = vec![running; 8];
        let record = &mut snapshot.record;
        record.stages.push(stage);
        record.timeline.stages.push(line);
        record.pipes.push(pipe_behind(number));
        snapshot.stage_is_alive.push(true);
    }
    snapshot
}
