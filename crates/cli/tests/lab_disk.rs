//! `lab disk`, `lab import` and `lab compare` of disks, end to end: with the real fio, briefly, and with programs that stand for one
//! that fails.

use std::path::Path;

use fullbore_lab::disk::record::{DiskRun, SCHEMA, WorkloadRun};
use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::{DEADLINE, Ended, Sandbox, finish, status_text, within};

/// What a fio that works writes, shortened: its first argument that ends in `.fio` is the job file.
const WORKS: &str = r#"#!/bin/sh
[ "$1" != --version ] || { echo fio-3.99; exit 0; }
name=$(sed -n 's/^\[\(.*\)\]$/\1/p' job.fio)
direction=read; case $name in *write) direction=write;; esac
cat > result.json <<END
{ "fio version" : "fio-3.99", "timestamp_ms" : 1795638424598, "jobs" : [ { "jobname" : "$name", "error" : 0,
 "$direction" : { "total_ios" : 1000, "io_bytes" : 4096000, "bw_bytes" : ${BW:-4096000}, "iops" : ${IOPS:-1000.125}, "runtime" : 1000,
 "clat_ns" : { "min" : 1000, "max" : 99999, "mean" : 2000.5, "percentile" : { "50.000000" : 2000 }, "bins" : { "2000" : 990, "4000" : 10 } } },
 "usr_cpu" : 10.0, "sys_cpu" : 20.0 } ] }
END
"#;

/// The real fio, and a copy of what it wrote.
const KEEPS: &str = r#"#!/bin/sh
PATH=$REAL_PATH
fio "$@"
status=$?
[ ! -f result.json ] || cp result.json "$KEEP/$(sed -n 's/^\[\(.*\)\]$/\1/p' job.fio).of-fio"
exit $status
"#;

fn place_with(fio: &str) -> Sandbox {
    let place = Sandbox::new();
    std::fs::create_dir(place.path("bin")).unwrap();
    std::fs::create_dir(place.path("data")).unwrap();
    place.script("bin/fio", fio);
    place
}

/// `fullbore lab disk` on the folder `data`, with `bin` before all other programs.
fn disk(place: &Sandbox, args: &[&str]) -> std::process::Command {
    let mut command = place.fullbore(&["lab", "disk", "--dir", "data", "--size", "8M", "--anyway"]);
    command.args(args);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", place.path("bin").display()));
    command
}

fn record(place: &Sandbox, name: &str) -> DiskRun {
    serde_json::from_slice(&std::fs::read(place.path(name)).unwrap()).unwrap()
}

