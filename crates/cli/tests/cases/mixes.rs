//! Pipelines of stages that write down where their own time went, and how far a record is from that.

use std::process::Command;

use fullbore_proc::Root;
use fullbore_record::RunRecord;
use serde::Deserialize;

use crate::sandbox::{Sandbox, stage, with_fixture};

/// A pipeline whose stages know the truth; `{time}` is how long it runs, `{truth}` where a stage writes it.
pub(crate) struct Mix {
    pub(crate) name: &'static str,
    line: &'static str,
    stages: &'static [&'static str],
}

/// A share as reported and as the stage itself measured it.
#[derive(Clone, Debug)]
pub(crate) struct Deviation {
    stage: &'static str,
    share: &'static str,
    pub(crate) reported_percent: f64,
    true_percent: f64,
}

/// One try of the test of shares: what is most wrong in the median of several short runs, and how much others used the CPUs meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Try {
    worst: Deviation,
    stolen_percent: f64,
}

/// Points of percent a share may be off on a quiet machine. The bar of docs/claims.md is 2.5, for runs of 10 s.
const QUIET_POINTS: f64 = 5.0;

/// What a try consists of: so many runs of so many seconds.
const RUNS: usize = 5;
const RUN_SECONDS: f64 = 1.0;

/// Clock ticks of all CPUs, from the first line of `/proc/stat` (proc_stat(5)), and those of this process and its children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuTimes {
    all: u64,
    busy: u64,
    own: u64,
}

impl CpuTimes {
    pub(crate) fn read() -> Self {
        let text = std::fs::read_to_string("/proc/stat").expect("Linux counts the times of CPUs");
        let first = text.lines().next().unwrap_or_default();
        let words = first.split_ascii_whitespace().skip(1);
        // user, nice, system, idle, iowait, irq, softirq, steal; what guests take is part of user and nice.
        let ticks: Vec<u64> = words.take(8).map(|word| word.parse().expect("ticks")).collect();
        let all: u64 = ticks.iter().sum();
        let own = Root::system().stat(std::process::id().cast_signed()).expect("we live");
        Self { all, busy: all - ticks[3] - ticks[4], own: own.cpu_ticks + own.children_cpu_ticks }
    }

    /// The share of all CPUs' time that others used, or another machine on the same host, since `before`.
    pub(crate) fn of_others_percent(self, before: Self) -> f64 {
        let others = (self.busy - before.busy).saturating_sub(self.own - before.own);
        100.0 * others as f64 / (self.all - before.all).max(1) as f64
    }
}

impl Try {
    /// Points beyond what may be off: the bound of a quiet machine, and the share of the CPUs that others took.
    pub(crate) fn excess_points(&self) -> f64 {
        self.worst.points() - QUIET_POINTS - self.stolen_percent
    }

    /// What it found, in words.
    pub(crate) fn text(&self) -> String {
        format!("{}; others had {:.1} % of the CPUs", self.worst.text(), self.stolen_percent)
    }
}

/// The part of a stage's own account that is compared.
#[derive(Debug, Deserialize)]
struct Truth {
    life_ns: f64,
    cpu_ns: f64,
    runnable_ns: f64,
    sleeping_ns: f64,
    read_wait_ns: f64,
    write_wait_ns: f64,
}

impl Deviation {
    /// What it is about, in words.
    pub(crate) fn text(&self) -> String {
        let Self { stage, share, reported_percent, true_percent } = self;
        format!("{stage}: {share} {reported_percent:.1} % reported, {true_percent:.1} % true")
    }

    /// Distance in points of percent.
    pub(crate) fn points(&self) -> f64 {
        self.signed_points().abs()
    }

    /// Points of percent that are reported too many.
    pub(crate) fn signed_points(&self) -> f64 {
        self.reported_percent - self.true_percent
    }
}

