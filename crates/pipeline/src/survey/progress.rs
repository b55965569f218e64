//! How far a pipeline has read its input, and when it will have read all of it. Pure.

use std::collections::VecDeque;

use fullbore_record::{Progress, RunRecord, StageRecord};

/// The rate is that of so much time, at most: a pipeline gets faster and slower.
const WINDOW_NS: u64 = 60_000_000_000;
/// After so much time a rate is worth naming.
const SHORTEST_NS: u64 = 400_000_000;
/// A stage that has taken in so much and given nothing out takes in everything first: gzip gives out 32 KiB for each 32 MiB of
/// zeros …
const TAKEN_IN_BYTES: u64 = 512 << 20;
/// … and these are known to.
const TAKE_ALL: [&str; 7] = ["sort", "tac", "shuf", "tsort", "sponge", "column", "gsort"];

/// What one stage read of its files, over the last minute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// When, and how far.
    seen: VecDeque<(u64, u64)>,
    size_bytes: u64,
}

impl Reading {
    /// It has come so far of so much.
    pub(crate) fn take_in(&mut self, now_ns: u64, position: u64, size: u64) {
        // Another file, or from the beginning again.
        if self.size_bytes != size || self.seen.back().is_some_and(|(_, last)| position < *last) {
            self.seen.clear();
            self.size_bytes = size;
        }
        self.seen.push_back((now_ns, position));
        while self.seen.get(1).is_some_and(|(at_ns, _)| now_ns.saturating_sub(*at_ns) > WINDOW_NS) {
            self.seen.pop_front();
        }
    }

    /// How far `stage` of a pipeline has come.
    pub(crate) fn progress(&self, stage: u32, record: &RunRecord) -> Option<Progress> {
        let (now_ns, position) = *self.seen.back()?;
        let mut progress = Progress::new(stage, position, self.size_bytes);
        let (first_ns, first) = *self.seen.front()?;
        let took_ns = now_ns.saturating_sub(first_ns);
        if took_ns < SHORTEST_NS || position <= first {
            return Some(progress);
        }
        let rate = (position - first) as f64 * 1e9 / took_ns as f64;
        let left = self.size_bytes.saturating_sub(position) as f64;
        progress.bytes_per_second = Some(rate);
        progress.input_left_ns = Some(nanoseconds(left / rate));
        let waits_for_all = record.stages.iter().any(|one| takes_all(one, record));
        progress.left_ns = progress.input_left_ns.filter(|_| !waits_for_all);
        Some(progress)
    }
}

/// Whether a stage gives nothing out before it has taken in everything, and others wait for that.
fn takes_all(stage: &StageRecord, record: &RunRecord) -> bool {
    let words = if stage.main_words.is_empty() { &stage.words } else { &stage.main_words };
    let name = words.iter().find(|word| !word.contains('=') && *word != "env");
    let name = name.and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    // What only merges gives out as it takes in.
    let merges = words.iter().any(|word| word == "-m" || word == "--merge" || word == "-c");
    if TAKE_ALL.contains(&name) {
        return !merges;
    }
    let feeds = |pipe: &&fullbore_record::PipeRecord| pipe.writers.contains(&stage.stage);
    let feeds_others = record.pipes.iter().any(|pipe| feeds(&pipe) && !pipe.readers.is_empty());
    let (read, written) = (stage.read_bytes.unwrap_or(0), stage.written_bytes.unwrap_or(1));
    feeds_others && read > TAKEN_IN_BYTES && written == 0
}

#[expect(clippy::cast_possible_truncation, reason = "a time beyond u64::MAX saturates")]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn record_of(commands: &[&str]) -> RunRecord {
        let mut record = RunRecord::default();
        for (number, command) in (1..).zip(commands) {
            let mut stage = StageRecord::default();
            stage.stage = number;
            stage.words = command.split(' ').map(str::to_owned).collect();
            record.stages.push(stage);
        }
        record
    }

    fn steady(seconds: u64) -> Reading {
        let mut reading = Reading::default();
        (0..=seconds).for_each(|second| reading.take_in(second * SECOND, second * 100, 10_000));
        reading
    }

    #[test]
    fn at_a_steady_rate_the_end_is_known() {
        let progress = steady(20).progress(1, &record_of(&["zcat x", "wc -l"])).unwrap();
        assert_eq!((progress.position_bytes, progress.percent()), (2000, 20.0));
        assert_eq!(progress.left_ns, Some(80 * SECOND));
    }

    #[test]
    fn behind_a_sort_it_is_not() {
        for (commands, is_known) in [
            (["cat x", "sort -n"], false),
            (["cat x", "LC_ALL=C sort"], false),
            (["cat x", "/usr/bin/tac"], false),
            (["cat x", "sort -m"], true),
            (["cat x", "grep sort"], true),
        ] {
            let progress = steady(20).progress(1, &record_of(&commands)).unwrap();
            assert_eq!(progress.left_ns.is_some(), is_known, "{commands:?}");
            assert_eq!(progress.input_left_ns, Some(80 * SECOND));
        }
    }

    #[test]
    fn the_rate_is_that_of_the_last_minute() {
        let mut reading = Reading::default();
        (0..100).for_each(|second| reading.take_in(second * SECOND, second, 10_000));
        (100..=160).for_each(|s| reading.take_in(s * SECOND, 100 + (s - 100) * 50, 10_000));
        let progress = reading.progress(1, &record_of(&["cat x"])).unwrap();
        assert!((progress.bytes_per_second.unwrap() - 50.0).abs() < 1.0, "{progress:?}");
    }

    #[test]
    fn what_starts_again_or_stands_still_has_no_end_in_sight() {
        let mut reading = steady(20);
        reading.take_in(21 * SECOND, 5, 10_000);
        assert_eq!(reading.progress(1, &record_of(&[])).unwrap().left_ns, None);
        (22..30).for_each(|second| reading.take_in(second * SECOND, 5, 10_000));
        assert_eq!(reading.progress(1, &record_of(&[])).unwrap().left_ns, None);
        assert_eq!(Reading::default().progress(1, &record_of(&[])), None);
    }
}
