//! The list: which pipelines, in which order, and where the cursor is.

use std::cmp::Reverse;

use fullbore_record::Seen;

use super::Top;
use super::line::{Line, SortBy};

impl Top {
    /// The pipelines that are shown, in order.
    pub(super) fn shown(&self) -> Vec<&Seen> {
        let wanted = self.list.filter.to_lowercase();
        let is_shown = |seen: &&Seen| (self.list.shows_idle || !seen.is_idle) && seen.has(&wanted);
        let mut all: Vec<&Seen> = self.overview.pipelines.iter().filter(is_shown).collect();
        match self.list.sort {
            // So that lines do not jump with every tenth of a percent, nearly equal ones keep their order.
            SortBy::Cpu => all.sort_by_key(|seen| Reverse(rounded(self.cpus(seen.pid) * 20.0))),
            SortBy::Rate => all.sort_by_key(|seen| Reverse(rounded(self.rate(seen.pid).log2()))),
            SortBy::Age => all.sort_by_key(|seen| Reverse(seen.age_ns)),
            SortBy::Left => all.sort_by_key(|seen| {
                seen.progress.and_then(|progress| progress.left_ns).unwrap_or(u64::MAX)
            }),
            SortBy::Place => all.sort_by(|a, b| a.place.cmp(&b.place)),
        }
        all
    }

    /// How many are not shown because nothing happens in them.
    pub(super) fn idle(&self) -> usize {
        self.overview.pipelines.iter().filter(|seen| seen.is_idle).count()
    }

    /// The lines on which the cursor can stand.
    pub(super) fn lines(&self) -> Vec<Line> {
        let of = |seen: &Seen| {
            let is_folded = self.list.folded.contains(&seen.pid);
            let stages = if is_folded { &[][..] } else { &seen.snapshot.record.stages[..] };
            let pid = seen.pid;
            let stages: Vec<Line> = stages.iter().map(|s| Line::Stage(pid, s.stage)).collect();
            std::iter::once(Line::Pipeline(pid)).chain(stages)
        };
        self.shown().into_iter().flat_map(of).collect()
    }

    /// Moves the cursor by so many lines, as far as there are any.
    pub(super) fn move_cursor(&mut self, by: isize) {
        let lines = self.lines();
        let place = lines.iter().position(|line| Some(*line) == self.list.cursor).unwrap_or(0);
        let last = lines.len().saturating_sub(1);
        self.list.cursor = lines.get(place.saturating_add_signed(by).min(last)).copied();
    }

    /// Moves the cursor to the next pipeline, or to the one before.
    pub(super) fn move_to_pipeline(&mut self, by: isize) {
        let pids: Vec<i32> = self.shown().iter().map(|seen| seen.pid).collect();
        let pid = self.list.cursor.map(Line::pid);
        let place = pids.iter().position(|one| Some(*one) == pid).unwrap_or(0);
        let last = pids.len().saturating_sub(1);
        let next = pids.get(place.saturating_add_signed(by).min(last));
        self.list.cursor = next.copied().map(Line::Pipeline);
    }

    /// Puts the cursor on a line that exists.
    pub(super) fn settle_cursor(&mut self) {
        let lines = self.lines();
        let stands = |line: Line| lines.contains(&line).then_some(line);
        let cursor = self.list.cursor;
        self.list.cursor = cursor
            .and_then(stands)
            .or_else(|| cursor.and_then(|line| stands(Line::Pipeline(line.pid()))))
            .or_else(|| lines.first().copied());
    }

    /// CPU seconds per second of a pipeline.
    pub(super) fn cpus(&self, pid: i32) -> f64 {
        let shown = self.states.get(&pid).and_then(|state| state.shown.as_ref());
        let is_idle = self.seen(pid).is_none_or(|seen| seen.is_idle);
        shown.filter(|_| !is_idle).map_or(0.0, |shown| shown.cpus_in_use)
    }

    /// Bytes per second of the stage that moves most.
    pub(super) fn rate(&self, pid: i32) -> f64 {
        let shown = self.states.get(&pid).and_then(|state| state.shown.as_ref());
        let is_idle = self.seen(pid).is_none_or(|seen| seen.is_idle);
        let flows = shown.into_iter().flat_map(|shown| &shown.stages);
        let flows = flows.filter_map(|stage| stage.flow.as_ref()).map(|flow| flow.handled());
        if is_idle { 0.0 } else { flows.fold(0.0, f64::max) }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates; only an order depends on it")]
fn rounded(value: f64) -> i64 {
    value.round() as i64
}
