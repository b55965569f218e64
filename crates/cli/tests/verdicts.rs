//! The verdict is right where the answer is known by construction, at the first try; `make bench` judges the whole
//! table five times, and `make bench CLAIMS=first-try` twenty times.

use crate::cases::verdicts::{self, Judgement};
use crate::gate::Pass;

#[test]
fn the_verdict_is_right_where_the_answer_is_known() {
    require!(
        std::thread::available_parallelism().unwrap().get() >= 2,
        "one CPU cannot run two stages at once"
    );
    let _alone = Pass::alone();
    let mut failures = Vec::new();
    for known in verdicts::all() {
        if let Some(program) = known.missing() {
            crate::require::skipped(&format!("{}: {program} is not installed", known.name));
            continue;
        }
        let judgement = known.judge();
        if judgement != Judgement::Right {
            failures.push(format!("{}: {judgement:?}", known.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_table_is_large_enough() {
    let table = verdicts::all();
    assert!(table.len() >= 30, "{} pipelines", table.len());
    let mut names: Vec<_> = table.iter().map(|known| known.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), table.len(), "names are not unique");
}
