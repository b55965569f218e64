//! Every built-in engine, in small: the right answer, honest errors, nothing left behind.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test reports by panicking and printing"
)]

mod program;

use std::collections::BTreeSet;

use fullbore_lab::engines::{ENGINES, Kind, find};
use fullbore_lab::{EngineError, Job, Parameter, Parameters, TrialResult, engines};

use program::{job, skipped, trial};

fn answer(engine: &str, parameters: &str) -> String {
    trial(engine, parameters).unwrap().answer.unwrap_or_else(|| "none".to_owned())
}

fn error(engine: &str, parameters: &str) -> String {
    trial(engine, parameters).unwrap_err()
}

#[test]
fn every_method_moves_memory_right_and_with_the_same_digest() {
    for task in ["copy", "write", "read"] {
        let mut answers = BTreeSet::new();
        for method in
            ["libc-memcpy", "avx512", "avx2", "sse2", "scalar", "rep-movsb", "non-temporal"]
        {
            let job = job(
                "memory",
                &format!(
                    r#"{{"method": "{method}", "task": "{task}", "size": 8192, "total": 81920}}"#
                ),
            );
            match engines::run(&job) {
                Ok(sample) => {
                    assert_eq!(
                        (sample.bytes, sample.operations),
                        (Some(81920), Some(10)),
                        "{method}"
                    );
                    answers.insert(sample.answer.unwrap());
                }
                Err(error @ EngineError::Unavailable { .. }) => missing(&error.to_string()),
                Err(EngineError::Failed(why)) => assert!(why.contains("cannot read"), "{why}"),
            }
        }
        assert_eq!(answers.len(), 1, "{task}: {answers:?}");
        assert!(!answers.contains("wrong"), "{task}");
    }
}

/// What this processor lacks is no failure even in CI, which cannot install one.
fn missing(error: &str) {
    if error.contains("a processor with") {
        eprintln!("skipped: {error}");
    } else {
        skipped(error);
    }
}

#[test]
fn threads_share_the_bytes_and_huge_pages_are_used_when_asked_for() {
    let cpus = std::thread::available_parallelism().unwrap().get();
    let parameters =
        format!(r#"{{"threads": {cpus}, "size": 4096, "total": 409600, "huge": true}}"#);
    match engines::run(&job("memory", &parameters)) {
        Ok(sample) => {
            assert_eq!(sample.sides.len(), cpus);
            assert!(sample.bytes.unwrap() >= 409_600, "{sample:?}");
        }
        Err(error) => {
            let error = error.to_string();
            assert!(error.contains("huge pages"), "{error}");
            skipped(&error);
        }
    }
    let error = engines::run(&job("memory", r#"{"threads": 1000}"#)).unwrap_err().to_string();
    assert!(error.starts_with("not available here: 1000 CPUs"), "{error}");
}

#[test]
fn every_safe_writer_is_right_under_every_reader() {
    for writer in ["write", "ring", "fresh"] {
        for reader in ["read", "queue", "splice-file"] {
            for fill in ["words", "stamps"] {
                let huge = writer != "write";
                let parameters = format!(
                    r#"{{"writer": "{writer}", "reader": "{reader}", "fill": "{fill}", "total": 33554432,
                        "chunk": 262144, "huge": {huge}}}"#
                );
                match trial("pipe", &parameters) {
                    Ok(sample) => assert_eq!(sample.answer.as_deref(), Some("ok"), "{parameters}"),
                    Err(error) => {
                        assert!(error.contains("huge pages"), "{parameters}: {error}");
                        skipped(&error);
                    }
                }
            }
        }
    }
}

#[test]
fn the_unsafe_writer_is_wrong_under_a_reader_that_holds_pages_and_that_is_seen() {
    let parameters =
        |reader| format!(r#"{{"writer": "double", "reader": "{reader}", "total": 67108864}}"#);
    let answer = answer("pipe", &parameters("queue"));
    let (wrong, rest) = answer.split_once(' ').unwrap();
    assert!(
        wrong.parse::<u64>().unwrap() > 1_000_000 && rest == "of 8388608 words wrong",
        "{answer}"
    );
    let copied = trial("pipe", &parameters("read")).unwrap();
    assert_eq!(copied.answer.as_deref(), Some("ok"), "a reader that copies is right");
}

#[test]
fn where_no_bytes_are_seen_there_is_no_answer_but_all_of_them_pass() {
    for (writer, reader) in
        [("constant", "read"), ("double", "splice-null"), ("write", "splice-null")]
    {
        for busy in [false, true] {
            let parameters = format!(
                r#"{{"writer": "{writer}", "reader": "{reader}", "busy": {busy}, "pipe": 131072,
                    "total": 16777216, "pin": "same"}}"#
            );
            let sample = trial("pipe", &parameters).unwrap();
            assert_eq!((sample.answer, sample.bytes), (None, Some(16_777_216)), "{parameters}");
        }
    }
}

