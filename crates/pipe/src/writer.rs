//! Output of a stage, by the fastest way that is safe under every reader.
#![allow(unsafe_code)]

mod blocks;
mod cursor;
mod exchange;
mod options;
mod probe;
mod ring;
mod target;

use std::io::{self, Write};
use std::os::fd::AsFd;

use rustix::event::PollFlags;
use rustix::io::Errno;

use crate::grow;
use crate::pages::{HUGE_BYTES, PAGE_BYTES};
use crate::transfer::wait_until;
pub use blocks::Block;
use blocks::Blocks;
use cursor::Cursor;
pub use options::{Options, Strategy};
pub use probe::{Probe, probe};
use ring::{Renewal, Ring};
use target::write_some;
pub use target::{OutputError, is_pipe};

/// Writes to a pipe without copying where that is safe and pays, and by write(2) everywhere else.
///
/// Ask for [`room`](Self::room), fill it, [`commit`](Self::commit) it; or use it as any [`Write`]. What was
/// committed goes out in chunks: call [`flush`](Self::flush) at the end, nothing is written on drop.
///
/// The first mebibyte goes by write(2): a stage with little to say starts without a ring, a probe or a
/// change to the pipe. Then a pipe is grown to 1 MiB where that is allowed, and stays so.
///
/// ```
/// use std::io::{Read, Write};
/// let (mut reader, pipe) = std::io::pipe()?;
/// let mut writer = fullbore_pipe::PipeWriter::new(pipe, fullbore_pipe::Options::default());
/// writer.room(5)?[..5].copy_from_slice(b"hello");
/// writer.commit(5)?;
/// writer.flush()?;
/// drop(writer);
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?;
/// assert_eq!(text, "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PipeWriter<F: AsFd> {
    out: F,
    options: Options,
    memory: Memory,
    cursor: Cursor,
    blocks: Blocks,
    /// Whether blocks were lent, so that the ring has little to do.
    has_blocks: bool,
    written: u64,
    /// Whether a faster way may still be found.
    may_rise: bool,
}

/// Where the bytes wait, and how they go out.
#[derive(Debug)]
enum Memory {
    /// By write(2), which copies.
    Copied(Vec<u8>),
    /// By vmsplice(2), which does not.
    Lent(Ring),
}

/// Less than this waiting at a flush is copied: vmsplice takes a slot of the pipe for each page begun.
const SMALL_BYTES: usize = 32 << 10;
/// Output before a faster way is looked for.
const RISE_BYTES: u64 = 1 << 20;
/// Block for write(2) at first: twice what a new pipe holds, so that every write but the last fills it.
const FIRST_BLOCK_BYTES: usize = 128 << 10;
/// The ring at first. It grows with what goes through it: on a virtual machine new memory takes 1 ms a mebibyte.
const FIRST_RING_BYTES: usize = 4 << 20;
/// Most room where memory is plenty: codecs whose output can be much longer than their input still get pieces that are
/// worth their while.
const MOST_ROOM_BYTES: usize = 512 << 10;

impl<F: AsFd> PipeWriter<F> {
    /// A writer to `out`, which may be anything that can be written to.
    pub fn new(out: F, options: Options) -> Self {
        let may_rise = options.strategy != Some(Strategy::Copy) && is_pipe(&out);
        let mut writer = Self {
            out,
            options,
            memory: Memory::Copied(vec![0; FIRST_BLOCK_BYTES]),
            cursor: Cursor::new(FIRST_BLOCK_BYTES),
            blocks: Blocks::new(),
            has_blocks: false,
            written: 0,
            may_rise,
        };
        if writer.options.strategy.is_some() {
            writer.rise();
        }
        writer
    }

    /// The known fast way that makes no promise, for comparison: two halves of a buffer in turn, never renewed.
    ///
    /// **The bytes are right only** for a reader that copies what it reads before it frees room in the pipe (read(2)
    /// does; splice(2), tee(2) and everything built on them do not), and as long as the pipe's capacity stays as it is.
    /// Other readers get bytes of a later chunk. That is all that can happen: see
    /// [`TrialPages`](crate::TrialPages).
    ///
    /// # Errors
    /// When `out` is no pipe, or memory is short.
    pub fn double_buffer_without_promise(out: F) -> io::Result<Self> {
        grow(&out);
        let capacity = crate::capacity(&out).map_err(io::Error::other)?;
        let chunk = usize::try_from(capacity.0).map_err(io::Error::other)?;
        let ring = Ring::map(2 * chunk, 2 * chunk, Renewal::Never)?;
        let options = Options { chunk: capacity, ..Options::default() };
        let cursor = Cursor::new(2 * chunk);
        let (memory, blocks) = (Memory::Lent(ring), Blocks::new());
        let has_blocks = false;
        Ok(Self { out, options, memory, cursor, blocks, has_blocks, written: 0, may_rise: false })
    }

