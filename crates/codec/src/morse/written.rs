//! Counts for the code around a kernel.

/// How far a kernel came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) read: usize,
    pub(super) written: usize,
}

/// The output, and how far it is filled.
pub(super) struct Written<'a> {
    pub(super) output: &'a mut [u8],
    pub(super) length: usize,
}

impl Written<'_> {
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.output[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }
}
