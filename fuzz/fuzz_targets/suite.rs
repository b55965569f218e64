//! Whatever a suite file holds, it is read as a suite or refused with a line that the file has.
#![no_main]

use fullbore_lab::suite::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match read("fuzz", "fuzz.toml", text) {
        Ok(suite) => assert!(!suite.cases.is_empty()),
        Err(error) => {
            let lines = text.matches('\n').count() + 1;
            assert!((1..=lines).contains(&error.line), "{error} in a file of {lines} lines");
            assert!(!error.message.is_empty() && !error.message.contains('\n'), "{error}");
        }
    }
});
