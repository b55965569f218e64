//! `run --exact`: every switch counted where Linux allows it, samples where it does not.

use std::process::Command;

use fullbore_proc::{Root, clock_ticks_per_second};
use fullbore_record::{RunRecord, SharesFrom};

use crate::sandbox::{Sandbox, finish, fullbore, stage, status_text};

/// A seccomp filter that answers `perf_event_open` (298 on x86-64) with EPERM, as the profiles of containers do: seccomp(2).
pub(crate) const FORBIDDEN: &str = r#"$filter = join "", map { pack "SCCL", @$_ } [0x20, 0, 0, 0], [0x15, 0, 1, 298],
    [0x06, 0, 0, 0x50001], [0x06, 0, 0, 0x7fff0000];
    $program = pack "S x6 P", 4, $filter;
    syscall(157, 38, 1, 0, 0, 0) == 0 and syscall(157, 22, 2, $program) == 0 or die "no filter: $!";
    exec @ARGV"#;

fn exact(place: &Sandbox, line: &str) -> RunRecord {
    exact_with(place, &[], line)
}

fn exact_with(place: &Sandbox, options: &[&str], line: &str) -> RunRecord {
    place.record(&[&["--exact", "always", "--no-tune"], options].concat(), line)
}

/// The first CPU that this process may use.
fn a_cpu() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split(['-', ',']).next().unwrap().to_owned()
}

#[test]
fn stages_that_share_one_cpu_never_overlap() {
    require_programs!("taskset");
    let place = Sandbox::new();
    let mut command = place.command("taskset");
    command.args(["-c", &a_cpu()]).arg(fullbore()).args([
        "run",
        "-q",
        "--no-tune",
        "--exact",
        "always",
    ]);
    command.args(["--report", "report.json", "seq 2000000 | sort -n | tail -1"]);
    let record = place.record_of(command);
    assert_eq!(record.shares_from, SharesFrom::Switches, "{:?}", record.gaps);
    let overlap = record.overlap_percent.unwrap();
    assert!(overlap < 0.5, "{overlap} % overlap on one CPU");
}

/// Otherwise the end of one turn of a loop lies after the beginning of the next, and they are taken for two stages.
#[test]
fn census_and_look_of_a_sample_have_one_time() {
    let place = Sandbox::new();
    exact_with(&place, &["--samples", "samples"], "for i in 1 2 3; do seq 60000 | sort -n; done");
    let text = std::fs::read_to_string(place.path("samples")).unwrap();
    let times = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let at = |half: &str| Some(value.pointer(&format!("/sample/{half}/at_ns"))?.as_u64());
        at("census").zip(at("look"))
    };
    let all: Vec<_> = text.lines().filter_map(times).collect();
    assert!(all.len() > 10, "{} samples", all.len());
    assert!(all.iter().all(|(census, look)| census == look), "{all:?}");
}

/// A few of them live until a sample finds them; the others come and go in between.
#[test]
fn every_process_of_a_stage_is_counted() {
    let place = Sandbox::new();
    let line = "seq 1000 | xargs -n 1 /bin/true | cat";
    let record = exact(&place, line);
    let xargs = stage(&record, "xargs");
    assert_eq!(xargs.processes, 1001, "{:?}", record.gaps);
    let seen = place.record(&["--exact", "never"], line);
    let xargs = stage(&seen, "xargs");
    assert!((1..=1001).contains(&xargs.processes), "{}", xargs.processes);
}

/// Each child lives for about a millisecond, less than the time between two samples.
#[test]
fn short_processes_are_counted_in_the_stage_that_starts_them() {
    let place = Sandbox::new();
    let line = "(i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done) | cat";
    let before = Root::system().cpu_times().unwrap();
    let record = exact(&place, line);
    let after = Root::system().cpu_times().unwrap();
    assert_eq!(record.shares_from, SharesFrom::Switches, "{:?}", record.gaps);
    let looping = &record.stages[0];
    let running_ns = looping.running_percent / 100.0 * looping.life_ns as f64;
    let cpu_ns = record.cpu_ns.unwrap() as f64;
    // The times of the switches are those of the clock, and what the host takes from a guest passes in them;
    // the CPU time of a process may be without it (proc_stat(5), `steal`).
    let tick_ns = 1e9 / clock_ticks_per_second() as f64;
    let stolen_ns = (after.stolen_ticks - before.stolen_ticks) as f64 * tick_ns;
    // Parent and child may run at one time, so the time with one of them on a CPU is less than the sum.
    let is_right = running_ns > 0.5 * cpu_ns && running_ns < 1.1 * cpu_ns + stolen_ns;
    assert!(is_right, "{running_ns} of {cpu_ns}, {stolen_ns} stolen");
}

#[test]
fn where_linux_refuses_always_runs_nothing_and_auto_takes_samples() {
    require!(cfg!(target_arch = "x86_64"), "the numbers of system calls are those of x86-64");
    require_programs!("perl");
    let place = Sandbox::new();
    let under_filter = |exact: &str| -> Command {
        let mut command = place.command("perl");
        command.args(["-e", FORBIDDEN]).arg(fullbore()).args(["run", "-q", "--exact", exact]);
        command.args(["--report", "report.json", "echo ran > ran; seq 100000 | tail -1"]);
        command
    };
    let ended = finish(under_filter("always"));
    assert_eq!(status_text(ended.status), "exit 125");
    assert!(ended.stderr.contains("counting every switch: perf_event_open:"), "{}", ended.stderr);
    assert!(ended.stderr.contains("--exact auto"), "{}", ended.stderr);
    assert!(!place.path("ran").exists(), "something was run");

    let record = place.record_of(under_filter("auto"));
    assert_eq!(record.shares_from, SharesFrom::Samples);
    assert!(place.path("ran").exists());
}

/// Linux ends the watch on a program that gets other privileges (execve(2)): its stage is sampled.
#[test]
fn a_program_with_privileges_of_its_own_is_sampled() {
    require!(rustix::process::geteuid().is_root(), "only root can make a program set-user-ID");
    require_programs!("setpriv", "gzip");
    let place = Sandbox::new();
    let line = "cp /bin/gzip gz && chmod 4755 gz && chmod 777 . && mkdir -m 777 out && cp \"$0\" ./fullbore && \
                setpriv --reuid=65534 --regid=65534 --clear-groups ./fullbore run -q --exact always \
                --report out/report.json 'seq 1000000 | ./gz -1 | wc -c'";
    let mut command = place.command("sh");
    command.args(["-c", line]).arg(fullbore());
    let ended = finish(command);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let text = std::fs::read(place.path("out/report.json")).unwrap();
    let record: RunRecord = serde_json::from_slice(&text).unwrap();
    let gz = record.stages.iter().find(|stage| stage.command.contains("gz")).unwrap();
    // On a busy machine it also waits for a CPU.
    assert!(gz.running_percent + gz.runnable_percent > 60.0, "{gz:?}");
}
