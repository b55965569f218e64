//! Report files: checked before the pipeline starts, written after it ends.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use fullbore_pipeline::record::RunRecord;

use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// A report to be written.
#[derive(Debug)]
pub(crate) struct ReportFile {
    path: PathBuf,
    file: File,
    form: Form,
    is_new: bool,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Json,
    Html,
}

impl ReportFile {
    /// Opens the file, so that a wrong path is said before hours of work.
    pub(crate) fn open(path: PathBuf) -> Result<Self, Failure> {
        let failed = |message: String, hint: &str| Failure {
            message,
            hint: hint.to_owned(),
            exit: Exit::NotDone,
        };
        let form = match path.extension().and_then(|extension| extension.to_str()) {
            Some("json") => Form::Json,
            Some("html" | "htm") => Form::Html,
            _ => {
                let message =
                    format!("report: {}: the name must end in .json or .html", path.display());
                return Err(failed(message, "try --report run.html"));
            }
        };
        let is_new = !path.exists();
        // Not emptied yet: when nothing is run, an older report stays.
        match File::options().write(true).create(true).truncate(false).open(&path) {
            Ok(file) => Ok(Self { path, file, form, is_new }),
            Err(error) => {
                let message = format!("report: {}: {}", path.display(), plain(&error));
                Err(failed(message, "nothing was run; give a path that can be written"))
            }
        }
    }

    /// Writes the report.
    pub(crate) fn write(mut self, record: &RunRecord) -> Result<(), Failure> {
        let text = match self.form {
            Form::Html => Ok(fullbore_report::html::page(record)),
            Form::Json => fullbore_report::json::to_string(record),
        };
        let failed = |cause: String| Failure {
            message: format!("report: {}: {cause}", self.path.display()),
            hint: "the pipeline itself has ended as it would have without fullbore".to_owned(),
            exit: Exit::RunFailed,
        };
        let text = text.map_err(|error| failed(error.to_string()))?;
        // A device or a pipe cannot be emptied.
        let _ = self.file.set_len(0);
        self.file.write_all(text.as_bytes()).map_err(|error| failed(plain(&error)))
    }

    /// Nothing was run: leaves no empty file behind.
    pub(crate) fn abandon(self) {
        if self.is_new {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
