//! What fits: which lines and which columns are shown.

use std::ops::Range;

use crate::shown::{Shown, ShownStage};
use crate::text;

/// Most lines the view takes, however tall the terminal.
const MOST_LINES: u16 = 16;

/// Narrowest view that gets a line of column titles.
const TITLES_WIDTH: u16 = 60;

/// Lines the view may take on a terminal of `rows`: two thirds of them (three, when that is more), and never all.
pub(crate) fn height_limit(rows: u16) -> u16 {
    (rows.saturating_mul(2) / 3).clamp(3, MOST_LINES).min(rows.saturating_sub(1))
}

/// Lines that show everything.
pub(crate) fn wanted_height(shown: &Shown, width: u16) -> u16 {
    let titles = usize::from(width >= TITLES_WIDTH);
    let (message, advice) = verdict_lines(shown, width);
    u16::try_from(1 + titles + shown.stages.len() + message + advice).unwrap_or(u16::MAX)
}

/// Lines that the verdict's message and its advice want.
fn verdict_lines(shown: &Shown, width: u16) -> (usize, usize) {
    let columns = usize::from(width.saturating_sub(2));
    let Some(verdict) = &shown.verdict else {
        return (1, 0);
    };
    (text::wrap(&verdict.message, columns, 2).len().max(1), usize::from(!verdict.advice.is_empty()))
}

/// Which lines are shown, from top to bottom: header, titles, stages, message, advice.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lines {
    pub(crate) has_titles: bool,
    /// In the order of the pipeline.
    pub(crate) stages: Vec<Row>,
    pub(crate) message: u16,
    pub(crate) has_advice: bool,
}

/// A line among those of the stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// The stage with this index.
    Stage(usize),
    /// The stages with these indexes have no lines of their own.
    Gap(Range<usize>),
}

/// So many stages come before the second line of the verdict and the titles.
const FIRST_STAGES: usize = 3;

impl Lines {
    /// The lines that fit into `height`: the header, one line of verdict, a few stages, all of the verdict, titles, the other
    /// stages, advice.
    pub(crate) fn fitting(shown: &Shown, width: u16, height: u16) -> Self {
        let (message, advice) = verdict_lines(shown, width);
        let mut free = usize::from(height.saturating_sub(1));
        let mut lines = Self::default();
        let mut take = |wanted: usize| {
            let taken = wanted.min(free);
            free -= taken;
            taken
        };
        lines.message = u16::from(take(1) == 1);
        let first = take(shown.stages.len().min(FIRST_STAGES));
        lines.message += u16::from(message > 1 && take(1) == 1);
        lines.has_titles = width >= TITLES_WIDTH && take(1) == 1;
        let for_stages = first + take(shown.stages.len() - first);
        lines.has_advice = advice == 1 && take(1) == 1;
        lines.stages = rows(shown, for_stages);
        lines
    }
}

/// The stages that fill `lines`; when not all do, the busiest, with a line for others wherever some are missing.
fn rows(shown: &Shown, lines: usize) -> Vec<Row> {
    let all = shown.stages.len();
    if lines >= all {
        return (0..all).map(Row::Stage).collect();
    }
    let suspect = shown.verdict.as_ref().and_then(|verdict| verdict.stage);
    let rank =
        |stage: &ShownStage| (Some(stage.number) == suspect, stage.is_alive, stage.activity.busy());
    let mut order: Vec<usize> = (0..all).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (rank(&shown.stages[a]), rank(&shown.stages[b]));
        b.0.cmp(&a.0).then(b.1.cmp(&a.1)).then(b.2.total_cmp(&a.2))
    });
    if lines < FIRST_STAGES {
        order.truncate(lines);
        order.sort_unstable();
        return order.into_iter().map(Row::Stage).collect();
    }
    let mut chosen = vec![false; all];
    for index in order {
        chosen[index] = true;
        chosen[index] = with_gaps(&chosen).len() <= lines;
    }
    with_gaps(&chosen)
}

/// A line for each stage that was chosen, and one for each row of others; for one other its own.
fn with_gaps(chosen: &[bool]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut begin = 0;
    for run in chosen.chunk_by(|a, b| a == b) {
        let end = begin + run.len();
        if run[0] || run.len() == 1 {
            rows.extend((begin..end).map(Row::Stage));
        } else {
            rows.push(Row::Gap(begin..end));
        }
        begin = end;
    }
    rows
}

/// How wide each column of a stage's line is; 0: not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    /// Mark of the bottleneck and number of the stage.
    pub(crate) number: u16,
    pub(crate) command: u16,
    /// Bar of what it does.
    pub(crate) bar: u16,
    /// What it does most, in words, or only how much.
    pub(crate) doing: u16,
    pub(crate) rate: u16,
    pub(crate) history: u16,
    pub(crate) pipe: u16,
}

impl Columns {
    /// `no input 100%`: the longest text of the column.
    pub(crate) const DOING: u16 = 13;
    /// `< 100%`.
    pub(crate) const SHARE: u16 = 6;
    const RATE: u16 = 8;
    const PIPE: u16 = 15;
    const BAR: u16 = 8;
    const HISTORY: u16 = 8;

    /// The columns that fit into `width`, the most telling first; the command gets what is left.
    pub(crate) fn fitting(width: u16, last_stage: u32) -> Self {
        let digits =
            1 + last_stage.checked_ilog10().map_or(0, |tens| u16::try_from(tens).unwrap_or(0));
        let number = (digits + 3).min(width);
        let mut columns = Self { number, command: width - number, ..Self::default() };
        if columns.command < Self::SHARE + 5 {
            return columns;
        }
        columns.doing = columns.take(Self::DOING, 10);
        if columns.doing == 0 {
            columns.doing = columns.take(Self::SHARE, 4);
        }
        columns.rate = columns.take(Self::RATE, 10);
        columns.pipe = columns.take(Self::PIPE, 14);
        columns.bar = columns.take(Self::BAR, 15);
        columns.history = columns.take(Self::HISTORY, 15);
        if columns.history > 0 {
            columns.history += columns.grow(8, 30);
            columns.bar += columns.grow(4, 36);
            columns.history += columns.grow(16, 48);
        }
        columns
    }

    /// Takes a column of `width` and a space from the command, if that leaves it `at_least`.
    fn take(&mut self, width: u16, at_least: u16) -> u16 {
        if self.command < width + 1 + at_least {
            return 0;
        }
        self.command -= width + 1;
        width
    }

    /// Takes up to `most` from the command, as long as that leaves it `at_least`.
    fn grow(&mut self, most: u16, at_least: u16) -> u16 {
        let more = self.command.saturating_sub(at_least).min(most);
        self.command -= more;
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fill_every_width_exactly() {
        for width in 0..300 {
            for last_stage in [0, 9, 10, 123] {
                let c = Columns::fitting(width, last_stage);
                let shown = [c.bar, c.doing, c.rate, c.history, c.pipe]
                    .into_iter()
                    .filter(|&column| column > 0);
                assert_eq!(
                    c.number + c.command + shown.map(|column| column + 1).sum::<u16>(),
                    width
                );
            }
        }
    }

    #[test]
    fn the_view_leaves_the_stages_at_least_one_row() {
        for rows in 0..100 {
            assert!(height_limit(rows) < rows.max(1));
            assert!(height_limit(rows) <= MOST_LINES);
        }
    }
}
