//! The record of the lab as text, tables, JSON and page: the same record always gives the same; nothing in it can break out.

mod kept;
#[path = "lab/sample.rs"]
mod sample;

use fullbore_lab::compare::compare;
use fullbore_report::lab::{html, json, markdown, text};
use fullbore_report::text::Style;
use kept::expect;

#[test]
fn the_tables_of_a_terminal_are_as_before() {
    let run = sample::run();
    let shown: Vec<String> = [100, 80, 50]
        .map(|width| format!("== {width} columns\n{}", text::whole(&run, Style::plain(width))))
        .into();
    expect("lab.txt", &shown.concat());
}

#[test]
fn no_line_of_a_terminal_is_too_wide() {
    for width in [120, 80, 60] {
        for line in text::whole(&sample::run(), Style::plain(width)).lines().skip(3) {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn the_markdown_is_as_before() {
    expect("lab.md", &markdown::document(&sample::run()));
}

#[test]
fn the_page_is_as_before() {
    expect("lab.html", &html::page(&sample::run()));
}

#[test]
fn caches_are_marked_on_the_axis_of_sizes_and_those_beyond_it_are_named() {
    let page = html::page(&sample::run());
    assert!(page.contains("L1d 48 KiB</text>"), "the mark says which cache and how large");
    assert!(page.contains("a cache (L1d 48 KiB)") && page.contains("Not on the axis: L2 2 MiB."));
    let mut unmarked = sample::run();
    unmarked.machine.caches.clear();
    assert!(!html::page(&unmarked).contains("class=\"cachename\""));
}

#[test]
fn the_json_is_as_before_and_can_be_read_back() {
    let written = json::to_string(&sample::run()).unwrap();
    expect("lab.json", &written);
    assert_eq!(json::from_str(&written).unwrap(), sample::run());
    let other = json::from_str("{\"schema\": \"fullbore.run/1\"}").unwrap_err().to_string();
    assert!(other.contains("'fullbore.run/1', not 'fullbore.lab/1'"), "{other}");
}

#[test]
fn a_comparison_names_what_is_slower() {
    let (before, mut after) = (sample::run(), sample::run());
    let point = &mut after.suites[0].cases[0].points[0];
    point.engines[1].values.iter_mut().for_each(|value| *value *= 0.5);
    let shown =
        text::comparison(&compare(&before, &after), 0.95, text::Rows::Told, Style::plain(80));
    expect("lab.compare.txt", &shown);
}

#[test]
fn nothing_in_a_record_becomes_markup() {
    let mut run = sample::run();
    let evil = "</script><img src=x onerror=alert(1)>|`\u{1b}[2J\u{202e}";
    run.command = evil.to_owned();
    run.machine.host.cpu = evil.to_owned();
    run.programs.insert(evil.to_owned(), evil.to_owned());
    for case in &mut run.suites[0].cases {
        case.title = evil.to_owned();
        case.about = evil.to_owned();
        case.engines.iter_mut().for_each(|engine| {
            engine.label = evil.to_owned();
            engine.command = evil.to_owned();
            engine.marks = vec![evil.to_owned()];
        });
    }
    let page = html::page(&run);
    let shown = page.split("<script").next().unwrap();
    assert!(!page.contains("<img") && !page.contains('\u{1b}') && !shown.contains('\u{202e}'));
    assert_eq!(page.matches("</script>").count(), 2);
    let tables = markdown::document(&run);
    assert!(!tables.contains("<img") && !tables.contains('\u{1b}'));
    assert!(!text::whole(&run, Style::plain(80)).contains('\u{1b}'));
}

#[test]
fn a_page_loads_nothing_and_a_chart_has_words() {
    let page = html::page(&sample::run());
    for outside in ["src=\"http", "href=\"//", "@import", "url(http"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(
        page.matches("role=\"img\"").count(),
        page.matches("aria-label=\"").count() - page.matches("role=\"region\"").count()
    );
    assert!(!page.contains("NaN") && !page.contains("inf "), "a number that is none");
}
