//! Whatever a file holds, it is read as a run record or refused; a record that was read can be diagnosed, shown and
//! written, and comes back as it was.
#![no_main]

use fullbore_diagnose::diagnose;
use fullbore_report::text::{Style, summary};
use fullbore_report::{html, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(record) = json::from_str(text) else { return };
    let _ = diagnose(&record);
    for width in [0, 40, 200] {
        assert!(!summary(&record, Style::plain(width)).contains('\x1b'));
    }
    assert_eq!(html::page(&record).matches("<script").count(), 2);
    let written = json::to_string(&record).expect("a record can be written");
    let again = json::from_str(&written).expect("what was written can be read");
    assert_eq!(json::to_string(&again).expect("a record can be written"), written);
});
