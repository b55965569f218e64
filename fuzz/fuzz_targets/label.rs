//! Whatever a user writes, the scanner finds stages that stand in the line, in their order, or gives up.
#![no_main]

use fullbore_shell::{segments, shorten};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &str| {
    let line_written = squeezed(line);
    let mut rest = line_written.chars();
    for stage in segments(line).into_iter().flatten().flatten() {
        // A comment within a stage, as in `(a # b` and the next line, is left out of its text.
        for character in squeezed(&stage).chars() {
            let is_in_line = rest.any(|other| other == character);
            assert!(is_in_line, "{stage:?} is not in what was left of {line:?}");
        }
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
