//! Runs a program on an input.

use std::io::Write;
use std::process::{Command, Stdio};

/// What came of it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub output: Vec<u8>,
    pub status: i32,
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        let shown = &self.output[..self.output.len().min(400)];
        write!(out, "{} with \"{}\"", self.status, shown.escape_ascii())
    }
}

pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// A folder of this process in which commands may write.
fn folder() -> &'static std::path::Path {
    static FOLDER: std::sync::OnceLock<tempfile::TempDir> = std::sync::OnceLock::new();
    let make = || {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("patterns"), "foo\na\n").expect("a file");
        std::fs::write(folder.path().join("other"), "a\nb\nfoo\n").expect("a file");
        folder
    };
    FOLDER.get_or_init(make).path()
}

/// Runs a command in a folder of its own, in a locale.
pub(crate) fn run(words: &[String], input: &[u8], locale: &str) -> Outcome {
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .current_dir(folder())
        .env("LC_ALL", locale)
        .env("TZ", "UTC")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let mut stdin = child.stdin.take().expect("a pipe");
    let output = std::thread::scope(|scope| {
        // A program may leave without reading.
        if input.len() > 4096 {
            scope.spawn(move || drop(stdin.write_all(input)));
        } else {
            drop(stdin.write_all(input));
            drop(stdin);
        }
        child.wait_with_output().expect("an output")
    });
    Outcome { output: output.stdout, status: output.status.code().unwrap_or(-1) }
}

/// Runs a command with files after its words.
pub(crate) fn run_on_files(words: &[String], files: &[&[u8]], locale: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = words.to_vec();
    for (number, bytes) in files.iter().enumerate() {
        let path = folder.path().join(format!("{number:04}"));
        std::fs::write(&path, bytes).expect("a file");
        all.push(path.to_string_lossy().into_owned());
    }
    run(&all, b"", locale).output
}
