//! `run --keep-awake`: the same bytes and status, and never where it could only harm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use fullbore_record::RunRecord;

use crate::gate::Pass;
use crate::sandbox::{
    Sandbox, eventually, finish, fullbore, status_text, wait_or_kill, with_fixture,
};

/// One byte goes round between two CPUs that have nothing else to do, for this many seconds: all that happens is waking up.
fn round_and_round(seconds: u32) -> String {
    let [one, other] = two_cpus();
    format!(
        "mkfifo back; {{ printf x; taskset -c {one} cat back; }} | \
         timeout {seconds} taskset -c {other} cat > back"
    )
}

/// The first two CPUs that the tests may use.
fn two_cpus() -> [String; 2] {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let mut cpus = list.trim().split(',').flat_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        first.parse::<u32>().unwrap()..=last.parse().unwrap()
    });
    [(); 2].map(|()| cpus.next().map_or_else(String::new, |cpu| cpu.to_string()))
}

fn has_two_cpus() -> bool {
    std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() >= 2)
}

/// Threads of this process that keep CPUs awake.
fn pollers(pid: u32) -> usize {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("awake/")).count()
}

/// Makes fullbore believe that waking a CPU costs as much as on a virtual machine that is not quick to wake; on others it is not worth
/// a trial.
fn with_a_high_price(place: &Sandbox, mut command: Command) -> Command {
    let folder = place.path("runtime");
    if !folder.exists() {
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let text = format!("{} {} 50000\n", boot.trim(), two_cpus().join(" "));
        fs::write(folder.join("fullbore-wake-up-price"), text).unwrap();
    }
    command.env("XDG_RUNTIME_DIR", folder);
    command
}

fn ruled_out(record: &RunRecord) -> Option<&str> {
    record.keep_awake.as_ref().unwrap().ruled_out.as_deref()
}

#[test]
fn bytes_and_status_are_those_of_the_shell() {
    let place = Sandbox::new();
    let line = "seq 200000 | cat | cat; echo to >&2; exit 3";
    let mut shell = place.command("sh");
    shell.args(["-c", line]);
    let (plain, kept) = (finish(shell), place.run(&["run", "-q", "--keep-awake", line]));
    assert!(kept.stdout == plain.stdout, "{}", kept.stderr);
    assert_eq!((status_text(kept.status), kept.stderr), (status_text(plain.status), plain.stderr));
}

#[test]
fn cpus_are_kept_awake_where_all_that_happens_is_waking_up() {
    require_programs!("taskset", "timeout");
    require!(has_two_cpus(), "there is only one CPU");
    let _alone = Pass::alone();
    let place = Sandbox::new();
    let mut record = RunRecord::default();
    // Where other tests keep the CPUs busy for seconds, there is nothing to keep awake.
    let tried = eventually(|| {
        let _ = fs::remove_file(place.path("back"));
        let command = place.reporting(&["--keep-awake"], &round_and_round(2));
        record = place.record_of(with_a_high_price(&place, command));
        (!record.keep_awake.as_ref()?.trials.is_empty()).then_some(())
    });
    assert!(tried.is_some(), "{:?}", record.keep_awake);
    let kept = record.keep_awake.unwrap();
    assert!(kept.cpu_ns > 0 && kept.ruled_out.is_none(), "{kept:?}");
    assert_eq!(record.wake_up_price_ns, Some(50_000));
    let most = record.stages.iter().filter_map(|stage| stage.wake_ups).max();
    assert!(most.is_some_and(|wake_ups| wake_ups > 5_000), "{most:?}");
    let waking = record.stages.iter().filter_map(|stage| stage.waking_percent);
    assert!(waking.fold(0.0, f64::max) >= 5.0);
}

#[test]
fn wake_ups_are_counted_and_nothing_is_done_without_the_option() {
    require_programs!("taskset", "timeout");
    require!(has_two_cpus(), "there is only one CPU");
    // The price is measured only while nothing else runs.
    let _alone = Pass::alone();
    let record = Sandbox::new().record(&[], &round_and_round(1));
    let most = record.stages.iter().filter_map(|stage| stage.wake_ups).max();
    assert!(most.is_some_and(|wake_ups| wake_ups > 1_000), "{most:?}");
    // Next to nothing where idle CPUs spin for a while before they sleep, as with haltpoll.
    let price_ns = record.wake_up_price_ns;
    assert!(price_ns.is_some_and(|price_ns| price_ns < 10_000_000), "{price_ns:?}");
    assert_eq!(record.keep_awake, None);
}

#[test]
fn cpus_may_sleep_again_when_nothing_moves_any_more() {
    require_programs!("taskset", "timeout");
    require!(has_two_cpus(), "there is only one CPU");
    let _alone = Pass::alone();
    let place = Sandbox::new();
    let line = format!("while :; do rm -f back; {}; sleep 3; done", round_and_round(3));
    let command = place.fullbore(&["run", "-q", "--keep-awake", &line]);
    let mut child = with_a_high_price(&place, command).spawn().unwrap();
    let began = eventually(|| (pollers(child.id()) > 0).then_some(()));
    let ended = eventually(|| (pollers(child.id()) == 0).then_some(()));
    rustix::process::kill_process_group(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    wait_or_kill(&mut child, "fullbore run --keep-awake");
    assert!(began.is_some() && ended.is_some(), "{began:?}, {ended:?}");
}

#[test]
fn on_one_cpu_nothing_is_kept_awake() {
    require_programs!("taskset");
    let place = Sandbox::new();
    let mut command = place.command("taskset");
    command.args(["-c", &two_cpus()[0]]).arg(fullbore());
    command.args(["run", "-q", "--keep-awake", "--report", "report.json"]);
    command.arg(with_fixture("seq 300000 | cat | wc -l")).stdout(Stdio::null());
    let record = place.record_of_silent(command);
    assert_eq!(ruled_out(&record), Some("the run may use only one CPU"));
}

/// A control group of this test with a quota of one and a half CPUs, and the file that takes in processes.
fn group_with_quota() -> Option<std::path::PathBuf> {
    let name = format!("fullbore-test-{}", std::process::id());
    for (mount, file, quota) in [
        ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "150000"),
        ("/sys/fs/cgroup", "cpu.max", "150000 100000"),
    ] {
        let group = std::path::Path::new(mount).join(&name);
        if fs::create_dir(&group).is_ok() && fs::write(group.join(file), quota).is_ok() {
            return Some(group);
        }
        let _ = fs::remove_dir(&group);
    }
    None
}

#[test]
fn under_a_cpu_quota_nothing_is_kept_awake() {
    require!(rustix::process::geteuid().is_root(), "only root can set a quota");
    require!(has_two_cpus(), "there is only one CPU");
    let group = group_with_quota();
    require!(group.is_some(), "no control group of this machine takes a quota");
    let group = group.unwrap();
    let place = Sandbox::new();
    let mut command = place.command("sh");
    let enter = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", group.display());
    command.args(["-c", &enter, "sh"]).arg(fullbore());
    command.args(["run", "-q", "--keep-awake", "--report", "report.json"]);
    command.arg("seq 300000 | cat | wc -l").stdout(Stdio::null());
    let record = place.record_of_silent(command);
    let removed = eventually(|| fs::remove_dir(&group).ok());
    assert!(ruled_out(&record).is_some(), "{:?}", record.keep_awake);
    assert!(removed.is_some(), "something still runs in the group");
}

#[test]
fn tuning_that_is_off_keeps_nothing_awake() {
    let ended = Sandbox::new().run(&["run", "--keep-awake", "--no-tune", "true"]);
    assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("--no-tune"), "{}", ended.stderr);
}
