//! What is known of a stream between two of its tokens.

use super::MOST_DEPTH;

/// What may come next between two tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A document, or the end.
    Document,
    /// A value: after a colon, or after a comma of an array.
    Value,
    /// A value or `]`.
    ValueOrEnd,
    /// A name: after a comma of an object.
    Key,
    /// A name or `}`.
    KeyOrEnd,
    /// A colon.
    Colon,
    /// A comma, or the end of the innermost array or object.
    Comma,
}

/// The arrays and objects around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stack {
    /// Bit n is 1 when level n (0 the outermost) is an object.
    levels: [u64; MOST_DEPTH / 64],
    depth: usize,
}

/// Most levels that fit into [`Stack::innermost_first`].
pub(super) const MOST_LEVELS: usize = 62;

impl Stack {
    pub(super) const EMPTY: Self = Self { levels: [0; MOST_DEPTH / 64], depth: 0 };

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether the innermost level is an object.
    pub(super) fn is_in_object(&self) -> bool {
        let Some(level) = self.depth.checked_sub(1) else { return false };
        self.levels[level / 64] >> (level % 64) & 1 == 1
    }

    /// Returns false when there is no room for another level.
    #[must_use]
    pub(super) fn push(&mut self, is_object: bool) -> bool {
        let level = self.depth;
        let Some(word) = self.levels.get_mut(level / 64) else { return false };
        let bit = 1 << (level % 64);
        *word = if is_object { *word | bit } else { *word & !bit };
        self.depth += 1;
        true
    }

    pub(super) fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Returns up to [`MOST_LEVELS`] levels as bits, the innermost in bit 0, with a 1 above the outermost.
    pub(super) fn innermost_first(&self) -> Option<u64> {
        let used = 64 - self.depth % 64;
        match self.depth {
            0 => Some(1),
            1..=MOST_LEVELS => Some(1 << self.depth | self.levels[0].reverse_bits() >> used),
            _ => None,
        }
    }

    /// Makes a stack of what [`innermost_first`](Self::innermost_first) returned.
    pub(super) fn of_innermost_first(bits: u64) -> Self {
        let depth = 63_usize.saturating_sub(bits.leading_zeros() as usize);
        let mut stack = Self::EMPTY;
        for level in (0..depth).rev() {
            // There is room: the bits have fewer levels than a stack.
            let _ = stack.push(bits >> level & 1 == 1);
        }
        stack
    }
}

/// Returns how many levels [`Stack::innermost_first`] has; 0 for what is left of a stack of which too much was closed.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline]
pub(super) fn depth_of(bits: u64) -> u32 {
    63_u32.saturating_sub(bits.leading_zeros())
}

/// A position between two tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    pub(super) next: Next,
    /// See [`Stack::innermost_first`].
    pub(super) stack: u64,
}

/// How far a kernel came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) read: usize,
    pub(super) between: Between,
    /// Documents that ended in what was read.
    pub(super) documents: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_survives_its_form_for_kernels() {
        let mut stack = Stack::EMPTY;
        for level in 0..=MOST_LEVELS {
            let bits = stack.innermost_first().unwrap();
            let same = Stack::of_innermost_first(bits);
            assert_eq!((same.depth(), same.is_in_object()), (level, stack.is_in_object()));
            assert_eq!(same.innermost_first(), Some(bits));
            assert!(stack.push(level % 3 == 0));
        }
        assert_eq!(stack.innermost_first(), None);
    }
}
