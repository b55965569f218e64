//! The page of a run.

use std::collections::BTreeMap;

use fullbore_measure::seconds;
use fullbore_profile::{Kind, Node, Profile, Tower};
use maud::{Markup, html};
use serde::Serialize;

use super::parts::{SCRIPT, STYLE, chosen, time, tools, without_script};
use crate::figures::count;
use crate::html::document::{Document, wide_table};
use crate::visible;

/// A function of the table of a stage.
const ROWS: usize = 6;
/// Less than this share of the run is not drawn, nor kept in the page.
const DRAWN_MIN: f64 = 1e-4;

/// The towers as a page that needs nothing else: no network, no fonts, no other files.
#[must_use]
pub fn page(profile: &Profile) -> String {
    let title = format!("{} – fullbore flame", visible::line(&profile.command));
    let body = html! {
        main.flame {
            header {
                p.brand { strong { "fullbore" } " run --flame" }
                pre.run { code { (visible::line(&profile.command)) } }
            }
            h1 { "Where the " (seconds(profile.elapsed_ns)) " went, stage by stage" }
            (legend())
            (tools("Each stage is as wide as it lived. Click a function to enlarge it, or move with the arrow keys; Enter \
                enlarges, Escape shows everything again."))
            @if profile.samples == (0, 0) {
                p.rest { "No stack was taken: the run was too short, or stacks could not be seen (see the end of this page)." }
            }
            section #towers aria-label="Flame graphs of the stages" {}
            (without_script())
            (chosen())
            (wide_table("The longest times", &table(profile)))
            (notes(profile))
        }
    };
    let document = Document { title: &title, style: STYLE, script: SCRIPT, id: "fullbore-flame" };
    document.around(&body, &Embedded::of(profile)).into_string()
}

fn legend() -> Markup {
    let kinds = [
        ("user", "on a CPU, in the program"),
        ("kernel", "on a CPU, in the kernel"),
        ("runnable", "waits for a CPU"),
        ("reading", "waits for data"),
        ("writing", "waits for room"),
        ("waiting", "waits for something else"),
        ("caller", "called what stands below"),
    ];
    html! {
        ul.legend { @for (class, text) in kinds { li { span class={"key f-" (class)} {} (text) } } }
    }
}

fn table(profile: &Profile) -> Markup {
    html! {
        thead { tr { th { "stage" } th { "function" } th.number { "time itself" } th.number { "of the stage" } th { "what it is" } } }
        tbody { @for tower in &profile.towers { @for (place, (name, kind, ns)) in longest(tower).into_iter().enumerate() {
            tr {
                td.stage { @if place == 0 { (tower.stage) " " code { (visible::line(&tower.root.name)) } } }
                td.name { code { (visible::line(name)) } }
                td.number { (time(ns)) }
                td.number { (format!("{:.1} %", 100.0 * ns / tower.root.ns.max(1.0))) }
                td { (text_of(kind)) }
            }
        } } }
    }
}

fn text_of(kind: Kind) -> &'static str {
    match kind {
        Kind::User => "on a CPU",
        Kind::Kernel => "in the kernel",
        Kind::Runnable => "waits for a CPU",
        Kind::Reading => "waits for data",
        Kind::Writing => "waits for room",
        Kind::Waiting => "waits",
        Kind::Caller => "",
    }
}

/// The functions of a stage with the most time of their own, whoever called them.
fn longest(tower: &Tower) -> Vec<(&str, Kind, f64)> {
    let mut own: BTreeMap<(&str, Kind), f64> = BTreeMap::new();
    tower
        .root
        .walk(&mut |_, node| *own.entry((&node.name, node.kind)).or_default() += node.own_ns());
    let mut list: Vec<(&str, Kind, f64)> =
        own.into_iter().map(|((name, kind), ns)| (name, kind, ns)).collect();
    list.retain(|(.., ns)| *ns > tower.root.ns * 0.005);
    list.sort_by(|one, two| two.2.total_cmp(&one.2));
    list.truncate(ROWS);
    list
}

fn notes(profile: &Profile) -> Markup {
    let (on_cpu, waiting) = profile.samples;
    html! {
        section {
            h2 { "How this was measured" }
            p.caption {
                "How long each stage was on a CPU, and for what it waited, is that of the summary of the run. "
                (count(on_cpu)) " stacks on a CPU and " (count(waiting)) " of waiting threads divide these times by function."
            }
            @for note in &profile.notes { p.caption { (visible::line(note)) "." } }
        }
    }
}

/// What the script draws.
#[derive(Serialize)]
struct Embedded<'a> {
    total: f64,
    unit: &'static str,
    towers: Vec<Drawn<'a>>,
}

#[derive(Serialize)]
struct Drawn<'a> {
    title: String,
    start: f64,
    root: Leaf<'a>,
}

/// A node with short names, because a page has thousands.
#[derive(Serialize)]
struct Leaf<'a> {
    n: &'a str,
    k: Kind,
    v: f64,
    /// Its own time.
    o: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    c: Vec<Leaf<'a>>,
}

impl<'a> Embedded<'a> {
    fn of(profile: &'a Profile) -> Self {
        let total = profile.elapsed_ns as f64;
        let drawn = |tower: &'a Tower| Drawn {
            title: format!("{} {}", tower.stage, tower.root.name),
            start: tower.start_ns as f64,
            root: Leaf::of(&tower.root, total * DRAWN_MIN),
        };
        Self { total, unit: "ns", towers: profile.towers.iter().map(drawn).collect() }
    }
}

impl<'a> Leaf<'a> {
    fn of(node: &'a Node, least: f64) -> Self {
        let drawn = node.children.iter().filter(|child| child.ns >= least);
        Self {
            n: &node.name,
            k: node.kind,
            v: node.ns.round(),
            o: node.own_ns().round(),
            c: drawn.map(|child| Self::of(child, least)).collect(),
        }
    }
}
