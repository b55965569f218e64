//! Report files of the lab: checked before anything runs, written anew after every case.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use fullbore_lab::record::LabRun;
use fullbore_report::lab::{json, markdown};

use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// The reports that were asked for.
#[derive(Debug)]
pub(crate) struct Reports(Vec<(PathBuf, Form)>);

#[derive(Clone, Copy, Debug)]
enum Form {
    Json,
    Html,
    Markdown,
}

impl Reports {
    /// Looks whether each file can be written; older reports stay as they are until there is a result.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        let checked = paths.iter().map(|path| {
            let form = form(path)?;
            let is_new = !path.exists();
            let file = File::options().append(true).create(true).open(path);
            file.map_err(|error| {
                failure(path, &plain(&error), "give a path that can be written; nothing was done")
            })?;
            if is_new {
                // Nothing is measured yet, and an empty file is no report.
                let _ = fs::remove_file(path);
            }
            Ok((path.clone(), form))
        });
        checked.collect::<Result<_, _>>().map(Self)
    }

    /// Writes all of them; the first failure is told after the others were tried.
    pub(crate) fn write(&self, run: &LabRun) -> Result<(), Failure> {
        let written: Vec<_> = self.0.iter().map(|(path, form)| write(path, *form, run)).collect();
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

/// A report is replaced as a whole, so that one that is read meanwhile is never half a report.
fn write(path: &Path, form: Form, run: &LabRun) -> Result<(), Failure> {
    let text = match form {
        Form::Json => {
            json::to_string(run).map_err(|error| failure(path, &error.to_string(), ""))?
        }
        Form::Html => fullbore_report::lab::html::page(run),
        Form::Markdown => markdown::document(run),
    };
    let failed = |error: &std::io::Error| failure(path, &plain(error), "");
    let is_plain = path.symlink_metadata().map_or(true, |file| file.is_file());
    if !is_plain {
        return fs::write(path, text).map_err(|error| failed(&error)); // a device, a pipe, a link
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let written = tempfile::Builder::new()
        .permissions(permissions(path))
        .tempfile_in(folder.unwrap_or(Path::new(".")))
        .and_then(|mut file| file.write_all(text.as_bytes()).map(|()| file));
    written
        .and_then(|file| file.persist(path).map_err(|error| error.error))
        .map(drop)
        .map_err(|error| failed(&error))
}

/// Those of the report before, or what everybody's umask leaves of 0666.
fn permissions(path: &Path) -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().map_or_else(|_| fs::Permissions::from_mode(0o666), |file| file.permissions())
}

/// Reads a record.
pub(crate) fn read(path: &Path) -> Result<LabRun, Failure> {
    let failed = |cause: &str, hint: &str| Failure {
        message: format!("lab: reading the record: {}: {cause}", path.display()),
        hint: hint.to_owned(),
        exit: Exit::NotDone,
    };
    let text = fs::read_to_string(path).map_err(|error| failed(&plain(&error), ""))?;
    json::from_str(&text).map_err(|error| {
        failed(&error.to_string(), "give a file that fullbore lab --report FILE.json wrote")
    })
}
