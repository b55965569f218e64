//! Tests that an unavailable fact has its reason: an ended process, a hidden one, a kernel without the fact.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fullbore_proc::{Fact, Root, Unavailable};

/// A process that waits on its standard input until it is dropped.
struct Waiting(Child);

impl Waiting {
    fn start() -> Self {
        let mut command = Command::new("cat");
        Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> i32 {
        self.0.id().cast_signed()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

#[test]
fn a_process_that_ended_is_gone_whatever_is_asked() {
    let root = Root::system();
    let child = Waiting::start();
    let pid = child.pid();
    let task = |name: &str| root.hot_file(pid, &format!("task/{pid}/{name}"));
    let hot = [root.hot_file(pid, "stat"), task("schedstat"), task("syscall")];
    assert!(hot.iter().all(|file| file.try_read(&mut [0; 4096]).is_ok()));
    drop(child);
    for file in &hot {
        assert_eq!(file.try_read(&mut [0; 4096]), Err(Unavailable::Gone), "{file:?}");
    }
    let all_gone: Vec<_> = Fact::ALL.into_iter().map(|fact| (fact, Unavailable::Gone)).collect();
    assert_eq!(root.unavailable(pid), all_gone);
    assert_eq!(root.try_command_line(pid), Err(Unavailable::Gone));
    assert_eq!(root.try_status(pid), Err(Unavailable::Gone));
    assert_eq!(task("schedstat").try_read(&mut [0; 64]), Err(Unavailable::Gone));
}

#[test]
fn this_process_shows_every_fact_and_a_closed_descriptor_is_gone() {
    let root = Root::system();
    let own = std::process::id().cast_signed();
    assert_eq!(root.unavailable(own), []);
    let (reader, writer) = std::io::pipe().unwrap();
    let number = reader.as_raw_fd();
    assert_eq!(root.try_fd(own, number).map(|fd| fd.number), Ok(number));
    assert_eq!(root.try_fd(own, 1_000_000), Err(Unavailable::Gone));
    drop((reader, writer));
}

#[test]
fn a_file_that_a_live_process_does_not_have_is_not_built_into_the_kernel() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("7/task/7")).unwrap();
    fs::write(folder.path().join("7/stat"), "").unwrap();
    let root = Root::at(folder.path());
    let missing = |name: &str| root.hot_file(7, name).try_read(&mut [0; 64]).map(str::to_owned);
    assert_eq!(missing("task/7/schedstat"), Err(Unavailable::NotBuiltIn));
    assert_eq!(missing("task/8/schedstat"), Err(Unavailable::Gone));
    assert_eq!(root.try_io(7), Err(Unavailable::NotBuiltIn));
    assert_eq!(root.try_io(8), Err(Unavailable::Gone));
    assert_eq!(root.try_children(7, 7), Err(Unavailable::NotBuiltIn));
    assert_eq!(root.try_stat(7), Err(Unavailable::NotUnderstood));
}

#[test]
fn a_kernel_that_shows_times_without_counting_them_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("7/task/7")).unwrap();
    fs::write(folder.path().join("7/task/7/schedstat"), "0 0 0\n").unwrap();
    let found = Root::at(folder.path()).unavailable(7);
    assert!(found.contains(&(Fact::Times, Unavailable::NotBuiltIn)), "{found:?}");
}

#[test]
fn a_process_whose_name_was_cut_within_a_character_is_not_taken_for_ended() {
    let folder = tempfile::tempdir().unwrap();
    // Linux keeps 15 bytes of a name: here seven letters of two bytes, and half of the eighth.
    let program = folder.path().join("программа");
    fs::copy(fs::canonicalize(which("cat")).unwrap(), &program).unwrap();
    let mut child =
        Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let pid = child.id().cast_signed();
    let mut buffer = [0; 4096];
    let stat = Root::system().hot_file(pid, "stat");
    // Linux lets the parent go on a moment before the child has its new name.
    let text = loop {
        let text = stat.try_read(&mut buffer).map(str::to_owned);
        if text.as_ref().is_ok_and(|text| text.contains("(a_process_whose)")) {
            std::thread::yield_now();
            continue;
        }
        break text;
    };
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(text.as_ref().is_ok_and(|text| text.contains("(програм?)")), "{text:?}");
}

#[test]
fn another_users_process_is_refused_and_not_gone() {
    let Some(root_child) = of_another_user() else { return };
    let Some(said) = as_nobody(root_child.pid(), "") else { return };
    assert!(
        said.contains(
            "found [(Wait, NotPermitted), (Io, NotPermitted), (Descriptors, NotPermitted)]"
        ),
        "{said}"
    );
}

#[test]
fn a_process_that_hidepid_hides_is_refused_and_not_gone() {
    let Some(root_child) = of_another_user() else { return };
    let mount = "mount -t proc -o hidepid=2 proc /proc || exit 77; ";
    let Some(said) = as_nobody(root_child.pid(), mount) else { return };
    for fact in Fact::ALL {
        assert!(said.contains(&format!("({fact:?}, NotPermitted)")), "{fact:?}: {said}");
    }
    assert!(said.contains("stat Err(NotPermitted)"), "{said}");
}

/// Starts a process of the superuser for another user to read.
fn of_another_user() -> Option<Waiting> {
    if rustix::process::geteuid().is_root() {
        return Some(Waiting::start());
    }
    skipped("only root can become another user");
    None
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn skipped(why: &str) {
    assert!(std::env::var_os("FULLBORE_CI").is_none(), "skipped: {why}");
    eprintln!("skipped: {why}");
}

/// Returns what the example `unavailable` finds out about a process as user nobody, in a mount namespace that `before` has changed; `None`
/// where root may not create such a namespace.
fn as_nobody(pid: i32, before: &str) -> Option<String> {
    let script = format!(
        "exec 3<\"$0\"; {before}exec setpriv --reuid=65534 --regid=65534 --clear-groups \
         /proc/self/fd/3 {pid}"
    );
    let tests = std::env::current_exe().unwrap();
    let example = tests.ancestors().nth(2).unwrap().join("examples/unavailable");
    assert!(
        example.exists(),
        "run `cargo build --examples` first: with `--test`, cargo builds no examples"
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).arg(example);
    let output = command.output().unwrap();
    let refusals = ["unshare failed", "permission denied", "Operation not permitted"];
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && refusals.iter().any(|refusal| errors.contains(refusal)) {
        skipped(&format!("no mount namespace of our own: {errors}"));
        return None;
    }
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn which(program: &str) -> std::path::PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|folder| folder.join(program));
    found.into_iter().find(|path| Path::exists(path)).unwrap()
}

#[test]
fn unreadable_memory_is_not_an_empty_poll_set() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("7")).unwrap();
    let wait = fullbore_proc::Wait::Poll { address: 4096, count: 1 };
    let root = Root::at(folder.path());
    assert_eq!(root.try_polled(7, wait), Err(Unavailable::NotBuiltIn));
    File::create(folder.path().join("7/mem")).unwrap();
    assert_eq!(root.try_polled(7, wait), Err(Unavailable::Gone));
    assert_eq!(root.try_polled(8, wait), Err(Unavailable::Gone));
}
