//! The page about one record, from top to bottom.

use fullbore_lab::disk::record::{DiskRun, WorkloadRun};
use maud::{Markup, html};

use super::{tail, time};
use crate::disk::cells::{self, HEADS, Line};
use crate::figures::{count, utc};
use crate::html::document::{Document, scrolled};
use crate::visible;

pub(super) const STYLE: &str =
    concat!(include_str!("../../lab/html/lab.css"), include_str!("disk.css"));

/// The page for a record.
pub(super) fn page(run: &DiskRun) -> Markup {
    let body = html! {
        main.lab {
            (header(run))
            (verdict(run))
            section id="numbers" { (table(run)) }
            @for workload in &run.workloads { (article(workload)) }
            (facts(run))
            footer {
                p { "± is where a second run on the same machine is expected, in 95 of 100 cases: resampled blocks of the time log, and what the passes differ by, √2 wider than a confidence interval, and never less than ± 2 %. " }
                p { "IOPS, MB/s and the mean are the middle of the passes (the median of the means of all pairs, after Hodges and Lehmann), in the numbers of fio; percentiles are those of all requests of all passes together, from their merged bins. CPUs and memory are those of the tester; ? is what could not be observed." }
                p { "The record is embedded in this page as JSON (" code { "#fullbore-disk" } ")." }
            }
        }
    };
    let title = match &run.target {
        Some(target) => {
            format!("{} – fullbore lab disk", visible::cut(&visible::line(&target.path), 60))
        }
        None => format!(
            "{} – fullbore lab disk",
            visible::line(run.label.as_deref().unwrap_or("imported"))
        ),
    };
    Document { title: &title, style: STYLE, script: "", id: "fullbore-disk" }.around(&body, run)
}

fn header(run: &DiskRun) -> Markup {
    html! {
        header {
            p.brand {
                strong { "fullbore" } " lab disk"
                @if let Some(label) = &run.label { " · " strong { (visible::line(label)) } }
                @if run.started_unix_ns > 0 { span.soft { " · " (utc(run.started_unix_ns)) } }
            }
            @if !run.command.is_empty() { pre.run { code { (visible::line(&run.command)) } } }
        }
    }
}

fn verdict(run: &DiskRun) -> Markup {
    html! {
        section.verdict {
            p.kind { (if run.has_trouble() { "Not everything could be measured" } else if run.is_complete { "Complete" } else { "Ended early" }) }
            h1 { (headline(run)) }
            p.rest {
                @if let Some(target) = &run.target { (cells::place(target)) ". " }
                (cells::effort(run)) "."
            }
            @for note in &run.notes { p.note { (visible::line(note)) "." } }
        }
    }
}

/// Random requests by their number, streams by their bytes.
fn headline(run: &DiskRun) -> String {
    let told = run.workloads.iter().filter_map(|workload| {
        let summary = workload.summaries.first()?;
        let what = visible::line(&workload.title);
        let is_random = workload.options.get("rw").is_some_and(|rw| rw.starts_with("rand"));
        Some(if is_random {
            format!("{what}: {} IOPS", count(cells::rounded(summary.iops.middle)))
        } else {
            format!("{what}: {} MB/s", cells::megabytes(summary.bytes_per_s.middle))
        })
    });
    let told: Vec<String> = told.take(6).collect();
    if told.is_empty() { "Nothing was measured".to_owned() } else { told.join("; ") }
}

fn table(run: &DiskRun) -> Markup {
    let content = html! {
        thead { tr {
            th.text scope="col" { "workload" }
            @for head in HEADS { th scope="col" { (head) } }
        } }
        tbody { @for line in cells::lines(run) { (row(&line)) } }
    };
    scrolled("All workloads", &content)
}

fn row(line: &Line) -> Markup {
    html! {
        tr {
            th.text scope="row" { (line.title) }
            @match &line.trouble {
                Some(trouble) => td.trouble.failed colspan=(HEADS.len()) { (trouble) },
                None => @for cell in &line.cells { td { (cell) } },
            }
        }
    }
}

fn article(workload: &WorkloadRun) -> Markup {
    html! {
        article id=(id(&workload.name)) {
            h2 { (visible::line(&workload.title)) }
            @if !workload.stands_for.is_empty() { p.about { (upper(&visible::line(&workload.stands_for))) "." } }
            @if let Some(trouble) = &workload.trouble { p.failed { (visible::line(trouble)) } }
            @for direction in &workload.directions() {
                figure.chart { (tail::chart(&visible::line(&workload.title), &[tail::Series { name: direction, bins: workload.bins(direction) }])) }
            }
            (time::charts(workload))
            @if !workload.command.is_empty() { pre.command { code { (visible::line(&workload.command)) } } }
        }
    }
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Names come from other people's files.
pub(super) fn id(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn facts(run: &DiskRun) -> Markup {
    html! {
        section id="facts" {
            h2 { "Disk and machine" }
            (scrolled("Disk and machine", &html! {
                tbody { @for (name, value) in cells::facts(run) { tr { th.text scope="row" { (name) } td.text.prose { (value) } } } }
            }))
        }
    }
}