    /// The way in use; it can still change before the second mebibyte.
    pub fn strategy(&self) -> Strategy {
        match &self.memory {
            Memory::Copied(_) => Strategy::Copy,
            Memory::Lent(ring) => ring.strategy(),
        }
    }

    /// Bytes that Linux has taken so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Most bytes that [`room`](Self::room) can be asked for at once; it never shrinks while a writer lives.
    pub fn most_room(&self) -> usize {
        match &self.memory {
            Memory::Copied(block) => block.len() / 2,
            // What is left at the end of the memory goes unused.
            Memory::Lent(ring) => (ring.len() / 8).min(MOST_ROOM_BYTES),
        }
    }

    /// At least `wanted` bytes to be filled from the front. What they hold before is undefined.
    ///
    /// # Errors
    /// As [`flush`](Self::flush): room may have to be made.
    ///
    /// # Panics
    /// When more than [`most_room`](Self::most_room) is wanted.
    pub fn room(&mut self, wanted: usize) -> Result<&mut [u8], OutputError> {
        assert!(wanted <= self.most_room(), "{wanted} bytes of room wanted");
        let range = match self.cursor.room(wanted.max(1)) {
            Some(range) => range,
            None => {
                self.send(0)?;
                self.begin_again()?;
                let all = self.cursor.room(wanted).unwrap_or(0..0);
                debug_assert!(all.len() >= wanted);
                all
            }
        };
        // Not beyond the chunk: what is out early is read early, while it is in the cache.
        let chunk_end = self.cursor.pending().start + self.chunk();
        let end = range.end.min(chunk_end.max(range.start + wanted.max(1)));
        Ok(match &mut self.memory {
            Memory::Copied(block) => &mut block[range.start..end],
            Memory::Lent(ring) => ring.pages().bytes(range.start..end),
        })
    }

    /// Takes over `count` bytes that were filled into the front of the last [`room`](Self::room).
    ///
    /// # Errors
    /// As [`flush`](Self::flush): a chunk that is complete goes out.
    ///
    /// # Panics
    /// When `count` is more than there was room for.
    pub fn commit(&mut self, count: usize) -> Result<(), OutputError> {
        self.cursor.fill(count);
        let pending = self.cursor.pending();
        if pending.len() < self.chunk() {
            return Ok(());
        }
        match &self.memory {
            Memory::Copied(_) => self.flush_all(),
            // A page that is not full yet stays.
            Memory::Lent(_) => self.send(pending.end % PAGE_BYTES),
        }
    }

