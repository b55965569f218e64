//! What can end the search for elements.

use std::fmt;

use crate::json::JsonError;
use crate::place::Place;

/// Why the stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EachError {
    /// It is no JSON.
    Json(JsonError),
    /// The element that begins here has more bytes than allowed.
    TooLarge(Place),
    /// This name occurs twice in an object on the path, and that was to be an error.
    Repeated(Place),
}

impl fmt::Display for EachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => error.fmt(f),
            Self::TooLarge(place) => write!(f, "{place}: this element is too large"),
            Self::Repeated(place) => {
                write!(f, "{place}: this name occurs a second time in its object")
            }
        }
    }
}

impl std::error::Error for EachError {}
