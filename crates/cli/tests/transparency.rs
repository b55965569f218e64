//! The first promise: a pipeline under fullbore is the same pipeline.

use crate::cases::pipelines;
use crate::sandbox::{Sandbox, finish};

/// How many of the table's pipelines there must be, so that it is not emptied by accident.
const FEWEST: usize = 100;

#[test]
fn every_pipeline_is_the_same_under_fullbore() {
    let table = pipelines::all();
    assert!(table.len() >= FEWEST, "{} pipelines", table.len());
    let repeat: u32 = std::env::var("FULLBORE_REPEAT").map_or(1, |text| text.parse().unwrap());
    let mut differences = Vec::new();
    for pipeline in &table {
        if let Some(program) = pipeline.missing() {
            crate::require::skipped(&format!("{}: {program} is not installed", pipeline.name));
            continue;
        }
        differences.extend((0..repeat).filter_map(|_| pipeline.compare().err()));
    }
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn names_of_pipelines_are_unique() {
    let mut names: Vec<_> = pipelines::all().iter().map(|pipeline| pipeline.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn with_quiet_nothing_of_ours_reaches_stderr() {
    let place = Sandbox::new();
    let ended = place.run(&["run", "--quiet", "seq 100 | cat"]);
    assert_eq!(ended.stderr, "");
    let mut plain = place.command("sh");
    plain.args(["-c", "seq 100 | cat"]);
    assert_eq!(ended.stdout, finish(plain).stdout);
}

#[test]
fn without_quiet_the_summary_goes_to_stderr_and_nowhere_else() {
    let ended = Sandbox::new().run(&["run", "seq 3000000 | tail -1; sleep 0.5"]);
    assert_eq!(ended.stdout, b"3000000\n");
    assert!(ended.stderr.contains("tail -1"), "no summary: {}", ended.stderr);
}
