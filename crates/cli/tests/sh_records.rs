//! The records that `fullbore sh` leaves, and what it does where it cannot leave one.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::sandbox::{Ended, Sandbox, finish, fullbore, status_text, with_fixture};
use crate::sh_scripts::records;

fn sh(place: &Sandbox, folder: &Path, line: &str) -> Ended {
    finish(command(place, folder, line))
}

fn command(place: &Sandbox, folder: &Path, line: &str) -> Command {
    let mut command = place.fullbore(&["sh", "-c", line]);
    command.env("FULLBORE_RECORDS", folder);
    command
}

#[test]
fn a_record_says_what_ran_and_for_which_job() {
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let mut job = command(&place, folder.path(), "sleep 0.3 | sort; exit 3");
    job.env("SNAKEMAKE_PROFILE", "p").env("PARALLEL_SEQ", "7").env("GITHUB_JOB", "build");
    job.env("BUILD_TAG", "jenkins-x-1").env("SLURM_JOB_ID", "4").env("MAKEFLAGS", "-- TOKEN=x");
    assert_eq!(status_text(finish(job).status), "exit 3");
    let all = records(folder.path());
    let [(path, record)] = &all[..] else { panic!("{} records", all.len()) };
    assert_eq!(
        (record.command.as_str(), record.exit_status),
        ("sleep 0.3 | sort; exit 3", Some(3))
    );
    let commands: Vec<_> = record.stages.iter().map(|stage| stage.command.as_str()).collect();
    assert!(commands.contains(&"sleep 0.3") && commands.contains(&"sort"), "{commands:?}");
    let variables = &record.job.as_ref().unwrap().variables;
    for (name, value) in [
        ("SNAKEMAKE_PROFILE", "p"),
        ("PARALLEL_SEQ", "7"),
        ("GITHUB_JOB", "build"),
        ("BUILD_TAG", "jenkins-x-1"),
        ("SLURM_JOB_ID", "4"),
    ] {
        assert_eq!(variables.get(name).map(String::as_str), Some(value), "{variables:?}");
    }
    assert!(!variables.contains_key("MAKEFLAGS"), "it may hold secrets");
    let name = path.file_name().unwrap().to_str().unwrap();
    let parts: Vec<_> = name.splitn(4, '-').collect();
    assert_eq!(parts[0], "sh", "{name}");
    assert!(parts[1].ends_with('Z') && parts[1].contains('T'), "{name}");
    assert!(parts[2].parse::<u32>().is_ok(), "{name}");
    assert_eq!(parts[3], format!("{}.json", record.host.name), "{name}");
}

#[test]
fn parameters_do_not_keep_the_stages_from_their_names() {
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let line = "for i in 1 2 3; do sleep 0.$1; done | while read -r l; do :; done | cat";
    let mut job = command(&place, folder.path(), line);
    job.args(["name", "1"]);
    finish(job);
    let all = records(folder.path());
    let stages: Vec<_> = all[0].1.stages.iter().map(|stage| stage.command.as_str()).collect();
    let expected = ["for i in 1 2 3; do sleep 0.$1; done", "while read -r l; do :; done", "cat"];
    assert_eq!(stages, expected);
}

#[test]
fn a_job_within_a_job_leaves_a_record_of_its_own() {
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let line = with_fixture(
        "{fullbore} sh -c '(sleep 0.2; echo orphan) & echo inner | cat; exit 4'; echo $?; \
         {fullbore} run -q --report run.json 'seq 9 | tail -1'; sleep 0.4",
    );
    let ended = sh(&place, folder.path(), &line);
    assert_eq!(ended.stdout, b"inner\n4\n9\norphan\n", "{}", ended.stderr);
    let all = records(folder.path());
    let statuses: Vec<_> = all.iter().map(|(_, record)| record.exit_status).collect();
    assert_eq!(statuses, [Some(0), Some(4)]);
    assert_eq!(ended.stderr, "");
    assert!(place.path("run.json").exists());
}

/// Long enough for a pipe whose sides take turns to be enlarged.
const BURSTY: &str = "{stage} --name producer --no-read --total 192M --burst 1M --compute-us 1200 | \
                      {stage} --name consumer --no-write --compute-us 1200";

