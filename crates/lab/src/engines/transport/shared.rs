//! Memory that two processes map: two counters and the bytes of a ring. The fence around it.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;

use rustix::fs::{MemfdFlags, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::super::peers::failed;
use crate::EngineError;

/// The counters have a page of their own, each a cache line of its own.
const HEADER_BYTES: usize = 4096;
const LINE_BYTES: usize = 128;

/// Memory without a name for a ring of `capacity` bytes, all zero.
pub(super) fn create(capacity: usize) -> Result<OwnedFd, EngineError> {
    let fail = |errno: rustix::io::Errno| failed("shared memory", &errno.into());
    let memory = memfd_create("fullbore-lab", MemfdFlags::CLOEXEC).map_err(fail)?;
    ftruncate(&memory, (HEADER_BYTES + capacity) as u64).map_err(fail)?;
    Ok(memory)
}

/// The counters of a ring that are shared by both processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counter {
    /// Bytes ever put in, wrapping.
    Produced,
    /// Bytes ever taken out, wrapping.
    Consumed,
    /// 1: whoever takes out waits for [`Counter::Produced`] to change.
    TakerWaits,
    /// 1: whoever puts in waits for [`Counter::Consumed`] to change.
    GiverWaits,
}

/// A mapping of that memory.
#[derive(Debug)]
pub(super) struct Shared {
    base: NonNull<u8>,
    capacity: usize,
}

// SAFETY: no thread owns the mapping more than another: it is shared between processes anyway, with counters that are
// atomic and bytes that are copied and never referred to.
unsafe impl Send for Shared {}

impl Shared {
    /// Maps all of it, every page touched.
    pub(super) fn map(memory: impl AsFd) -> Result<Self, EngineError> {
        let fail = |errno: rustix::io::Errno| failed("shared memory", &errno.into());
        let len = usize::try_from(fstat(&memory).map_err(fail)?.st_size).unwrap_or(0);
        let capacity = len.saturating_sub(HEADER_BYTES);
        if !capacity.is_power_of_two() || u32::try_from(capacity).is_err() {
            return Err(EngineError::Failed(format!("a ring of {capacity} bytes")));
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address of Linux's choice changes no memory in use.
        let base =
            unsafe { mmap(ptr::null_mut(), len, access, flags, &memory, 0) }.map_err(fail)?;
        let base = NonNull::new(base.cast()).ok_or_else(|| fail(rustix::io::Errno::NOMEM))?;
        Ok(Self { base, capacity })
    }

    /// Bytes that the ring holds, a power of two.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// One of the counters.
    pub(super) fn counter(&self, counter: Counter) -> &AtomicU32 {
        // SAFETY: four lines lie within the header, which is mapped.
        let place = unsafe { self.base.as_ptr().add(counter as usize * LINE_BYTES) };
        // SAFETY: mapped and aligned as long as `self` lives, and used as an atomic by both processes only.
        unsafe { AtomicU32::from_ptr(place.cast()) }
    }

    /// Copies `bytes` into the ring from position `at` on, around its end.
    ///
    /// The other process must not read these places meanwhile; if it does, it reads wrong bytes, nothing worse.
    pub(super) fn put(&self, at: u32, bytes: &[u8]) {
        for (place, range) in self.pieces(at, bytes.len()) {
            let piece = &bytes[range];
            // SAFETY: the piece lies within the mapping (see `pieces`); no reference to it exists, in any process.
            unsafe { ptr::copy_nonoverlapping(piece.as_ptr(), place, piece.len()) };
        }
    }

    /// Copies from the ring, from position `at` on, around its end.
    pub(super) fn take(&self, at: u32, bytes: &mut [u8]) {
        for (place, range) in self.pieces(at, bytes.len()) {
            let piece = &mut bytes[range];
            // SAFETY: as in `put`.
            unsafe { ptr::copy_nonoverlapping(place, piece.as_mut_ptr(), piece.len()) };
        }
    }

    /// The one or two places of `len` bytes from position `at` on, each with its range of the bytes.
    fn pieces(&self, at: u32, len: usize) -> [(*mut u8, std::ops::Range<usize>); 2] {
        assert!(len <= self.capacity, "{len} bytes in a ring of {}", self.capacity);
        let start = at as usize % self.capacity;
        let first = len.min(self.capacity - start);
        let data = self.base.as_ptr().wrapping_add(HEADER_BYTES);
        [(data.wrapping_add(start), 0..first), (data, first..len)]
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let len = HEADER_BYTES + self.capacity;
        // SAFETY: exactly what `map` mapped; references to it cannot outlive `self`.
        let done = unsafe { munmap(self.base.as_ptr().cast(), len) };
        debug_assert_eq!(done, Ok(()), "munmap of a range of our own");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::SeqCst;

    #[test]
    fn two_mappings_see_the_same_counters_and_bytes_around_the_end() {
        let memory = create(4096).unwrap();
        let (one, other) = (Shared::map(&memory).unwrap(), Shared::map(&memory).unwrap());
        let all = [Counter::Produced, Counter::Consumed, Counter::TakerWaits, Counter::GiverWaits];
        for (value, counter) in (5..).zip(all) {
            one.counter(counter).store(value, SeqCst);
        }
        for (value, counter) in (5..).zip(all) {
            assert_eq!(other.counter(counter).load(SeqCst), value, "{counter:?}");
        }
        let bytes: Vec<u8> = (0..=255).collect();
        for at in [0, 4000, 4095, u32::MAX - 10] {
            one.put(at, &bytes);
            let mut got = vec![0; 256];
            other.take(at, &mut got);
            assert_eq!(got, bytes, "at {at}");
        }
    }

    #[test]
    #[should_panic(expected = "in a ring of 4096")]
    fn more_than_the_ring_holds_is_refused() {
        Shared::map(create(4096).unwrap()).unwrap().put(0, &[0; 4097]);
    }

    #[test]
    fn memory_of_another_shape_is_refused() {
        assert!(Shared::map(memfd_create("x", MemfdFlags::CLOEXEC).unwrap()).is_err());
    }
}