impl Mix {
    /// Runs the mix several times and takes the median of every share.
    pub(crate) fn one_try(&self) -> Try {
        let before = CpuTimes::read();
        let runs: Vec<_> = (0..RUNS).map(|_| self.measure(RUN_SECONDS)).collect();
        let stolen_percent = CpuTimes::read().of_others_percent(before);
        let medians = (0..runs[0].len()).map(|share| {
            let mut same: Vec<_> = runs.iter().map(|run| run[share].clone()).collect();
            same.sort_by(|a, b| a.signed_points().total_cmp(&b.signed_points()));
            same.swap_remove(RUNS / 2)
        });
        let worst = medians.max_by(|a, b| a.points().total_cmp(&b.points()));
        Try { worst: worst.expect("a mix has stages"), stolen_percent }
    }

    /// Runs the mix for this many seconds; returns every share of every stage.
    pub(crate) fn measure(&self, seconds: f64) -> Vec<Deviation> {
        let place = Sandbox::new();
        let record = place.record_of_silent(self.command(&place, &["--no-tune"], seconds));
        self.deviations(&place, &record)
    }

    /// The command that runs the mix for this many seconds.
    pub(crate) fn command(&self, place: &Sandbox, options: &[&str], seconds: f64) -> Command {
        let line = self.line.replace("{time}", &seconds.to_string());
        place.reporting(options, &with_fixture(&line))
    }

    /// Every share of every stage in a record of the run that wrote its truth in this place.
    pub(crate) fn deviations(&self, place: &Sandbox, record: &RunRecord) -> Vec<Deviation> {
        let deviations = self.stages.iter().flat_map(|name| {
            let text = std::fs::read(place.path(&format!("{name}.truth")))
                .expect("the stage wrote its truth");
            let truth: Truth = serde_json::from_slice(&text).expect("the truth is JSON");
            let reported = stage(record, &format!("--name {name} "));
            let pairs = [
                ("running", Some(reported.running_percent), truth.cpu_ns),
                ("runnable", Some(reported.runnable_percent), truth.runnable_ns),
                ("blocked reading", reported.blocked_reading_percent, truth.read_wait_ns),
                ("blocked writing", reported.blocked_writing_percent, truth.write_wait_ns),
                ("blocked other", Some(reported.blocked_other_percent), truth.sleeping_ns),
            ];
            pairs.map(|(share, percent, time_ns)| Deviation {
                stage: name,
                share,
                reported_percent: percent.unwrap_or(f64::INFINITY),
                true_percent: 100.0 * time_ns / truth.life_ns,
            })
        });
        deviations.collect()
    }
}

/// The mixes: each uses less than two CPUs, so that waiting for one hardly occurs.
pub(crate) fn all() -> Vec<Mix> {
    const PAIR: &[&str] = &["source", "sink"];
    const TRIO: &[&str] = &["source", "middle", "sink"];
    vec![
        Mix {
            name: "a computing source",
            line: "{stage} --name source --truth source.truth --no-read --seconds {time} --compute-us 2000 | \
                   {stage} --name sink --truth sink.truth --no-write --compute-us 700",
            stages: PAIR,
        },
        Mix {
            name: "a sleeping sink",
            line: "{stage} --name source --truth source.truth --no-read --seconds {time} --compute-us 300 | \
                   {stage} --name sink --truth sink.truth --no-write --sleep-us 3000",
            stages: PAIR,
        },
        Mix {
            name: "computing and sleeping in the middle",
            line: "{stage} --name source --truth source.truth --no-read --seconds {time} --sleep-us 300 | \
                   {stage} --name middle --truth middle.truth --compute-us 800 --sleep-us 1500 | \
                   {stage} --name sink --truth sink.truth --no-write --compute-us 400",
            stages: TRIO,
        },
        Mix {
            name: "taking turns",
            line: "{stage} --name source --truth source.truth --no-read --seconds {time} --burst 1M --compute-us 1500 | \
                   {stage} --name sink --truth sink.truth --no-write --compute-us 1000",
            stages: PAIR,
        },
    ]
}
