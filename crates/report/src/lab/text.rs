//! What a terminal shows: the list of suites, a table for each case, a comparison, a line of progress.

use fullbore_lab::compare::{Basis, Comparison, Row as Change, Verdict};
use fullbore_lab::record::{CaseRun, LabRun};
use fullbore_lab::runner::{Progress, point_text};
use fullbore_lab::suite::{Need, Suite, points};
use fullbore_measure::seconds;

use super::columns::{Side, padded};
use super::rows::{self, Row};
use super::standing::{self, Standing};
use super::{figures, percentiles};
use crate::text::Style;
use crate::text::wrap::wrap;
use crate::visible;

/// Columns of an engine's name below which it says nothing.
const LEAST_ENGINE: usize = 8;

/// Which rows of a comparison are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All.
    All,
    /// Only those that got faster or slower.
    Told,
}

/// Every suite with its cases and what it needs.
#[must_use]
pub fn listing(suites: &[Suite]) -> String {
    let mut text = String::new();
    for suite in suites {
        text.push_str(&format!("{}: {}\n", suite.name, suite.about));
        for case in &suite.cases {
            let points = points(&case.sweep, &case.fixed).len();
            let engines = case.engines.len();
            let name = format!("{}/{}", suite.name, case.name);
            text.push_str(&format!(
                "  {name:<24} {} ({engines} engines, {points} points)\n",
                case.title
            ));
        }
        let mut needs: Vec<String> =
            suite.cases.iter().flat_map(|c| &c.engines).flat_map(|e| &e.needs).map(need).collect();
        needs.sort();
        needs.dedup();
        if !needs.is_empty() {
            text.push_str(&format!("  asks for: {}\n", needs.join(", ")));
        }
        text.push('\n');
    }
    text
}

fn need(need: &Need) -> String {
    match need {
        Need::Program { name, .. } => name.clone(),
        Need::Root => "root".to_owned(),
        Need::Cpus(cpus) => format!("{cpus} CPUs"),
        Need::Check { what, .. } => what.clone(),
    }
}

/// The whole record: the machine, then all cases.
#[must_use]
pub fn whole(run: &LabRun, style: Style) -> String {
    let host = &run.machine.host;
    let mut text = format!(
        "{}\n{}, {} CPUs, Linux {}\n",
        visible::line(&run.command),
        visible::line(&host.cpu),
        host.cpus,
        visible::line(&host.kernel)
    );
    let ended = if run.is_complete { "" } else { "; ended early" };
    text.push_str(&format!("{}, {}{ended}\n\n", rows::sentence(run), seconds(run.elapsed_ns)));
    for suite in &run.suites {
        for shown in &suite.cases {
            text.push_str(&case(&suite.name, shown, style));
        }
    }
    text.push_str(&summary(run, style));
    text
}

/// What was found in a few lines for each case; nothing for a single case, whose table says it all.
#[must_use]
pub fn summary(run: &LabRun, style: Style) -> String {
    let all: Vec<Standing> =
        run.suites.iter().flat_map(standing::cases).map(|(_, standing)| standing).collect();
    if all.len() < 2 {
        return String::new();
    }
    let mut text = format!("{}\n", style.bold("At a glance"));
    for standing in all {
        let told = match standing.baseline.as_str() {
            "" => String::new(),
            baseline => format!(": {} differ surely from {baseline}", standing.told),
        };
        let first = format!("{}{told}", standing.case);
        let rest = [
            ("fastest: ", &standing.fastest),
            ("slowest: ", &standing.slowest),
            ("", &standing.trouble),
        ];
        let rest = rest.into_iter().filter(|(_, cell)| !matches!(cell.as_str(), "" | "–"));
        let lines = std::iter::once((first, "  ", "    "))
            .chain(rest.map(|(head, cell)| (format!("{head}{cell}"), "    ", "      ")));
        for (line, begin, next) in lines {
            for line in wrap(&line, style.columns(), begin, next) {
                text.push_str(&format!("{line}\n"));
            }
        }
    }
    let note = "Surely: the whole interval of the ratio lies on one side of 1.";
    for line in wrap(note, style.columns(), "  ", "  ") {
        text.push_str(&format!("{}\n", style.dim(&line)));
    }
    text
}

/// One case: a heading, then a table for each point.
#[must_use]
pub fn case(suite: &str, case: &CaseRun, style: Style) -> String {
    let heading = format!("{suite}/{}  {}", case.name, case.title);
    let mut text =
        format!("{}\n", style.bold(&visible::cut(&visible::line(&heading), style.columns())));
    let all: Vec<Vec<Row>> = case.points.iter().map(|point| rows::rows(case, point)).collect();
    let widths = Widths::of(case, all.iter().flatten(), style.columns());
    text.push_str(&style.dim(&widths.head(case)));
    text.push('\n');
    for (point, rows) in case.points.iter().zip(&all) {
        let swept = point_text(&case.sweep, &point.parameters);
        let line = if swept.is_empty() {
            rows::effort(point)
        } else {
            format!("{swept}: {}", rows::effort(point))
        };
        text.push_str(&format!(
            " {}\n",
            style.dim(&visible::cut(&visible::line(&line), style.columns() - 1))
        ));
        for row in rows {
            widths.row(row, style, &mut text);
        }
        text.push_str(&percentiles::table(case, point, widths.engine, style));
    }
    text.push('\n');
    text
}

/// Columns of a table.
struct Widths {
    engine: usize,
    value: usize,
    spread: usize,
    ratio: usize,
    more: Vec<usize>,
    whole: usize,
}

