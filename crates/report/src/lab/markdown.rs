//! Tables in Markdown, each with the command that repeats it: ready for a page of documentation.

use fullbore_lab::record::{CaseRun, LabRun};
use fullbore_lab::runner::point_text;
use fullbore_measure::{Bytes, seconds};

use super::counters;
use super::distribution::Range;
use super::figures;
use super::rows;
use super::standing;
use crate::figures::utc;
use crate::markdown::{escaped, table_row};
use crate::visible;

/// Letters of a histogram.
const BLOCKS: usize = 24;

/// The whole record.
#[must_use]
pub fn document(run: &LabRun) -> String {
    let host = &run.machine.host;
    let mut text = String::from("# fullbore lab\n\n");
    text.push_str(&format!(
        "{}, {} CPUs, {} of memory, Linux {}; kernels: {}; fullbore {}; {}, {}.\n",
        escaped(&host.cpu),
        host.cpus,
        Bytes(host.memory_bytes),
        escaped(&host.kernel),
        escaped(&run.machine.tier),
        escaped(&run.fullbore_version),
        utc(run.started_unix_ns),
        seconds(run.elapsed_ns)
    ));
    text.push_str(&format!(
        "\n{}.{}\n",
        rows::sentence(run),
        if run.is_complete { "" } else { " Ended early." }
    ));
    text.push_str("\n± and the ranges in brackets are where a second run on the same machine is expected, in 95 of 100 cases.\n");
    text.push_str("\n## At a glance\n\n");
    line(&standing::HEADS.map(str::to_owned), &mut text);
    line(&standing::HEADS.map(|_| "---".to_owned()), &mut text);
    for (_, standing) in run.suites.iter().flat_map(standing::cases) {
        line(&standing.cells().map(str::to_owned), &mut text);
    }
    for suite in &run.suites {
        text.push_str(&format!("\n## {}\n\n{}\n", escaped(&suite.name), escaped(&suite.about)));
        for shown in &suite.cases {
            text.push_str(&case(shown));
        }
    }
    text
}

fn case(case: &CaseRun) -> String {
    let mut text = format!("\n### {}\n", escaped(&case.title));
    if !case.about.is_empty() {
        text.push_str(&format!("\n{}\n", escaped(&case.about)));
    }
    text.push_str(&format!("\n```\n{}\n```\n\n", visible::line(&case.command)));
    let has_points = !case.sweep.is_empty();
    let has_published = case.engines.iter().any(|engine| engine.published.is_some());
    let mut heads: Vec<String> = if has_points { vec!["at".to_owned()] } else { Vec::new() };
    heads.extend(
        ["engine", figures::value_head(case), "±", figures::ratio_head(case)].map(str::to_owned),
    );
    heads.extend(rows::percentile_heads(case));
    let range = Range::of(case);
    heads.extend(range.map(|range| range.told()));
    heads.extend(rows::counter_heads(case));
    heads.extend(["CPUs busy", "peak memory"].map(str::to_owned));
    if has_published {
        heads.push("published".to_owned());
    }
    heads.push("notes".to_owned());
    line(&heads, &mut text);
    line(&vec!["---".to_owned(); heads.len()], &mut text);
    for point in &case.points {
        let at = point_text(&case.sweep, &point.parameters);
        for (row, run) in rows::rows(case, point).into_iter().zip(&point.engines) {
            let mut cells: Vec<String> = if has_points { vec![at.clone()] } else { Vec::new() };
            let is_measured = row.trouble.is_empty();
            let dash = |cell: String| if is_measured { cell } else { "–".to_owned() };
            cells.push(row.engine);
            cells.extend([row.value, row.spread, row.ratio].map(dash));
            let filled = |cells: Vec<String>, heads: Vec<String>| -> Vec<String> {
                let cell = |place: usize| dash(cells.get(place).cloned().unwrap_or_default());
                (0..heads.len()).map(cell).collect()
            };
            cells.extend(filled(row.percentiles, rows::percentile_heads(case)));
            let blocks = |range: Range| {
                run.latency.as_ref().map_or("–".to_owned(), |l| range.blocks(l, BLOCKS))
            };
            cells.extend(range.map(blocks));
            cells.extend(filled(row.counters, rows::counter_heads(case)));
            cells.extend([row.cpu, row.memory].map(dash));
            if has_published {
                cells.push(row.published);
            }
            cells.push(if is_measured { row.notes } else { row.trouble });
            line(&cells, &mut text);
        }
    }
    text.push_str(&counted(case));
    text
}

/// Faults, switches and counters of the processor, where the case asked for them.
fn counted(case: &CaseRun) -> String {
    let Some(table) = counters::table(case).filter(|_| counters::are_wanted(case)) else {
        return String::new();
    };
    let has_points = !case.sweep.is_empty();
    let first = |at: &str| if has_points { vec![at.to_owned()] } else { Vec::new() };
    let heads = table.heads.iter().map(|head| (*head).to_owned());
    let heads: Vec<String> =
        first("at").into_iter().chain(["engine".to_owned()]).chain(heads).collect();
    let mut text = format!("\n{}", counters::NOTE);
    for missing in &table.missing {
        text.push_str(&format!(" {}.", escaped(missing)));
    }
    text.push_str("\n\n");
    line(&heads, &mut text);
    line(&vec!["---".to_owned(); heads.len()], &mut text);
    for (at, lines) in table.points {
        for row in lines {
            let cells: Vec<String> =
                first(&at).into_iter().chain([row.engine]).chain(row.cells).collect();
            line(&cells, &mut text);
        }
    }
    text
}

fn line(cells: &[String], text: &mut String) {
    let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
    table_row(&cells, text);
}
