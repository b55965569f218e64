//! Messages for a stream that could not be dealt out to its end.

use std::io;

use fullbore_feed::par::Error;
use fullbore_measure::Bytes;

use crate::args::par::ParOptions;
use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// The message: what failed, at which block, why, and what to try.
pub(super) fn failure(error: &Error, options: &ParOptions, window: Bytes) -> Failure {
    let (message, hint) = match error {
        Error::Reading(source) => {
            let what = match &options.arg_file {
                Some(path) => path.display().to_string(),
                None => "standard input".to_owned(),
            };
            (format!("reading: {what}: {}", plain(source)), "")
        }
        Error::NoRecordEnd(bytes) => (
            format!("no record ends in {bytes} of input, more than --window {window} lets wait"),
            "say what ends a record (-0, -d BYTE, --recend STRING), or give a larger --window",
        ),
        Error::Starting(block, source) => (
            format!("block {block}: starting a copy of the command: {}", plain(source)),
            starting_hint(source),
        ),
        Error::Writing(source) => (
            format!("writing standard output: {}", plain(source)),
            if source.kind() == io::ErrorKind::StorageFull {
                "free some space on that disk"
            } else {
                ""
            },
        ),
        Error::Moving(block, source) => (format!("block {block}: {}", plain(source)), ""),
        Error::Preparing(source) => (plain(source), starting_hint(source)),
        Error::Merging(block, why) => (
            format!("--merge: the output of block {block}: {why}"),
            "give another --merge, or none",
        ),
        Error::MergeCommand(status) => {
            let command = options.merge.as_deref().unwrap_or_default();
            let message = format!("par: --merge {command}: the merging command {status}");
            return Failure { message, hint: String::new(), exit: Exit::Child(status.code) };
        }
        Error::TooMuchToMerge(bytes) => (
            format!("--merge: the outputs take more memory than --window {bytes}"),
            "give a larger --window",
        ),
        Error::Joblog(source) => (format!("writing the job log: {}", plain(source)), ""),
        other => (other.to_string(), ""),
    };
    Failure { message: format!("par: {message}"), hint: hint.to_owned(), exit: Exit::NotDone }
}

fn starting_hint(source: &io::Error) -> &'static str {
    use rustix::io::Errno;
    match source.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::MFILE | Errno::NFILE) => {
            "allow more open files (ulimit -n), or give a lower -j"
        }
        Some(Errno::AGAIN | Errno::NOMEM) => {
            "allow more processes or memory (ulimit -u), or give a lower -j"
        }
        Some(Errno::TOOBIG) => "the arguments and the environment together are too long",
        _ => "",
    }
}
