//! Ends of pipes: who leaves early is noticed at once, because fullbore holds no end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::processes::{Process, descendants, marked};
use crate::sandbox::{Sandbox, finish, fullbore, wait_or_kill, within};

/// How often the open files of fullbore are looked at, and how often a pipe may be seen among them:
/// it opens one for the time of a single call.
const LOOKS: u32 = 60;
const SIGHTINGS: u32 = LOOKS / 5;

#[test]
fn a_reader_that_leaves_ends_the_pipeline_by_sigpipe() {
    let place = Sandbox::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut child = place.fullbore(&["run", "-q", "exec yes"]).stdout(writer).spawn().unwrap();
    let mut first = [0; 2];
    std::io::Read::read_exact(&mut &reader, &mut first).unwrap();
    assert_eq!(&first, b"y\n");
    drop(reader);
    let status = wait_or_kill(&mut child, "yes without a reader");
    assert_eq!(status.signal(), Some(13), "{status:?}");
}

#[test]
fn a_writer_upstream_ends_when_the_pipeline_leaves() {
    let place = Sandbox::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut yes = place.command("yes").stdout(writer).spawn().unwrap();
    let mut ours = place
        .fullbore(&["run", "-q", "head -1"])
        .stdin(reader)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    assert_eq!(wait_or_kill(&mut ours, "head -1").code(), Some(0));
    assert_eq!(wait_or_kill(&mut yes, "yes without a reader").signal(), Some(13));
}

#[test]
fn a_writer_upstream_ends_even_while_the_pipeline_goes_on() {
    let place = Sandbox::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut yes = place.command("yes").stdout(writer).spawn().unwrap();
    let line = "head -1; exec <&-; sleep 95";
    let mut ours =
        place.fullbore(&["run", "-q", line]).stdin(reader).stdout(Stdio::null()).spawn().unwrap();
    assert_eq!(wait_or_kill(&mut yes, "yes while the pipeline goes on").signal(), Some(13));
    assert!(ours.try_wait().unwrap().is_none(), "the pipeline must still run");
}

#[test]
fn the_end_of_file_is_not_delayed() {
    let place = Sandbox::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut ours = place
        .fullbore(&["run", "-q", "echo x; exec >&-; sleep 94"])
        .stdout(writer)
        .spawn()
        .unwrap();
    assert_eq!(std::io::read_to_string(reader).unwrap(), "x\n");
    assert!(ours.try_wait().unwrap().is_none(), "the pipeline must still run");
}

#[test]
fn a_reader_inside_gets_its_end_of_file_while_the_line_goes_on() {
    let place = Sandbox::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let line = "seq 1000000 | { cat; echo end of file; } | tail -1; exec >&-; sleep 93";
    let mut ours = place.fullbore(&["run", "-q", line]).stdout(writer).spawn().unwrap();
    assert_eq!(std::io::read_to_string(reader).unwrap(), "end of file\n");
    assert!(ours.try_wait().unwrap().is_none(), "the pipeline must still run");
}

#[test]
fn fullbore_holds_no_end_of_any_pipe() {
    let place = Sandbox::new();
    let (stdin, _feed) = std::io::pipe().unwrap();
    let (_drain, stdout) = std::io::pipe().unwrap();
    let line = "yes | cat | cat >/dev/null & sleep 92 | cat";
    let mut command = place.fullbore(&["run", "--live", "never", line]);
    let stderr = File::create(place.path("stderr")).unwrap();
    let mut child = command.stdin(stdin).stdout(stdout).stderr(stderr).spawn().unwrap();
    let ours = Process(child.id());
    let complete = within(Duration::from_secs(20), || {
        (pipes_of_stages(&place, ours).len() >= 5).then_some(())
    });
    assert!(complete.is_some(), "pipes of the pipeline: {:?}", pipes_of_stages(&place, ours));

    let pipeline = pipes_of_stages(&place, ours);
    let mut sightings: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..LOOKS {
        let open: BTreeSet<_> = ours.open_files().into_iter().map(|(_, target)| target).collect();
        assert!(!open.is_empty(), "the open files of fullbore cannot be read");
        for target in open.intersection(&pipeline) {
            *sightings.entry(target.clone()).or_default() += 1;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended early");
        std::thread::sleep(Duration::from_millis(7)); // spreads the looks over several samples
    }
    end(&place, &mut child);
    sightings.retain(|_, count| *count > SIGHTINGS);
    assert!(sightings.is_empty(), "held in more than {SIGHTINGS} of {LOOKS} looks: {sightings:?}");
}

#[test]
fn an_early_leaving_reader_costs_no_time() {
    let started = Instant::now();
    let ended = Sandbox::new().run(&["run", "-q", "yes | head -1"]);
    assert_eq!(ended.stdout, b"y\n");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn a_list_may_go_to_a_reader_that_left() {
    let place = Sandbox::new();
    std::fs::write(place.path("before.folded"), "sort;main 10\n").unwrap();
    std::fs::write(place.path("after.folded"), "sort;main 20\n").unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let words = ["flame", "diff", "before.folded", "after.folded"];
    let done = place.fullbore(&words).stdout(writer).output().unwrap();
    assert_eq!(done.status.code(), Some(141), "{done:?}");
    assert!(done.stderr.is_empty(), "{done:?}");
}

#[test]
fn the_report_may_go_to_a_reader_that_left() {
    let place = Sandbox::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child =
        place.fullbore(&["run", "exit 3"]).stdout(Stdio::null()).stderr(writer).spawn().unwrap();
    assert_eq!(wait_or_kill(&mut child, "stderr without a reader").code(), Some(3));
}

#[test]
fn a_full_stderr_does_not_change_the_status() {
    let place = Sandbox::new();
    let mut command = place.command("sh");
    command
        .args(["-c", r#""$@" 2>/dev/full; echo $?"#, "around"])
        .arg(fullbore())
        .args(["run", "seq 3 | cat; exit 3"]);
    assert_eq!(String::from_utf8_lossy(&finish(command).stdout), "1\n2\n3\n3\n");
}

/// Every pipe that a process started by fullbore has open.
fn pipes_of_stages(place: &Sandbox, ours: Process) -> BTreeSet<String> {
    let open = descendants(place.mark(), ours).into_iter().flat_map(Process::open_files);
    open.map(|(_, target)| target).filter(|target| target.starts_with("pipe:")).collect()
}

fn end(place: &Sandbox, child: &mut Child) {
    for process in marked(place.mark()) {
        process.kill();
    }
    let _ = child.wait();
}
