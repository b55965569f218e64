//! The state of a buffer in words and as JSON.

use fullbore_feed::buffer::{Look, Verdict, WaitShares};
use fullbore_measure::{Bytes, seconds};
use serde::Serialize;

/// Two looks, and what is known about the whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State<'a> {
    pub(crate) name: &'a str,
    pub(crate) size: Option<Bytes>,
    pub(crate) earlier: &'a Look,
    pub(crate) now: &'a Look,
    pub(crate) has_ended: bool,
}

/// One line of `--json`.
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
    ended: bool,
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
    /// Rates, time and verdict on one line, with fewer words when there are not that many columns.
    pub(crate) fn text(&self, columns: usize) -> String {
        let now = self.now;
        let average = now.rate_since(&Look::default());
        let elapsed = seconds(nanoseconds(now.elapsed));
        if self.has_ended {
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
        // Who waits is what the line is for: everything else goes first.
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
            average_bytes_per_second: now.rate_since(&Look::default()).0,
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
            ended: self.has_ended,
        };
        // Nothing in it can fail to be written as JSON.
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

    fn look(seconds: u64, written: u64, waits: Waits) -> Look {
        Look {
            elapsed: Duration::from_secs(seconds),
            written: Bytes(written),
            memory: Bytes(92),
            limit: Bytes(100),
            waits,
            ..Look::default()
        }
    }

    #[test]
    fn the_line_says_how_far_how_fast_and_who_is_waited_for() {
        let none = Waits::default();
        let earlier = look(1, 1_000_000, none);
        let now = look(2, 3_000_000, Waits { output_ns: 1_000_000_000, ..none });
        let size = Some(Bytes(7_000_000));
        let state = State { name: "x", size, earlier: &earlier, now: &now, has_ended: false };
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
        let now = look(1, 0, Waits::default());
        let state =
            State { name: "", size: None, earlier: &Look::default(), now: &now, has_ended: true };
        let line: serde_json::Value = serde_json::from_str(&state.json()).unwrap();
        assert!(line["size_bytes"].is_null() && line["remaining_ns"].is_null());
        assert_eq!(line["ended"], true);
    }
}
