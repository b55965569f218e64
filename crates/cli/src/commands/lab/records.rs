//! Records of both kinds: shows, imports and compares them.

use std::fs;
use std::io::stdout;
use std::path::{Path, PathBuf};

use anyhow::Result;
use fullbore_lab::disk::compare::compare as compare_disks;
use fullbore_lab::disk::import::{Source, import as imported};
use fullbore_lab::disk::record::{DiskRun, SCHEMA};
use fullbore_lab::disk::{fio, record};
use fullbore_report::disk::{html, json, markdown, text};
use serde::Deserialize;

use super::output::print;
use super::reports::{Form, Reports, no_record, text_of};
use crate::args::lab::ShowOptions;
use crate::args::lab::disk::ImportOptions;
use crate::commands::run::style_of;
use crate::exit::Exit;
use crate::messages::{Failure, complain, plain};

/// Only what says which record a text is.
#[derive(Deserialize)]
struct AnyRecord {
    schema: Option<String>,
}

/// Whether a file is a record of a disk. A file that cannot be read is none: who reads it says why.
pub(super) fn is_of_disk(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str::<AnyRecord>(&text)
        .is_ok_and(|found| found.schema.as_deref() == Some(SCHEMA))
}

fn read(path: &Path) -> Result<DiskRun, Failure> {
    let text = text_of(path)?;
    json::from_str(&text).map_err(|error| {
        let hint = if fio::read(&text).is_ok() {
            "it is output of fio: fullbore lab import fio FILE --label NAME makes a record of it"
        } else {
            "give a file that fullbore lab disk --report FILE.json or lab import wrote"
        };
        no_record(path, &error.to_string(), hint)
    })
}

/// Shows a record of a disk, or makes other reports from it.
pub(super) fn show(options: &ShowOptions) -> Result<Exit> {
    let record = read(&options.file)?;
    Reports::open(&options.report)?.write_disk(&record)?;
    match (options.quiet, options.markdown) {
        (true, _) => Ok(Exit::Done),
        (false, true) => print(&markdown::document(&record)),
        (false, false) => print(&text::whole(&record, style_of(&stdout()))),
    }
}

/// That one record of a disk is compared with nothing.
pub(super) fn second_is_missing(first: &Path) -> Failure {
    let first = first.display();
    Failure {
        message: format!("lab compare: {first}: a record of a disk is compared with a second one"),
        hint: format!("give both: fullbore lab compare {first} SECOND.json"),
        exit: Exit::NotDone,
    }
}

/// Compares two records of a disk.
pub(super) fn compare(
    before: &Path,
    after: &Path,
    fail_below: f64,
    reports: &[PathBuf],
) -> Result<Exit> {
    let (mut first, mut second) = (read(before)?, read(after)?);
    first.label = Some(label(&first, before));
    second.label = Some(label(&second, after));
    let comparison = compare_disks(&first, &second);
    if comparison.workloads.is_empty() {
        return Err(Failure {
            message: format!(
                "lab compare: {}, {}: no workload was measured in both",
                before.display(),
                after.display()
            ),
            hint: "compare two records of the same workloads".to_owned(),
            exit: Exit::NotDone,
        }
        .into());
    }
    Reports::open(reports)?.write_texts(&|form| match form {
        Form::Json => serde_json::to_string_pretty(&comparison)
            .map(|text| text + "\n")
            .map_err(|error| error.to_string()),
        Form::Html => Ok(html::comparison(&comparison, &first, &second)),
        Form::Markdown => Ok(markdown::comparison(&comparison)),
    })?;
    print(&text::comparison(&comparison, style_of(&stdout())))?;
    let has_regression = comparison.regressions(fail_below).next().is_some();
    Ok(if has_regression { Exit::No } else { Exit::Done })
}

/// What a record is called: its label, else the name of its file.
fn label(run: &record::DiskRun, path: &Path) -> String {
    let stem =
        path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    run.label.clone().unwrap_or(stem)
}

/// Makes a record of the results of fio.
pub(super) fn import(options: &ImportOptions) -> Result<Exit> {
    let reports = Reports::open(&destinations(options)?)?;
    let mut sources = Vec::new();
    let mut failures = 0;
    for file in &options.files {
        match source(file) {
            Ok(source) => sources.push(source),
            Err(cause) => {
                failures += 1;
                complain(&format!("lab import: {}: {cause}", file.display()), "");
            }
        }
    }
    if sources.is_empty() {
        return Err(Failure {
            message: "lab import: no file has results of fio".to_owned(),
            hint: "fio writes them with --output-format=json+ --output=FILE".to_owned(),
            exit: Exit::NotDone,
        }
        .into());
    }
    let record = imported(&sources, options.label.as_deref(), env!("CARGO_PKG_VERSION"));
    reports.write_disk(&record)?;
    if !options.quiet {
        print(&text::whole(&record, style_of(&stdout())))?;
    }
    if failures > 0 {
        complain(
            &format!("lab import: {failures} of {} files could not be read", options.files.len()),
            "the record has the others",
        );
        return Ok(Exit::NotDone);
    }
    Ok(Exit::Done)
}

fn source(file: &Path) -> Result<Source, String> {
    let bytes = fs::read(file).map_err(|error| plain(&error))?;
    let output = fio::read(&String::from_utf8_lossy(&bytes)).map_err(|error| error.to_string())?;
    Ok(Source::new(file, output))
}

/// Where the record goes: as told, else to a file with the name of the label, which may replace only a record.
fn destinations(options: &ImportOptions) -> Result<Vec<PathBuf>, Failure> {
    let Some(label) = options.label.as_ref().filter(|_| options.report.is_empty()) else {
        return Ok(options.report.clone());
    };
    let path = PathBuf::from(format!("{label}.json"));
    if options.files.contains(&path) || path.exists() && !is_of_disk(&path) {
        return Err(Failure {
            message: format!(
                "lab import: {}: it exists and is no record of a disk; it is left as it is",
                path.display()
            ),
            hint: "give another --label, or say with --report FILE.json where the record goes"
                .to_owned(),
            exit: Exit::NotDone,
        });
    }
    Ok(vec![path])
}
