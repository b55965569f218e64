//! Writes a stage's output by the fastest way that is safe under every reader.
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
use rustix::pipe::SpliceFlags;

use crate::capacity::{Limits, widen};
use crate::pages::{HUGE_BYTES, PAGE_BYTES};
use crate::transfer::wait_until;
pub use blocks::Block;
use blocks::Blocks;
use cursor::Cursor;
use options::Sizes;
pub use options::{Options, Strategy};
pub use probe::{Probe, probe};
pub(crate) use ring::Held;
use ring::{Renewal, Ring};
use target::write_some;
pub use target::{OutputError, is_pipe};

/// Writes to a pipe without copying where that is safe and pays, and by write(2) everywhere else.
///
/// Ask for [`room`](Self::room), fill it and [`commit`](Self::commit) it, or use the writer as any [`Write`]. It writes
/// committed bytes in chunks of [`Options::chunk`]. Call [`flush`](Self::flush) at the end: dropping the writer writes
/// nothing.
///
/// The first mebibyte goes by write(2), so that a stage with little output starts without a ring, a probe or a change
/// to the pipe. After that the writer widens the pipe to 1 MiB where Linux allows it; the pipe stays that wide.
///
/// Lending pages affects the whole process in two ways. On each pass through the ring, the writer starts a child
/// process that exits at once; the child uses nothing it inherits, and no `wait` without `__WALL` sees it. After each
/// child, the first write to any ordinary page faults; [`Scratch`](crate::Scratch) is exempt.
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
    wanted: Option<Strategy>,
    sizes: Sizes,
    memory: Memory,
    cursor: Cursor,
    blocks: Blocks,
    /// Whether the caller has exchanged blocks, which leaves the ring little to do.
    has_blocks: bool,
    written: u64,
    /// Whether the writer may still change to a faster way.
    may_rise: bool,
}

/// Memory in which output waits, by the way it goes out.
#[derive(Debug)]
enum Memory {
    /// write(2) copies it into the pipe.
    Copied(Copied),
    /// vmsplice(2) lends its pages.
    Lent(Ring),
}

/// Memory that write(2) copies from.
#[derive(Debug)]
struct Copied {
    bytes: Vec<u8>,
    /// How many bytes to collect before writing them.
    block: usize,
}

impl Memory {
    /// Allocates memory that collects `block` bytes and has room for the largest piece that callers could request
    /// before.
    fn copied(block: usize, most_room: usize) -> Self {
        Self::Copied(Copied { bytes: vec![0; block.max(2 * most_room)], block })
    }

    fn len(&self) -> usize {
        match self {
            Self::Copied(copied) => copied.bytes.len(),
            Self::Lent(ring) => ring.len(),
        }
    }
}

/// A flush copies what waits below this size: vmsplice takes a slot of the pipe for each page begun.
const SMALL_BYTES: usize = 32 << 10;
/// Output after which the writer looks for a faster way.
const RISE_BYTES: u64 = 1 << 20;
/// First block size for write(2): twice the capacity of a new pipe, so that every write but the last fills it.
const FIRST_BLOCK_BYTES: usize = 128 << 10;
/// First size of the ring. It grows with the output: on a virtual machine new memory takes 1 ms a mebibyte.
const FIRST_RING_BYTES: usize = 4 << 20;
/// Most room that callers get where memory is plenty. Codecs whose output can be much longer than their input then
/// still get large pieces.
const MOST_ROOM_BYTES: usize = 512 << 10;

impl<F: AsFd> PipeWriter<F> {
    /// Makes a writer to `out`, which may be a pipe, a file, a socket or anything else writable. The writer lends pages
    /// only to pipes, and waits for a non-blocking `out`.
    pub fn new(out: F, options: Options) -> Self {
        let may_rise = options.strategy != Some(Strategy::Copy) && is_pipe(&out);
        let mut writer = Self {
            out,
            wanted: options.strategy,
            sizes: Sizes::of(&options),
            memory: Memory::copied(FIRST_BLOCK_BYTES, 0),
            cursor: Cursor::new(FIRST_BLOCK_BYTES),
            blocks: Blocks::new(),
            has_blocks: false,
            written: 0,
            may_rise,
        };
        if writer.wanted.is_some() {
            writer.rise();
        }
        writer
    }

    /// Returns the way in use. It changes once, after the first mebibyte, and again only when Linux refuses it.
    pub fn strategy(&self) -> Strategy {
        match &self.memory {
            Memory::Copied(_) => Strategy::Copy,
            Memory::Lent(ring) => ring.strategy(),
        }
    }

    /// Returns how many bytes Linux has taken so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns the most bytes that one call of [`room`](Self::room) may ask for: at least 64 KiB, and never less than
    /// before.
    pub fn most_room(&self) -> usize {
        match &self.memory {
            Memory::Copied(copied) => copied.bytes.len() / 2,
            // The rest at the end of the memory stays unused.
            Memory::Lent(ring) => (ring.len() / 8).min(MOST_ROOM_BYTES),
        }
    }

