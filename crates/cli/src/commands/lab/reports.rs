//! Report files of the lab: checked before anything runs, written anew after every case.

use std::fs;
use std::path::{Path, PathBuf};

use fullbore_lab::disk::record::DiskRun;
use fullbore_lab::record::LabRun;
use fullbore_report::disk;
use fullbore_report::lab::{json, markdown};

use crate::exit::Exit;
use crate::messages::{Failure, plain};
use crate::whole_file::{check, replace};

/// The reports that were asked for.
#[derive(Debug)]
pub(crate) struct Reports(Vec<(PathBuf, Form)>);

/// What a report is written as; the end of its name says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Html,
    Markdown,
}

impl Reports {
    /// Looks whether each file can be written; older reports stay as they are until there is a result.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        let checked = paths.iter().map(|path| {
            let form = form(path)?;
            check(path).map_err(|error| {
                failure(
                    path,
                    &plain(&error),
                    "nothing was measured; give a path that you can write to",
                )
            })?;
            Ok((path.clone(), form))
        });
        checked.collect::<Result<_, _>>().map(Self)
    }

    /// Writes all of them; the first failure is told after the others were tried.
    pub(crate) fn write(&self, run: &LabRun) -> Result<(), Failure> {
        self.write_texts(&|form| match form {
            Form::Json => json::to_string(run).map_err(|error| error.to_string()),
            Form::Html => Ok(fullbore_report::lab::html::page(run)),
            Form::Markdown => Ok(markdown::document(run)),
        })
    }

    /// The same of a record of a disk.
    pub(super) fn write_disk(&self, run: &DiskRun) -> Result<(), Failure> {
        self.write_texts(&|form| match form {
            Form::Json => disk::json::to_string(run).map_err(|error| error.to_string()),
            Form::Html => Ok(disk::html::page(run)),
            Form::Markdown => Ok(disk::markdown::document(run)),
        })
    }

    /// Writes each report with the text of its form.
    pub(super) fn write_texts(
        &self,
        text: &dyn Fn(Form) -> Result<String, String>,
    ) -> Result<(), Failure> {
        let write = |(path, form): &(PathBuf, Form)| {
            let text = text(*form).map_err(|error| failure(path, &error, ""))?;
            replace(path, text.as_bytes()).map_err(|error| failure(path, &plain(&error), ""))
        };
        let written: Vec<_> = self.0.iter().map(write).collect();
        written.into_iter().collect()
    }
}

fn failure(path: &Path, cause: &str, hint: &str) -> Failure {
    Failure {
        message: format!("lab: report: {}: {cause}", path.display()),
        hint: hint.to_owned(),
        exit: Exit::NotDone,
    }
}

fn form(path: &Path) -> Result<Form, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => Ok(Form::Json),
        Some("html" | "htm") => Ok(Form::Html),
        Some("md") => Ok(Form::Markdown),
        _ => {
            Err(failure(path, "the name must end in .json, .html or .md", "try --report lab.html"))
        }
    }
}

/// Reads a record.
pub(crate) fn read(path: &Path) -> Result<LabRun, Failure> {
    let text = text_of(path)?;
    json::from_str(&text).map_err(|error| {
        let hint = "give a file that fullbore lab --report FILE.json wrote";
        no_record(path, &error.to_string(), hint)
    })
}

/// What a file contains that may be a record.
pub(super) fn text_of(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| no_record(path, &plain(&error), ""))
}

/// That it is none, and why.
pub(super) fn no_record(path: &Path, cause: &str, hint: &str) -> Failure {
    Failure {
        message: format!("lab: reading the record: {}: {cause}", path.display()),
        hint: hint.to_owned(),
        exit: Exit::NotDone,
    }
}
