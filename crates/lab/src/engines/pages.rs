//! Memory of an experiment: huge pages or none, as asked, and lent to pipes in the ways that are compared.
#![allow(unsafe_code)]

use std::ops::Range;
use std::os::fd::AsFd;
use std::ptr::{self, NonNull};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::pipe::{IoSliceRaw, SpliceFlags, vmsplice};

use super::peers::failed;
use crate::EngineError;

const HUGE_BYTES: usize = 2 << 20;
const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Anonymous memory, aligned to a huge page, touched.
#[derive(Debug)]
pub(super) struct Pages {
    base: NonNull<u8>,
    len: usize,
    /// All that was mapped.
    start: *mut u8,
    whole: usize,
}

// SAFETY: the memory belongs to this value alone, like that of a Box<[u8]>.
unsafe impl Send for Pages {}

impl Pages {
    /// Maps `len` bytes and touches each page; with `huge` on huge pages, otherwise never on them.
    ///
    /// # Errors
    /// Memory is short; huge pages are wanted and switched off.
    ///
    /// Source: mmap(2), madvise(2).
    pub(super) fn map(len: usize, huge: bool) -> Result<Self, EngineError> {
        let setting = std::fs::read_to_string(THP).unwrap_or_default();
        if huge && (setting.is_empty() || setting.contains("[never]")) {
            return Err(EngineError::Unavailable {
                what: "transparent huge pages".to_owned(),
                remedy: format!("echo madvise > {THP}"),
            });
        }
        let whole = len.max(1).next_multiple_of(HUGE_BYTES) + HUGE_BYTES;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of Linux's choice changes no memory in use.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), whole, access, MapFlags::PRIVATE) }
            .map_err(|errno| failed(&format!("{len} bytes of memory"), &errno.into()))?;
        let start = start.cast::<u8>();
        let base = start.wrapping_add(start.align_offset(HUGE_BYTES));
        let advice = if huge { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
        // SAFETY: the range is the mapping made above; the advice changes no contents.
        // Refused where the kernel has no huge pages: then there are none to be avoided.
        let _ = unsafe { madvise(start.cast(), whole, advice) };
        let base = NonNull::new(base).ok_or_else(|| failed("mmap", &Errno::NOMEM.into()))?;
        let mut pages = Self { base, len, start, whole };
        for page in pages.bytes_mut().chunks_mut(4096) {
            page[0] = 0;
        }
        Ok(pages)
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: `len` bytes from `base` are mapped, readable and initialized (Linux hands out zeros) as long as
        // `self` lives.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }

    /// All bytes, to be written to.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and writable; `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }

    /// Puts the pages of `range` into a pipe without copying them; returns how many bytes went.
    ///
    /// # Safety
    /// The bytes may not be written to as long as anyone may hold the pages, or nobody may rely on what they read:
    /// whoever measures an unsafe writer wants to see the wrong bytes.
    ///
    /// Source: vmsplice(2).
    pub(super) unsafe fn lend(
        &self,
        pipe: impl AsFd,
        range: Range<usize>,
        flags: SpliceFlags,
    ) -> Result<usize, Errno> {
        let bytes = &self.bytes()[range];
        let slice = [IoSliceRaw::from_slice(bytes)];
        // SAFETY: the slice is valid for the call; the rest is the caller's promise.
        unsafe { vmsplice(pipe, &slice, flags) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the range is exactly what `map` mapped, and nothing refers to it any more. Pages in a pipe live on.
        let done = unsafe { munmap(self.start.cast(), self.whole) };
        debug_assert_eq!(done, Ok(()), "munmap of a range of our own");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn memory_is_aligned_zero_and_writable_to_its_ends() {
        for len in [1, 4096, HUGE_BYTES + 1] {
            let mut pages = Pages::map(len, false).unwrap();
            assert!((pages.bytes().as_ptr() as usize).is_multiple_of(HUGE_BYTES));
            assert!(pages.bytes().iter().all(|byte| *byte == 0));
            pages.bytes_mut().fill(7);
            assert_eq!((pages.bytes().len(), pages.bytes()[len - 1]), (len, 7));
        }
    }

    #[test]
    fn lent_bytes_come_out_of_the_pipe() {
        let mut pages = Pages::map(3 * 4096, false).unwrap();
        pages.bytes_mut()[4096..2 * 4096].fill(b'x');
        let (mut reader, writer) = std::io::pipe().unwrap();
        // SAFETY: nothing is written to the pages before they are read.
        let lent = unsafe { pages.lend(&writer, 4096..2 * 4096, SpliceFlags::empty()) };
        assert_eq!(lent, Ok(4096));
        drop((pages, writer));
        let mut got = Vec::new();
        reader.read_to_end(&mut got).unwrap();
        assert_eq!(got, [b'x'; 4096]);
    }
}
