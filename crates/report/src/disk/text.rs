//! What a terminal shows of a record and of a comparison.

use fullbore_lab::disk::DiskSuite;
use fullbore_lab::disk::compare::{Difference, DiskComparison, Verdict};
use fullbore_lab::disk::record::DiskRun;
use fullbore_lab::disk::runner::DiskProgress;
use fullbore_measure::seconds;

use super::cells::{self, Change, HEADS, Line};
use crate::lab::columns::{Side, padded};
use crate::text::Style;
use crate::text::wrap::wrap;
use crate::visible;

/// The order in which columns are given up where a terminal is narrow.
const LEAST_WANTED: [usize; 10] = [11, 4, 10, 8, 3, 9, 7, 1, 6, 5];

/// A record.
#[must_use]
pub fn whole(run: &DiskRun, style: Style) -> String {
    let mut text = String::new();
    let mut say = |line: &str| {
        for line in wrap(line, style.columns(), "", "  ") {
            text.push_str(&line);
            text.push('\n');
        }
    };
    if !run.command.is_empty() {
        say(&visible::line(&run.command));
    }
    run.target.iter().for_each(|target| say(&cells::place(target)));
    say(&cells::effort(run));
    text.push('\n');
    text.push_str(&table(&cells::lines(run), style));
    for note in &run.notes {
        for line in wrap(&format!("note: {}", visible::line(note)), style.columns(), "", "  ") {
            text.push_str(&style.dim(&line));
            text.push('\n');
        }
    }
    text
}

fn table(lines: &[Line], style: Style) -> String {
    let name = lines.iter().map(|line| visible::width(&line.title)).max().unwrap_or(0).max(8);
    let name = name.min(style.columns() / 3);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.cells.get(column));
        cells.map(|cell| visible::width(cell)).max().unwrap_or(0).max(visible::width(HEADS[column]))
    };
    let mut columns: Vec<usize> = (0..HEADS.len()).collect();
    let needed =
        |columns: &[usize]| name + columns.iter().map(|column| width(*column) + 2).sum::<usize>();
    for column in LEAST_WANTED {
        if needed(&columns) > style.columns() {
            columns.retain(|known| *known != column);
        }
    }
    let mut head = " ".repeat(name);
    columns.iter().for_each(|column| {
        head.push_str(&format!("  {}", padded(HEADS[*column], width(*column), Side::Right)))
    });
    let mut text = format!("{}\n", style.dim(head.trim_end()));
    for line in lines {
        let mut row = padded(&visible::cut(&line.title, name), name, Side::Left);
        if let Some(trouble) = &line.trouble {
            let told = format!("{}  {trouble}", row.trim_end());
            wrap(&told, style.columns(), "", "    ")
                .iter()
                .for_each(|line| text.push_str(&format!("{line}\n")));
            continue;
        }
        for column in &columns {
            let cell = line.cells.get(*column).map_or("", String::as_str);
            row.push_str(&format!("  {}", padded(cell, width(*column), Side::Right)));
        }
        text.push_str(&format!("{}\n", row.trim_end()));
    }
    text
}

