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

/// Size of the page in front that holds the counters, each in its own cache line.
const HEADER_BYTES: usize = 4096;
/// Distance between counters: two cache lines, because processors fetch them in pairs.
const LINE_BYTES: usize = 128;

/// The counters that both processes share, all zero at first. The processes define their meaning; the names fit a ring
/// with one giver and one taker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Total bytes put in, wrapping.
    Produced,
    /// Total bytes taken out, wrapping.
    Consumed,
    /// 1 while the taker waits for [`Counter::Produced`] to change.
    TakerWaits,
    /// 1 while the giver waits for [`Counter::Consumed`] to change.
    GiverWaits,
}

/// A mapping of four counters and a ring of bytes, which other processes may map as well.
///
/// The counters are atomic. Bytes are copied in and out, and no reference to them ever exists. The other process can
/// therefore make bytes wrong but do nothing worse: giver and taker must coordinate through the counters.
///
/// ```
/// use fullbore_apparatus::passing::SharedRing;
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

// SAFETY: no thread owns the mapping more than another. Processes share it anyway, through atomic counters and bytes
// that are copied and never referred to.
unsafe impl Send for SharedRing {}

impl SharedRing {
    /// Creates unnamed memory of fixed size for a ring of `capacity` bytes, all zero.
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

    /// Maps all of the memory and touches every page.
    ///
    /// # Errors
    /// EINVAL: this is not such memory, or its ring does not hold a power of two below 4 GiB. ENOMEM.
    ///
    /// Source: mmap(2), fcntl(2) `F_GET_SEALS`.
    pub fn map(memory: impl AsFd) -> io::Result<Self> {
        // If the file could shrink, touching its lost part would end the process. Only memory without a file can be
        // sealed.
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
        // SAFETY: a new mapping at an address Linux chooses changes no memory in use.
        let base = unsafe { mmap(ptr::null_mut(), len, access, flags, &memory, 0) }?;
        let base = NonNull::new(base.cast()).ok_or(Errno::NOMEM)?;
        Ok(Self { base, capacity })
    }

    /// Returns how many bytes the ring holds, a power of two.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns one of the counters.
    #[must_use]
    pub fn counter(&self, counter: Counter) -> &AtomicU32 {
        // SAFETY: four lines lie within the header, which is mapped.
        let address = unsafe { self.base.as_ptr().add(counter as usize * LINE_BYTES) };
        // SAFETY: the address is mapped and aligned as long as `self` lives. Only this function reaches the header, and
        // uses it as atomics only.
        unsafe { AtomicU32::from_ptr(address.cast()) }
    }

    /// Copies `bytes` into the ring from position `at`, wrapping around its end.
    ///
    /// Anyone who reads this part meanwhile reads wrong bytes, nothing worse.
    ///
    /// # Panics
    /// When there are more bytes than the ring holds.
    pub fn put(&self, at: u32, bytes: &[u8]) {
        for (address, range) in self.pieces(at, bytes.len()) {
            let piece = &bytes[range];
            // SAFETY: the piece lies within the mapping (see `pieces`), no process has a reference to it, and the bytes
            // are elsewhere.
            unsafe { copy_shared(address, piece.as_ptr(), piece.len()) };
        }
    }

    /// Copies bytes out of the ring from position `at`, wrapping around its end.
    ///
    /// If someone writes to this part meanwhile, the result may contain some of the new bytes.
    ///
    /// # Panics
    /// When `bytes` is longer than the ring.
    pub fn take(&self, at: u32, bytes: &mut [u8]) {
        for (address, range) in self.pieces(at, bytes.len()) {
            let piece = &mut bytes[range];
            // SAFETY: as in `put`.
            unsafe { copy_shared(piece.as_mut_ptr(), address, piece.len()) };
        }
    }

    /// Returns the one or two parts of the ring that hold `len` bytes from position `at`, each with its range of the
    /// bytes.
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
        // SAFETY: this is exactly what `map` mapped; references to it cannot outlive `self`.
        let done = unsafe { munmap(self.base.as_ptr().cast(), len) };
        debug_assert_eq!(done, Ok(()), "munmap of a range of our own");
    }
}

/// Calls memcpy(3) on memory that others may read or write at the same time.
///
/// In the language, two threads that touch a byte at once, one of them writing, are undefined behaviour; so this calls
/// the C library's machine code instead of copying in Rust. The compiler cannot see which function is called and so
/// concludes nothing about these bytes; the processor reads and writes each as it finds it. One call is as fast as any.
///
/// # Safety
/// `len` bytes must be readable at `from` and writable at `to`, must not overlap, and no reference to the shared side
/// may exist.
unsafe fn copy_shared(to: *mut u8, from: *const u8, len: usize) {
    let copy: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void =
        black_box(libc::memcpy);
    // SAFETY: the caller's promise is that of memcpy(3).
    unsafe { copy(to.cast(), from.cast(), len) };
}