#[test]
fn both_sides_of_a_pipe_are_accounted_for() {
    let sample = trial("pipe", r#"{"total": 67108864}"#).unwrap();
    for (side, name) in sample.sides.iter().zip(["writer", "reader"]) {
        assert_eq!(side.name, name);
        assert!(side.cpu_ns > 100_000 && side.cpu_ns < 60_000_000_000, "{side:?}");
        assert!(side.peak_memory_bytes.unwrap() > 500_000, "{side:?}");
        let switches = sample.counters[&format!("{name}_voluntary_switches")];
        assert!(switches.is_some(), "{sample:?}");
    }
    assert!(sample.elapsed_ns > 1_000_000, "64 MiB take longer: {sample:?}");
    assert!(!sample.counters.contains_key("dtlb_load_misses"), "nobody asked for them");
}

#[test]
fn counters_of_the_processor_are_there_or_it_is_said_why_not() {
    for (engine, parameters) in [
        ("pipe", r#"{"total": 16777216, "counters": true}"#),
        ("memory", r#"{"total": 16777216, "counters": true}"#),
    ] {
        let sample = trial(engine, parameters).unwrap();
        for name in ["dtlb_load_misses", "dtlb_store_misses", "cache_misses", "cycles"] {
            let (count, why) = (sample.counters[name], sample.missing.get(name));
            assert_ne!(count.is_some(), why.is_some(), "{engine} {name}: {count:?} {why:?}");
            assert!(
                count.is_none_or(|count| count > 0) || name == "cache_misses",
                "{engine} {name}"
            );
        }
        for name in ["minor_faults", "major_faults", "voluntary_switches", "migrations"] {
            assert!(sample.counters[name].is_some(), "{engine} {name}: {sample:?}");
        }
    }
}

#[test]
fn both_sides_of_a_pipe_add_up_and_pages_are_first_touched_before_the_work() {
    let sample = trial("pipe", r#"{"total": 67108864}"#).unwrap();
    for name in ["minor_faults", "voluntary_switches", "involuntary_switches"] {
        let side = |side: &str| sample.counters[&format!("{side}_{name}")].unwrap();
        assert_eq!(sample.counters[name], Some(side("writer") + side("reader")), "{name}");
    }
    let copied = engines::run(&job("memory", r#"{"size": 67108864, "total": 268435456}"#)).unwrap();
    let faults = copied.counters["minor_faults"].unwrap();
    assert!(faults < 1000, "two buffers have 32768 pages: {faults} faults while they were copied");
}

const KINDS: [&str; 10] = [
    "pipe",
    "socketpair-stream",
    "unix-stream",
    "unix-datagram",
    "tcp",
    "shm-futex",
    "shm-spin",
    "eventfd",
    "mqueue",
    "uring-pipe",
];

/// Whether messages are refused because they are longer than this machine lets an unprivileged user's be. Saying so is
/// right and skips nothing.
fn is_above_the_limit(error: &str) -> bool {
    let wanted = error.split("msgsize_max=").nth(1).map(|rest| rest.trim_end_matches(')'));
    let limit = std::fs::read_to_string("/proc/sys/fs/mqueue/msgsize_max").unwrap_or_default();
    let number = |text: &str| text.trim().parse::<u64>().ok();
    wanted.and_then(number).zip(number(&limit)).is_some_and(|(wanted, limit)| wanted > limit)
}

/// The sample; `None` where this machine has no such transport, or not for messages of this size.
fn transport(parameters: &str) -> Option<TrialResult> {
    match trial("transport", parameters) {
        Ok(sample) => Some(sample),
        Err(error) => {
            assert!(error.starts_with("not available here: "), "{parameters}: {error}");
            if !is_above_the_limit(&error) {
                skipped(&error);
            }
            None
        }
    }
}

#[test]
fn every_transport_passes_every_message_in_order() {
    for kind in KINDS.into_iter().filter(|kind| *kind != "eventfd") {
        for message in [64, 5000, 8192, 100_000] {
            let total = 40 * message;
            let parameters =
                format!(r#"{{"kind": "{kind}", "message": {message}, "total": {total}}}"#);
            let Some(sample) = transport(&parameters) else { continue };
            assert_eq!(sample.answer.as_deref(), Some("ok"), "{parameters}");
            assert_eq!((sample.bytes, sample.operations), (Some(total), Some(40)), "{parameters}");
        }
    }
}

#[test]
fn every_transport_times_each_round_trip() {
    for kind in KINDS {
        let parameters =
            format!(r#"{{"kind": "{kind}", "task": "latency", "message": 64, "trips": 500}}"#);
        let Some(sample) = transport(&parameters) else { continue };
        assert_eq!(sample.answer.as_deref(), Some("ok"), "{kind}");
        let latency = sample.latency.unwrap();
        assert_eq!(latency.count, 500, "{kind}");
        let rising = [50, latency.p50_ns, latency.p99_ns, latency.p999_ns, latency.max_ns];
        assert!(rising.is_sorted(), "{kind}: {latency:?}");
        assert!(latency.p50_ns * 250 <= sample.elapsed_ns, "{kind}: half took at least the median");
        assert_eq!(latency.buckets.iter().map(|(_, count)| count).sum::<u64>(), 500, "{kind}");
    }
}

#[test]
fn the_consumer_gets_the_same_stream_whatever_the_pipe_and_the_way_of_reading() {
    let mut answers = BTreeSet::new();
    for extra in [
        r#""pipe": 65536"#,
        r#""pipe": 1048576, "read": 1000"#,
        r#""non_blocking": true, "other_work": 20, "call_work": 100"#,
    ] {
        let parameters = format!(
            r#"{{"total": 10000000, "burst": 1048576, "producer_work": 1, "consumer_work": 1, {extra}}}"#
        );
        let sample = trial("overlap", &parameters).unwrap();
        assert_eq!(sample.bytes, Some(10_000_000), "{extra}");
        assert!(sample.counters["overlap_percent"].unwrap() <= 100, "{extra}");
        let predicted = if extra.contains("1048576") { 100 } else { 6 };
        assert_eq!(sample.counters["predicted_percent"], Some(predicted), "{extra}");
        answers.insert(sample.answer.unwrap());
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
}

#[test]
fn wrong_parameters_are_named_with_what_they_could_be() {
    let cases = [
        ("sing", "{}", "no engine sing; there are memory, overlap, pipe, transport"),
        ("memory", r#"{"size": 5000}"#, "memory: size = 5000: must be a multiple of 4096"),
        ("memory", r#"{"size": 1}"#, "memory: size = 1: must be bytes, 4096 to 1073741824"),
        (
            "pipe",
            r#"{"reeder": 1}"#,
            "pipe: no parameter reeder; there are writer, reader, fill, chunk, pipe, huge, busy, pin, total, counters, limit",
        ),
        ("pipe", r#"{"total": 5000}"#, "pipe: total = 5000: must be a multiple of 4096"),
        (
            "pipe",
            r#"{"writer": "ring", "busy": true}"#,
            "pipe: busy: ring waits; use write, double or constant",
        ),
        (
            "transport",
            r#"{"kind": "eventfd"}"#,
            "transport: eventfd carries no bytes; use task = latency",
        ),
        ("transport", r#"{"buffer": 5000}"#, "transport: buffer = 5000: must be a power of two"),
        ("overlap", r#"{"burst": 4100}"#, "overlap: burst and total must be multiples of 8"),
    ];
    for (engine, parameters, message) in cases {
        assert_eq!(error(engine, parameters), message);
    }
}

#[test]
fn what_the_machine_refuses_is_unavailable_with_a_remedy() {
    let error = error("pipe", r#"{"writer": "ring", "huge": false}"#);
    assert!(error.starts_with("not available here: writer ring"), "{error}");
    assert!(error.ends_with("(huge = true)"), "{error}");
    let error = self::error("transport", r#"{"kind": "shm-spin", "pin": "same"}"#);
    assert!(error.starts_with("not available here: two sides that spin on one CPU"), "{error}");
}

#[test]
fn a_trial_that_takes_too_long_is_ended_and_says_what_it_waited_for() {
    let parameters = r#"{"task": "latency", "trips": 1000000000, "limit": 1}"#;
    assert_eq!(error("transport", parameters), "waited 1 s for the near and the far to finish");
    let parameters = r#"{"total": 1152921504606846976, "limit": 1}"#;
    assert_eq!(error("pipe", parameters), "waited 1 s for the writer and the reader to finish");
}

#[test]
fn every_default_is_allowed_and_every_parameter_explained() {
    for engine in ENGINES {
        let all = find(engine.name).unwrap().complete(&Parameters::default()).unwrap();
        assert_eq!(all.0.len(), engine.parameters.len(), "{}: a name twice", engine.name);
        assert_eq!(engine.complete(&all).unwrap(), all, "{}", engine.name);
        for spec in engine.parameters {
            assert!(!spec.about.is_empty(), "{} {}", engine.name, spec.name);
            if let Kind::Number { least, most, .. } = spec.kind {
                assert!(least <= most, "{} {}", engine.name, spec.name);
            }
        }
    }
    let job = Job {
        engine: "memory".to_owned(),
        parameters: Parameters([("method".to_owned(), Parameter::Flag(true))].into()),
    };
    assert!(engines::run(&job).unwrap_err().to_string().contains("must be one of libc-memcpy"));
}
