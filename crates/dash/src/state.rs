//! What the view knows: pure, so that every screen can be tested.

use std::collections::VecDeque;

use fullbore_measure::Bytes;
use fullbore_record::{Finding, Outcome, RunRecord, Snapshot, StageRecord, advice_text};

use crate::layout;
use crate::recent::{Activity, Flow};
use crate::shown::{Shown, ShownPipe, ShownStage, Verdict};
use crate::text::neutralise;
use crate::{Event, Palette, TerminalSize};

/// Everything the view shows, digested from the last [`Snapshot`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub(crate) palette: Palette,
    pub(crate) shown: Option<Shown>,
    size: TerminalSize,
    height: u16,
    is_suspended: bool,
    cpu_times: VecDeque<CpuTime>,
}

/// CPU time of all stages at some moment.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CpuTime {
    elapsed_ns: u64,
    cpu_ns: u64,
}

impl State {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(size: TerminalSize, palette: Palette) -> Self {
        Self { size, palette, ..Self::default() }
    }

    /// Takes in what happened.
    pub fn update(&mut self, event: Event<'_>) {
        match event {
            Event::Snapshot(snapshot) => self.take_in(snapshot),
            Event::Resize(size) if size != self.size => {
                self.size = size;
                self.height = 0;
            }
            Event::Resize(_) => {}
            Event::Suspend => self.is_suspended = true,
            Event::Resume => self.is_suspended = false,
        }
        // The view never shrinks by itself: lines that come and go would make the rest jump.
        self.height =
            self.height.max(self.wanted_height()).min(layout::height_limit(self.size.rows));
    }

    /// Columns the view may draw in: one less than the terminal has, because writing the last one may wrap.
    #[must_use]
    pub fn width(&self) -> u16 {
        self.size.columns.saturating_sub(1)
    }

    /// Lines the view needs below the line on which the stages' own messages appear; 0 when there is nothing to draw.
    #[must_use]
    pub fn height(&self) -> u16 {
        if self.is_suspended || self.shown.is_none() || self.width() == 0 { 0 } else { self.height }
    }

    fn wanted_height(&self) -> u16 {
        self.shown.as_ref().map_or(0, |shown| layout::wanted_height(shown, self.width()))
    }

    fn take_in(&mut self, snapshot: &Snapshot) {
        let record = &snapshot.record;
        let stages = record.stages.iter().enumerate();
        let stages: Vec<ShownStage> =
            stages.map(|(index, stage)| shown_stage(snapshot, index, stage)).collect();
        // A stage that has ended holds nothing back any more.
        let is_over = |finding: &&Finding| {
            stages.iter().any(|stage| Some(stage.number) == finding.stage && !stage.is_alive)
        };
        let verdict = record.findings.iter().find(|finding| !is_over(finding)).map(verdict);
        self.shown = Some(Shown {
            elapsed_ns: record.elapsed_ns,
            cpus: record.host.cpus,
            cpus_in_use: self.cpus_in_use(record),
            stages,
            verdict,
        });
    }

    /// CPU seconds per second since about a second ago; since the start, while there is no older snapshot.
    fn cpus_in_use(&mut self, record: &RunRecord) -> f64 {
        let now = CpuTime {
            elapsed_ns: record.elapsed_ns,
            cpu_ns: record.stages.iter().fold(0, |sum, stage| sum.saturating_add(stage.cpu_ns)),
        };
        let is_old =
            |time: &CpuTime| now.elapsed_ns.saturating_sub(time.elapsed_ns) >= 1_000_000_000;
        while self.cpu_times.get(1).is_some_and(is_old)
            || self.cpu_times.front().is_some_and(|t| t.elapsed_ns > now.elapsed_ns)
        {
            self.cpu_times.pop_front();
        }
        // An idle pipeline is the same every time.
        if self.cpu_times.back() != Some(&now) {
            self.cpu_times.push_back(now);
        }
        match self.cpu_times.front() {
            Some(then) if is_old(then) => {
                now.cpu_ns.saturating_sub(then.cpu_ns) as f64
                    / (now.elapsed_ns - then.elapsed_ns) as f64
            }
            _ => record.parallelism,
        }
    }
}