    /// Writes bytes that are elsewhere: copies them where pages are lent, and hands large ones to write(2) as they are
    /// where everything is copied. They may wait for a [`flush_all`](Self::flush_all).
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn put(&mut self, mut bytes: &[u8]) -> Result<(), OutputError> {
        while !bytes.is_empty() {
            let is_copied = matches!(self.memory, Memory::Copied(_));
            let count = if is_copied && bytes.len() >= self.chunk() && !self.may_rise_now() {
                self.flush_all()?;
                let count = write_some(&self.out, bytes).map_err(|e| self.error(e))?;
                self.written += count as u64;
                count
            } else {
                let room = self.room(1)?;
                let count = room.len().min(bytes.len());
                room[..count].copy_from_slice(&bytes[..count]);
                self.commit(count)?;
                count
            };
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// Whether the next full block ends the time of write(2).
    fn may_rise_now(&self) -> bool {
        self.may_rise && self.written >= RISE_BYTES
    }

    fn chunk(&self) -> usize {
        match &self.memory {
            Memory::Copied(block) => block.len(),
            Memory::Lent(_) => usize::try_from(self.options.chunk.0).unwrap_or(usize::MAX),
        }
    }

    /// Writes everything out.
    ///
    /// # Errors
    /// What Linux says, with the name of the output and the bytes written: the reader left (EPIPE), the disk is full
    /// (ENOSPC), and so on.
    pub fn flush_all(&mut self) -> Result<(), OutputError> {
        let pending = self.cursor.pending();
        match &mut self.memory {
            Memory::Lent(_) if pending.len() >= SMALL_BYTES => {
                self.send(0)?;
                self.cursor.align(PAGE_BYTES);
                Ok(())
            }
            Memory::Lent(_) => self.copy_out(),
            Memory::Copied(_) => {
                self.send(0)?;
                self.begin_again()
            }
        }
    }

    /// Writes what waits by write(2), so that its room is free again.
    fn copy_out(&mut self) -> Result<(), OutputError> {
        let mut pending = self.cursor.pending();
        while !pending.is_empty() {
            let bytes = match &mut self.memory {
                Memory::Copied(block) => &block[pending.clone()],
                Memory::Lent(ring) => &*ring.pages().bytes(pending.clone()),
            };
            let count = write_some(&self.out, bytes).map_err(|e| self.error(e))?;
            self.written += count as u64;
            pending.start += count;
        }
        self.cursor.take_back();
        Ok(())
    }

    /// Lets everything go out but the last `keep` bytes.
    fn send(&mut self, keep: usize) -> Result<(), OutputError> {
        loop {
            let pending = self.cursor.pending();
            let range = pending.start..pending.end - keep;
            if range.is_empty() {
                return Ok(());
            }
            let gone = match &mut self.memory {
                Memory::Copied(block) => write_some(&self.out, &block[range]),
                // SAFETY: the cursor gives these bytes out again only after `begin_again`, which renews the pages
                // (or the writer was made by `double_buffer_without_promise`, whose caller does not rely on the bytes).
                Memory::Lent(ring) => unsafe { ring.pages().lend(self.out.as_fd(), range) },
            };
            match gone {
                Ok(count) => {
                    self.cursor.send(count);
                    self.written += count as u64;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    wait_until(&self.out, PollFlags::OUT).map_err(|e| self.error(e))?;
                }
                Err(errno) => return self.fall_back(errno),
            }
        }
    }

    /// vmsplice is refused, by a filter or for want of memory: what waits is copied, and so is all that follows.
    fn fall_back(&mut self, errno: Errno) -> Result<(), OutputError> {
        let is_refusal = matches!(
            errno,
            Errno::PERM
                | Errno::NOSYS
                | Errno::OPNOTSUPP
                | Errno::INVAL
                | Errno::NOMEM
                | Errno::FAULT
        );
        if !is_refusal || matches!(self.memory, Memory::Copied(_)) {
            return Err(self.error(errno));
        }
        self.copy_out()?;
        self.copy_from_now_on();
        Ok(())
    }

    fn copy_from_now_on(&mut self) {
        debug_assert!(self.cursor.pending().is_empty());
        let len = self.chunk().max(2 * self.most_room());
        self.memory = Memory::Copied(vec![0; len]);
        self.cursor = Cursor::new(len);
        self.may_rise = false;
    }

    /// The memory is through: makes it safe to write to again.
    fn begin_again(&mut self) -> Result<(), OutputError> {
        debug_assert!(self.cursor.pending().is_empty());
        if self.may_rise_now() {
            self.rise();
            return Ok(());
        }
        if let Memory::Lent(ring) = &mut self.memory
            && let Err(error) = ring.renew(self.written)
        {
            if error.kind() != io::ErrorKind::OutOfMemory {
                return Err(self.error(Errno::from_io_error(&error).unwrap_or(Errno::IO)));
            }
            self.copy_from_now_on();
        }
        self.cursor.wrap(match &self.memory {
            Memory::Copied(block) => block.len(),
            Memory::Lent(ring) => ring.len(),
        });
        Ok(())
    }

    /// Finds the fastest way that is safe here, and changes to it.
    fn rise(&mut self) {
        self.may_rise = false;
        if is_pipe(&self.out) {
            grow(&self.out);
        }
        let wanted = self.options.strategy;
        let renewal = match (wanted, probe()) {
            (Some(Strategy::Copy), _) | (_, Probe::Copy { .. }) => None,
            _ if !is_pipe(&self.out) => None,
            (Some(Strategy::Fresh), _) | (_, Probe::Fresh { .. }) => Some(Renewal::Remap),
            (_, Probe::Ring) => Some(Renewal::Share),
        };
        let most = match &renewal {
            Some(Renewal::Share) => usize::try_from(self.options.ring.0).unwrap_or(usize::MAX),
            _ => HUGE_BYTES,
        };
        let first = most.min(FIRST_RING_BYTES);
        match renewal.and_then(|renewal| Ring::map(first, most, renewal).ok()) {
            Some(ring) => {
                (self.cursor, self.memory) = (Cursor::new(ring.len()), Memory::Lent(ring))
            }
            None => {
                let len = usize::try_from(self.options.block.0).unwrap_or(usize::MAX);
                (self.memory, self.cursor) = (Memory::Copied(vec![0; len]), Cursor::new(len));
            }
        }
    }

    fn error(&self, errno: Errno) -> OutputError {
        OutputError::new(&self.out, self.written, errno.into())
    }
}

impl<F: AsFd> Write for PipeWriter<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.most_room());
        self.room(count)?[..count].copy_from_slice(&bytes[..count]);
        self.commit(count)?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(self.flush_all()?)
    }
}
