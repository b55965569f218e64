//! A record of the lab with every kind of chart, outcome and note.

use std::collections::BTreeMap;

use fullbore_lab::record::{
    Cache, CaseRun, Effort, EngineNote, EngineRun, LabRun, Machine, Outcome, PointRun, SCHEMA,
    Stopped, SuiteRun,
};
use fullbore_lab::statistics::{of_ratios, of_values};
use fullbore_lab::suite::{Axis, Chart, Quantity, RatioStyle};
use fullbore_lab::{Latency, Parameter, Parameters, Side};
use fullbore_measure::{Host, Summary};

fn note(name: &str, label: &str, marks: &[&str], published: Option<&str>) -> EngineNote {
    EngineNote {
        name: name.into(),
        label: label.into(),
        marks: marks.iter().map(|mark| (*mark).to_owned()).collect(),
        published: published.map(str::to_owned),
        command: format!("{name} --fast < input"),
    }
}

fn measured(name: &str, values: &[f64], baseline: Option<&[f64]>) -> EngineRun {
    EngineRun {
        value: of_values(values),
        mad: Summary::of(values).map(|summary| summary.mad),
        speed: baseline.and_then(|baseline| of_ratios(values, baseline)),
        answer: Some("ok".into()),
        cpu_ns: Some(1_900_000_000),
        elapsed_ns: Some(1_000_000_000),
        sides: vec![Side { name: "cat".into(), cpu_ns: 5, peak_memory_bytes: Some(3 << 20) }],
        values: values.to_vec(),
        ..without(name, Outcome::Measured)
    }
}

fn without(name: &str, outcome: Outcome) -> EngineRun {
    EngineRun {
        engine: name.into(),
        outcome,
        values: Vec::new(),
        value: None,
        mad: None,
        speed: None,
        answer: None,
        remark: None,
        cpu_ns: None,
        elapsed_ns: None,
        sides: Vec::new(),
        latency: None,
        counters: BTreeMap::new(),
        missing_counters: BTreeMap::new(),
        outliers: 0,
        drift_percent: None,
    }
}

fn parameters(pairs: &[(&str, u64)]) -> Parameters {
    Parameters(
        pairs.iter().map(|(name, value)| ((*name).to_owned(), Parameter::Number(*value))).collect(),
    )
}

fn axis(name: &str, values: &[u64]) -> Axis {
    Axis {
        name: name.into(),
        values: values.iter().copied().map(Parameter::Number).collect(),
        is_size: true,
    }
}

fn case(
    name: &str,
    quantity: Quantity,
    chart: Chart,
    sweep: Vec<Axis>,
    points: Vec<PointRun>,
) -> CaseRun {
    CaseRun {
        name: name.into(),
        title: format!("The case {name}"),
        about: "What is compared, and what to look at.".into(),
        command: format!("fullbore lab --quick pipe/{name}"),
        quantity,
        ratio: RatioStyle::Speed,
        chart,
        sweep,
        fixed: parameters(&[("total", 1 << 30)]),
        columns: Vec::new(),
        baseline: "write".into(),
        engines: vec![
            note("write", "write(2)", &[], Some("17 GB/s")),
            note("ring", "vmsplice, a ring of pages", &[], None),
            note("double", "two buffers in turn", &["unsafe", "discards"], Some("210 GB/s")),
        ],
        points,
    }
}

fn point(swept: &[(&str, u64)], scale: f64) -> PointRun {
    let base = [1.00, 1.04, 0.97, 1.01, 1.02].map(|value| value * scale);
    let ring = [3.1, 3.3, 2.9, 3.2, 3.0].map(|value| value * scale);
    let double = [9.0, 9.9, 9.4, 30.0, 9.1].map(|value| value * scale);
    let mut double = measured("double", &double, Some(&base));
    double.outliers = 1;
    double.drift_percent = Some(-7.0);
    double.remark = Some("answered '1 of 2 words wrong', not 'ok', in 6 of 6 trials".into());
    PointRun {
        parameters: parameters(swept),
        rounds: 5,
        passes: vec![2, 2, 1],
        stopped: Stopped::Tight,
        engines: vec![measured("write", &base, None), measured("ring", &ring, Some(&base)), double],
    }
}

/// What was counted for two engines: one machine has a counter of the processor, the other does not say what is missing.
fn counted(mut point: PointRun) -> PointRun {
    for (place, engine) in point.engines.iter_mut().enumerate().take(2) {
        let count = |base: f64| Some(base * (place + 1) as f64);
        engine.counters = [
            ("minor_faults".to_owned(), count(7.0)),
            ("voluntary_switches".to_owned(), count(6543.0)),
            ("migrations".to_owned(), None),
            ("cycles".to_owned(), (place == 0).then_some(4.56e8)),
            ("dtlb_load_misses".to_owned(), None),
        ]
        .into();
        let why = "this machine has no such counter";
        engine.missing_counters = [("dtlb_load_misses".to_owned(), why.to_owned())].into();
        if place > 0 {
            engine.missing_counters.insert("cycles".to_owned(), why.to_owned());
        }
    }
    point
}

