//! Scripts that must behave under `fullbore sh` exactly as under the real shell, and the comparison.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use fullbore_record::RunRecord;
use serde::Deserialize;

use crate::sandbox::{Sandbox, finish, fullbore, status_text, with_fixture};

/// A script, and how the shell is called with it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    pub(crate) name: String,
    #[serde(default = "both")]
    pub(crate) shells: Vec<String>,
    #[serde(default = "only_c")]
    words: Vec<String>,
    #[serde(default)]
    line: String,
    #[serde(default)]
    parameters: Vec<String>,
    /// What standard input is.
    #[serde(default)]
    input: String,
    /// The text of the file `script`.
    #[serde(default)]
    script: String,
    /// The real shell takes over, and there is no record.
    #[serde(default)]
    unwatched: bool,
}

fn both() -> Vec<String> {
    ["dash", "bash"].map(str::to_owned).to_vec()
}

fn only_c() -> Vec<String> {
    vec!["-c".to_owned()]
}

/// All that the caller of a shell can see.
#[derive(Debug, PartialEq, Eq)]
struct Visible {
    status: String,
    stdout: String,
    stderr: String,
    files: Vec<(String, u64)>,
}

/// All scripts.
pub(crate) fn all() -> Vec<Script> {
    #[derive(Deserialize)]
    struct Table {
        script: Vec<Script>,
    }
    let texts = [include_str!("cases/sh/options.toml"), include_str!("cases/sh/language.toml")];
    texts.iter().flat_map(|text| toml::from_str::<Table>(text).unwrap().script).collect()
}

impl Script {
    /// Runs the script under one of its shells and under `fullbore sh`; says what differs.
    pub(crate) fn compare(&self, shell: &str) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let plain = self.observe(&[shell.to_owned()], folder.path());
        // Scripts that call fullbore themselves leave records in either case.
        for record in records(folder.path()) {
            fs::remove_file(record.0).unwrap();
        }
        let ours = [fullbore().to_str().unwrap(), "sh", "--shell", shell].map(str::to_owned);
        let under = self.observe(&ours, folder.path());
        let place = format!("{} ({shell}): {:?} {}", self.name, self.words, self.line);
        if plain != under {
            return Err(format!("{place}\n  {shell}: {plain:#?}\n  fullbore: {under:#?}"));
        }
        let line = with_fixture(&self.line);
        let of_this = |(_, record): &&(_, RunRecord)| record.command == line;
        let all = records(folder.path());
        match (all.iter().find(of_this), self.unwatched) {
            (None, true) => Ok(()),
            (Some(_), true) => Err(format!("{place}: it was watched")),
            (None, false) => Err(format!("{place}: there is no record")),
            (Some((_, record)), false) => {
                let status = record.exit_status.unwrap();
                let seen = if status > 128 { status - 128 } else { status };
                let is_right = plain.status.ends_with(&format!(" {seen}"))
                    || plain.status == format!("exit {status}");
                is_right.then_some(()).ok_or(format!("{place}: {status} is not {}", plain.status))
            }
        }
    }

    fn observe(&self, shell: &[String], folder: &Path) -> Visible {
        let place = Sandbox::new();
        fs::write(place.path("input"), "one\ntwo\nthree\n").unwrap();
        if !self.script.is_empty() {
            place.script("script", &self.script);
        }
        let mut command = place.command(&shell[0]);
        command.args(&shell[1..]).args(&self.words).arg(with_fixture(&self.line));
        command.args(&self.parameters).env("FULLBORE_RECORDS", folder);
        if !self.input.is_empty() {
            let path = folder.join("standard input");
            fs::write(&path, &self.input).unwrap();
            command.stdin(File::open(&path).unwrap());
        }
        let ended = finish(command);
        Visible {
            status: status_text(ended.status),
            stdout: ended.stdout.escape_ascii().to_string(),
            stderr: ended.stderr,
            files: place.files(),
        }
    }
}

/// The records in a folder, with their paths; everything that begins as one must be one.
pub(crate) fn records(folder: &Path) -> Vec<(PathBuf, RunRecord)> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = names
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(!name.ends_with(".part"), "half a record was left: {name}");
            name.starts_with("sh-")
        })
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, fullbore_record::read(&text).unwrap())
    };
    paths.into_iter().map(read).collect()
}
