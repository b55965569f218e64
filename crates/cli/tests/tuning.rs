//! What tuning leaves to other programs of the same user.

use std::io::BufRead as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use fullbore_record::{Outcome, TuningRecord};

use crate::gate::Pass;
use crate::sandbox::{
    Sandbox, finish, fullbore, is_installed, relay_ends, wait_or_kill, with_fixture,
};

/// A user of whom nothing else runs: Linux counts the pipes of all programs of a user together.
const AS_USER: [&str; 5] = ["--reuid", "65529", "--regid", "65529", "--clear-groups"];

/// The sides of this pipe wait for each other in turn, until it is enlarged.
const BURSTY: &str = "./stage --name producer --no-read --total 96M --burst 1M --compute-us 1200 | \
                      ./stage --name consumer --no-write --compute-us 1200";

/// Holds this many pipes of 1 MiB as the user, until it is let go.
fn hold(place: &Sandbox, pipes: u64) -> Child {
    let mut holder = place.command("setpriv");
    holder.args(AS_USER).args(["./ends", "hold", &pipes.to_string()]);
    let mut holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut count = String::new();
    std::io::BufReader::new(holder.stdout.take().unwrap()).read_line(&mut count).unwrap();
    assert_eq!(count.trim(), pipes.to_string(), "the user has no more pipes of 1 MiB");
    holder
}

/// One wide pipe between narrow ones would bring nothing: the stages would go on in the rhythm of the narrow ones.
#[test]
fn all_pipes_of_stages_that_wake_each_other_all_the_time_grow_at_once() {
    let _alone = Pass::alone();
    let line = "head -c 2G /dev/zero | cat | wc -c";
    let record = Sandbox::new().record(&[], line);
    let first = record.tuning.first().unwrap_or_else(|| panic!("{record:#?}")).at_ns;
    let at_once = record.tuning.iter().filter(|change| change.at_ns == first);
    let grown: Vec<u32> = at_once
        .filter(|change| change.to_bytes > change.from_bytes)
        .map(|change| change.pipe)
        .collect();
    assert!(grown.contains(&1) && grown.contains(&2), "{:?}", record.tuning);
    let is_told = |change: &TuningRecord| change.reason.contains("with all pipes wider");
    assert!(record.tuning.iter().any(is_told), "{:?}", record.tuning);
    assert_eq!(Sandbox::new().record(&["--no-tune"], line).tuning, []);
}

/// What tuning did in a run of the user.
fn tuned(place: &Sandbox, options: &[&str]) -> Vec<TuningRecord> {
    let mut command = place.command("setpriv");
    command.args(AS_USER).args(["./fullbore", "run", "-q", "--report", "report.json"]);
    command.args(options).arg(BURSTY);
    let ended = finish(command);
    assert!(ended.status.success(), "{}", ended.stderr);
    let record = place.read_record();
    std::fs::remove_file(place.path("report.json")).unwrap();
    record.tuning
}

#[test]
fn a_pipe_grows_only_if_the_users_other_programs_keep_a_quarter_of_the_limit() {
    require!(
        rustix::process::geteuid().is_root() && is_installed("setpriv"),
        "only root can become another user"
    );
    let limit = std::fs::read_to_string("/proc/sys/fs/pipe-user-pages-soft").unwrap();
    let limit_mib = (limit.trim().parse::<u64>().unwrap() * 4096) >> 20;
    require!(limit_mib >= 16, "this machine limits the pipes of a user to {limit_mib} MiB");
    let place = Sandbox::new();
    let stage = with_fixture("{stage}");
    place.copy_program(relay_ends(), "ends");
    place.copy_program(fullbore(), "fullbore");
    place.copy_program(stage, "stage");
    std::fs::set_permissions(place.path(""), std::fs::Permissions::from_mode(0o777)).unwrap();
    for (pipes, options, is_room) in [
        (limit_mib / 2, &[][..], true),
        (limit_mib * 3 / 4, &[], false),
        (limit_mib / 2, &["--pipe-size", "1M"], true),
        (limit_mib * 3 / 4, &["--pipe-size", "1M"], false),
    ] {
        let mut holder = hold(&place, pipes);
        let tuning = tuned(&place, options);
        drop(holder.stdin.take());
        wait_or_kill(&mut holder, "the holder of pipes");
        let has_grown = tuning.iter().any(|change| change.outcome != Outcome::Refused);
        assert_eq!(has_grown, is_room, "{pipes} of {limit_mib} MiB: {tuning:?}");
        let is_said = |change: &TuningRecord| change.reason.contains("less than a quarter");
        assert_eq!(tuning.iter().any(is_said), !is_room, "{tuning:?}");
    }
}
