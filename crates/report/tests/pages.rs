//! What every page promises, whatever the record says.

mod samples;

use fullbore_report::{html, json};

/// Everything that could make a browser ask a server.
fn loads_something(page: &str) -> Option<String> {
    let markup = page.split("<script type=\"application/json\"").next().unwrap_or(page);
    for start in ["src=\"", "href=\"", "url("] {
        for (at, _) in markup.match_indices(start) {
            let target = &markup[at + start.len()..];
            // Text is escaped: a quote inside a command is not a quote of the page.
            if !target.starts_with('#') && !target.starts_with("data:,") {
                return Some(markup[at..].chars().take(60).collect());
            }
        }
    }
    None
}

#[test]
fn a_page_loads_nothing() {
    for (name, record) in samples::all() {
        assert_eq!(loads_something(&html::page(&record)), None, "{name}");
    }
}

#[test]
fn a_command_cannot_break_out_of_the_page() {
    let page = html::page(&samples::hostile());
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(!page.contains("<!--") && !page.contains("<b>fifo") && !page.contains("<img"));
    assert!(
        !page.contains(['\u{1b}', '\u{7}', '\u{202e}'])
            || page
                .split("fullbore-run")
                .next()
                .is_some_and(|markup| { !markup.contains(['\u{1b}', '\u{7}', '\u{202e}']) })
    );
}

#[test]
fn the_embedded_record_can_be_read_back() {
    for (name, record) in samples::all() {
        let page = html::page(&record);
        let start = page.find("id=\"fullbore-run\">").unwrap() + "id=\"fullbore-run\">".len();
        let text = page[start..].split("</script>").next().unwrap();
        let embedded = json::from_str(text).unwrap();
        assert_eq!(
            (embedded.command, embedded.findings),
            (record.command, record.findings),
            "{name}"
        );
    }
}

#[test]
fn every_stage_and_every_section_is_on_the_page() {
    let page = html::page(&samples::taking_turns());
    for part in [
        "Pipeline",
        "Where the time went",
        "Rates over time",
        "Findings",
        "Stages",
        "Pipes",
        "Tuning",
        "Machine",
    ] {
        assert!(page.contains(&format!("<h2>{part}</h2>")), "{part}");
    }
    assert!(
        page.contains("id=\"change-3\"")
            && page.contains("SIGPIPE")
            && page.contains("64 KiB→1 MiB")
    );
    let page = html::page(&samples::unknown());
    assert!(page.contains("Seen while it ran") && page.contains("What to know about the numbers"));
}

#[test]
fn the_page_of_two_hundred_stages_stays_below_one_megabyte() {
    let page = html::page(&samples::many_stages());
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    assert_eq!(page.matches("class=\"strip\"").count(), 400);
}

#[test]
fn predictions_that_gain_enough_are_on_the_page_and_those_of_a_replay_that_is_far_off_are_not() {
    let title = "<h2>What a change would bring</h2>";
    let mut record = samples::bottleneck();
    let page = html::page(&record);
    assert!(page.contains(title) && page.contains("jq dealt out to two CPUs"));
    assert!(page.contains("1.99") && page.contains("Predicted by replaying"), "factor and caveat");
    let markup = page.split("<script").next().unwrap();
    assert!(!markup.contains("on 4 CPUs"), "it gains nothing");
    record.what_if = Some(samples::predicted(20_000_000_000, "jq"));
    assert!(!html::page(&record).contains(title));
    record.what_if = None;
    assert!(!html::page(&record).contains(title));
    record.what_if = Some(samples::predicted(11_600_000_000, "<b>\u{1b}[2J"));
    let page = html::page(&record);
    assert!(page.contains("&lt;b&gt;␛[2J twice as fast"));
}

#[test]
fn the_verdict_says_what_it_would_bring_to_make_its_stage_faster() {
    let summary = |record: &fullbore_record::RunRecord| {
        let style = fullbore_report::text::Style::plain(200);
        fullbore_report::text::summary(record, style)
    };
    let mut record = samples::bottleneck();
    let said = "; with jq twice as fast: 5.84 s, then still jq.\n";
    assert!(summary(&record).contains(said), "{}", summary(&record));
    assert!(html::page(&record).contains("with jq twice as fast: 5.84 s, then still jq."));
    // Its length was fixed from outside: neither a faster stage nor the best possible time shortens it.
    let best = "the best possible time is";
    assert!(summary(&record).contains(best));
    for (status, command) in [(130, "zcat f | jq .a"), (0, "timeout 11.6 zcat f | jq .a")] {
        let mut ended = samples::bottleneck();
        (ended.exit_status, ended.command) = (Some(status), command.to_owned());
        let text = summary(&ended);
        assert!(!text.contains("twice as fast") && !text.contains(best), "{text}");
        assert!(!html::page(&ended).contains("with jq twice as fast"));
    }
    // It gains little, it is not about this stage, or the run was held back by something else.
    record.what_if.as_mut().unwrap().predictions[1].elapsed_ns = 11_200_000_000;
    assert!(!summary(&record).contains("twice as fast"));
    let mut other = samples::bottleneck();
    other.findings[0].stage = Some(3);
    assert!(!summary(&other).contains("twice as fast"));
    let mut other = samples::bottleneck();
    other.findings[0].kind = fullbore_record::FindingKind::TakingTurns;
    assert!(!summary(&other).contains("twice as fast"));
    let mut other = samples::bottleneck();
    other.what_if = Some(samples::predicted(14_000_000_000, "jq"));
    assert!(!summary(&other).contains("twice as fast"));
}