    /// Returns at least `wanted` bytes to fill from the front. They still contain bytes of earlier output.
    ///
    /// # Errors
    /// As [`flush`](Self::flush), because the writer may have to make room.
    ///
    /// # Panics
    /// When `wanted` exceeds [`most_room`](Self::most_room).
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
        // Do not reach beyond the chunk: output that leaves early is read while it is still in the cache.
        let chunk_end = self.cursor.pending().start + self.chunk();
        let end = range.end.min(chunk_end.max(range.start + wanted.max(1)));
        Ok(match &mut self.memory {
            Memory::Copied(copied) => &mut copied.bytes[range.start..end],
            Memory::Lent(ring) => ring.pages().bytes(range.start..end),
        })
    }

    /// Takes over the first `count` bytes of the last [`room`](Self::room).
    ///
    /// # Errors
    /// As [`flush`](Self::flush), because a complete chunk is written at once.
    ///
    /// # Panics
    /// When `count` exceeds the room that was given.
    pub fn commit(&mut self, count: usize) -> Result<(), OutputError> {
        self.cursor.fill(count);
        let pending = self.cursor.pending();
        if pending.len() < self.chunk() {
            return Ok(());
        }
        match &self.memory {
            Memory::Copied(_) => self.flush_all(),
            // Keep a page that is not full yet.
            Memory::Lent(_) => self.send(pending.end % PAGE_BYTES),
        }
    }

    /// Writes bytes from the caller's memory. It copies them where pages are lent; otherwise it passes large pieces to
    /// write(2) directly. The bytes may wait for a [`flush_all`](Self::flush_all).
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

    /// Tells whether the writer tries a faster way after the next full block.
    fn may_rise_now(&self) -> bool {
        self.may_rise && self.written >= RISE_BYTES
    }

    fn chunk(&self) -> usize {
        match &self.memory {
            Memory::Copied(copied) => copied.block,
            Memory::Lent(_) => self.sizes.chunk,
        }
    }

    /// Writes out everything that waits.
    ///
    /// # Errors
    /// Linux's error, with the name of the output and the bytes written: the reader left (EPIPE), the disk is full
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

    /// Writes what waits by write(2), which frees its room.
    fn copy_out(&mut self) -> Result<(), OutputError> {
        let mut pending = self.cursor.pending();
        while !pending.is_empty() {
            let bytes = match &mut self.memory {
                Memory::Copied(copied) => &copied.bytes[pending.clone()],
                Memory::Lent(ring) => &*ring.pages().bytes(pending.clone()),
            };
            let count = write_some(&self.out, bytes).map_err(|e| self.error(e))?;
            self.written += count as u64;
            pending.start += count;
        }
        self.cursor.take_back();
        Ok(())
    }

    /// Writes out everything except the last `keep` bytes.
    fn send(&mut self, keep: usize) -> Result<(), OutputError> {
        loop {
            let pending = self.cursor.pending();
            let range = pending.start..pending.end - keep;
            if range.is_empty() {
                return Ok(());
            }
            let gone = match &mut self.memory {
                Memory::Copied(copied) => write_some(&self.out, &copied.bytes[range]),
                // SAFETY: the cursor gives these bytes out again only after `begin_again`, which renews the pages.
                Memory::Lent(ring) => unsafe {
                    ring.pages().lend(self.out.as_fd(), range, SpliceFlags::empty())
                },
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

    /// Changes to copying because vmsplice is refused, by a filter or for want of memory. What waits is copied, and so
    /// is all later output.
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
        self.memory = Memory::copied(self.sizes.block, self.most_room());
        self.cursor = Cursor::new(self.memory.len());
        self.may_rise = false;
    }

    /// Renews the memory, all of which has been lent, so that it is safe to write to again.
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
        self.cursor.wrap(self.memory.len());
        Ok(())
    }

    /// Finds the fastest safe way here and changes to it.
    fn rise(&mut self) {
        self.may_rise = false;
        if is_pipe(&self.out) {
            widen(&self.out, Limits::DEFAULT.pipe_max);
        }
        let renewal = match (self.wanted, probe()) {
            (Some(Strategy::Copy), _) | (_, Probe::Copy { .. }) => None,
            _ if !is_pipe(&self.out) => None,
            (Some(Strategy::Fresh), _) | (_, Probe::Fresh { .. }) => Some(Renewal::Remap),
            (_, Probe::Ring) => Some(Renewal::Share),
        };
        let most = match &renewal {
            Some(Renewal::Share) => self.sizes.ring,
            _ => HUGE_BYTES,
        };
        let first = most.min(FIRST_RING_BYTES);
        self.memory = match renewal.and_then(|renewal| Ring::map(first, most, renewal).ok()) {
            Some(ring) => Memory::Lent(ring),
            None => Memory::copied(self.sizes.block, self.most_room()),
        };
        self.cursor = Cursor::new(self.memory.len());
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