impl Widths {
    fn of<'a>(case: &CaseRun, rows: impl Iterator<Item = &'a Row> + Clone, whole: usize) -> Self {
        let widest = |cell: &dyn Fn(&Row) -> &str, head: &str| {
            rows.clone()
                .map(|row| visible::width(cell(row)))
                .max()
                .unwrap_or(0)
                .max(visible::width(head))
        };
        let counters = rows::counter_heads(case);
        let more = counters.iter().enumerate().map(|(place, head)| {
            widest(&|row| row.counters.get(place).map_or("", String::as_str), head)
        });
        let mut widths = Self {
            engine: widest(&|row| &row.engine, "engine").min(whole * 2 / 5),
            value: widest(&|row| &row.value, figures::value_head(case)),
            spread: widest(&|row| &row.spread, "±"),
            ratio: widest(&|row| &row.ratio, figures::ratio_head(case)),
            more: more.collect(),
            whole,
        };
        let numbers = 8 + widths.value + widths.spread + widths.ratio;
        widths.engine = widths.engine.min(whole.saturating_sub(numbers)).max(LEAST_ENGINE);
        let fixed = 2 + widths.engine + 2 + widths.value + 2 + widths.spread + 2 + widths.ratio;
        // Columns that do not fit are in the reports.
        while fixed + widths.more.iter().map(|width| width + 2).sum::<usize>() > whole
            && !widths.more.is_empty()
        {
            widths.more.pop();
        }
        widths
    }

    fn head(&self, case: &CaseRun) -> String {
        let row = Row {
            engine: "engine".to_owned(),
            value: figures::value_head(case).to_owned(),
            spread: "±".to_owned(),
            ratio: figures::ratio_head(case).to_owned(),
            counters: rows::counter_heads(case),
            notes: String::new(),
            ..Row::default()
        };
        self.line(&row)
    }

    fn line(&self, row: &Row) -> String {
        let mut line = format!(
            "  {}",
            padded(&visible::cut(&row.engine, self.engine), self.engine, Side::Left)
        );
        let cells =
            [(&row.value, self.value), (&row.spread, self.spread), (&row.ratio, self.ratio)];
        for (cell, width) in
            cells.into_iter().chain(row.counters.iter().zip(self.more.iter().copied()))
        {
            line.push_str("  ");
            line.push_str(&padded(cell, width, Side::Right));
        }
        line.trim_end().to_owned()
    }

    fn row(&self, row: &Row, style: Style, text: &mut String) {
        if row.trouble.is_empty() {
            let line = self.line(row);
            let notes = format!("  {}", row.notes);
            if row.notes.is_empty() || visible::width(&line) + visible::width(&notes) <= self.whole
            {
                text.push_str(format!("{line}{}", style.dim(notes.trim_end())).trim_end());
                text.push('\n');
                return;
            }
            text.push_str(&format!("{line}\n"));
            for line in wrap(&row.notes, self.whole, "    ", "    ") {
                text.push_str(&format!("{}\n", style.dim(&line)));
            }
            return;
        }
        let engine = padded(&visible::cut(&row.engine, self.engine), self.engine, Side::Left);
        for line in wrap(&format!("{engine}  {}", row.trouble), self.whole, "  ", "    ") {
            text.push_str(&format!("{line}\n"));
        }
    }
}

/// What got faster and slower.
#[must_use]
pub fn comparison(comparison: &Comparison, fail_below: f64, shown: Rows, style: Style) -> String {
    let mut text = String::new();
    for warning in &comparison.warnings {
        text.push_str(&format!("note: {}\n", visible::line(warning)));
    }
    let count = |verdict| comparison.rows.iter().filter(|row| row.verdict == verdict).count();
    let wanted = |row: &&Change| shown == Rows::All || row.verdict != Verdict::CannotTell;
    let mut rows: Vec<&Change> = comparison.rows.iter().filter(wanted).collect();
    rows.sort_by(|a, b| a.change.middle.total_cmp(&b.change.middle));
    for row in rows {
        let verdict = match row.verdict {
            Verdict::Faster => "faster",
            Verdict::Slower => "SLOWER",
            Verdict::CannotTell => "cannot tell",
        };
        let basis = match row.basis {
            Basis::Value => ", value itself",
            Basis::Ratio | Basis::Builds => "",
        };
        let point = if row.point.is_empty() { String::new() } else { format!(" {}", row.point) };
        let line = format!(
            "{verdict:<11} {:>18}  {}{point} {}{basis}",
            figures::interval(&row.change),
            row.case,
            row.engine
        );
        text.push_str(&format!("{}\n", visible::line(&line)));
    }
    for line in &comparison.unmatched {
        text.push_str(&format!("not compared: {}\n", visible::line(line)));
    }
    let regressions = comparison.regressions(fail_below).count();
    let line = format!(
        "{} compared: {} faster, {} slower ({regressions} below {fail_below}), {} cannot be told apart",
        comparison.rows.len(),
        count(Verdict::Faster),
        count(Verdict::Slower),
        count(Verdict::CannotTell)
    );
    text.push_str(&format!("{}\n", style.bold(&line)));
    text
}

/// One line of at most `columns`.
#[must_use]
pub fn progress(progress: &Progress<'_>, columns: usize) -> String {
    let round = if progress.round == 0 {
        "checking".to_owned()
    } else {
        format!("pass {} of {}, round {}", progress.pass, progress.passes, progress.round)
    };
    let whole = progress.visits.max(1);
    let percent = progress.visits_done * 100 / whole;
    let left = match progress.left_ns.div_ceil(1_000_000_000) {
        left @ 0..100 => format!("{left} s"),
        left => seconds(left * 1_000_000_000),
    };
    let point =
        if progress.point.is_empty() { String::new() } else { format!(" {}", progress.point) };
    let line = format!(
        "{percent:>3} %, about {left} left: {}{point}, {}, {round}",
        progress.case, progress.engine
    );
    visible::cut(&visible::line(&line), columns)
}
