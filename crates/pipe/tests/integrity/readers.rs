//! Readers that treat the pages of a pipe in different ways; each checks every byte in the end.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Seek};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use fullbore_measure::Bytes;
use fullbore_pipe::set_capacity;
use rustix::io::Errno;
use rustix::pipe::{SpliceFlags, splice, tee};

use crate::sequence::Checked;

/// What a reader does with the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Copies them at once.
    Read,
    /// Moves them into a file.
    SpliceToFile,
    /// Moves them into other pipes, where 64 MiB wait before they are checked.
    Queue,
    /// Duplicates them, and checks the copy after the original is gone.
    Tee,
    /// Moves them into a TCP connection.
    Socket,
    /// Copies them, and pauses now and then.
    Stopping(Duration),
}

pub(crate) const ALL: [Reader; 6] = [
    Reader::Read,
    Reader::SpliceToFile,
    Reader::Queue,
    Reader::Tee,
    Reader::Socket,
    Reader::Stopping(Duration::from_millis(100)),
];

const BLOCK: usize = 1 << 20;
const QUEUE_PIPES: usize = 64;

impl Reader {
    /// Reads to the end.
    pub(crate) fn run(self, pipe: PipeReader) -> Checked {
        match self {
            Self::Read => read(pipe, |_| ()),
            Self::SpliceToFile => splice_to_file(&pipe),
            Self::Queue => queue(&pipe),
            Self::Tee => tee_and_splice(&pipe),
            Self::Socket => splice_to_socket(pipe),
            Self::Stopping(pause) => {
                let mut state = 88_172_645_463_325_252_u64;
                read(pipe, move |bytes| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    // About five times in the gibibyte.
                    if state % (1 << 30) < 5 * bytes as u64 {
                        thread::sleep(pause);
                    }
                })
            }
        }
    }
}

fn read(mut from: impl Read, mut after: impl FnMut(usize)) -> Checked {
    let mut checked = Checked::default();
    let mut block = vec![0; BLOCK];
    loop {
        let count = from.read(&mut block).expect("the input can be read");
        if count == 0 {
            return checked;
        }
        checked.take(&block[..count]);
        after(count);
    }
}

fn move_all(from: impl AsFd, to: impl AsFd) -> u64 {
    let mut moved = 0;
    loop {
        match splice(&from, None, &to, None, BLOCK, SpliceFlags::MOVE) {
            Ok(0) => return moved,
            Ok(count) => moved += count as u64,
            Err(Errno::INTR) => {}
            Err(errno) => panic!("splice: {errno}"),
        }
    }
}

fn splice_to_file(pipe: &PipeReader) -> Checked {
    let mut file = tempfile::tempfile().expect("a file");
    move_all(pipe, &file);
    file.rewind().expect("a regular file");
    read(file, |_| ())
}

fn wide_pipe() -> (PipeReader, PipeWriter) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    set_capacity(&writer, Bytes(BLOCK as u64)).expect("the user may have another MiB of pipes");
    (reader, writer)
}

fn queue(pipe: &PipeReader) -> Checked {
    let mut checked = Checked::default();
    let mut empty: Vec<_> = (0..QUEUE_PIPES).map(|_| wide_pipe()).collect();
    let mut full = VecDeque::new();
    let mut block = vec![0; BLOCK];
    let mut drain = |((mut reader, writer), len): ((PipeReader, PipeWriter), usize)| {
        reader.read_exact(&mut block[..len]).expect("what was queued");
        checked.take(&block[..len]);
        (reader, writer)
    };
    loop {
        let ends = empty.pop().unwrap_or_else(|| drain(full.pop_front().expect("all are full")));
        match splice(pipe, None, &ends.1, None, BLOCK, SpliceFlags::MOVE).expect("splice") {
            0 => break,
            count => full.push_back((ends, count)),
        }
    }
    full.into_iter().for_each(|queued| drop(drain(queued)));
    checked
}

fn tee_and_splice(pipe: &PipeReader) -> Checked {
    let mut checked = Checked::default();
    let nowhere = File::options().write(true).open("/dev/null").expect("/dev/null");
    let (mut copy, into_copy) = wide_pipe();
    let mut block = vec![0; BLOCK];
    loop {
        let count = tee(pipe, &into_copy, BLOCK, SpliceFlags::empty()).expect("tee");
        if count == 0 {
            return checked;
        }
        let mut left = count;
        while left > 0 {
            left -= splice(pipe, None, &nowhere, None, left, SpliceFlags::empty()).expect("splice");
        }
        // The writer goes on meanwhile, as far as the pipe has room.
        thread::yield_now();
        copy.read_exact(&mut block[..count]).expect("the copy");
        checked.take(&block[..count]);
    }
}

fn splice_to_socket(pipe: PipeReader) -> Checked {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
    let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
    let (far, _) = listener.accept().expect("a connection");
    let sender = thread::spawn(move || {
        move_all(&pipe, &near);
    });
    let checked = read(far, |_| ());
    sender.join().expect("the sender ended");
    checked
}
