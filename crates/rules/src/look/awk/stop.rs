//! Why reading a program of awk ends early.

/// Why a program is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    Differs(String),
    Unknown,
}

impl Stop {
    pub(super) fn differs(why: &str) -> Self {
        Self::Differs(why.to_owned())
    }
}
