//! Memory that two processes map: counters, and the bytes of a ring.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;

use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create,
};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The counters have a page of their own, each a cache line of its own.
const HEADER_BYTES: usize = 4096;
/// Two lines: processors fetch them in pairs.
const LINE_BYTES: usize = 128;

/// The counters that both processes share, all zero at first. What they mean is up to them; the names are those of a ring
/// with one giver and one taker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Bytes ever put in, wrapping.
    Produced,
    /// Bytes ever taken out, wrapping.
    Consumed,
    /// 1: whoever takes out waits for [`Counter::Produced`] to change.
    TakerWaits,
    /// 1: whoever puts in waits for [`Counter::Consumed`] to change.
    GiverWaits,
}

/// A mapping of memory that other processes, too, may have mapped: four counters and a ring of bytes.
///
/// The counters are atomic. The bytes are copied in and out and can never be referred to, so what the other process does
/// meanwhile can at most make them wrong: who puts and who takes must agree on that by the counters.
///
/// ```
/// use fullbore_pipe::passing::SharedRing;
/// let memory = SharedRing::create(4096)?;
/// let (here, there) = (SharedRing::map(&memory)?, SharedRing::map(&memory)?);
/// here.put(4094, b"hello"); // around the end
/// let mut text = [0; 5];
/// there.take(4094, &mut text);
/// assert_eq!(&text, b"hello");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct SharedRing {
    base: NonNull<u8>,
    capacity: usize,
}

// SAFETY: no thread owns the mapping more than another: it is shared between processes anyway, with counters that are
// atomic and bytes that are copied and never referred to.
unsafe impl Send for SharedRing {}

impl SharedRing {
    /// Memory without a name for a ring of `capacity` bytes, all zero, that keeps its size.
    ///
    /// # Errors
    /// ENOMEM, EMFILE; EINVAL or EFBIG for a capacity beyond all files.
    ///
    /// Source: memfd_create(2).
    pub fn create(capacity: usize) -> io::Result<OwnedFd> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory = memfd_create("fullbore-ring", flags)?;
        let len = HEADER_BYTES.checked_add(capacity).ok_or(Errno::INVAL)?;
        ftruncate(&memory, len as u64)?;
        fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW)?;
        Ok(memory)
    }

    /// Maps all of it, every page touched.
    ///
    /// # Errors
    /// EINVAL: this is not such memory, or its ring does not hold a power of two below 4 GiB. ENOMEM.
    ///
    /// Source: mmap(2), fcntl(2) `F_GET_SEALS`.
    pub fn map(memory: impl AsFd) -> io::Result<Self> {
        // What could become shorter would let a touch end the process; only memory without a file can be sealed.
        if !fcntl_get_seals(&memory)?.contains(SealFlags::SHRINK) {
            return Err(Errno::INVAL.into());
        }
        let len = usize::try_from(fstat(&memory)?.st_size).unwrap_or(0);
        let capacity = len.saturating_sub(HEADER_BYTES);
        if !capacity.is_power_of_two() || u32::try_from(capacity).is_err() {
            return Err(Errno::INVAL.into());
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address of Linux's choice changes no memory in use.
        let base = unsafe { mmap(ptr::null_mut(), len, access, flags, &memory, 0) }?;
        let base = NonNull::new(base.cast()).ok_or(Errno::NOMEM)?;
        Ok(Self { base, capacity })
    }

    /// Bytes that the ring holds, a power of two.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// One of the counters.
    #[must_use]
    pub fn counter(&self, counter: Counter) -> &AtomicU32 {
        // SAFETY: four lines lie within the header, which is mapped.
        let place = unsafe { self.base.as_ptr().add(counter as usize * LINE_BYTES) };
        // SAFETY: mapped and aligned as long as `self` lives, and used as an atomic only: by this function, which is the
        // only one that comes to the header.
        unsafe { AtomicU32::from_ptr(place.cast()) }
    }

    /// Copies `bytes` into the ring from position `at` on, around its end.
    ///
    /// Whoever reads these places meanwhile reads wrong bytes, nothing worse.
    ///
    /// # Panics
    /// When there are more than the ring holds.
    pub fn put(&self, at: u32, bytes: &[u8]) {
        for (place, range) in self.pieces(at, bytes.len()) {
            let piece = &bytes[range];
            // SAFETY: the piece lies within the mapping (see `pieces`) and no reference to it exists, in any process; the
            // bytes are elsewhere.
            unsafe { copy_shared(place, piece.as_ptr(), piece.len()) };
        }
    }

    /// Copies from the ring, from position `at` on, around its end.
    ///
    /// What someone writes to these places meanwhile may be among the bytes or not, in parts.
    ///
    /// # Panics
    /// When more is wanted than the ring holds.
    pub fn take(&self, at: u32, bytes: &mut [u8]) {
        for (place, range) in self.pieces(at, bytes.len()) {
            let piece = &mut bytes[range];
            // SAFETY: as in `put`.
            unsafe { copy_shared(piece.as_mut_ptr(), place, piece.len()) };
        }
    }

    /// The one or two places of `len` bytes from position `at` on, each with its range of the bytes.
    fn pieces(&self, at: u32, len: usize) -> [(*mut u8, Range<usize>); 2] {
        assert!(len <= self.capacity, "{len} bytes in a ring of {}", self.capacity);
        let start = at as usize % self.capacity;
        let first = len.min(self.capacity - start);
        let data = self.base.as_ptr().wrapping_add(HEADER_BYTES);
        [(data.wrapping_add(start), 0..first), (data, first..len)]
    }
}

impl Drop for SharedRing {
    fn drop(&mut self) {
        let len = HEADER_BYTES + self.capacity;
        // SAFETY: exactly what `map` mapped; references to it cannot outlive `self`.
        let done = unsafe { munmap(self.base.as_ptr().cast(), len) };
        debug_assert_eq!(done, Ok(()), "munmap of a range of our own");
    }
}

/// memcpy(3), one side of which others may write to or read at the same time.
///
/// It is the C library's machine code and not a copy of the language, for which two threads that touch a byte at once, one
/// of them to write, are undefined behaviour. The compiler is kept from knowing what is called, so it can conclude
/// nothing about these bytes; the processor then reads and writes each as it finds it. One call, as fast as any.
///
/// # Safety
/// `len` bytes from `from` must be readable and from `to` writable, and not overlap; of the shared side no reference exists.
unsafe fn copy_shared(to: *mut u8, from: *const u8, len: usize) {
    let copy: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void =
        black_box(libc::memcpy);
    // SAFETY: the caller's promise is that of memcpy(3).
    unsafe { copy(to.cast(), from.cast(), len) };
}
