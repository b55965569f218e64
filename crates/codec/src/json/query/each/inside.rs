//! Positions in a value.

/// A position in a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside {
    /// Whether it is a number or literal.
    pub(super) is_scalar: bool,
    /// Arrays and objects that are open in it.
    pub(super) depth: usize,
    pub(super) string: Text,
}

/// A position in a value with regard to strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Outside,
    Inside,
    AfterBackslash,
}

impl Inside {
    pub(super) const BEGIN: Self = Self { is_scalar: false, depth: 0, string: Text::Outside };

    /// Returns where the string ends in which `at` is.
    pub(super) fn end_of_string(&mut self, text: &[u8], mut at: usize) -> Option<usize> {
        loop {
            if self.string == Text::AfterBackslash {
                text.get(at)?;
                at += 1;
                self.string = Text::Inside;
            }
            at += memchr::memchr2(b'"', b'\\', &text[at..])? + 1;
            if text[at - 1] == b'"' {
                self.string = Text::Outside;
                return Some(at);
            }
            self.string = Text::AfterBackslash;
        }
    }
}
