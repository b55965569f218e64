//! All numbers of a case and of the machine, in tables.

use std::collections::BTreeMap;

use fullbore_lab::record::{CaseRun, LabRun, PointRun};
use fullbore_lab::runner::point_text;
use fullbore_measure::Bytes;
use maud::{Markup, html};

use crate::html::document::{scrolled, wide_table};
use crate::lab::counters;
use crate::lab::figures;
use crate::lab::rows::{self, Row};
use crate::visible;

/// Rows up to which a table is open from the start.
const OPEN: usize = 30;

/// The table under the charts of a case.
pub(super) fn case(case: &CaseRun) -> Markup {
    let rows: usize = case.points.iter().map(|point| point.engines.len()).sum();
    let table = scrolled(&visible::line(&case.title), &content(case));
    html! {
        @if rows > OPEN {
            details { summary { "All numbers (" (rows) " rows)" } (table) }
        } @else {
            (table)
        }
    }
}

fn content(case: &CaseRun) -> Markup {
    let has_points = !case.sweep.is_empty();
    let has_published = case.engines.iter().any(|engine| engine.published.is_some());
    let more = [rows::percentile_heads(case), rows::counter_heads(case)].concat();
    let columns = 6 + more.len() + usize::from(has_published);
    html! {
        thead { tr {
            th.text scope="col" { "engine" }
            th scope="col" { (figures::value_head(case)) }
            th scope="col" { "±" }
            th scope="col" { (figures::ratio_head(case)) }
            @for head in &more { th scope="col" { (head) } }
            th scope="col" { "CPUs busy" }
            th scope="col" { "peak memory" }
            @if has_published { th scope="col" { "published" } }
            th.text scope="col" { "notes" }
        } }
        @for point in &case.points {
            tbody {
                @if has_points { (point_row(case, point, columns)) }
                @for (place, row) in rows::rows(case, point).iter().enumerate() {
                    (engine_row(case, row, &point.engines[place].engine, more.len(), has_published))
                }
            }
        }
    }
}

fn point_row(case: &CaseRun, point: &PointRun, columns: usize) -> Markup {
    html! {
        tr.point { th.text colspan=(columns + 1) scope="rowgroup" {
            (visible::line(&point_text(&case.sweep, &point.parameters)))
            span.soft { " · " (rows::effort(point)) }
        } }
    }
}

fn engine_row(case: &CaseRun, row: &Row, engine: &str, more: usize, has_published: bool) -> Markup {
    let command = case.engine(engine).map_or("", |note| note.command.as_str());
    html! {
        tr.baseline[engine == case.baseline] {
            th.text scope="row" title=(visible::line(command)) { (row.engine) }
            @if row.trouble.is_empty() {
                td { (row.value) } td.soft { (row.spread) } td { (row.ratio) }
                @for cell in row.percentiles.iter().chain(&row.counters) { td { (cell) } }
                td { (row.cpu) } td { (row.memory) }
                @if has_published { td { (row.published) } }
                td.text.prose { (row.notes) }
            } @else {
                td.trouble.failed[row.trouble.starts_with(|c: char| c.is_ascii_uppercase())] colspan=(6 + more + usize::from(has_published)) { (row.trouble) }
            }
        }
    }
}

/// Faults, switches and counters of the processor; nothing when nothing was counted.
pub(super) fn counted(case: &CaseRun) -> Markup {
    let Some(table) = counters::table(case) else {
        return html! {};
    };
    let rows: usize = table.points.iter().map(|(_, lines)| lines.len()).sum();
    let content = html! {
        thead { tr {
            th.text scope="col" { "engine" }
            @for head in &table.heads { th scope="col" { (head) } }
        } }
        @for (at, lines) in table.points.iter().filter(|(_, lines)| !lines.is_empty()) {
            tbody {
                @if !at.is_empty() {
                    tr.point { th.text colspan=(table.heads.len() + 1) scope="rowgroup" { (at) } }
                }
                @for line in lines {
                    tr {
                        th.text scope="row" { (line.engine) }
                        @for cell in &line.cells { td { (cell) } }
                    }
                }
            }
        }
    };
    let title = format!("Counters: {}", visible::line(&case.title));
    html! {
        details open[counters::are_wanted(case) && rows <= OPEN] {
            summary { "Counters" }
            @for line in &table.missing { p.caption { (line) "." } }
            (scrolled(&title, &content))
            p.caption { (counters::NOTE) }
        }
    }
}

/// What each engine of a case runs.
pub(super) fn engines(case: &CaseRun) -> Markup {
    html! {
        details {
            summary { "What each engine runs" }
            dl.engines {
                @for note in &case.engines {
                    dt { (visible::line(&note.label)) }
                    dd { code { (visible::line(&note.command)) } }
                }
            }
            @if !case.fixed.0.is_empty() {
                p.caption { "With " (fixed(case)) "." }
            }
        }
    }
}

fn fixed(case: &CaseRun) -> String {
    let parts = case.fixed.0.iter().map(|(name, value)| format!("{name} = {value}"));
    visible::line(&parts.collect::<Vec<_>>().join(", "))
}

/// The machine and the programs.
pub(super) fn machine(run: &LabRun) -> Markup {
    let (machine, host) = (&run.machine, &run.machine.host);
    let unknown = || "?".to_owned();
    let caches: Vec<String> =
        machine.caches.iter().map(|c| format!("{} {}", c.name, Bytes(c.size_bytes))).collect();
    let pinned: Vec<String> = machine.pinned_cpus.iter().map(u32::to_string).collect();
    let pages = host.pipe_user_pages_soft.map_or_else(unknown, |pages| pages.to_string());
    let facts = [
        ("Linux", host.kernel.clone()),
        ("CPU", host.cpu.clone()),
        (
            "CPUs",
            if pinned.is_empty() {
                host.cpus.to_string()
            } else {
                format!("{}, bound to {}", host.cpus, pinned.join(", "))
            },
        ),
        ("Caches of the first CPU", caches.join(", ")),
        ("Memory", Bytes(host.memory_bytes).to_string()),
        (
            "Virtual machine",
            machine.is_virtual.map_or_else(unknown, |is| if is { "yes" } else { "no" }.to_owned()),
        ),
        ("Kernels of fullbore", machine.tier.clone()),
        (
            "Largest pipe of a user",
            host.pipe_max_bytes.map_or_else(unknown, |bytes| Bytes(bytes).to_string()),
        ),
        ("Pages in pipes of a user", pages),
        ("Transparent huge pages", machine.huge_pages.clone().unwrap_or_else(unknown)),
        (
            "Reserved huge pages",
            machine.reserved_huge_pages.map_or_else(unknown, |pages| pages.to_string()),
        ),
        ("Clock governor", machine.frequency_governor.clone().unwrap_or_else(unknown)),
        ("fullbore", run.fullbore_version.clone()),
    ];
    html! {
        section id="machine" {
            h2 { "Machine" }
            (scrolled("Machine", &html! { tbody { @for (name, value) in facts { tr { th.text scope="row" { (name) } td.text.prose { (visible::line(&value)) } } } } }))
        }
        (map("Programs", &run.programs))
        (map("Guards against weaknesses of the CPU", &machine.mitigations))
    }
}

fn map(title: &str, map: &BTreeMap<String, String>) -> Markup {
    if map.is_empty() {
        return html! {};
    }
    wide_table(
        title,
        &html! {
            tbody { @for (name, value) in map { tr { th.text scope="row" { (visible::line(name)) } td.text.prose { (visible::line(value)) } } } }
        },
    )
}
