//! Which stages `--faster` means.

use fullbore_record::RunRecord;
use fullbore_what_if::{Change, Speed};

use super::names;
use crate::args::what_if::Faster;
use crate::nearest::nearest;

/// The change that all `--faster` together ask for.
///
/// # Errors
/// What is wrong, and what to try: no stage, or several, are meant, or a stage is named twice.
pub(super) fn change(record: &RunRecord, wanted: &[Faster]) -> Result<Change, (String, String)> {
    let mut speeds: Vec<Speed> = Vec::new();
    for one in wanted {
        let stage = stage(record, &one.stage)?;
        if speeds.iter().any(|speed| speed.stage == stage) {
            let message = format!("--faster {}: stage {stage} already has a factor", one.stage);
            return Err((message, "give each stage one --faster".to_owned()));
        }
        speeds.extend(Speed::new(stage, one.times));
    }
    Ok(Change::Faster(speeds))
}

/// The number of the stage that a word means: a number, or the name of a program that only one stage runs.
fn stage(record: &RunRecord, word: &str) -> Result<u32, (String, String)> {
    let has_number = |number: &u32| record.stages.iter().any(|stage| stage.stage == *number);
    if let Some(number) = word.parse().ok().filter(has_number) {
        return Ok(number);
    }
    let programs = || record.stages.iter().map(|stage| (stage.stage, names::program(stage)));
    let named: Vec<u32> =
        programs().filter(|(_, program)| program == word).map(|(number, _)| number).collect();
    match named.as_slice() {
        [number] => Ok(*number),
        [] => {
            let all: Vec<String> =
                programs().map(|(number, program)| format!("{number} {program}")).collect();
            let known: Vec<String> = programs().map(|(_, program)| program).collect();
            let meant = nearest(word, known.iter().map(String::as_str));
            let meant = meant.map_or_else(String::new, |name| format!("did you mean {name}? "));
            let message = format!("--faster {word}: the record has no such stage");
            Err((message, format!("{meant}its stages are {}", all.join(", "))))
        }
        several => {
            let numbers: Vec<String> = several.iter().map(u32::to_string).collect();
            let message = format!("--faster {word}: stages {} run it", numbers.join(" and "));
            Err((message, format!("say which one, as in --faster {}=2", numbers[0])))
        }
    }
}
