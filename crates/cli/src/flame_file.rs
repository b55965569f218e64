//! Files of `--flame`: their format follows from their name, and they are checked before the pipeline starts.

use std::path::PathBuf;

use fullbore_profile::{Format, Profile};
use fullbore_report::flame;

use crate::exit::Exit;
use crate::messages::{Failure, plain};
use crate::whole_file::{check, replace};

/// A file for towers.
#[derive(Debug)]
pub(crate) struct FlameFile {
    path: PathBuf,
    /// `None`: a page.
    format: Option<Format>,
}

const NAMES: &str = "the name must end in .html (a page), .folded, .speedscope.json, .json.gz (Firefox Profiler) or .pb.gz \
                     (pprof)";

impl FlameFile {
    /// Checks that the file can be written, so that a wrong path is said before hours of work.
    pub(crate) fn open(path: PathBuf) -> Result<Self, Failure> {
        let failed = |cause: &str, hint: &str| Failure {
            message: format!("flame: {}: {cause}", path.display()),
            hint: hint.to_owned(),
            exit: Exit::NotDone,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let format = Format::of_name(&name);
        if format.is_none() && !is_page(&name) {
            return Err(failed(NAMES, "try --flame run.html"));
        }
        match check(&path) {
            Ok(()) => Ok(Self { path, format }),
            Err(error) => {
                let hint = "nothing was run; give a path that you can write to";
                Err(failed(&plain(&error), hint))
            }
        }
    }

    /// Writes the towers of a run.
    pub(crate) fn write(&self, profile: &Profile) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        let written = match self.format {
            Some(format) => format.write(profile, &mut bytes),
            None => {
                bytes = flame::page(profile).into_bytes();
                Ok(())
            }
        };
        let written = written.and_then(|()| replace(&self.path, &bytes));
        written.map_err(|error| Failure {
            message: format!("flame: {}: {}", self.path.display(), plain(&error)),
            hint: "the pipeline itself ended as it would have without fullbore".to_owned(),
            exit: Exit::RunFailed,
        })
    }
}

/// Whether the name is that of a page.
pub(crate) fn is_page(name: &str) -> bool {
    [".html", ".htm"].iter().any(|end| name.ends_with(end))
}
