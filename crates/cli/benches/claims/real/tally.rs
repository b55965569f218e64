//! Sums over all runs of all pipelines.

use super::{Judged, Judgement};
use crate::table::{Outcome, Row};

/// CPU time of the rows may be more than Linux counted by this part of it, …
const CPU_TOLERANCE: f64 = 0.02;
/// … or by this much: Linux counts what a process uses between its last sample and its end only for the whole.
const CPU_TOLERANCE_NS: f64 = 10e6;

/// How all runs were judged.
#[derive(Debug, Default)]
pub(super) struct Tally {
    cases: usize,
    right: usize,
    unsure: usize,
    wrong: usize,
    with_wrong_arrow: usize,
    /// Runs whose rows have no more CPU time than Linux counted for all processes, within the tolerance.
    cpu_right: usize,
    cpu_known: usize,
    /// CPU time that is in no row, as a part of what Linux counted.
    unseen: Vec<f64>,
    cpu_notes: Vec<String>,
}

impl Tally {
    /// Adds the runs of one pipeline.
    pub(super) fn add(&mut self, case: &str, judged: &[Judged]) {
        self.cases += 1;
        for one in judged {
            match one.judgement {
                Judgement::Right => self.right += 1,
                Judgement::Unsure => self.unsure += 1,
                Judgement::Wrong => self.wrong += 1,
            }
            self.with_wrong_arrow += usize::from(!one.wrong_arrows.is_empty());
            if let Some((rows_ns, counted_ns)) = one.cpu {
                self.add_cpu(case, rows_ns, counted_ns);
            }
        }
    }

    fn add_cpu(&mut self, case: &str, rows_ns: f64, counted_ns: f64) {
        self.cpu_known += 1;
        self.unseen.push(((counted_ns - rows_ns) / counted_ns.max(1.0)).max(0.0));
        if rows_ns - counted_ns <= (counted_ns * CPU_TOLERANCE).max(CPU_TOLERANCE_NS) {
            self.cpu_right += 1;
        } else {
            self.cpu_notes.push(format!(
                "{case}: rows have {:.0} ms, Linux counted {:.0} ms",
                rows_ns / 1e6,
                counted_ns / 1e6
            ));
        }
    }

    fn percent(&self, part: usize) -> f64 {
        100.0 * part as f64 / (self.right + self.unsure + self.wrong).max(1) as f64
    }

    /// The verdicts in one sentence.
    pub(super) fn verdicts(&self) -> String {
        format!(
            "right {:.1} % ({} of {}), not sure {:.1} %, wrong {:.1} %, {} runs with an arrow that is not listed",
            self.percent(self.right),
            self.right,
            self.right + self.unsure + self.wrong,
            self.percent(self.unsure),
            self.percent(self.wrong),
            self.with_wrong_arrow
        )
    }

    /// What must hold; beside a stranger the verdict may be unsure more often.
    pub(super) fn rows(
        mut self,
        what: &str,
        times: usize,
        beside_a_stranger: bool,
        notes: Vec<String>,
    ) -> Vec<Row> {
        let cases = self.cases;
        let command = "fullbore run --report x.json PIPELINE   # crates/cli/tests/cases/real/";
        let (bar, is_met) = if beside_a_stranger {
            ("wrong ≤ 2 %", self.percent(self.wrong) <= 2.0)
        } else {
            let is_met = self.percent(self.right) >= 95.0 && self.percent(self.wrong) <= 1.0;
            (
                "right ≥ 95 %, not sure ≤ 5 %, wrong ≤ 1 %, no wrong arrow",
                is_met && self.with_wrong_arrow == 0,
            )
        };
        let verdicts = Row {
            claim: format!("verdict on {cases} real pipelines{what}, {times} runs each, first try"),
            bar: bar.to_owned(),
            measured: self.verdicts(),
            outcome: Outcome::met_if(is_met),
            command: command.to_owned(),
            notes,
        };
        self.unseen.sort_by(f64::total_cmp);
        let unseen = |tenths: usize| {
            let place = self.unseen.len() * tenths / 10;
            100.0 * self.unseen.get(place).or(self.unseen.last()).copied().unwrap_or(f64::NAN)
        };
        let cpu = Row {
            claim: format!(
                "CPU time of all rows and of no row ÷ what Linux counted (rusage), {cases} real pipelines{what}"
            ),
            bar: "within 2 % or 10 ms, in every run".to_owned(),
            measured: format!(
                "{} of {} runs; in no row: {:.1} % in the middle run, {:.1} % in nine of ten",
                self.cpu_right,
                self.cpu_known,
                unseen(5),
                unseen(9)
            ),
            outcome: Outcome::met_if(self.cpu_right == self.cpu_known),
            command: command.to_owned(),
            notes: self.cpu_notes,
        };
        vec![verdicts, cpu]
    }
}
