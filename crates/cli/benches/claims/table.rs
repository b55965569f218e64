//! The table of claims: what is promised, what was measured, and how to measure it again.

use std::fmt::{self, Write};
use std::fs;

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Met,
    Missed,
    /// There is no bar: the number is there to compare with.
    Shown,
}

impl Outcome {
    /// Met when the condition holds.
    pub(crate) fn met_if(holds: bool) -> Self {
        if holds { Self::Met } else { Self::Missed }
    }
}

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) claim: String,
    pub(crate) bar: String,
    pub(crate) measured: String,
    pub(crate) outcome: Outcome,
    /// The pipeline or command that was measured.
    pub(crate) command: String,
    /// What is worth knowing beyond the number, one line each.
    pub(crate) notes: Vec<String>,
}

impl Row {
    /// Whether nothing promised is missed.
    pub(crate) fn is_met(&self) -> bool {
        self.outcome != Outcome::Missed
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (bar: {}) {}", self.claim, self.measured, self.bar, mark(self.outcome))?;
        self.notes.iter().try_for_each(|note| write!(f, "\n     {note}"))
    }
}

/// The whole document in Markdown.
pub(crate) fn document(rows: &[Row]) -> String {
    let mut text = String::from(
        "# Claims and measurements\n\n\
         `make bench` writes this page; `cargo bench -p fullbore --bench claims -- NAME` repeats one row.\n\n\
         The table shows each claim, the bar it has to reach (`≥`: higher is better; `≤`: lower is better) and the \
         median that was measured, ± the median absolute deviation.\n\
         For a ratio, the two commands run in turn; the median of the ratios of these pairs counts.\n\
         `stage` is the program of known behaviour in `crates/cli/examples/fixture/`, `sequence` the one in `crates/cli/examples/sequence.rs`.\n\n",
    );
    let _ = writeln!(text, "Machine: {}\n", machine());
    text.push_str("| claim | bar | measured | |\n|---|---|---|---|\n");
    for row in rows {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            row.claim,
            row.bar,
            row.measured,
            mark(row.outcome)
        );
    }
    text.push_str("\n## The commands\n");
    for row in rows {
        let _ = write!(text, "\n**{}**\n\n```\n{}\n```\n", row.claim, row.command);
        for note in &row.notes {
            let _ = writeln!(text, "- {note}");
        }
    }
    text
}

fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Met => "met",
        Outcome::Missed => "**missed**",
        Outcome::Shown => "",
    }
}

/// The machine on which this was measured.
pub(crate) fn machine() -> String {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line =
            text.lines().find(|line| line.starts_with(name)).map(str::to_owned).unwrap_or_default();
        line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "Linux {}, {} × {}, {} of memory",
        read("/proc/sys/kernel/osrelease").trim(),
        cpus,
        field(&read("/proc/cpuinfo"), "model name"),
        field(&read("/proc/meminfo"), "MemTotal"),
    )
}
