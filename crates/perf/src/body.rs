//! Reads the numbers in the body of a record, one after the other.

/// A record as far as it has not been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'a>(pub(crate) &'a [u8]);

impl<'a> Body<'a> {
    /// The next `length` bytes; `None` if there are not so many.
    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn int(&mut self) -> Option<i32> {
        Some(i32::from_ne_bytes(self.bytes(4)?.try_into().ok()?))
    }

    pub(crate) fn long(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.bytes(8)?.try_into().ok()?))
    }

    /// Text up to its first NUL.
    pub(crate) fn text(self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        String::from_utf8_lossy(&self.0[..end]).into_owned()
    }
}
