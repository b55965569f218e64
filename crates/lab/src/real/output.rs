//! What becomes of the standard output of a program.

use std::fs::File;
use std::io::{self, PipeReader, Read, Seek, SeekFrom};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use rustix::pipe::{SpliceFlags, splice};
use xxhash_rust::xxh3::Xxh3;

/// How much of a text answer or of messages is kept.
const TEXT_BYTES: u64 = 1 << 20;

/// One piece of a copy or a splice.
const PIECE: usize = 1 << 18;

/// Takes the output of a program until its end.
#[derive(Debug)]
pub(super) struct Drain(Option<JoinHandle<io::Result<Option<String>>>>);

impl Drain {
    /// Nobody takes it.
    pub(super) fn nothing(command: &mut Command) -> io::Result<Self> {
        command.stdout(Stdio::null());
        Ok(Self(None))
    }

    /// It is thrown away without being copied.
    pub(super) fn discard(command: &mut Command) -> io::Result<Self> {
        Self::start(command, |output| {
            let nowhere = File::options().write(true).open("/dev/null")?;
            while splice(&output, None, &nowhere, None, PIECE, SpliceFlags::empty())? > 0 {}
            Ok(None)
        })
    }

    /// Its digest is the answer.
    pub(super) fn digest(command: &mut Command) -> io::Result<Self> {
        Self::start(command, |mut output| {
            let mut state = Xxh3::new();
            each_piece(&mut output, |piece| state.update(piece))?;
            Ok(Some(format!("{:032x}", state.digest128())))
        })
    }

    /// The number of its bytes is the answer.
    pub(super) fn count(command: &mut Command) -> io::Result<Self> {
        Self::start(command, |mut output| {
            let mut count = 0;
            each_piece(&mut output, |piece| count += piece.len())?;
            Ok(Some(count.to_string()))
        })
    }

    /// The text itself is the answer.
    pub(super) fn text(command: &mut Command) -> io::Result<Self> {
        Self::start(command, |mut output| {
            let mut text = Vec::new();
            output.by_ref().take(TEXT_BYTES).read_to_end(&mut text)?;
            each_piece(&mut output, |_| {})?;
            Ok(Some(String::from_utf8_lossy(&text).trim().to_owned()))
        })
    }

    fn start(
        command: &mut Command,
        take: impl FnOnce(PipeReader) -> io::Result<Option<String>> + Send + 'static,
    ) -> io::Result<Self> {
        let (ours, theirs) = io::pipe()?;
        command.stdout(theirs);
        let thread = std::thread::Builder::new().name("output".to_owned());
        Ok(Self(Some(thread.spawn(move || take(ours))?)))
    }

    /// The answer, once all write ends are closed; `None` when there is none, or reading failed.
    pub(super) fn finish(self) -> Option<String> {
        self.0?.join().ok()?.ok()?
    }
}

fn each_piece(output: &mut PipeReader, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match output.read(&mut piece)? {
            0 => return Ok(()),
            count => take(&piece[..count]),
        }
    }
}

/// The start of a file of ours.
pub(super) fn text_of(mut file: &File) -> String {
    let mut text = Vec::new();
    let read =
        file.seek(SeekFrom::Start(0)).and_then(|_| file.take(TEXT_BYTES).read_to_end(&mut text));
    if read.is_ok() { String::from_utf8_lossy(&text).into_owned() } else { String::new() }
}

/// The last line of a file of ours that says something.
pub(super) fn last_line(file: &File) -> String {
    let text = text_of(file);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
