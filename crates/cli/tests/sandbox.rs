//! A directory and a marked environment of its own for each run, and a deadline for everything.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::gate::Pass;
use fullbore_record::{PipeRecord, RunRecord, StageRecord};
use rustix::process::{Pid, Signal, kill_process_group};

/// Longest time a run may take before it counts as hung: the slowest takes seconds, a busy machine ten times that.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// Environment variable by which the processes of one sandbox are recognised in /proc.
pub(crate) const MARK: &str = "FULLBORE_TEST_MARK";

/// A place to run things in; removed at the end together with every process that still runs in it.
pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
    mark: String,
    _pass: Pass,
}

/// What a finished run left.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mark = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let dir = tempfile::Builder::new().prefix("fullbore-test-").tempdir().unwrap();
        Self { dir, mark, _pass: Pass::side_by_side() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// A copy of the program in this place, which everyone may run.
    pub(crate) fn copy_program(&self, program: impl AsRef<Path>, name: &str) -> PathBuf {
        self.install(fs::File::open(program).unwrap(), name)
    }

    /// A program in this place with this text, which begins with `#!`.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        self.install(file, name)
    }

    /// Another process writes it. If this one did, a child that another test starts at that moment would have
    /// inherited the descriptor, and until its `exec` Linux would run the program for nobody (ETXTBSY, execve(2)).
    fn install(&self, contents: fs::File, name: &str) -> PathBuf {
        let program = self.path(name);
        let mut write = Command::new("sh");
        write.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(&program).stdin(contents);
        assert!(write.status().unwrap().success(), "{} was not written", program.display());
        program
    }

    /// A command in this place, in a process group of its own, with no input.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.command_in_our_group(program);
        command.process_group(0);
        command
    }

    /// The same in the process group of the test, for programs that make a session of their own.
    pub(crate) fn command_in_our_group(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.dir.path()).env(MARK, &self.mark).stdin(Stdio::null());
        command.env("TERM", "dumb").env("LC_ALL", "C").env_remove("NO_COLOR");
        // The record names the former where they are set. The latter are there under `make test`, and change what make says.
        for name in
            ["PYTHONUNBUFFERED", "_STDBUF_I", "_STDBUF_O", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"]
        {
            command.env_remove(name);
        }
        command
    }

    /// `fullbore` with these arguments.
    pub(crate) fn fullbore(&self, args: &[&str]) -> Command {
        let mut command = self.command(fullbore());
        command.args(args);
        command
    }

    /// Runs `fullbore ARGS` to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        finish(self.fullbore(args))
    }

    /// Runs the line with a JSON report and returns the record; `{stage}` in the line is the fixture.
    pub(crate) fn record(&self, options: &[&str], line: &str) -> RunRecord {
        self.record_of(self.reporting(options, line))
    }

    /// `fullbore run -q --report …` on the line.
    pub(crate) fn reporting(&self, options: &[&str], line: &str) -> Command {
        let mut command = self.command(fullbore());
        command
            .args(["run", "-q", "--report"])
            .arg(self.path("report.json"))
            .args(options)
            .arg(with_fixture(line));
        command
    }

    /// Runs a command made by [`Self::reporting`] and reads its record.
    pub(crate) fn record_of(&self, command: Command) -> RunRecord {
        let ended = finish(command);
        assert!(self.path("report.json").exists(), "no report; stderr: {}", ended.stderr);
        self.read_record()
    }

    /// The same with the output thrown away, so that no pipe of ours is part of the pipeline.
    pub(crate) fn record_of_silent(&self, mut command: Command) -> RunRecord {
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        wait_or_kill(&mut child, &format!("{command:?}"));
        self.read_record()
    }

    /// The record written by a command of [`Self::reporting`].
    pub(crate) fn read_record(&self) -> RunRecord {
        let text = fs::read(self.path("report.json")).expect("there is a report");
        serde_json::from_slice(&text).expect("the report follows the schema")
    }

    /// Names and contents of the files left in the place.
    pub(crate) fn files(&self) -> Vec<(String, u64)> {
        let mut files: Vec<_> = fs::read_dir(self.dir.path())
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let is_file = entry.file_type().unwrap().is_file();
                let contents =
                    if is_file { fs::read(entry.path()).unwrap_or_default() } else { Vec::new() };
                (entry.file_name().to_string_lossy().into_owned(), digest(&contents))
            })
            .collect();
        files.sort();
        files
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        for process in crate::processes::marked(&self.mark) {
            process.kill();
        }
    }
}

/// The binary under test.
pub(crate) fn fullbore() -> PathBuf {
    std::env::var_os("FULLBORE_BIN")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_fullbore")), PathBuf::from)
}

/// The folders in which programs are found, ours first: for lines that begin with `fullbore`.
pub(crate) fn path_with_ours() -> OsString {
    let mut folders = vec![fullbore().parent().unwrap().to_owned()];
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    std::env::join_paths(folders).unwrap()
}

