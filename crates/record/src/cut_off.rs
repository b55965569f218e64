//! Runs whose length was fixed from outside: a signal or a time limit ended them, not the end of their work.

use super::RunRecord;

/// Exit statuses after SIGHUP, SIGINT, SIGQUIT, SIGKILL and SIGTERM. SIGPIPE is no such end: `head` has what it wants.
const ENDED_BY_SIGNAL: [i32; 5] = [129, 130, 131, 137, 143];

/// The exit status of timeout(1) when the time was up.
const TIME_WAS_UP: i32 = 124;

/// A run that took this part of a time limit, or more, …
const NEARLY: f64 = 0.97;
/// … and no more than so many times it, and so much longer, was ended by it: what comes after it reads what is left.
const HARDLY_LONGER: f64 = 1.1;
const LEFT_OVER_NS: f64 = 300e6;

/// Options of timeout(1) whose value is the next word.
const WITH_VALUE: [&str; 4] = ["-k", "-s", "--kill-after", "--signal"];

impl RunRecord {
    /// Whether a signal or a time limit (`timeout 1 yes | gzip`) ended the run, or a stage of it: faster stages would then
    /// have done more, and the run would have taken as long.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        let statuses = || {
            self.stages.iter().map(|stage| stage.exit_status).chain([self.exit_status]).flatten()
        };
        if statuses().any(|status| ENDED_BY_SIGNAL.contains(&status)) {
            return true;
        }
        let line: Vec<&str> = self.command.split_whitespace().collect();
        let in_stages = self.stages.iter().map(|stage| {
            let words: Vec<&str> = stage.words.iter().map(String::as_str).collect();
            (words, stage.life_ns)
        });
        [(line, self.elapsed_ns)].into_iter().chain(in_stages).any(|(words, took_ns)| {
            limits(&words).any(|limit_ns| {
                let took_ns = took_ns as f64;
                let is_up = took_ns >= NEARLY * limit_ns
                    && took_ns <= HARDLY_LONGER * limit_ns + LEFT_OVER_NS;
                is_up || statuses().any(|status| status == TIME_WAS_UP)
            })
        })
    }
}

/// The time limits, in nanoseconds, that words set with timeout(1).
fn limits<'a>(words: &'a [&str]) -> impl Iterator<Item = f64> + 'a {
    let is_timeout = |word: &str| {
        let word = word.trim_start_matches(['(', '{', '\'', '"', '`', '$']);
        word.rsplit('/').next() == Some("timeout")
    };
    words.iter().enumerate().filter(move |(_, word)| is_timeout(word)).filter_map(|(place, _)| {
        let mut rest = words[place + 1..].iter();
        while let Some(word) = rest.next() {
            if WITH_VALUE.contains(word) {
                rest.next();
            } else if !word.starts_with('-') {
                return duration_ns(word);
            }
        }
        None
    })
}

/// A duration as timeout(1) reads it: `1`, `0.5s`, `2m`; 0 is no limit.
fn duration_ns(word: &str) -> Option<f64> {
    let (number, unit_ns) = match word.char_indices().last()? {
        (end, 's') => (&word[..end], 1e9),
        (end, 'm') => (&word[..end], 60e9),
        (end, 'h') => (&word[..end], 3600e9),
        (end, 'd') => (&word[..end], 86400e9),
        _ => (word, 1e9),
    };
    let ns = number.parse::<f64>().ok()? * unit_ns;
    (ns.is_finite() && ns > 0.0).then_some(ns)
}

#[cfg(test)]
mod tests {
    use super::super::StageRecord;
    use super::*;

    /// A run of one second.
    fn record(command: &str, exit_status: Option<i32>) -> RunRecord {
        RunRecord {
            command: command.to_owned(),
            elapsed_ns: 1_000_000_000,
            exit_status,
            ..RunRecord::default()
        }
    }

    #[test]
    fn a_time_limit_that_was_up_cut_the_run_off() {
        for (command, is_cut_off) in [
            ("timeout 1 yes | gzip -1 | wc -c", true),
            ("/usr/bin/timeout -k 5 --signal=INT 1s sh -c 'yes | gzip' | wc -c", true),
            ("(timeout --foreground 0.0166m yes) | gzip", true),
            ("timeout 0.8 yes | xz | wc", true),
            ("timeout 10 yes | head -c 1G | gzip", false),
            ("timeout 0 yes | head -c 1G | gzip", false),
            ("cat timeout | gzip", false),
            ("yes | head -n 1 | gzip", false),
        ] {
            assert_eq!(record(command, Some(0)).is_cut_off(), is_cut_off, "{command}");
        }
    }

    #[test]
    fn a_signal_that_ended_the_run_or_a_stage_cut_it_off() {
        for (status, is_cut_off) in [
            (0, false),
            (1, false),
            (124, false),
            (130, true),
            (137, true),
            (141, false),
            (143, true),
        ] {
            let mut run = record("yes | gzip", Some(status));
            assert_eq!(run.is_cut_off(), is_cut_off, "{status}");
            let exit_status = run.exit_status.replace(0);
            run.stages = vec![StageRecord { exit_status, ..StageRecord::default() }];
            assert_eq!(run.is_cut_off(), is_cut_off, "a stage with {status}");
        }
        assert!(record("timeout 10 yes | gzip", Some(124)).is_cut_off());
    }

    #[test]
    fn the_words_of_a_stage_tell_its_limit_where_the_line_does_not() {
        let words = ["timeout", "0.9", "yes"].map(str::to_owned).into();
        let stage = StageRecord { words, life_ns: 900_000_000, ..StageRecord::default() };
        let mut run = record("make numbers", Some(0));
        run.stages = vec![stage];
        assert!(run.is_cut_off());
    }
}
