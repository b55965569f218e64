//! What the samples are made of: stages, pipes and timelines with numbers that are easy to recognise.

use std::collections::BTreeMap;

use fullbore_measure::Host;
use fullbore_record::{
    AdvicePart, Cause, CommandIs, Finding, FindingKind, PipeRecord, RunRecord, SCHEMA, StageRecord,
    StageTimeline, Timeline,
};

/// What a stage does, in percent: running, runnable, reading, writing, other.
pub(super) type Shares = [f64; 5];

pub(super) fn host() -> Host {
    Host {
        name: "build-7".into(),
        kernel: "6.18.2".into(),
        cpu: "AMD EPYC 7B13".into(),
        cpus: 2,
        memory_bytes: 24 << 30,
        page_bytes: 4096,
        pipe_max_bytes: Some(1 << 20),
        pipe_user_pages_soft: Some(16384),
    }
}

pub(super) fn run(command: &str, elapsed_ns: u64, bound_ns: u64) -> RunRecord {
    let mut record = RunRecord::default();
    record.schema = SCHEMA.into();
    record.fullbore_version = "0.1.0".into();
    record.command = command.into();
    record.started_unix_ns = 1_767_225_600_000_000_000;
    record.elapsed_ns = elapsed_ns;
    record.bound_ns = bound_ns;
    record.overlap_percent = Some(12.4);
    record.parallelism = 1.11;
    record.observer_cpu_ns = elapsed_ns / 150;
    record.samples = 562;
    record.host = host();
    record.exit_status = Some(0);
    record
}

pub(super) fn stage(
    number: u32,
    command: &str,
    life_ns: u64,
    shares: Shares,
    moved: (u64, u64),
) -> StageRecord {
    let mut stage = StageRecord::default();
    stage.stage = number;
    stage.pid = 41_000 + i32::try_from(number).unwrap_or(0);
    stage.command = command.into();
    stage.processes = 1;
    stage.threads = 1;
    stage.start_ns = 1_200_000 * u64::from(number);
    stage.life_ns = life_ns;
    stage.cpu_ns = (life_ns as f64 * shares[0] / 100.0) as u64;
    stage.running_percent = shares[0];
    stage.runnable_percent = shares[1];
    stage.blocked_reading_percent = Some(shares[2]);
    stage.blocked_writing_percent = Some(shares[3]);
    stage.blocked_other_percent = shares[4];
    if shares[4] > 0.0 {
        stage.blocked_other_causes = BTreeMap::from([(Cause::Disk, shares[4])]);
    }
    stage.read_bytes = Some(moved.0);
    stage.written_bytes = Some(moved.1);
    stage.read_calls = Some(moved.0 / 65536 + 1);
    stage.write_calls = Some(moved.1 / 4096);
    stage.peak_memory_bytes = Some(3_400_000 * u64::from(number));
    stage.exit_status = Some(0);
    stage.words = shell_words::split(command).unwrap_or_default();
    if command.starts_with("while ") || command.starts_with('(') {
        stage.command_is = CommandIs::ShellText;
    }
    stage
}

pub(super) fn pipe(
    number: u32,
    writer: u32,
    reader: u32,
    blocked: (f64, f64),
    life_ns: u64,
) -> PipeRecord {
    let mut pipe = PipeRecord::default();
    pipe.pipe = number;
    pipe.writers = vec![writer];
    pipe.readers = vec![reader];
    pipe.initial_capacity_bytes = Some(65536);
    pipe.capacity_bytes = Some(65536);
    pipe.writer_blocked_percent = Some(blocked.0);
    pipe.reader_blocked_percent = Some(blocked.1);
    pipe.life_ns = life_ns;
    pipe
}

/// A repeatable number in 0..1 for a place.
pub(super) fn noise(a: u64, b: u64) -> f64 {
    let mixed = (a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_mul(0xc2b2_ae3d_27d4_eb4f))
        .wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed >> 40) as f64 / f64::from(1_u32 << 24)
}

/// A timeline of `steps` steps in which each stage strays around its shares.
pub(super) fn timeline(record: &RunRecord, steps: usize) -> Timeline {
    let step_ns = record.elapsed_ns / steps as u64;
    let series = |stage: &StageRecord| {
        let shares = [
            stage.running_percent,
            stage.runnable_percent,
            stage.blocked_reading_percent.unwrap_or(0.0),
            stage.blocked_writing_percent.unwrap_or(0.0),
            stage.blocked_other_percent,
        ];
        let mut line = StageTimeline::default();
        line.stage = stage.stage;
        for step in 0..steps {
            let weights: Vec<f64> = shares
                .iter()
                .enumerate()
                .map(|(kind, share)| {
                    share * (0.55 + noise(u64::from(stage.stage) * 8 + kind as u64, step as u64))
                })
                .collect();
            let scale = 100.0 / weights.iter().sum::<f64>().max(1.0);
            let part = |kind: usize| ((weights[kind] * scale * 10.0).round() / 10.0) as f32;
            line.running.push(part(0));
            line.runnable.push(part(1));
            line.blocked_reading.push(part(2));
            line.blocked_writing.push(part(3));
            line.blocked_other.push(part(4));
            let pace = weights[0] / shares[0].max(0.1) / steps as f64;
            line.read_bytes.push((stage.read_bytes.unwrap_or(0) as f64 * pace) as u64);
            line.written_bytes.push((stage.written_bytes.unwrap_or(0) as f64 * pace) as u64);
        }
        line
    };
    let mut timeline = Timeline::default();
    timeline.step_ns = step_ns;
    timeline.stages = record.stages.iter().map(series).collect();
    timeline
}

/// A finding; what stands between backquotes in `advice` is a command.
pub(super) fn finding(
    kind: FindingKind,
    stage: Option<u32>,
    pipe: Option<u32>,
    message: &str,
    advice: &str,
) -> Finding {
    let part = |(place, part): (usize, &str)| {
        if place % 2 == 1 { AdvicePart::command(part) } else { AdvicePart::text(part) }
    };
    let pieces = advice.split('`').enumerate().filter(|(_, piece)| !piece.is_empty());
    Finding::new(kind, message)
        .about_stage(stage)
        .about_pipe(pipe)
        .with_advice(pieces.map(part).collect())
        .with_evidence(BTreeMap::from([
            ("running_percent".to_owned(), 99.1),
            ("upstream_blocked_writing_percent".to_owned(), 96.0),
        ]))
}
