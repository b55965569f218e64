//! Working memory that stays cheap to write while a [`PipeWriter`](crate::PipeWriter) renews its ring.
#![allow(unsafe_code)]

use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Working memory for a stage, of a fixed size, zero at first.
///
/// A [`PipeWriter`](crate::PipeWriter) renews its ring by forking a child that exits at once. After each fork, the
/// first write to any ordinary page faults. The child does not get this memory, so writing to it never costs such a
/// fault.
///
/// Source: madvise(2), `MADV_DONTFORK`.
#[derive(Default)]
pub struct Scratch {
    memory: Memory,
}

enum Memory {
    Apart {
        base: NonNull<u8>,
        len: usize,
    },
    /// Used where Linux refuses to map memory or to exclude it from the child.
    Heap(Vec<u8>),
}

impl Default for Memory {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

// SAFETY: this value alone owns the memory, as a Box<[u8]> does.
unsafe impl Send for Scratch {}
// SAFETY: shared references only read.
unsafe impl Sync for Scratch {}

impl Scratch {
    /// Maps `len` bytes, or allocates them on the heap where Linux refuses to map them or to exclude them from the
    /// child.
    ///
    /// # Panics
    /// When there is no memory for `len` bytes.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self { memory: map(len).unwrap_or_else(|| Memory::Heap(vec![0; len])) }
    }

    /// Maps or allocates `len` bytes as [`new`](Self::new) does, but reports a lack of memory where `new` aborts the
    /// process.
    ///
    /// # Errors
    /// [`OutOfMemory`](io::ErrorKind::OutOfMemory).
    pub fn try_new(len: usize) -> io::Result<Self> {
        match map(len) {
            Some(memory) => Ok(Self { memory }),
            None => zeros(len).map(|bytes| Self { memory: Memory::Heap(bytes) }),
        }
    }
}

/// Allocates `len` zeros on the heap.
///
/// # Errors
/// [`OutOfMemory`](io::ErrorKind::OutOfMemory), where `vec![0; len]` aborts the process.
pub(crate) fn zeros(len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    bytes.resize(len, 0);
    Ok(bytes)
}

fn map(len: usize) -> Option<Memory> {
    let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: a new mapping at an address Linux chooses changes no memory in use; an empty one has no bytes.
    let base = unsafe { mmap_anonymous(ptr::null_mut(), len, access, flags) }.ok()?;
    // SAFETY: the range is the mapping made above; no child of this process relies on it.
    let set_apart = unsafe { madvise(base, len, Advice::LinuxDontFork) };
    let memory = Memory::Apart { base: NonNull::new(base.cast())?, len };
    // From here on, dropping `scratch` unmaps the memory.
    let scratch = Scratch { memory };
    set_apart.ok().map(|()| scratch.into_memory())
}

impl Scratch {
    fn into_memory(mut self) -> Memory {
        std::mem::take(&mut self.memory)
    }
}

impl Deref for Scratch {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.memory {
            Memory::Heap(bytes) => bytes,
            // SAFETY: the mapping is readable, initialized (Linux maps zeros) and lives as long as `self`.
            Memory::Apart { base, len } => unsafe {
                std::slice::from_raw_parts(base.as_ptr(), *len)
            },
        }
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Memory::Heap(bytes) => bytes,
            // SAFETY: as above, writable, and borrowed mutably with `self`.
            Memory::Apart { base, len } => unsafe {
                std::slice::from_raw_parts_mut(base.as_ptr(), *len)
            },
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Memory::Apart { base, len } = self.memory {
            // SAFETY: this is the whole of a mapping of our own, to which nothing refers any more.
            let done = unsafe { munmap(base.as_ptr().cast(), len) };
            debug_assert_eq!(done, Ok(()), "munmap of a mapping of our own");
        }
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scratch({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{
        Faults, HUGE_BYTES, PAGE_BYTES, Pages, address_space, alone, can_share, minor_faults,
    };

    const PAGES: usize = 256;

    /// Counts the page faults of writing to every page of `bytes` after a ring was renewed.
    fn faults_after_renewal(bytes: &mut [u8]) -> u64 {
        bytes.fill(1);
        Pages::map(HUGE_BYTES).unwrap().share().unwrap();
        let before = minor_faults(Faults::OfThread);
        for page in bytes.chunks_mut(rustix::param::page_size()) {
            page[0] = 2;
        }
        minor_faults(Faults::OfThread) - before
    }

    #[test]
    fn renewing_a_ring_costs_it_nothing() {
        let _turn = alone();
        if !can_share() {
            return;
        }
        let len = PAGES * rustix::param::page_size();
        let on_the_heap = faults_after_renewal(&mut vec![0; len]);
        assert!(on_the_heap >= PAGES as u64, "the comparison: {on_the_heap} faults");
        let here = faults_after_renewal(&mut Scratch::new(len));
        assert!(here < PAGES as u64 / 8, "{here} faults");
    }

    #[test]
    fn it_is_zero_and_writable_to_its_ends_at_every_length() {
        for len in [0, 1, PAGE_BYTES - 1, PAGE_BYTES, PAGE_BYTES + 1, 512 << 10] {
            let mut scratch = Scratch::new(len);
            assert_eq!(scratch.len(), len);
            assert!(scratch.iter().all(|byte| *byte == 0));
            scratch.fill(7);
            assert!(scratch.iter().all(|byte| *byte == 7));
        }
    }

    #[test]
    fn its_memory_is_given_back() {
        let before = address_space();
        for _ in 0..1000 {
            drop(Scratch::new(HUGE_BYTES));
        }
        assert!(address_space() < before + 500 * HUGE_BYTES, "memory was not given back");
    }

    #[test]
    fn it_can_go_to_another_thread_and_is_given_back_there() {
        let mut scratch = Scratch::new(PAGE_BYTES);
        scratch[PAGE_BYTES - 1] = 9;
        let last = std::thread::spawn(move || scratch[PAGE_BYTES - 1]).join().unwrap();
        assert_eq!(last, 9);
    }
}
