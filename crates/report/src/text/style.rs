//! What a terminal offers to a summary.

/// How the summary may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; less than 20 is treated as 20.
    pub width: usize,
    /// Whether colour and bold text may be used.
    pub color: bool,
}

/// Columns below which no layout is tried.
const LEAST_WIDTH: usize = 20;

impl Style {
    /// `width` columns without colour.
    #[must_use]
    pub fn plain(width: usize) -> Self {
        Self { width, color: false }
    }

    /// `width` columns with colour.
    #[must_use]
    pub fn colored(width: usize) -> Self {
        Self { width, color: true }
    }

    pub(crate) fn columns(self) -> usize {
        self.width.max(LEAST_WIDTH)
    }

    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }
}
