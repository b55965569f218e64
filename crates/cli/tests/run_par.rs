//! `fullbore run` on lines with `fullbore par` in them.

use clap::ArgAction;
use fullbore_diagnose::Copies;
use fullbore_record::StageRecord;

use crate::arguments::program;
use crate::gate::Pass;
use crate::sandbox::{Sandbox, finish};

#[test]
fn the_copies_of_par_are_one_stage() {
    require_programs!("bash");
    let _pass = Pass::side_by_side();
    // What par runs, as people write it, and what the stage is called.
    for (par, name, arguments) in [
        ("{fullbore} par -j2 grep -E '7.*7'", "grep", " -E '7.*7'"),
        ("{fullbore} par -j 2 --block 1M sed s/1/2/", "sed", " s/1/2/"),
        ("{fullbore} par -j2 -c 'tr 0-9 a-j | grep abc'", "sh", " -c 'tr 0-9 a-j | grep abc'"),
        ("nice -n 1 {fullbore} par -j2 awk '{ print $1 }'", "awk", " '{ print $1 }'"),
        ("timeout 99 {fullbore} par --merge auto -j2 grep -c 7", "grep", " -c 7"),
        ("bash -c '{fullbore} par -j2 cut -c1-3; true'", "cut", " -c1-3"),
    ] {
        let place = Sandbox::new();
        // par lives for a second, and some of its copies long enough to be taken for stages.
        let line = format!(
            "{{stage}} --no-read --seconds 1 --compute-us 100 | head -c 40M | tr '\\0' '\\n' | {par} | wc -l"
        );
        let record = place.record(&[], &line);
        // On a busy machine, the shell itself may have waited long enough to be shown.
        let is_stage = |title: &String| title != "(the shell)";
        let stages: Vec<String> =
            record.stages.iter().map(StageRecord::title).filter(is_stage).collect();
        let found: Vec<_> = record.stages.iter().filter(|stage| stage.copies.is_some()).collect();
        let [stage] = found[..] else { panic!("{par}: {stages:?}") };
        assert_eq!(stages.len(), 5, "{par}: {stages:?}");
        let copies = stage.copies.unwrap();
        assert!((1..=2).contains(&copies), "{copies}");
        assert_eq!(stage.title(), format!("{name} ×{copies}{arguments}"), "{stages:?}");
        assert!(
            stage.words.iter().any(|word| word == "par" || word.contains(" par ")),
            "{stages:?}"
        );
    }
}

#[test]
fn a_program_that_passes_its_input_through_another_is_not_stuck_while_there_is_no_input() {
    let _pass = Pass::side_by_side();
    let place = Sandbox::new();
    // Under another name, par is any program that waits for its input and for what its child answers.
    let relay = place.copy_program(crate::sandbox::fullbore(), "relay");
    let line = format!("sleep 2 | {} par --auto -- awk 1 | wc -l", relay.display());
    let record = place.record(&[], &line);
    assert!(record.stages.iter().any(|stage| stage.title().contains("relay")), "{record:?}");
    assert!(record.incidents.is_empty(), "{:?}", record.incidents);
}

#[test]
fn every_view_shows_how_many_copies_ran() {
    let _pass = Pass::side_by_side();
    let place = Sandbox::new();
    let line = "{stage} --no-read --seconds 1 --compute-us 100 | {fullbore} par -j1 tr a b | wc -c";
    let line = crate::sandbox::with_fixture(line);
    let mut command = place.fullbore(&["run", "--report", "run.html", &line]);
    command.env("COLUMNS", "120");
    let ended = finish(command);
    assert!(ended.stderr.contains("tr ×1 a b"), "{}", ended.stderr);
    let page = std::fs::read_to_string(place.path("run.html")).unwrap();
    assert!(page.contains("tr ×1 a b"), "{page}");
}

/// What `fullbore par` is told apart by is what it understands.
#[test]
fn every_option_of_par_is_known_to_run() {
    let par = program();
    let par = par.find_subcommand("par").unwrap();
    let mut seen = 0;
    for option in par.get_arguments().filter(|argument| !argument.is_positional()) {
        let long = option.get_long().map(|long| format!("--{long}"));
        let short = option.get_short().map(|short| format!("-{short}"));
        // Where the value stands in the same word, the next is none.
        let has_value = matches!(option.get_action(), ArgAction::Set | ArgAction::Append)
            && !option.is_require_equals_set();
        for name in long.into_iter().chain(short) {
            seen += 1;
            let mut words = vec!["fullbore", "par", &name];
            words.extend(has_value.then_some("value"));
            words.extend(["grep", "x"]);
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            let copies = Copies::of(&words).map(|copies| copies.words).unwrap_or_default();
            assert_eq!(copies, ["grep", "x"], "{words:?}");
        }
    }
    assert!(seen >= 20, "only {seen}");
}
