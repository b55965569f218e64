//! Records of disks and comparisons, with the numbers and names that other people's files bring.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use fullbore_lab::disk::compare::compare;
use fullbore_lab::disk::fio;
use fullbore_lab::disk::import::{Source, import};
use fullbore_lab::disk::record::DiskRun;
use fullbore_report::disk::{html, json, markdown, text};
use fullbore_report::text::Style;

const HOSTILE: &str = "</script><b>|\u{1b}[2J\u{202e}*x*";

/// What fio would have written for a job of this name and rate.
fn record(name: &str, iops: f64, requests: u64, label: &str) -> DiskRun {
    let output = serde_json::json!({
        "fio version": "fio-3.33",
        "jobs": [{
            "jobname": name, "error": 0, "job options": { "rw": "randread", "bs": "4k", "description": name },
            "read": {
                "total_ios": requests, "io_bytes": requests * 4096, "bw_bytes": iops * 4096.0, "iops": iops, "runtime": 1000,
                "clat_ns": { "min": 1, "max": 2_000_000, "mean": 1000.5, "percentile": { "50.000000": 1000 },
                    "bins": { "1000": requests / 2, "2000": requests / 2, "1990000": 1 } },
            },
        }],
    });
    let outputs = (0..3).map(|_| fio::read(&output.to_string()).unwrap());
    let sources: Vec<Source> =
        outputs.map(|output| Source::new(std::path::Path::new(name), output)).collect();
    import(&sources, Some(label), "0")
}

#[test]
fn nothing_that_a_file_says_becomes_markup_or_moves_the_cursor() {
    let (old, new) = (record(HOSTILE, 100.25, 10, HOSTILE), record(HOSTILE, 50.0, 10, "b"));
    let comparison = compare(&old, &new);
    let style = Style::plain(100);
    for shown in [text::whole(&old, style), text::comparison(&comparison, style)] {
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
    }
    for shown in [markdown::document(&old), markdown::comparison(&comparison)] {
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
        let rows = shown.lines().filter(|line| line.starts_with('|'));
        assert!(rows.into_iter().all(|line| !line.contains("<b>|")), "{shown}");
    }
    for page in [html::page(&old), html::comparison(&comparison, &old, &new)] {
        // Text of the record itself stands at the end, as JSON that cannot end its element.
        let (shown, embedded) = page.split_once("<script type=\"application/json\"").unwrap();
        assert!(!shown.contains("<b>") && !shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
        assert!(!embedded.contains("<b>"), "{embedded}");
    }
}

#[test]
fn a_record_survives_json_to_the_last_digit() {
    let run = record("a", 58_244.340_879, 174_966, "x");
    assert_eq!(json::from_str(&json::to_string(&run).unwrap()).unwrap(), run);
    let other = json::to_string(&run).unwrap().replace("fullbore.disk/1", "fullbore.disk/9");
    assert!(json::from_str(&other).unwrap_err().to_string().contains("fullbore.disk/9"));
}

#[test]
fn text_fits_every_width_that_has_room_for_a_number() {
    let run =
        record("a-job-with-a-name-that-is-longer-than-any-terminal-is-wide", 1e6, 1_000_000, "x");
    for width in 40..140 {
        for line in text::whole(&run, Style::plain(width)).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn the_table_of_a_comparison_is_what_it_was() {
    let (old, new) = (record("a", 100.25, 10, "old"), record("a", 80.5, 10, "new"));
    let shown = text::comparison(&compare(&old, &new), Style::plain(100));
    let head = "                    before    after  ratio\n";
    let row = "  IOPS                 100       81  0.803 [0.787–0.819]  ▼ worse\n";
    let expected = format!("old → new\n\n{head}a: randread 4k\n{row}");
    assert!(shown.starts_with(&expected), "{shown}");
    assert!(shown.ends_with("7 numbers compared: 2 worse, 5 same\n"), "{shown}");
}
