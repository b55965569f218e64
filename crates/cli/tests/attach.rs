//! `attach`: the right verdict on what runs already, and no trace of having been there.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use fullbore_proc::Root;
use fullbore_record::{FindingKind, RunRecord};
use rustix::process::{Pid, Signal, kill_process};

use crate::cases::verdicts::{self, Judgement};
use crate::gate::Pass;
use crate::processes::{Process, Running, has_open, marked};
use crate::sandbox::{Sandbox, eventually, finish, with_fixture, within};
use crate::terminal::SOON;

/// CPU time that a process has used, in clock ticks.
fn ticks(process: Process) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.0)).unwrap_or_default();
    let fields: Vec<&str> =
        stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').collect();
    let number = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok());
    number(11).unwrap_or(0) + number(12).unwrap_or(0)
}

fn attached(place: &Sandbox, pid: u32, options: &[&str]) -> RunRecord {
    let mut command = place.fullbore(&["attach", "-q", "--report", "report.json"]);
    command.args(options).arg(pid.to_string());
    let ended = finish(command);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    place.read_record()
}

/// If more than this was stolen from the CPUs, nothing is judged.
const STOLEN_PERCENT_MAX: f64 = 3.0;

#[test]
fn the_verdict_is_right_two_seconds_after_attaching() {
    require!(
        std::thread::available_parallelism().unwrap().get() >= 2,
        "one CPU cannot run two stages at once"
    );
    let _alone = Pass::alone();
    let mut wrong = Vec::new();
    let mut judged = 0;
    for known in verdicts::all() {
        let Some(line) = known.endless() else { continue };
        let place = Sandbox::new();
        let running = Running::start(&place, &line);
        let stage = running.process("--total");
        // At some moment: nothing is waited for.
        let moment = Duration::from_millis(30 * u64::try_from(known.name.len()).unwrap());
        within(moment, || None::<()>);
        // Without --tune, small pipes make stages take turns where CPUs wake late, and that is said, too.
        let before = Root::system().cpu_times();
        let tune: &[&str] = if known.is_tuned() { &["--tune"] } else { &[] };
        let record = attached(&place, stage.0, &[tune, &["--for", "2s"]].concat());
        let stolen = before.zip(Root::system().cpu_times());
        let stolen = stolen.and_then(|(before, after)| after.stolen_percent_since(before));
        // Where other virtual machines had the CPUs, these wake late, and stages do take turns: no answer is known then.
        if stolen.is_some_and(|percent| percent > STOLEN_PERCENT_MAX) {
            continue;
        }
        judged += 1;
        if known.verdict(&record) != Judgement::Right {
            wrong.push(format!("{}: {:?}", known.name, known.verdict(&record)));
        }
    }
    // On a quiet machine 95 % are right; beside strangers, who wake CPUs late, somewhat fewer.
    eprintln!("{judged} pipelines judged");
    assert!(
        wrong.len() * 10 <= judged,
        "{} of {judged} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn times_and_bytes_count_from_the_moment_of_attaching() {
    let place = Sandbox::new();
    let line = "{stage} --name first --no-read --total 999999M | {stage} --name slow --no-write --compute-us 2000";
    let running = Running::start(&place, line);
    let slow = running.process("--name slow");
    eventually(|| (ticks(slow) > 60).then_some(())).expect("it works");
    let record = attached(&place, slow.0, &["--for", "500ms"]);
    assert_eq!(record.stages.len(), 2, "{:?}", record.stages);
    assert!(record.attached_at_ns.unwrap() > 500_000_000, "{:?}", record.attached_at_ns);
    for stage in &record.stages {
        assert!(stage.cpu_ns < 1_100_000_000, "{}: {} ns", stage.command, stage.cpu_ns);
        // 64 KiB take 2 ms.
        let bytes = stage.read_bytes.unwrap().max(stage.written_bytes.unwrap());
        assert!(bytes < 64 << 20, "{}: {bytes} bytes", stage.command);
    }
    assert_eq!(record.pipes[0].capacity_bytes, None, "no pipe may be opened");
    assert!(record.command.contains(" | "), "{}", record.command);
}

#[test]
fn what_watches_a_pipeline_or_wraps_it_is_not_the_slow_stage() {
    for wrapper in ["{fullbore} run -q", "{fullbore} sh -c", "timeout 100 sh -c", "setsid -w sh -c"]
    {
        let place = Sandbox::new();
        // The reader keeps the wrapper among the stages of a pipeline.
        let line = format!("({wrapper} 'yes | gzip -1'; :) | cat");
        let running = Running::start(&place, &line);
        let gzip = running.process("gzip -1");
        let record = attached(&place, gzip.0, &["--for", "500ms"]);
        let message = &record.findings[0].message;
        assert!(message.starts_with("gzip is on a CPU"), "{wrapper}: {message}");
        // `fullbore run` is there for what it did itself, at its beginning.
        let stages = record.stages.iter().map(|stage| stage.command.as_str());
        let mut seen: Vec<&str> = stages.collect();
        seen.retain(|command| !command.starts_with("fullbore") && *command != "cat");
        assert_eq!(seen, ["yes", "gzip -1"], "{wrapper}");
    }
}

#[test]
fn a_pipeline_that_was_attached_to_and_left_is_the_same() {
    for line in [
        "seq 2000000 | gzip -1 | gzip -dc | md5sum >out; echo \"${PIPESTATUS[@]}\" >>out",
        "yes abc | head -n 9000000 | tr a-c A-C | md5sum >out; echo \"${PIPESTATUS[@]}\" >>out",
        "seq 3000000 | tee >(wc -c >counted) | tail -n 3 >out; echo \"${PIPESTATUS[@]}\" >>out",
        "(seq 1500000; exit 7) | (cat; exit 3) | sort -n | tail -n 2 >out; echo \"${PIPESTATUS[@]}\" >>out",
        "for i in 1 2 3 4 5 6; do seq 300000 | wc -c; done | cat >out; echo \"${PIPESTATUS[@]}\" >>out",
    ] {
        let plain = Sandbox::new();
        let mut command = plain.command("bash");
        command.args(["-c", line]);
        assert!(finish(command).status.success());
        let place = Sandbox::new();
        let mut running = Running::start(&place, line);
        let mut times = 0;
        while running.is_alive() {
            let stages = marked(place.mark());
            let Some(stage) = stages.iter().find(|process| process.0 != running.shell().0) else {
                continue;
            };
            // What ends just then is not there any more: status 2.
            let pid = stage.0.to_string();
            let ended = finish(place.fullbore(&["attach", "--for", "30ms", &pid]));
            assert!(matches!(ended.status.code(), Some(0 | 2)), "{line}: {}", ended.stderr);
            times += u32::from(ended.status.code() == Some(0));
        }
        assert!(times > 0, "{line}: never attached");
        let read = |place: &Sandbox| fs::read_to_string(place.path("out")).unwrap();
        assert_eq!(read(&place), read(&plain), "{line}");
    }
}

#[test]
fn without_tune_no_pipe_is_opened() {
    require_programs!("strace");
    let place = Sandbox::new();
    let line = "{stage} --no-read --total 999999M | cat | {stage} --no-write";
    let running = Running::start(&place, line);
    let cat = running.process("cat");
    let fullbore = crate::sandbox::fullbore();
    let mut command = place.command("strace");
    command.args([
        "-f",
        "-qq",
        "-o",
        "trace",
        "-e",
        "trace=open,openat,openat2,pidfd_getfd,ptrace",
    ]);
    command.arg(fullbore).args(["attach", "--for", "400ms", &cat.0.to_string()]);
    let ended = finish(command);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    let trace = fs::read_to_string(place.path("trace")).unwrap();
    let of_others = |call: &&str| {
        let after = call.split_once("/fd/").map_or("", |(_, after)| after);
        after.starts_with(|c: char| c.is_ascii_digit()) && !call.contains("/proc/self")
    };
    let opened: Vec<&str> = trace.lines().filter(of_others).collect();
    assert!(trace.contains("/proc/"), "nothing was traced");
    assert!(opened.is_empty(), "{opened:?}");
    assert!(!trace.contains("ptrace(") && !trace.contains("pidfd_getfd("), "{trace}");
}

#[test]
fn ctrl_c_prints_the_verdict_and_the_pipeline_goes_on() {
    let place = Sandbox::new();
    let line =
        "{stage} --no-read --total 999999M | {stage} --name slow --no-write --compute-us 2000";
    let mut running = Running::start(&place, line);
    let slow = running.process("--name slow");
    let mut command = place.fullbore(&["attach", &slow.0.to_string()]);
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    within(SOON, || has_open(child.id(), &format!("/proc/{}/", slow.0))).unwrap();
    // Long enough to say something.
    within(Duration::from_millis(700), || None::<()>);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{text}");
    assert!(text.contains("2 fullbore-fixtur"), "{text}");
    assert!(text.contains("watched for") && text.contains("went on"), "{text}");
    assert!(running.is_alive());
}

#[test]
fn with_tune_a_pipe_grows_and_has_its_capacity_again_afterwards() {
    require!(
        std::thread::available_parallelism().unwrap().get() >= 2,
        "one CPU cannot run two stages at once"
    );
    let _alone = Pass::alone();
    let place = Sandbox::new();
    let line = "{stage} --name producer --no-read --total 999999M --burst 1M --compute-us 1200 | \
                {stage} --name consumer --no-write --compute-us 1200";
    let running = Running::start(&place, line);
    let consumer = running.process("--name consumer");
    let record = attached(&place, consumer.0, &["--tune", "--for", "3s"]);
    assert!(!record.tuning.is_empty(), "{:?}", record.findings);
    assert!(!record.gaps.iter().any(|gap| gap.contains("keeps more")), "{:?}", record.gaps);
    let again = attached(&place, consumer.0, &["--tune", "--for", "50ms"]);
    assert_eq!(again.pipes[0].initial_capacity_bytes, Some(65_536), "{:?}", again.pipes);
}

#[test]
fn it_ends_with_the_pipeline_and_sees_stages_that_begin_later() {
    let place = Sandbox::new();
    // What begins later is found within half a second (docs/attach.md), so it lives longer.
    let line = "mkfifo p; cat p | wc -c >out & exec 3>p; sleep 1.2; \
                { seq 4000000; sleep 0.8; } | tee -a log >&3 3>&-; exec 3>&-; wait";
    let running = Running::start(&place, line);
    let wc = running.process("wc -c");
    let record = attached(&place, wc.0, &[]);
    let commands: Vec<&str> = record.stages.iter().map(|stage| stage.command.as_str()).collect();
    for wanted in ["cat p", "wc -c", "tee -a log"] {
        assert!(commands.contains(&wanted), "{wanted}: {commands:?}");
    }
    assert!(record.gaps.iter().all(|gap| !gap.contains("went on")), "{:?}", record.gaps);
}

#[test]
fn what_cannot_be_watched_is_refused_with_reasons() {
    let place = Sandbox::new();
    let mut child = Command::new("true").spawn().unwrap();
    let gone = child.id().to_string();
    child.wait().unwrap();
    for (arguments, says) in [
        (&["attach", &gone][..], "no such process"),
        (&["attach", "0"], "0 is not in 1"),
        (&["attach", "x"], "invalid value"),
        (&["attach"], "PID"),
        (&["attach", "--name", "no-such-command-line-4711"], "no process has"),
        (&["attach", "1", "--for", "0s"], "expected a time"),
        (&["attach", "1", "--for", "soon"], "expected a time"),
        (&["attach", "1", "--report", "x.txt"], "must end in .json or .html"),
    ] {
        let ended = place.run(arguments);
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn a_name_stands_for_one_pipeline() {
    let place = Sandbox::new();
    let mark = format!("--name only-{}", std::process::id());
    let line = format!(
        "{{stage}} {mark} --no-read --total 999999M | {{stage}} {mark} --no-write --compute-us 500"
    );
    let running = Running::start(&place, &line);
    running.process("--compute-us");
    let mut command =
        place.fullbore(&["attach", "-q", "--for", "300ms", "--report", "report.json"]);
    command.args(["--name", &mark]);
    let ended = finish(command);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert_eq!(place.read_record().stages.len(), 2);
    let other_place = Sandbox::new();
    let other = Running::start(&other_place, &line);
    other.process("--compute-us");
    let ended = place.run(&["attach", "--for", "300ms", "--name", &mark]);
    assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("2 pipelines have"), "{}", ended.stderr);
}

#[test]
fn a_deadlock_or_a_bottleneck_is_named_for_a_pipeline_of_one_shell_script() {
    let place = Sandbox::new();
    fs::write(place.path("job.sh"), with_fixture("{stage} --no-read --total 999999M | {stage} --name slow --no-write --compute-us 1000\n")).unwrap();
    let running = Running::start(&place, "true; sh job.sh; true");
    running.process("--name slow");
    let script = running.process("sh job.sh");
    let record = attached(&place, script.0, &["--for", "1s"]);
    let first = record.findings.first().expect("a finding");
    assert_eq!(first.kind, FindingKind::Bottleneck, "{record:?}");
    let slow = record.stages.iter().find(|stage| Some(stage.stage) == first.stage).unwrap();
    assert!(slow.command.contains("--name slow"), "{slow:?}");
}
