//! Calls simdjson.

use std::ffi::{CStr, c_char};

unsafe extern "C" {
    safe fn peer_simdjson_narrow();
    safe fn peer_simdjson_version() -> *const c_char;
    safe fn peer_simdjson_dom_kernels() -> *const c_char;
    safe fn peer_simdjson_ondemand_kernels() -> *const c_char;
    fn peer_simdjson_dom(text: *const u8, bytes: usize) -> i64;
    fn peer_simdjson_ondemand(
        text: *const u8,
        bytes: usize,
        name: *const u8,
        name_bytes: usize,
    ) -> i64;
}

/// Bytes behind a text that simdjson may read; it asks for 64.
pub(crate) const PADDING_BYTES: usize = 256;

/// A text with bytes behind it that may be read.
pub(crate) struct Padded {
    bytes: Vec<u8>,
    length: usize,
}

impl Padded {
    /// Appends the padding to a text.
    pub(crate) fn new(mut text: Vec<u8>) -> Self {
        let length = text.len();
        text.resize(length + PADDING_BYTES, b' ');
        Self { bytes: text, length }
    }

    /// Returns the text without the padding.
    pub(crate) fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Chooses the kernels for AVX2, also where the CPU has AVX-512.
pub(crate) fn narrow() {
    peer_simdjson_narrow();
}

/// Names the version and the kernels that are used.
pub(crate) fn version() -> String {
    let text = |pointer| {
        // SAFETY: each of the functions returns a string that ends in NUL and stays.
        unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
    };
    let [version, dom, ondemand] = [
        text(peer_simdjson_version()),
        text(peer_simdjson_dom_kernels()),
        text(peer_simdjson_ondemand_kernels()),
    ];
    format!("simdjson {version} (DOM: {dom}, On-Demand: {ondemand})")
}

/// Parses all documents into a DOM; returns how many there are, or -1.
pub(crate) fn dom(text: &Padded) -> i64 {
    // SAFETY: `length` bytes can be read, and more than SIMDJSON_PADDING after them.
    unsafe { peer_simdjson_dom(text.bytes.as_ptr(), text.length) }
}

/// Sums up one member of each document, or returns -1.
pub(crate) fn ondemand(text: &Padded, name: &str) -> i64 {
    // SAFETY: `length` bytes can be read, and more than SIMDJSON_PADDING after them; the name lives on meanwhile.
    unsafe { peer_simdjson_ondemand(text.bytes.as_ptr(), text.length, name.as_ptr(), name.len()) }
}
