//! The same record gives the same text; `FULLBORE_BLESS=1` rewrites what is expected.

mod kept;
mod samples;

use fullbore_report::json;
use fullbore_report::text::{Style, summary};
use kept::expect;

#[test]
fn the_summary_is_as_before_at_every_width() {
    for (name, record) in samples::all() {
        let mut text = String::new();
        for width in [120, 80, 40, 20] {
            text.push_str(&format!(
                "== {width} columns\n{}",
                summary(&record, Style::plain(width))
            ));
        }
        expect(&format!("{name}.txt"), &text);
    }
}

#[test]
fn a_run_of_which_nothing_was_seen_says_why() {
    let (_, mut record) = samples::all().into_iter().find(|(name, _)| *name == "empty").unwrap();
    record.elapsed_ns = 489_000_000;
    record.gaps = vec!["/proc is not mounted: nothing of this run can be seen".to_owned()];
    let text = "  no stage was seen (489 ms)
  note: /proc is not mounted: nothing of this run can be seen\n";
    assert_eq!(summary(&record, Style::plain(80)), text);
}

#[test]
fn the_colored_summary_is_as_before() {
    let text = summary(&samples::bottleneck(), Style::colored(80));
    expect("bottleneck.color.txt", &text.replace('\u{1b}', "␛"));
}

#[test]
fn the_json_is_as_before() {
    expect("bottleneck.json", &json::to_string(&samples::bottleneck()).unwrap());
}

#[test]
fn the_page_is_as_before() {
    expect("bottleneck.html", &fullbore_report::html::page(&samples::bottleneck()));
    expect("hostile.html", &fullbore_report::html::page(&samples::hostile()));
}

#[test]
fn every_sample_is_kept_as_json() {
    for (name, record) in samples::all().into_iter().filter(|(name, _)| *name != "many_stages") {
        expect(&format!("{name}.json"), &json::to_string(&record).unwrap());
    }
}