/// What stands before and behind a relay.
pub(crate) fn relay_ends() -> &'static str {
    static ENDS: OnceLock<PathBuf> = OnceLock::new();
    ENDS.get_or_init(|| example("fullbore-relay-ends")).to_str().unwrap()
}

/// The programs of known behaviour, built once for each run of the tests; `FULLBORE_EXAMPLES` names the folder of those that
/// are built already, for machines without Cargo.
fn example(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        if let Some(built) = std::env::var_os("FULLBORE_EXAMPLES") {
            return PathBuf::from(built);
        }
        let profile_dir = Path::new(env!("CARGO_BIN_EXE_fullbore")).parent().unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--examples"]);
        // As the tests and the benchmarks themselves were built: other packages at the same time mean other features of what all
        // depend on, and nearly everything is built once more.
        let is_of_tests = profile_dir.ends_with("tests");
        build.args(if is_of_tests { &["--workspace"][..] } else { &["--package", "fullbore"] });
        // The folder of a profile has its name, but for one.
        if !profile_dir.ends_with("debug") {
            build.arg("--profile").arg(profile_dir.file_name().unwrap());
        }
        assert!(build.status().unwrap().success(), "the programs of the tests do not build");
        profile_dir.join("examples")
    });
    folder.join(name)
}

/// The line with `{stage}` replaced by the path of the fixture, `{sequence}` by that of the known stream, and
/// `{fullbore}` by that of the program.
pub(crate) fn with_fixture(line: &str) -> String {
    let programs = [("{stage}", "fullbore-fixture"), ("{sequence}", "fullbore-sequence")];
    let line = line.replace("{fullbore}", fullbore().to_str().unwrap());
    programs.iter().fold(line, |line, (mark, name)| {
        if line.contains(mark) { line.replace(mark, example(name).to_str().unwrap()) } else { line }
    })
}

/// Runs to the end, or kills the whole group and fails.
pub(crate) fn finish(mut command: Command) -> Ended {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdout = collect(child.stdout.take().unwrap());
    let stderr = collect(child.stderr.take().unwrap());
    let status = wait_or_kill(&mut child, &format!("{command:?}"));
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    Ended { status, stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() }
}

/// Waits for the end of a child that leads its own group.
pub(crate) fn wait_or_kill(child: &mut Child, what: &str) -> ExitStatus {
    let group = Pid::from_child(child);
    let ended = eventually(|| child.try_wait().unwrap());
    ended.unwrap_or_else(|| {
        let _ = kill_process_group(group, Signal::KILL);
        let _ = child.kill();
        panic!("hung for {DEADLINE:?}: {what}")
    })
}

/// Asks until there is an answer; `None` when the deadline passed first.
pub(crate) fn eventually<T>(ask: impl FnMut() -> Option<T>) -> Option<T> {
    within(DEADLINE, ask)
}

/// Asks until there is an answer; `None` when the time is over.
pub(crate) fn within<T>(time: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + time;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if Instant::now() > end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(2)); // between two looks at the state, not instead of them
    }
}

/// The exit status as text: a code and a signal are different things.
pub(crate) fn status_text(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => format!("{status:?}"),
    }
}

/// Whether a program is in the search path.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// FNV-1a: enough to tell two outputs apart without keeping them.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
    })
}

/// The tiers that the tested program can use here; it may be one of another CPU under an emulator.
pub(crate) fn tiers() -> &'static [&'static str] {
    static TIERS: OnceLock<Vec<&str>> = OnceLock::new();
    TIERS.get_or_init(|| {
        let can_use = |tier: &&str| {
            let mut command = Command::new(fullbore());
            command.arg("count").env("FULLBORE_TIER", tier).stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
        };
        ["portable", "avx2", "avx2-gfni", "avx512", "neon"].into_iter().filter(can_use).collect()
    })
}

/// The stage whose command contains the label.
pub(crate) fn stage<'a>(record: &'a RunRecord, label: &str) -> &'a StageRecord {
    let commands: Vec<_> = record.stages.iter().map(|stage| stage.command.as_str()).collect();
    record
        .stages
        .iter()
        .find(|stage| stage.command.contains(label))
        .unwrap_or_else(|| panic!("no stage '{label}' in {commands:?}"))
}

/// The pipe from one stage to another.
pub(crate) fn pipe_between<'a>(
    record: &'a RunRecord,
    writer: &str,
    reader: &str,
) -> &'a PipeRecord {
    let (from, to) = (stage(record, writer).stage, stage(record, reader).stage);
    record
        .pipes
        .iter()
        .find(|pipe| pipe.writers.contains(&from) && pipe.readers.contains(&to))
        .unwrap_or_else(|| panic!("no pipe from '{writer}' to '{reader}' in {:#?}", record.pipes))
}

fn collect(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    })
}