fn troubled() -> PointRun {
    let (expected, found) = ("ok".to_owned(), "3 of 4 words wrong".to_owned());
    let (what, remedy) =
        ("strace is not installed".to_owned(), "apt-get install strace".to_owned());
    PointRun {
        parameters: Parameters::default(),
        rounds: 1,
        passes: vec![1],
        stopped: Stopped::Budget,
        engines: vec![
            measured("write", &[250.0], None),
            without("ring", Outcome::WrongAnswer { expected, found }),
            without("double", Outcome::NotAvailable { what, remedy }),
        ],
    }
}

/// Most round trips near `usual_ns`, one in a hundred ten times as long, and one that took 3 ms.
fn latencies(usual_ns: u64) -> Latency {
    let mut bounds = vec![64_u64];
    while bounds.last().is_some_and(|bound| *bound < 3_000_000) {
        bounds.extend(bounds.last().map(|bound| bound * 5 / 4));
    }
    let usual = bounds.partition_point(|bound| *bound < usual_ns);
    let counts = [(0, 40), (1, 6000), (2, 3000), (3, 800), (6, 55), (10, 90), (11, 10), (18, 4)];
    let mut buckets: Vec<(u64, u64)> =
        counts.map(|(step, count)| (bounds[usual + step], count)).into();
    buckets.extend(bounds.last().map(|bound| (*bound, 1)));
    Latency {
        count: 10_000,
        p50_ns: usual_ns * 5 / 4,
        p99_ns: usual_ns * 8,
        p999_ns: usual_ns * 12,
        max_ns: 3_000_000,
        buckets,
    }
}

fn latency() -> CaseRun {
    let sizes = [64, 65536];
    let points = sizes.map(|size| {
        let mut point = point(&[("message", size)], 1500.0 + size as f64);
        for (engine, factor) in point.engines.iter_mut().zip([2, 3, 1]) {
            engine.latency = Some(latencies(500 * factor + size / 4));
            engine.counters =
                [("overlap_percent".to_owned(), Some(6.25)), ("lost".to_owned(), None)].into();
        }
        if size > 64 {
            let (what, remedy) = ("longer messages".to_owned(), "sysctl fs.mqueue".to_owned());
            point.engines[1] = without("ring", Outcome::NotAvailable { what, remedy });
        }
        point
    });
    let chart = Chart::Lines { x: "message".into(), caches: false };
    let sweep = vec![axis("message", &sizes)];
    let mut case = case("latency", Quantity::LatencyNs, chart, sweep, points.into());
    case.ratio = RatioStyle::Slowdown;
    case.columns = vec!["overlap_percent".into(), "lost".into()];
    case
}

fn machine() -> Machine {
    Machine {
        host: Host {
            name: "bench-1".into(),
            kernel: "6.12.0".into(),
            cpu: "An Example CPU".into(),
            cpus: 2,
            memory_bytes: 8 << 30,
            page_bytes: 4096,
            pipe_max_bytes: Some(1 << 20),
            pipe_user_pages_soft: Some(16384),
        },
        tier: "avx2".into(),
        pinned_cpus: vec![0, 1],
        caches: vec![
            Cache { name: "L1d".into(), size_bytes: 48 << 10 },
            Cache { name: "L2".into(), size_bytes: 2 << 20 },
        ],
        huge_pages: Some("always [madvise] never".into()),
        reserved_huge_pages: Some(0),
        mitigations: [("meltdown".to_owned(), "Mitigation: PTI".to_owned())].into(),
        frequency_governor: None,
        is_virtual: Some(true),
    }
}

/// The record.
pub(crate) fn run() -> LabRun {
    let sizes = [4096, 65536, 1 << 20];
    let lines =
        sizes.map(|size| counted(point(&[("chunk", size)], 1e9 * (size as f64).log2() / 10.0)));
    let fields = sizes.iter().flat_map(|x| {
        [4096, 65536].map(|y| point(&[("chunk", *x), ("pipe", y)], 1e6 * (x / y + 1) as f64))
    });
    let failed = PointRun {
        engines: vec![
            without("write", Outcome::Failed { why: "exit status 3: no luck".into() }),
            without("ring", Outcome::NoTime),
            measured("double", &[2.0, 2.1], None),
        ],
        ..troubled()
    };
    LabRun {
        schema: SCHEMA.into(),
        fullbore_version: "0.1.0".into(),
        command: "fullbore lab --quick pipe".into(),
        started_unix_ns: 1_767_225_599_000_000_000,
        elapsed_ns: 42_000_000_000,
        is_complete: true,
        effort: Effort::Quick,
        machine: machine(),
        programs: [("dd".to_owned(), "dd (coreutils) 9.7".to_owned())].into(),
        suites: vec![SuiteRun {
            name: "pipe".into(),
            about: "How fast bytes go through a pipe.".into(),
            cases: vec![
                case(
                    "chunk",
                    Quantity::BytesPerSecond,
                    Chart::Lines { x: "chunk".into(), caches: true },
                    vec![axis("chunk", &sizes)],
                    lines.into(),
                ),
                case(
                    "size",
                    Quantity::BytesPerSecond,
                    Chart::Heat { x: "chunk".into(), y: "pipe".into() },
                    vec![axis("chunk", &sizes), axis("pipe", &[4096, 65536])],
                    fields.collect(),
                ),
                case(
                    "trouble",
                    Quantity::NsPerOperation,
                    Chart::Bars,
                    Vec::new(),
                    vec![troubled()],
                ),
                case("failed", Quantity::Seconds, Chart::Bars, Vec::new(), vec![failed]),
                latency(),
            ],
        }],
    }
}
