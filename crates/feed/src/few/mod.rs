//! The few first lines of a sorted stream, without sorting all of it: what `sort | head` prints.
//!
//! Flow: [`Input`] ─blocks─▶ lines ─those before the last candidate─▶ candidates ─now and then sorted and cut─▶ [`Found`].
//! The candidates stand for everything read so far. If they do not fit into the memory that is granted, sorting them with
//! the rest of the input still gives the same lines ([`Found::TooLarge`]).

mod order;

use memchr::memchr_iter;

pub use self::order::LineOrder;
use crate::{Input, InputError};

/// Which lines are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The first in this order.
    pub order: LineOrder,
    /// Of equal lines only one (`sort -u`).
    pub is_distinct: bool,
    /// At most so many, at least one.
    pub most: usize,
}

/// What there was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The lines, the first one first, without line ends.
    Lines(Vec<Vec<u8>>),
    /// The lines took more memory than granted. These bytes, and after them the rest of the input, have the same first
    /// lines as the whole input.
    TooLarge(Vec<u8>),
}

/// What is read at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// So many candidates are there before they are cut to the wanted ones, at least.
const LEAST_CANDIDATES: usize = 1 << 10;

/// Finds the first lines of what `input` gives, and holds at most about `memory_bytes`. A last line may lack its line end.
///
/// # Errors
/// Of the input.
///
/// ```
/// # use std::io::{Seek, Write};
/// use fullbore_feed::{Input, few};
/// # let mut file = tempfile::tempfile()?;
/// # file.write_all(b"pear\nfig\napple")?;
/// # file.rewind()?;
/// let wanted = few::Wanted { order: few::LineOrder::default(), is_distinct: false, most: 2 };
/// let found = few::first_lines(&mut Input::new(file, "fruits"), wanted, 1 << 20)?;
/// assert_eq!(found, few::Found::Lines(vec![b"apple".to_vec(), b"fig".to_vec()]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn first_lines(
    input: &mut Input,
    wanted: Wanted,
    memory_bytes: usize,
) -> Result<Found, InputError> {
    let mut candidates = Candidates { wanted, lines: Vec::new(), bytes: 0, bound: None };
    let mut block = vec![0; BLOCK_BYTES];
    // The beginning of a line whose end was not read yet.
    let mut begun = 0;
    loop {
        if begun == block.len() {
            block.resize(2 * begun, 0);
        }
        let count = input.read(&mut block[begun..])?;
        if count == 0 {
            break;
        }
        let mut from = 0;
        for at in memchr_iter(b'\n', &block[begun..begun + count]) {
            candidates.offer(&block[from..begun + at]);
            from = begun + at + 1;
        }
        block.copy_within(from..begun + count, 0);
        begun = begun + count - from;
        if candidates.bytes + begun > memory_bytes {
            candidates.cut();
            if candidates.bytes + begun > memory_bytes {
                return Ok(Found::TooLarge(candidates.followed_by(&block[..begun])));
            }
        }
    }
    if begun > 0 {
        candidates.offer(&block[..begun]);
    }
    candidates.cut();
    Ok(Found::Lines(candidates.lines))
}

/// Lines that may be wanted.
struct Candidates {
    wanted: Wanted,
    lines: Vec<Vec<u8>>,
    bytes: usize,
    /// The last wanted one; what comes after it is not wanted.
    bound: Option<Vec<u8>>,
}

impl Candidates {
    fn offer(&mut self, line: &[u8]) {
        let order = self.wanted.order;
        if self.bound.as_ref().is_some_and(|bound| order.compare(line, bound).is_ge()) {
            return;
        }
        self.lines.push(line.to_vec());
        self.bytes += cost(line);
        if self.lines.len() >= (2 * self.wanted.most).max(LEAST_CANDIDATES) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let Wanted { order, is_distinct, most } = self.wanted;
        self.lines.sort_unstable_by(|a, b| order.compare(a, b));
        if is_distinct {
            self.lines.dedup();
        }
        self.lines.truncate(most);
        self.bytes = self.lines.iter().map(|line| cost(line)).sum();
        if self.lines.len() == most {
            self.bound = self.lines.last().cloned();
        }
    }

    fn followed_by(self, begun: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes + begun.len());
        for line in &self.lines {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(begun);
        bytes
    }
}

/// The memory that a line takes.
fn cost(line: &[u8]) -> usize {
    line.len() + size_of::<Vec<u8>>()
}
