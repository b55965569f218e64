//! Opens the files that a buffer writes, and refuses the file that it reads.

use std::fs::File;
use std::io::{stdin, stdout};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use fullbore_feed::buffer::Copy;
use rustix::fs::{FileType, OFlags, SeekFrom, Stat, fcntl_getfl, fstat, seek};

use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// Opens the files for `-o`. Truncates them only if all of them can be written and none is the input.
pub(super) fn open(paths: &[PathBuf]) -> Result<Vec<Copy>, Failure> {
    let input = regular(stdin());
    if let Some(input) = &input
        && output_feeds(input)
    {
        return Err(is_input("writing standard output"));
    }
    let opened = paths.iter().map(|path| open_one(path, input.as_ref()));
    let opened: Vec<Copy> = opened.collect::<Result<_, _>>()?;
    for copy in &opened {
        if regular(&copy.file).is_some() {
            copy.file.set_len(0).map_err(|error| cannot_write(&copy.path, &error))?;
        }
    }
    Ok(opened)
}

fn open_one(path: &Path, input: Option<&Stat>) -> Result<Copy, Failure> {
    let file = File::options().write(true).create(true).truncate(false).open(path);
    let file = file.map_err(|error| cannot_write(path, &error))?;
    match (input, regular(&file)) {
        (Some(input), Some(output)) if is_same(input, &output) => {
            Err(is_input(&format!("writing: {}", path.display())))
        }
        _ => Ok(Copy { path: path.to_owned(), file }),
    }
}

/// Whether standard output is the input file at a position that is still to be read, so that output would come in again.
///
/// `fullbore buffer <f 1<>f` rewrites the file with its own content, which is odd but ends.
fn output_feeds(input: &Stat) -> bool {
    let Some(output) = regular(stdout()) else { return false };
    let Ok(reads_at) = seek(stdin(), SeekFrom::Current(0)) else { return false };
    let appends = fcntl_getfl(stdout()).is_ok_and(|flags| flags.contains(OFlags::APPEND));
    let writes_at = match (appends, seek(stdout(), SeekFrom::Current(0))) {
        (false, Ok(place)) => place,
        _ => u64::try_from(output.st_size).unwrap_or(0),
    };
    is_same(input, &output) && reads_at < writes_at
}

fn regular(fd: impl AsFd) -> Option<Stat> {
    let stat = fstat(fd).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then_some(stat)
}

fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure {
        message: format!("buffer: writing: {}: {}", path.display(), plain(error)),
        hint: "nothing was read; give a path that you can write to".to_owned(),
        exit: Exit::NotDone,
    }
}

fn is_input(what: &str) -> Failure {
    Failure {
        message: format!("buffer: {what}: the input file is the output file"),
        hint: "nothing was read or written; write to another file and rename it afterwards"
            .to_owned(),
        exit: Exit::NotDone,
    }
}
