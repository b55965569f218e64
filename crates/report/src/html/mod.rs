//! One page that needs nothing else.
