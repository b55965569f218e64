//! Two commands in turn, so that whatever else the machine does hits both.

use std::process::{Command, Stdio};
use std::time::Instant;

use fullbore_measure::Summary;

use crate::sandbox::{Sandbox, fullbore, with_fixture};

/// Times of two commands, run in turn.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) first_seconds: Vec<f64>,
    pub(crate) second_seconds: Vec<f64>,
}

impl Pairs {
    /// Runs both commands `count` times: A B B A A B …, after one run of each that does not count.
    pub(crate) fn measure(
        count: usize,
        first: impl Fn(&Sandbox) -> Command,
        second: impl Fn(&Sandbox) -> Command,
    ) -> Self {
        let place = Sandbox::new();
        seconds_of(first(&place));
        seconds_of(second(&place));
        let mut pairs = Self::default();
        for number in 0..count {
            if number % 2 == 0 {
                pairs.first_seconds.push(seconds_of(first(&place)));
                pairs.second_seconds.push(seconds_of(second(&place)));
            } else {
                pairs.second_seconds.push(seconds_of(second(&place)));
                pairs.first_seconds.push(seconds_of(first(&place)));
            }
        }
        pairs
    }

    /// Time of the second divided by time of the first, pair by pair.
    pub(crate) fn second_to_first(&self) -> Summary {
        self.each(|first, second| second / first)
    }

    /// Time of the first divided by time of the second, pair by pair.
    pub(crate) fn first_to_second(&self) -> Summary {
        self.each(|first, second| first / second)
    }

    /// Milliseconds that the second takes longer, pair by pair.
    pub(crate) fn added_milliseconds(&self) -> Summary {
        self.each(|first, second| (second - first) * 1e3)
    }

    /// Median time of the first.
    pub(crate) fn first(&self) -> f64 {
        fullbore_measure::median(&self.first_seconds).unwrap()
    }

    fn each(&self, combine: impl Fn(f64, f64) -> f64) -> Summary {
        let pairs = self.first_seconds.iter().zip(&self.second_seconds);
        Summary::of(&pairs.map(|(first, second)| combine(*first, *second)).collect::<Vec<_>>())
            .unwrap()
    }
}

/// `sh -c LINE`.
pub(crate) fn plain(place: &Sandbox, line: &str) -> Command {
    let mut command = place.command("sh");
    command.args(["-c", &with_fixture(line)]);
    command
}

/// `fullbore run -q LINE`.
pub(crate) fn under_fullbore(place: &Sandbox, line: &str) -> Command {
    let mut command = place.command(fullbore());
    command.args(["run", "-q", &with_fixture(line)]);
    command
}

/// How long the command takes; it must succeed.
pub(crate) fn seconds_of(mut command: Command) -> f64 {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status().unwrap();
    let seconds = started.elapsed().as_secs_f64();
    assert!(status.success(), "{command:?}: {status}");
    seconds
}

/// The line as a person would type it, with the fixture as `stage`.
pub(crate) fn readable(line: &str) -> String {
    line.replace(&with_fixture("{stage}"), "stage").replace("{stage}", "stage")
}
