//! Recorded runs, replayed sample by sample, give the records that were judged to be right.
//!
//! `tests/recordings/NAME.jsonl` is what `fullbore run --samples` wrote; `NAME.record.json` is the record that
//! follows from it. `FULLBORE_BLESS=1` writes the latter anew: read the difference as a user would.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use fullbore_pipeline::{ReplayError, replay};

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let entries =
        fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    found.sort();
    found
}

#[test]
fn a_recorded_run_gives_the_record_that_was_judged_to_be_right() {
    let mut wrong = Vec::new();
    for path in recordings() {
        let mut record = replay(BufReader::new(File::open(&path).unwrap()))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // The version of the program is no part of what was seen.
        record.fullbore_version = "any".to_owned();
        let text = serde_json::to_string_pretty(&record).unwrap() + "\n";
        let golden = path.with_extension("record.json");
        if std::env::var_os("FULLBORE_BLESS").is_some() {
            fs::write(&golden, &text).unwrap();
        }
        if fs::read_to_string(&golden).unwrap_or_default() != text {
            wrong.push(path);
        }
    }
    assert!(
        wrong.is_empty(),
        "other records than before (FULLBORE_BLESS=1 writes them): {wrong:?}"
    );
}

#[test]
fn there_are_recordings_of_many_kinds_of_runs() {
    assert!(recordings().len() >= 12, "{:?}", recordings());
}

#[test]
fn a_recording_that_is_cut_short_is_refused() {
    let path = &recordings()[0];
    let text = fs::read_to_string(path).unwrap();
    let half: String = text.lines().take(5).map(|line| format!("{line}\n")).collect();
    assert!(matches!(replay(half.as_bytes()), Err(ReplayError::Incomplete)));
    let cut = &text[..text.len() / 2];
    assert!(replay(cut.as_bytes()).is_err());
    assert!(matches!(replay(&b""[..]), Err(ReplayError::Incomplete)));
}
