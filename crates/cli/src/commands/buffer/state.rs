//! The state of a buffer in words and as JSON.

use fullbore_feed::buffer::{Status, Verdict, WaitShares};
use fullbore_measure::{Bytes, seconds};
use serde::Serialize;

/// The current state, the previous one, and what is known about the whole stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State<'a> {
    pub(crate) name: &'a str,
    pub(crate) size: Option<Bytes>,
    pub(crate) earlier: &'a Status,
    pub(crate) now: &'a Status,
    /// Why the spill file can take no more data.
    pub(crate) spill_error: Option<&'a str>,
    pub(crate) end: Option<&'a End>,
}

/// How it ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct End {
    /// The algorithm and the digest in hexadecimal digits.
    pub(crate) digest: Option<(&'static str, String)>,
    /// Why it ended early.
    pub(crate) error: Option<String>,
}

/// One line of `--json`: flat, so that `jq .rate_bytes_per_second` finds it.
#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    name: &'a str,
    elapsed_ns: u64,
    read_bytes: u64,
    written_bytes: u64,
    queued_bytes: u64,
    memory_bytes: u64,
    spilled_bytes: u64,
    limit_bytes: u64,
    fill_percent: f64,
    rate_bytes_per_second: f64,
    average_bytes_per_second: f64,
    size_bytes: Option<u64>,
    remaining_ns: Option<u64>,
    waits_percent: WaitsPercent,
    verdict: &'static str,
    spill_error: Option<&'a str>,
    ended: bool,
    digest: Option<Digest<'a>>,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct Digest<'a> {
    algorithm: &'a str,
    hex: &'a str,
}

#[derive(Serialize)]
struct WaitsPercent {
    input: f64,
    room: f64,
    data: f64,
    output: f64,
    rate: f64,
}

impl From<WaitShares> for WaitsPercent {
    fn from(shares: WaitShares) -> Self {
        Self {
            input: shares.input.percent(),
            room: shares.room.percent(),
            data: shares.data.percent(),
            output: shares.output.percent(),
            rate: shares.rate.percent(),
        }
    }
}

impl State<'_> {
    /// Rates, time and verdict on one line, shortened to the given number of columns.
    pub(crate) fn text(&self, columns: usize) -> String {
        let now = self.now;
        let average = now.rate_since(&Status::default());
        let elapsed = seconds(nanoseconds(now.elapsed));
        if self.end.is_some() {
            return format!("{}  {average}  {elapsed}", now.written);
        }
        let rate = now.rate_since(self.earlier);
        let left =
            self.remaining_ns().map_or(String::new(), |left| format!("  {} left", seconds(left)));
        let spilled = match now.spilled {
            Bytes(0) => String::new(),
            spilled => format!(", {spilled} on disk"),
        };
        let written = now.written;
        let short = self.short_verdict();
        let lines = [
            format!(
                "{written}  {rate} (average {average})  {elapsed}{left}  {}{spilled}",
                self.verdict()
            ),
            format!("{written}  {rate}  {elapsed}{left}  {short}{spilled}"),
            format!("{written}  {rate}{left}  {short}"),
            format!("{rate}{left}  {short}"),
            short,
        ];
        // Which side waits matters most, so everything else is dropped first.
        let [.., last] = &lines;
        lines.iter().find(|line| line.chars().count() <= columns).unwrap_or(last).clone()
    }

    /// One JSON object and the end of the line.
    pub(crate) fn json(&self) -> String {
        let now = self.now;
        let line = Line {
            schema: "fullbore.buffer/1",
            name: self.name,
            elapsed_ns: nanoseconds(now.elapsed),
            read_bytes: now.read.0,
            written_bytes: now.written.0,
            queued_bytes: now.queued.0,
            memory_bytes: now.memory.0,
            spilled_bytes: now.spilled.0,
            limit_bytes: now.limit.0,
            fill_percent: now.fill().percent(),
            rate_bytes_per_second: now.rate_since(self.earlier).0,
            average_bytes_per_second: now.rate_since(&Status::default()).0,
            size_bytes: self.size.map(|size| size.0),
            remaining_ns: self.remaining_ns(),
            waits_percent: now.shares_since(self.earlier).into(),
            verdict: match now.verdict_since(self.earlier) {
                Verdict::Producer => "producer",
                Verdict::Consumer => "consumer",
                Verdict::Rate => "rate_limit",
                Verdict::Watermark => "watermark",
                _ => "none",
            },
            spill_error: self.spill_error,
            ended: self.end.is_some(),
            digest: self
                .end
                .and_then(|end| end.digest.as_ref())
                .map(|(algorithm, hex)| Digest { algorithm, hex }),
            error: self.end.and_then(|end| end.error.as_deref()),
        };
        // Every value can be written as JSON.
        serde_json::to_string(&line).unwrap_or_default() + "\n"
    }

    fn remaining_ns(&self) -> Option<u64> {
        let rate = self.now.rate_since(self.earlier);
        self.now.time_left(self.size?, rate).map(nanoseconds)
    }

    fn verdict(&self) -> String {
        let fill = self.now.fill();
        match self.now.verdict_since(self.earlier) {
            Verdict::Producer => format!("producer is the bottleneck: buffer {fill} full"),
            Verdict::Consumer => format!("consumer is the bottleneck: buffer full {fill}"),
            Verdict::Rate => format!("the rate limit is the bottleneck: buffer full {fill}"),
            Verdict::Watermark => format!("waits for the start mark: buffer full {fill}"),
            _ => format!("neither side waits much: buffer {fill} full"),
        }
    }

    fn short_verdict(&self) -> String {
        let whom = match self.now.verdict_since(self.earlier) {
            Verdict::Producer => "waits for producer, ",
            Verdict::Consumer => "waits for consumer, ",
            Verdict::Rate => "waits for rate limit, ",
            Verdict::Watermark => "waits for start mark, ",
            _ => "",
        };
        format!("{whom}{} full", self.now.fill())
    }
}

