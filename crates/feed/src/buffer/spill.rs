//! Keeps a part of the stream on disk.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

/// Size of a page in a file.
pub(crate) const PAGE_BYTES: u64 = 4096;

/// A file without a name, which disappears with the process, however that ends.
#[derive(Debug)]
pub(crate) struct Spill {
    file: File,
}

impl Spill {
    /// Creates the file in `folder`.
    ///
    /// # Errors
    /// When no file can be created in `folder`.
    #[cfg(feature = "spill")]
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile_in(folder)? })
    }

    /// # Errors
    /// Always, because this build has no spill files.
    #[cfg(not(feature = "spill"))]
    pub(crate) fn create(_folder: &Path) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "built without the feature spill"))
    }

    /// Writes at `offset`. Returns how many bytes were written before Linux refused more, and why it did.
    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> (usize, Option<io::Error>) {
        let mut done = 0;
        while done < bytes.len() {
            match rustix::io::pwrite(&self.file, &bytes[done..], offset + done as u64) {
                Ok(0) => return (done, Some(Errno::IO.into())),
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(errno) => return (done, Some(errno.into())),
            }
        }
        (done, None)
    }

    /// Reads back bytes that were written at `offset`.
    ///
    /// # Errors
    /// When the disk fails.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, into, offset)
    }

    /// Frees the space of bytes on disk. Where Linux cannot do that, [`Self::restart`] does it later.
    ///
    /// Everything before `offset` has been read, so the page in which the range begins may go, too.
    pub(crate) fn punch(&self, offset: u64, bytes: u64) {
        let start = offset - offset % PAGE_BYTES;
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let _ = rustix::fs::fallocate(&self.file, flags, start, bytes + offset - start);
    }

    /// Starts again at offset 0, because nothing waits in the file.
    pub(crate) fn restart(&self) {
        let _ = self.file.set_len(0);
    }

    /// Returns how many bytes the file takes on disk.
    #[cfg(test)]
    fn allocated_bytes(&self) -> u64 {
        std::os::unix::fs::MetadataExt::blocks(&self.file.metadata().unwrap()) * 512
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back_and_its_room_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::create(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let written: Vec<u8> = (0..1_u32 << 18).flat_map(u32::to_le_bytes).collect();
        assert!(matches!(spill.write(&written, 4096), (count, None) if count == written.len()));
        let mut read = vec![0; written.len()];
        spill.read(4096, &mut read).unwrap();
        assert!(read == written);
        let before = spill.allocated_bytes();
        spill.punch(4096, 1 << 19);
        assert!(spill.allocated_bytes() <= before - (1 << 18), "nothing was given back");
        spill.read(4096 + (1 << 19), &mut read[..1 << 19]).unwrap();
        assert!(read[..1 << 19] == written[1 << 19..]);
    }
}
