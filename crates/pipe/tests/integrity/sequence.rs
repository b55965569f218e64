//! A stream whose every byte is known: successive 64-bit numbers, little-endian.

use std::io;
use std::os::fd::AsFd;

use fullbore_apparatus::DoubleBuffer;
use fullbore_pipe::PipeWriter;

/// Destination of the stream.
pub(crate) trait Output {
    /// Returns at least `wanted` bytes to fill from the front.
    fn room(&mut self, wanted: usize) -> io::Result<&mut [u8]>;
    /// Takes over the first `count` of these bytes.
    fn commit(&mut self, count: usize) -> io::Result<()>;
    /// Writes out everything.
    fn flush_all(&mut self) -> io::Result<()>;
}

impl<F: AsFd> Output for PipeWriter<F> {
    fn room(&mut self, wanted: usize) -> io::Result<&mut [u8]> {
        Ok(Self::room(self, wanted)?)
    }

    fn commit(&mut self, count: usize) -> io::Result<()> {
        Ok(Self::commit(self, count)?)
    }

    fn flush_all(&mut self) -> io::Result<()> {
        Ok(Self::flush_all(self)?)
    }
}

impl<F: AsFd> Output for DoubleBuffer<F> {
    fn room(&mut self, wanted: usize) -> io::Result<&mut [u8]> {
        Self::room(self, wanted)
    }

    fn commit(&mut self, count: usize) -> io::Result<()> {
        Self::commit(self, count)
    }

    fn flush_all(&mut self) -> io::Result<()> {
        Self::flush_all(self)
    }
}

/// Fills `block` (whole words) with the stream from byte `at` (a multiple of 8).
pub(crate) fn fill(block: &mut [u8], at: u64) {
    let first = at / 8;
    for (number, word) in (first..).zip(block.as_chunks_mut::<8>().0) {
        *word = number.to_le_bytes();
    }
}

/// Writes `len` bytes of the stream (a multiple of 8), new data in every chunk.
pub(crate) fn write(writer: &mut impl Output, len: u64) -> io::Result<()> {
    let mut at = 0;
    while at < len {
        let room = writer.room(4096)?;
        let count = (room.len() & !7).min(usize::try_from(len - at).unwrap_or(usize::MAX));
        fill(&mut room[..count], at);
        writer.commit(count)?;
        at += count as u64;
    }
    writer.flush_all()
}

/// Compares what arrives with the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checked {
    pub(crate) bytes: u64,
    pub(crate) wrong: u64,
    first_wrong: Option<u64>,
}

impl Checked {
    /// Takes the next bytes, cut anywhere.
    pub(crate) fn take(&mut self, mut bytes: &[u8]) {
        while !self.bytes.is_multiple_of(8) && !bytes.is_empty() {
            let byte = (self.bytes / 8).to_le_bytes()[(self.bytes % 8) as usize];
            self.count(u64::from(byte != bytes[0]), 1);
            bytes = &bytes[1..];
        }
        let (words, rest) = bytes.as_chunks::<8>();
        let first = self.bytes / 8;
        let right = (first..).zip(words).filter(|(number, word)| number.to_le_bytes() == **word);
        let wrong = words.len() - right.count();
        self.count(8 * wrong as u64, 8 * words.len() as u64);
        for byte in rest {
            let expected = (self.bytes / 8).to_le_bytes()[(self.bytes % 8) as usize];
            self.count(u64::from(expected != *byte), 1);
        }
    }

    fn count(&mut self, wrong: u64, bytes: u64) {
        if wrong > 0 && self.first_wrong.is_none() {
            self.first_wrong = Some(self.bytes);
        }
        self.wrong += wrong;
        self.bytes += bytes;
    }
}