/// A comparison: what differs first, then the numbers.
#[must_use]
pub fn comparison(comparison: &DiskComparison, style: Style) -> String {
    let names = format!("{} → {}", comparison.before, comparison.after);
    let mut text = format!("{}\n", style.bold(&visible::line(&names)));
    for line in told_first(comparison) {
        for line in wrap(&line, style.columns(), "", "    ") {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text.push('\n');
    changes(comparison, style, &mut text);
    text.push_str(&format!("\n{}\n", style.bold(&cells::tally(comparison))));
    text
}

/// What differs beside the numbers: what makes rows not comparable before everything else.
fn told_first(comparison: &DiskComparison) -> Vec<String> {
    let all = |differences: &[Difference]| {
        differences.iter().map(cells::difference).collect::<Vec<_>>().join("; ")
    };
    let mut lines = Vec::new();
    for pair in comparison.workloads.iter().filter(|pair| !pair.obstacles.is_empty()) {
        let title = visible::line(&pair.title);
        lines.push(format!("not comparable: {title}: {}", all(&pair.obstacles)));
    }
    let differences = comparison.differences.iter();
    lines.extend(
        differences.map(|difference| format!("differs: {}", cells::difference(difference))),
    );
    for pair in comparison.workloads.iter().filter(|pair| !pair.remarks.is_empty()) {
        lines.push(format!("differs: {}: {}", visible::line(&pair.title), all(&pair.remarks)));
    }
    let unmatched = comparison.unmatched.iter();
    lines.extend(unmatched.map(|line| format!("not compared: {}", visible::line(line))));
    lines.extend(comparison.notes.iter().map(|note| format!("note: {}", visible::line(note))));
    lines
}

/// The table of all numbers.
fn changes(comparison: &DiskComparison, style: Style, text: &mut String) {
    let all: Vec<Vec<Change>> = comparison.workloads.iter().map(cells::changes).collect();
    let widest = |cell: fn(&Change) -> &str, head: &str| {
        let cells = all.iter().flatten().map(|row| visible::width(cell(row)));
        cells.max().unwrap_or(0).max(head.len())
    };
    let (what, before) = (widest(|row| &row.what, ""), widest(|row| &row.before, "before"));
    let (after, ratio) = (widest(|row| &row.after, "after"), widest(|row| &row.ratio, "ratio"));
    let line = |cells: [&str; 5]| {
        let line = format!(
            "  {}  {}  {}  {}  {}",
            padded(cells[0], what, Side::Left),
            padded(cells[1], before, Side::Right),
            padded(cells[2], after, Side::Right),
            padded(cells[3], ratio, Side::Left),
            cells[4]
        );
        line.trim_end().to_owned()
    };
    text.push_str(&format!("{}\n", style.dim(&line(["", "before", "after", "ratio", ""]))));
    for rows in &all {
        let title = rows.first().map_or("", |row| row.workload.as_str());
        text.push_str(&format!("{}\n", style.bold(title)));
        for row in rows {
            let told =
                line([&row.what, &row.before, &row.after, &row.ratio, cells::word(row.verdict)]);
            let is_told = matches!(row.verdict, Verdict::Better | Verdict::Worse);
            text.push_str(&format!("{}\n", if is_told { style.bold(&told) } else { told }));
        }
    }
}

/// One line of at most `columns`.
#[must_use]
pub fn progress(progress: &DiskProgress<'_>, columns: usize) -> String {
    let whole = progress.whole_ms.max(1);
    let percent = (progress.done_ms * 100 / whole).min(100);
    let left = match (whole - progress.done_ms.min(whole)).div_ceil(1000) {
        left @ 0..100 => format!("{left} s"),
        left => seconds(left * 1_000_000_000),
    };
    let pass = if progress.pass == 0 {
        "before the first pass".to_owned()
    } else {
        format!("pass {} of {}", progress.pass, progress.passes)
    };
    visible::cut(
        &visible::line(&format!(
            "{percent:>3} %, about {left} left: {}, {pass}",
            progress.workload
        )),
        columns,
    )
}

/// The line while a file is laid out.
#[must_use]
pub fn laying_out(part: f64, columns: usize) -> String {
    visible::cut(&format!("laying out: {:.0} %", part.clamp(0.0, 1.0) * 100.0), columns)
}

/// What `lab list` says of the suite.
#[must_use]
pub fn listing(suite: &DiskSuite) -> String {
    let mut text = format!("disk: {}\n", suite.about);
    for workload in &suite.workloads {
        text.push_str(&format!(
            "  {:<24} {} ({})\n",
            workload.name, workload.title, workload.stands_for
        ));
    }
    text.push_str("  runs with: fullbore lab disk --dir DIR\n\n");
    text
}
