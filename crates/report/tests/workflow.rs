//! The text, the page and the JSON of a workflow.
#![allow(clippy::cast_possible_truncation, clippy::unwrap_used, reason = "a test may panic")]

#[path = "workflow/sample.rs"]
mod sample;

use fullbore_report::text::Style;
use fullbore_report::workflow::{from_json, page, summary, to_json};

#[test]
fn the_verdict_stands_first_in_text_and_page() {
    let workflow = sample::compared();
    let text = summary(&workflow, 10, Style::plain(80));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("  200 jobs of 4 rules on 3 hosts in "), "{text}");
    assert!(text.contains("\n  slow host: On host node1, the jobs of all 4 rules"), "{text}");
    assert!(text.contains("outlier: rule merge, host node1: "), "{text}");
    assert!(
        text.contains("note: 5 of 205 files are no records of a run: 5 cut off (half.json"),
        "{text}"
    );
    let page = page(&workflow);
    let heading = page.split("<h1>").nth(1).unwrap();
    assert!(heading.starts_with("On host node1, the jobs of all 4 rules"), "{}", &heading[..200]);
}

#[test]
fn no_line_is_wider_than_the_terminal_or_steers_it() {
    for (name, workflow) in sample::all() {
        for width in [60, 80, 200] {
            let text = summary(&workflow, 10, Style::plain(width));
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{name}: {text:?}");
            let table = 20 + 60;
            for line in text.lines() {
                assert!(line.chars().count() <= width.max(table), "{name} at {width}: {line}");
            }
        }
    }
}

#[test]
fn a_page_of_ten_thousand_jobs_is_small_and_no_name_breaks_out_of_it() {
    for (name, workflow) in sample::all() {
        let page = page(&workflow);
        assert!(page.len() < 5_000_000, "{name}: {} bytes", page.len());
        assert_eq!(page.matches("<script").count(), 2, "{name}");
        assert!(!page.contains("<img") && !page.contains("http:"), "{name}");
        for loads in ["src=\"", "@import", "url(http"] {
            assert!(!page.contains(loads), "{name}: {loads}");
        }
    }
}

#[test]
fn json_is_read_back_the_same_and_names_its_schema() {
    for (name, workflow) in sample::all().into_iter().filter(|(name, _)| *name != "nothing") {
        assert_eq!(from_json(&to_json(&workflow).unwrap()).unwrap(), workflow, "{name}");
    }
    let error = from_json("{\"schema\": \"fullbore.run/2\"}").unwrap_err();
    assert!(error.to_string().contains("'fullbore.workflow/1'"), "{error}");
}
