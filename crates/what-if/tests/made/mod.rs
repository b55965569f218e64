//! Records made by hand.

use fullbore_record::{PipeRecord, RunRecord, SCHEMA, StageRecord, StageTimeline};

/// A millisecond.
pub(crate) const MS: u64 = 1_000_000;

/// Length of a step.
const STEP_NS: u64 = 10 * MS;

/// Some steps in which a stage does the same; shares in percent, bytes for each step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Phase {
    pub(crate) steps: usize,
    pub(crate) running: f32,
    pub(crate) runnable: f32,
    pub(crate) reading: f32,
    pub(crate) writing: f32,
    pub(crate) other: f32,
    pub(crate) read: u64,
    pub(crate) written: u64,
}

#[allow(dead_code, reason = "each test uses what it needs")]
impl Phase {
    pub(crate) fn steps(steps: usize) -> Self {
        Self { steps, ..Self::default() }
    }

    pub(crate) fn runs(self, running: f32) -> Self {
        Self { running, ..self }
    }

    pub(crate) fn waits_for_a_cpu(self, runnable: f32) -> Self {
        Self { runnable, ..self }
    }

    pub(crate) fn waits_in(self, reading: f32) -> Self {
        Self { reading, ..self }
    }

    pub(crate) fn waits_out(self, writing: f32) -> Self {
        Self { writing, ..self }
    }

    pub(crate) fn waits_elsewhere(self, other: f32) -> Self {
        Self { other, ..self }
    }

    pub(crate) fn reads(self, read: u64) -> Self {
        Self { read, ..self }
    }

    pub(crate) fn writes(self, written: u64) -> Self {
        Self { written, ..self }
    }
}

/// A record in the making. Each stage reads from the one before, unless it stands apart.
pub(crate) struct Made {
    record: RunRecord,
    is_apart: bool,
}

#[allow(dead_code, reason = "each test uses what it needs")]
impl Made {
    /// A run on so many CPUs; 0 when their number is unknown.
    pub(crate) fn new(cpus: u32) -> Self {
        let mut record = RunRecord::default();
        record.schema = SCHEMA.to_owned();
        record.host.cpus = cpus;
        record.timeline.step_ns = STEP_NS;
        Self { record, is_apart: true }
    }

    /// The next stage reads no pipe.
    pub(crate) fn apart(mut self) -> Self {
        self.is_apart = true;
        self
    }

    /// Adds a stage that does this.
    pub(crate) fn stage(mut self, phases: &[Phase]) -> Self {
        let number = u32::try_from(self.record.stages.len() + 1).unwrap();
        let mut series = StageTimeline::default();
        series.stage = number;
        for phase in phases.iter().flat_map(|phase| std::iter::repeat_n(phase, phase.steps)) {
            series.running.push(phase.running);
            series.runnable.push(phase.runnable);
            series.blocked_reading.push(phase.reading);
            series.blocked_writing.push(phase.writing);
            series.blocked_other.push(phase.other);
            series.read_bytes.push(phase.read);
            series.written_bytes.push(phase.written);
        }
        let sum_ns = |shares: &[f32]| -> f64 {
            shares.iter().map(|percent| f64::from(*percent) / 100.0 * STEP_NS as f64).sum()
        };
        let lived = |place: &usize| {
            let shares = [&series.running, &series.runnable, &series.blocked_reading];
            let more = [&series.blocked_writing, &series.blocked_other];
            shares.iter().chain(&more).any(|shares| shares[*place] > 0.0)
        };
        let steps: Vec<usize> = (0..series.running.len()).filter(lived).collect();
        let (first, last) =
            (steps.first().copied().unwrap_or(0), steps.last().map_or(0, |last| last + 1));
        let mut stage = StageRecord::default();
        stage.stage = number;
        stage.threads = 1;
        stage.processes = 1;
        stage.start_ns = first as u64 * STEP_NS;
        stage.life_ns = (last - first) as u64 * STEP_NS;
        stage.cpu_ns = sum_ns(&series.running).round() as u64;
        self.record.elapsed_ns = self.record.elapsed_ns.max(last as u64 * STEP_NS);
        if !self.is_apart {
            self.pipe(number, sum_ns(&series.blocked_reading), stage.life_ns);
        }
        self.is_apart = false;
        self.record.stages.push(stage);
        self.record.timeline.stages.push(series);
        self
    }

    fn pipe(&mut self, reader: u32, reading_ns: f64, life_ns: u64) {
        let before = self.record.timeline.stages.last().unwrap();
        let writing_ns: f64 = (before.blocked_writing.iter())
            .map(|percent| f64::from(*percent) / 100.0 * STEP_NS as f64)
            .sum();
        let mut pipe = PipeRecord::default();
        pipe.pipe = u32::try_from(self.record.pipes.len() + 1).unwrap();
        pipe.writers = vec![reader - 1];
        pipe.readers = vec![reader];
        pipe.initial_capacity_bytes = Some(64 << 10);
        pipe.capacity_bytes = Some(64 << 10);
        pipe.life_ns = life_ns;
        pipe.reader_blocked_percent = Some(reading_ns / life_ns as f64 * 100.0);
        pipe.writer_blocked_percent = Some(writing_ns / life_ns as f64 * 100.0);
        self.record.pipes.push(pipe);
    }

    pub(crate) fn record(self) -> RunRecord {
        self.record
    }
}