fn shown_stage(snapshot: &Snapshot, index: usize, stage: &StageRecord) -> ShownStage {
    let timeline = &snapshot.record.timeline;
    let line = timeline.stages.get(index).filter(|line| line.stage == stage.stage);
    let line = line.or_else(|| timeline.stages.iter().find(|line| line.stage == stage.stage));
    let handled = stage.read_bytes.max(stage.written_bytes);
    ShownStage {
        number: stage.stage,
        command: neutralise(&stage.title()),
        is_alive: snapshot
            .stage_is_alive
            .get(index)
            .copied()
            .unwrap_or(stage.exit_status.is_none()),
        exit_status: stage.exit_status,
        activity: line.map(|line| Activity::now(line, timeline.step_ns)).unwrap_or_default(),
        cause: stage
            .blocked_other_causes
            .iter()
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .map(|(cause, _)| *cause),
        flow: line.filter(|_| handled.is_some()).map(|line| Flow::of(line, timeline)),
        handled: handled.map(Bytes),
        pipe: pipe_after(snapshot, stage.stage),
    }
}

/// The pipe that `stage` writes to; one that another stage reads, if there are several.
fn pipe_after(snapshot: &Snapshot, stage: u32) -> Option<ShownPipe> {
    let record = &snapshot.record;
    let written =
        || record.pipes.iter().enumerate().filter(|(_, pipe)| pipe.writers.contains(&stage));
    let (index, pipe) = written()
        .find(|(_, pipe)| pipe.readers.iter().any(|reader| *reader != stage))
        .or_else(|| written().find(|(_, pipe)| pipe.outside_reader))?;
    let changes = || record.tuning.iter().filter(|change| change.pipe == pipe.pipe);
    Some(ShownPipe {
        fill_bytes: snapshot.pipe_fill_bytes.get(index).copied().flatten(),
        capacity_bytes: pipe.capacity_bytes,
        is_tuned: changes().any(|change| change.outcome == Outcome::Kept)
            && pipe.capacity_bytes > pipe.initial_capacity_bytes,
    })
}

fn verdict(finding: &Finding) -> Verdict {
    Verdict {
        stage: finding.stage,
        message: neutralise(&finding.message),
        advice: neutralise(&advice_text(&finding.advice)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullbore_record::FindingKind;

    fn snapshot_at(elapsed_ns: u64, cpu_ns: u64) -> Snapshot {
        let mut stage = StageRecord::default();
        stage.stage = 1;
        stage.cpu_ns = cpu_ns;
        let mut snapshot = Snapshot::default();
        snapshot.record.elapsed_ns = elapsed_ns;
        snapshot.record.parallelism = 9.0;
        snapshot.record.stages.push(stage);
        snapshot
    }

    #[test]
    fn cpu_use_is_that_of_the_last_second() {
        let mut state = State::new(TerminalSize { columns: 80, rows: 24 }, Palette::Plain);
        for (elapsed_ns, cpu_ns, expected) in [
            (500_000_000, 0, 9.0),
            (1_000_000_000, 0, 9.0),
            (2_000_000_000, 1_500_000_000, 1.5),
            (3_000_000_000, 1_750_000_000, 0.25),
        ] {
            state.update(Event::Snapshot(&snapshot_at(elapsed_ns, cpu_ns)));
            assert_eq!(state.shown.as_ref().unwrap().cpus_in_use, expected, "at {elapsed_ns}");
        }
    }

    #[test]
    fn a_stage_that_has_ended_is_not_in_the_verdict() {
        let mut state = State::new(TerminalSize { columns: 80, rows: 24 }, Palette::Plain);
        let mut snapshot = snapshot_at(1, 1);
        for stage in [Some(1), None] {
            let mut finding = Finding::new(FindingKind::Bottleneck, "it is slow");
            finding.stage = stage;
            snapshot.record.findings.push(finding);
        }
        for (is_alive, expected) in [(true, Some(1)), (false, None)] {
            snapshot.stage_is_alive = vec![is_alive];
            state.update(Event::Snapshot(&snapshot));
            let verdict = state.shown.as_ref().and_then(|shown| shown.verdict.clone());
            assert_eq!(verdict.map(|verdict| verdict.stage), Some(expected));
        }
    }

    #[test]
    fn a_suspended_view_needs_no_lines() {
        let mut state = State::new(TerminalSize { columns: 80, rows: 24 }, Palette::Plain);
        assert_eq!(state.height(), 0, "nothing seen yet");
        state.update(Event::Snapshot(&snapshot_at(1, 1)));
        let height = state.height();
        assert!(height > 0);
        state.update(Event::Suspend);
        assert_eq!(state.height(), 0);
        state.update(Event::Resume);
        assert_eq!(state.height(), height);
    }
}