fn out(ended: &Ended) -> String {
    String::from_utf8(ended.stdout.clone()).unwrap()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// Every number of the workload is that of fio, to the last digit.
fn is_of_fio(workload: &WorkloadRun, name: &str, output: &serde_json::Value) {
    let theirs = &output["jobs"][0][name];
    let [ours] = workload.passes[0].directions.as_slice() else { panic!("{workload:?}") };
    assert_eq!(ours.direction, name);
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert_eq!(
        (ours.iops, ours.bytes_per_s),
        (number(&theirs["iops"]), number(&theirs["bw_bytes"]))
    );
    assert_eq!(Some(ours.requests), theirs["total_ios"].as_u64());
    let latency = &theirs["clat_ns"];
    assert_eq!(
        (ours.latency.mean_ns, Some(ours.latency.max_ns)),
        (number(&latency["mean"]), latency["max"].as_u64())
    );
    // Our percentiles, out of the bins, are those that fio computed.
    for (percent, key) in
        [(50.0, "50.000000"), (99.0, "99.000000"), (99.9, "99.900000"), (99.99, "99.990000")]
    {
        assert_eq!(
            ours.latency.bins.percentile(percent),
            latency["percentile"][key].as_u64(),
            "{name} p{percent}"
        );
    }
    assert!(
        ours.timeline.iops.len() >= 8 && ours.timeline.latency_ns.len() >= 8,
        "{:?}",
        ours.timeline
    );
    let mean = ours.timeline.iops.iter().sum::<f64>() / ours.timeline.iops.len() as f64;
    assert!((mean / ours.iops - 1.0).abs() < 0.25, "the log says {mean}, the result {}", ours.iops);
    assert!(
        workload.passes[0].cpus() > Some(0.0)
            && workload.passes[0].peak_memory_bytes > Some(1 << 20)
    );
}

#[test]
fn the_real_fio_measures_and_every_number_is_its_own() {
    let place = Sandbox::new();
    std::fs::create_dir(place.path("data")).unwrap();
    // Keeps what fio wrote, which fullbore removes.
    std::fs::create_dir(place.path("bin")).unwrap();
    place.script("bin/fio", KEEPS);
    let arguments = [
        "--quick",
        "--runs",
        "1",
        "--workload",
        "random-read",
        "--workload",
        "stream-write",
        "--report",
        "a.json",
        "--report",
        "a.html",
        "--report",
        "a.md",
    ];
    let mut command = disk(&place, &arguments);
    command.env("REAL_PATH", std::env::var("PATH").unwrap()).env("KEEP", place.path("."));
    let ended = finish(command);
    assert_eq!(status_text(ended.status), "exit 0", "{}{}", ended.stderr, out(&ended));
    let run = record(&place, "a.json");
    assert_eq!((run.schema.as_str(), run.is_complete, run.workloads.len()), (SCHEMA, true, 2));
    assert!(run.tester.starts_with("fio-3."), "{}", run.tester);
    for (workload, direction) in run.workloads.iter().zip(["read", "write"]) {
        let text =
            std::fs::read_to_string(place.path(&format!("{}.of-fio", workload.name))).unwrap();
        let output = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
        is_of_fio(workload, direction, &output);
    }
    let page = std::fs::read_to_string(place.path("a.html")).unwrap();
    assert!(
        page.starts_with("<!DOCTYPE html>")
            && page.contains("<svg")
            && page.contains("--rw=randread")
    );
    assert!(
        std::fs::read_to_string(place.path("a.md")).unwrap().contains("| Random read, 4 KiB |")
    );
    assert!(is_empty(&place.path("data")), "the test file is gone");
}

#[test]
fn a_fio_that_is_killed_midway_costs_only_what_it_would_have_measured() {
    let dies =
        WORKS.replace("direction=read;", "[ $name != stream-read ] || kill -9 $$; direction=read;");
    let place = place_with(&dies);
    let ended = finish(disk(&place, &["--quick", "--runs", "2", "--report", "a.json"]));
    assert_eq!(status_text(ended.status), "exit 2", "{}", ended.stderr);
    assert!(
        ended.stderr.contains("lab disk: stream-read: fio was killed by signal 9\n"),
        "{}",
        ended.stderr
    );
    let run = record(&place, "a.json");
    let passes: Vec<_> = run.workloads.iter().map(|workload| workload.passes.len()).collect();
    assert_eq!(passes, [2, 2, 2, 2, 0, 2]);
    assert!(out(&ended).contains("fio was killed by signal 9"), "{}", out(&ended));
    assert!(is_empty(&place.path("data")));
}

#[test]
fn a_fio_that_fails_is_quoted() {
    for (script, expected) in [
        (
            "echo 'fio: engine libaio not loadable' >&2; exit 1",
            "random-read: fio ended with exit status 1: fio: engine libaio not loadable\n",
        ),
        (
            "echo '{ \"jobs\" : [' > result.json; exit 0",
            "random-read: the output of fio cannot be read: it is cut off: it ends at line 1 within the JSON",
        ),
        ("exit 0", "random-read: the output of fio cannot be read: there is no JSON in it\n"),
    ] {
        let place = place_with(&format!(
            "#!/bin/sh\n[ \"$1\" != --version ] || {{ echo fio-3.99; exit 0; }}\n{script}\n"
        ));
        let ended = finish(disk(&place, &["--quick", "--workload", "random-read"]));
        assert_eq!(status_text(ended.status), "exit 2", "{}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{expected}\n{}", ended.stderr);
    }
}

#[test]
fn ctrl_c_removes_the_file_and_keeps_what_was_measured() {
    let waits = WORKS.replace(
        "direction=read;",
        "[ $name != stream-read ] || { : > \"$FLAG\"; sleep 600; }; direction=read;",
    );
    let place = place_with(&waits);
    let mut command = disk(&place, &["--quick", "--report", "a.json"]);
    command
        .env("FLAG", place.path("waits"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    within(DEADLINE, || place.path("waits").exists().then_some(())).expect("fio never ran");
    assert!(!is_empty(&place.path("data")), "the file is there while fio runs");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(status_text(ended.status), "signal 2");
    let run = record(&place, "a.json");
    assert_eq!(
        (run.is_complete, run.workloads[0].passes.len(), run.workloads[4].passes.len()),
        (false, 1, 0)
    );
    assert!(!run.has_trouble(), "a stop is no failure of a workload");
    assert!(is_empty(&place.path("data")));
}

#[test]
fn without_fio_threads_of_our_own_measure_and_the_record_says_so() {
    let place = Sandbox::new();
    std::fs::create_dir(place.path("data")).unwrap();
    let mut command = disk(
        &place,
        &["--quick", "--runs", "1", "--workload", "random-read", "--report", "a.json"],
    );
    command.env("PATH", place.path("nowhere"));
    let ended = finish(command);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    assert!(
        ended.stderr.contains("fio: not found") && ended.stderr.contains("apt install fio"),
        "{}",
        ended.stderr
    );
    let run = record(&place, "a.json");
    assert!(
        run.tester.starts_with("fullbore ")
            && run.notes.iter().any(|note| note.contains("own engine")),
        "{run:?}"
    );
    assert!(run.workloads[0].summaries[0].iops.middle > 0.0);
}

#[test]
fn a_place_that_cannot_be_measured_is_refused_in_one_message() {
    let place = place_with(WORKS);
    std::fs::write(place.path("file"), "").unwrap();
    for (arguments, expected) in [
        (&["--dir", "missing"][..], "lab disk: missing: No such file or directory\n"),
        (&["--dir", "file"], "lab disk: file: it is not a directory\n"),
        (&["--dir", "/proc"], "lab disk: /proc: "),
        (&["--dir", "data", "--size", "900000T"], "not enough room"),
        (
            &["--dir", "/dev/shm"],
            "its file system is tmpfs: it is memory\nhint: give a directory on a disk, or measure it with --anyway\n",
        ),
        (
            &["--device", "/dev/null", "--erase-everything-on", "null"],
            "/dev/null: it is not a block device\n",
        ),
        (
            &["--dir", "data", "--profile", "sead"],
            "no profile 'sead'; the profiles are seed, seed-second\n",
        ),
        (&["--dir", "data", "--workload", "random-reed"], "did you mean 'random-read'?\n"),
    ] {
        let ended = place.run(&[&["lab", "disk"], arguments].concat());
        assert_eq!(status_text(ended.status), "exit 2", "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{arguments:?}: {}", ended.stderr);
        assert_eq!(ended.stderr.matches("fullbore: ").count(), 1, "{}", ended.stderr);
    }
    let alone = place.run(&["lab", "disk", "--device", "/dev/sda"]);
    assert!(alone.stderr.contains("--erase-everything-on"), "{}", alone.stderr);
}

#[test]
fn the_job_file_is_shown_and_fio_understands_it() {
    let place = Sandbox::new();
    let ended = place.run(&["lab", "disk", "--show-jobs", "--quick"]);
    let text = out(&ended);
    let sections = [
        "random-read",
        "random-write",
        "sequential-read",
        "sequential-write",
        "stream-read",
        "stream-write",
    ];
    assert!(sections.iter().all(|name| text.contains(&format!("[{name}]"))), "{text}");
    std::fs::write(place.path("six.fio"), &text).unwrap();
    let mut parse = place.command("fio");
    parse.args(["--parse-only", "six.fio"]);
    assert_eq!(status_text(finish(parse).status), "exit 0");
    let seed = place.run(&["lab", "disk", "--show-jobs", "--profile", "seed"]);
    assert!(seed.stderr.contains("have no offset_increment"), "{}", seed.stderr);
    let text = out(&seed);
    assert!(
        text.contains("runtime=3600\nramp_time=420\n") && !text.contains("offset_increment"),
        "{text}"
    );
}

/// Two records by a fio that says what it is told.
fn pair(place: &Sandbox, name: &str, iops: &str) {
    let mut command = disk(place, &["--quick", "--runs", "3", "--label", name, "--report"]);
    command.arg(format!("{name}.json")).env("IOPS", iops).env("BW", iops);
    let ended = finish(command);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
}

#[test]
fn what_became_slower_is_told_and_so_is_what_stayed() {
    let place = place_with(WORKS);
    pair(&place, "old", "1000.5");
    pair(&place, "new", "800.25");
    let ended = place.run(&[
        "lab",
        "compare",
        "old.json",
        "new.json",
        "--report",
        "diff.html",
        "--report",
        "diff.md",
        "--report",
        "diff.json",
    ]);
    assert_eq!(status_text(ended.status), "exit 1", "{}{}", ended.stderr, out(&ended));
    let text = out(&ended);
    assert!(text.starts_with("old → new\n") && text.matches("▼ worse").count() == 12, "{text}");
    assert!(text.contains("= same"), "{text}");
    let page = std::fs::read_to_string(place.path("diff.html")).unwrap();
    assert!(page.contains("▼ worse") && page.contains("<svg"));
    let same = place.run(&["lab", "compare", "old.json", "old.json"]);
    assert_eq!(status_text(same.status), "exit 0", "{}", out(&same));
    assert!(!out(&same).contains("worse") && !out(&same).contains("better"), "{}", out(&same));
    for report in [&[][..], &["--report", "diff.html"]] {
        let alone = place.run(&[&["lab", "compare", "old.json"], report].concat());
        assert_eq!(status_text(alone.status), "exit 2", "{}", alone.stderr);
        assert!(
            alone.stderr.contains("fullbore lab compare old.json SECOND.json"),
            "{}",
            alone.stderr
        );
    }
}

#[test]
fn results_of_others_are_imported_whatever_their_names() {
    let place = Sandbox::new();
    let job = |iops: u32| {
        format!(
            r#"{{ "fio version" : "fio-3.1", "timestamp" : 1, "jobs" : [ {{ "jobname" : "mine", "job options" : {{ "rw" : "randread", "bs" : "4k" }},
            "read" : {{ "total_ios" : 9, "io_bytes" : 36864, "bw" : 36, "iops" : {iops}.25, "runtime" : 1000,
            "clat_ns" : {{ "min" : 1, "max" : 9, "mean" : 5.0, "percentile" : {{ "50.000000" : 5 }} }} }} }} ] }}"#
        )
    };
    std::fs::write(place.path("a.json"), format!("fio: a warning\n{}", job(100))).unwrap();
    std::fs::write(place.path("b.txt"), job(102)).unwrap();
    std::fs::write(place.path("cut.json"), &job(1)[..200]).unwrap();
    let ended = place.run(&["lab", "import", "fio", "a.json", "b.txt", "--label", "theirs"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let run = record(&place, "theirs.json");
    let [workload] = run.workloads.as_slice() else { panic!("{run:?}") };
    assert_eq!((workload.passes.len(), workload.summaries[0].iops.middle), (2, 101.25));
    let ended = place.run(&["lab", "import", "fio", "a.json", "cut.json", "--label", "some"]);
    assert_eq!(status_text(ended.status), "exit 2");
    assert!(ended.stderr.contains("lab import: cut.json: it is cut off"), "{}", ended.stderr);
    assert_eq!(record(&place, "some.json").workloads[0].passes.len(), 1);
    // The file of a stranger is never replaced.
    let ended = place.run(&["lab", "import", "fio", "b.txt", "--label", "a"]);
    assert_eq!(status_text(ended.status), "exit 2", "{}", ended.stderr);
    assert!(std::fs::read_to_string(place.path("a.json")).unwrap().starts_with("fio: a warning"));
}