fn nanoseconds(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullbore_feed::buffer::Waits;
    use std::time::Duration;

    fn status(seconds: u64, written: u64, waits: Waits) -> Status {
        Status {
            elapsed: Duration::from_secs(seconds),
            written: Bytes(written),
            memory: Bytes(92),
            limit: Bytes(100),
            waits,
            ..Status::default()
        }
    }

    #[test]
    fn the_line_says_how_far_how_fast_and_who_is_waited_for() {
        let none = Waits::default();
        let earlier = status(1, 1_000_000, none);
        let now = status(2, 3_000_000, Waits { output_ns: 1_000_000_000, ..none });
        let size = Some(Bytes(7_000_000));
        let state =
            State { name: "x", size, earlier: &earlier, now: &now, spill_error: None, end: None };
        assert_eq!(
            state.text(120),
            "2.9 MiB  2.0 MB/s (average 1.5 MB/s)  2.00 s  2.00 s left  consumer is the bottleneck: buffer full 92 %"
        );
        assert_eq!(
            state.text(79),
            "2.9 MiB  2.0 MB/s  2.00 s  2.00 s left  waits for consumer, 92 % full"
        );
        assert_eq!(state.text(61), "2.9 MiB  2.0 MB/s  2.00 s left  waits for consumer, 92 % full");
        assert_eq!(state.text(52), "2.0 MB/s  2.00 s left  waits for consumer, 92 % full");
        assert_eq!(state.text(10), "waits for consumer, 92 % full");
        let line: serde_json::Value = serde_json::from_str(&state.json()).unwrap();
        assert_eq!(line["verdict"], "consumer");
        assert_eq!(line["remaining_ns"], 2_000_000_000_u64);
        assert_eq!(line["waits_percent"]["output"], 100.0);
    }

    #[test]
    fn what_is_not_known_is_null() {
        let now = status(1, 0, Waits::default());
        let end = End::default();
        let earlier = Status::default();
        let state = State {
            name: "",
            size: None,
            earlier: &earlier,
            now: &now,
            spill_error: None,
            end: Some(&end),
        };
        let line: serde_json::Value = serde_json::from_str(&state.json()).unwrap();
        for key in ["size_bytes", "remaining_ns", "digest", "error"] {
            assert!(line[key].is_null(), "{key}: {line}");
        }
        assert_eq!(line["ended"], true);
    }
}
