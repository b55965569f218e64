//! Report files: checked before the pipeline starts, written after it ends.

use std::path::PathBuf;

use fullbore_gather::Workflow;
use fullbore_record::RunRecord;

use crate::exit::Exit;
use crate::messages::{Failure, plain};
use crate::whole_file::{check, replace};

/// A report to be written.
#[derive(Debug)]
pub(crate) struct ReportFile {
    path: PathBuf,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Json,
    Html,
}

impl ReportFile {
    /// Checks that the file can be written, so that a wrong path is said before hours of work.
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
        match check(&path) {
            Ok(()) => Ok(Self { path, form }),
            Err(error) => {
                let message = format!("report: {}: {}", path.display(), plain(&error));
                Err(failed(message, "nothing was run; give a path that you can write to"))
            }
        }
    }

    /// Whether it is a page for people.
    pub(crate) fn is_page(&self) -> bool {
        matches!(self.form, Form::Html)
    }

    /// Writes the report of a run.
    pub(crate) fn write(self, record: &RunRecord) -> Result<(), Failure> {
        let text = match self.form {
            Form::Html => Ok(fullbore_report::html::page(record)),
            Form::Json => fullbore_report::json::to_string(record),
        };
        let hint = "the pipeline itself ended as it would have without fullbore";
        self.put(text, hint, Exit::RunFailed)
    }

    /// Writes the report of a workflow.
    pub(crate) fn write_workflow(self, workflow: &Workflow) -> Result<(), Failure> {
        let text = match self.form {
            Form::Html => Ok(fullbore_report::workflow::page(workflow)),
            Form::Json => fullbore_report::workflow::to_json(workflow),
        };
        self.put(text, "give a path that you can write to", Exit::NotDone)
    }

    fn put(
        &self,
        text: Result<String, fullbore_report::Error>,
        hint: &str,
        exit: Exit,
    ) -> Result<(), Failure> {
        let failed = |cause: String| Failure {
            message: format!("report: {}: {cause}", self.path.display()),
            hint: hint.to_owned(),
            exit,
        };
        let text = text.map_err(|error| failed(error.to_string()))?;
        replace(&self.path, text.as_bytes()).map_err(|error| failed(plain(&error)))
    }
}
