//! Tables in Markdown: ready for a commit or a page of documentation.

use fullbore_lab::disk::compare::DiskComparison;
use fullbore_lab::disk::record::DiskRun;

use super::cells::{self, HEADS};
use crate::figures::utc;
use crate::markdown::{escaped, table_row};
use crate::visible;

/// A record.
#[must_use]
pub fn document(run: &DiskRun) -> String {
    let mut text = String::from("# fullbore lab disk\n\n");
    if !run.command.is_empty() {
        text.push_str(&format!("```\n{}\n```\n\n", visible::line(&run.command)));
    }
    for (name, value) in cells::facts(run) {
        text.push_str(&format!("- {name}: {}\n", escaped(&value)));
    }
    text.push_str(&format!(
        "\n{}, {}.\n\n",
        utc(run.started_unix_ns),
        escaped(&cells::effort(run))
    ));
    text.push_str(&table(run));
    text.push_str("\n± is where a second run is expected, in 95 of 100 cases. Latencies: completion; percentiles of all passes together.\n");
    for note in &run.notes {
        text.push_str(&format!("\nNote: {}.\n", escaped(note)));
    }
    text.push_str("\n```\n");
    for workload in &run.workloads {
        text.push_str(&format!("{}\n", visible::line(&workload.command)));
    }
    text.push_str("```\n");
    text
}

/// Only the table of a record.
fn table(run: &DiskRun) -> String {
    let mut text = String::new();
    let heads: Vec<String> = std::iter::once("workload").chain(HEADS).map(str::to_owned).collect();
    table_row(&heads, &mut text);
    let rule: Vec<String> =
        (0..heads.len()).map(|n| if n == 0 { "---" } else { "---:" }.to_owned()).collect();
    table_row(&rule, &mut text);
    for row in cells::lines(run) {
        let mut all = vec![escaped(&row.title)];
        match row.trouble {
            Some(trouble) => {
                all.push(escaped(&trouble));
                all.resize(heads.len(), String::new());
            }
            None => all.extend(row.cells.iter().map(|cell| escaped(cell))),
        }
        table_row(&all, &mut text);
    }
    text
}

/// A comparison.
#[must_use]
pub fn comparison(comparison: &DiskComparison) -> String {
    let mut text =
        format!("# {} → {}\n\n", escaped(&comparison.before), escaped(&comparison.after));
    text.push_str(&format!("{}.\n\n", cells::tally(comparison)));
    for pair in &comparison.workloads {
        for obstacle in &pair.obstacles {
            text.push_str(&format!(
                "- **not comparable**: {}: {}\n",
                escaped(&pair.title),
                escaped(&cells::difference(obstacle))
            ));
        }
    }
    for difference in &comparison.differences {
        text.push_str(&format!("- differs: {}\n", escaped(&cells::difference(difference))));
    }
    for told in comparison.unmatched.iter().chain(&comparison.notes) {
        text.push_str(&format!("- {}\n", escaped(told)));
    }
    text.push('\n');
    let heads = ["workload", "", "before", "after", "ratio [interval]", ""];
    table_row(&heads.map(str::to_owned), &mut text);
    table_row(&["---", "---", "---:", "---:", "---", "---"].map(str::to_owned), &mut text);
    for row in comparison.workloads.iter().flat_map(cells::changes) {
        let cells = [
            &row.workload,
            &row.what,
            &row.before,
            &row.after,
            &row.ratio,
            cells::word(row.verdict),
        ];
        table_row(&cells.map(escaped), &mut text);
    }
    text
}
