//! The verdict is right where the answer is known by construction; `make bench` judges the whole table five times.

use crate::cases::verdicts::{self, FAST, Judgement};
use crate::gate::Pass;

#[test]
fn the_verdict_is_right_where_the_answer_is_known() {
    require!(
        std::thread::available_parallelism().unwrap().get() >= 2,
        "one CPU cannot run two stages at once"
    );
    let _alone = Pass::alone();
    let table: Vec<_> =
        verdicts::all().into_iter().filter(|known| FAST.contains(&known.name)).collect();
    assert_eq!(table.len(), FAST.len(), "a name in FAST is not in the table");
    let mut failures = Vec::new();
    for known in &table {
        if let Some(program) = known.missing() {
            crate::require::skipped(&format!("{}: {program} is not installed", known.name));
            continue;
        }
        // Other programs share the CPUs: a second look tells a wrong verdict from a disturbed run.
        let first = known.judge();
        if first == Judgement::Right {
            continue;
        }
        let second = known.judge();
        if second != Judgement::Right {
            failures.push(format!("{}: {first:?}, then {second:?}", known.name));
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
