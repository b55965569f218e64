//! The type of a table's rows.

/// Characters that share a code, the one that decoding gives first, and the code.
pub(in super::super) type Row = (&'static str, &'static str);
