//! Whatever a user writes, the scanner finds stages that stand in the line, in their order, or gives up.
#![no_main]

use fullbore_shell::{segments, shorten};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &str| {
    let line_written = squeezed(line);
    let mut rest = line_written.as_str();
    for stage in segments(line).into_iter().flatten().flatten() {
        let stage = squeezed(&stage);
        let at = rest.find(&stage).unwrap_or_else(|| panic!("{stage:?} is not in {rest:?}"));
        rest = &rest[at + stage.len()..];
    }
    for max_chars in [0, 1, 7, 60] {
        let short = shorten(line, max_chars);
        assert!(short.chars().count() <= max_chars && !short.chars().any(char::is_control));
    }
});

/// The text without white space and backslashes: the scanner makes one space of a continued line.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect()
}