#[test]
fn pipes_are_tuned_unless_the_variable_forbids_it() {
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let line = with_fixture(BURSTY);
    let initial = |place: &Sandbox, forbidden: bool| {
        let mut job = command(place, folder.path(), &line);
        if forbidden {
            job.env("FULLBORE_NO_TUNE", "1");
        }
        assert!(finish(job).status.success());
        let all = records(folder.path());
        for (path, _) in &all {
            fs::remove_file(path).unwrap();
        }
        all[0].1.tuning.len()
    };
    assert_eq!(initial(&place, true), 0);
    assert!(initial(&place, false) > 0, "no pipe was tuned");
}

#[test]
fn a_folder_is_created_if_its_path_is_absolute() {
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let new = folder.path().join("new");
    assert_eq!(sh(&place, &new, "true").stderr, "");
    assert_eq!(records(&new).len(), 1);
    // Each job would create one of its own.
    let ended = sh(&place, Path::new("relative"), "echo said");
    assert!(
        ended.stderr.contains("sh: records: relative: No such file or directory"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("absolute path"), "{}", ended.stderr);
    assert!(!place.path("relative").exists());
    fs::create_dir(place.path("relative")).unwrap();
    assert_eq!(sh(&place, Path::new("relative"), "true").stderr, "");
    assert_eq!(records(&place.path("relative")).len(), 1);
}

#[test]
fn a_record_that_cannot_be_written_never_fails_the_job() {
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    fs::write(place.path("file"), "").unwrap();
    for (path, cause) in [
        (place.path("file"), "Not a directory"),
        (place.path("file/below"), "Not a directory"),
        (folder.path().join("none/such"), "No such file or directory"),
        ("/proc/1".into(), ""),
    ] {
        let ended = sh(&place, &path, "seq 2 | tac; exit 6");
        assert_eq!(ended.stdout, b"2\n1\n");
        assert_eq!(status_text(ended.status), "exit 6");
        let first = format!("fullbore: sh: records: {}: {cause}", path.display());
        assert!(ended.stderr.starts_with(&first), "{}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 2, "a message and a hint: {}", ended.stderr);
        crate::advice::assert_hint_is_understood(&ended.stderr);
    }
}

/// A limit on the size of files stands for a full disk: the write fails.
#[test]
fn half_a_record_is_not_left() {
    require_programs!("prlimit");
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let mut job = place.command("prlimit");
    job.args(["--fsize=100"]).arg(fullbore()).args(["sh", "-c", "echo done; exit 2"]);
    let ended = finish({
        job.env("FULLBORE_RECORDS", folder.path());
        job
    });
    assert_eq!((&ended.stdout[..], status_text(ended.status).as_str()), (&b"done\n"[..], "exit 2"));
    assert!(ended.stderr.contains("File too large"), "{}", ended.stderr);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn it_is_said_once_for_all_jobs_of_a_program() {
    let place = Sandbox::new();
    fs::write(place.path("file"), "").unwrap();
    let jobs = with_fixture(
        "for i in 1 2 3 4 5; do {fullbore} sh -c \"echo $i\"; done; \
         {fullbore} sh -c '{fullbore} sh -c \"echo below\"'; sh -c '{fullbore} sh -c \"echo deep\"; :'",
    );
    let run = |marks: &str| {
        let mut caller = place.command("sh");
        caller.args(["-c", &jobs]).env("FULLBORE_RECORDS", place.path("file"));
        fs::create_dir_all(place.path(marks)).unwrap();
        finish({
            caller.env_remove("XDG_RUNTIME_DIR").env("TMPDIR", place.path(marks));
            caller
        })
    };
    let ended = run("marks");
    assert_eq!(ended.stdout, b"1\n2\n3\n4\n5\nbelow\ndeep\n");
    assert_eq!(ended.stderr.matches("fullbore:").count(), 1, "{}", ended.stderr);
    // Another caller has not been told yet.
    assert_eq!(run("marks").stderr.matches("fullbore:").count(), 1);
    // What says that the first one has been told went with it.
    assert_eq!(fs::read_dir(place.path("marks")).unwrap().count(), 1);
}

#[test]
fn many_jobs_at_once_leave_one_record_each() {
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let jobs: Vec<_> = (0..24)
        .map(|number| {
            let mut job = command(&place, folder.path(), &format!("exit {number}"));
            job.spawn().unwrap()
        })
        .collect();
    for (number, mut job) in jobs.into_iter().enumerate() {
        assert_eq!(job.wait().unwrap().code(), i32::try_from(number).ok());
    }
    let mut statuses: Vec<_> =
        records(folder.path()).into_iter().map(|(_, record)| record.exit_status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, (0..24).map(Some).collect::<Vec<_>>());
}
