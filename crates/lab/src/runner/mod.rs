//! Suites → [`LabRun`]: who runs when, for how long, and whose times count.

mod answers;
mod budget;
mod entrant;
mod plan;
mod point;
mod state;
mod summary;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use self::budget::Budget;
use self::point::Point;
use self::state::{Runner, Visits};
use crate::executor::Executor;
use crate::passes::{self, Drifts};
use crate::record::{CaseRun, Effort, EngineNote, LabRun, SCHEMA, SuiteRun};
use crate::suite::{Case, Run, Suite};
pub use plan::{Onlooker, Plan, Progress, point_text, value_text};

/// Runs all suites of the plan. Ends early, with what is done, when `stop` becomes true.
pub fn run(
    plan: &Plan,
    programs: BTreeMap<String, String>,
    executor: &mut dyn Executor,
    onlooker: &mut dyn Onlooker,
    stop: &AtomicBool,
) -> LabRun {
    let began_ns = executor.now_ns();
    let record = LabRun {
        schema: SCHEMA.to_owned(),
        fullbore_version: plan.fullbore_version.clone(),
        command: format!("{}{}", plan.command, words(&plan.suites)),
        started_unix_ns: plan.started_unix_ns,
        elapsed_ns: 0,
        is_complete: false,
        effort: plan.effort,
        machine: plan.machine.clone(),
        programs,
        suites: Vec::new(),
    };
    let all = plan.suites.iter().flat_map(|suite| &suite.cases);
    let points: usize = all.map(|case| plan.points_of(case).len()).sum();
    let passes = budget::passes(plan.effort);
    let mut runner = Runner {
        plan,
        executor,
        onlooker,
        stop,
        record,
        pass: 1,
        passes,
        visits: Visits { began_ns, all: points * passes as usize, done: 0, last_done_ns: began_ns },
        prepared: BTreeMap::new(),
        needs: BTreeMap::new(),
    };
    for suite in &plan.suites {
        runner.suite(suite);
    }
    runner.record.elapsed_ns = runner.executor.now_ns() - began_ns;
    runner.record.is_complete = !stop.load(Ordering::Relaxed);
    runner.record
}

/// The suites and cases as they are named on the command line.
fn words(suites: &[Suite]) -> String {
    let words = suites.iter().flat_map(|suite| match suite.is_whole {
        true => vec![suite.word.clone()],
        false => suite.cases.iter().map(|case| suite.word_of(case)).collect(),
    });
    words.fold(String::new(), |words, word| words + " " + &shell_words::quote(&word))
}

impl Runner<'_> {
    /// Visits all points of a suite in several passes, so that what changes on the machine meanwhile shows.
    fn suite(&mut self, suite: &Suite) {
        if self.is_stopped() {
            return;
        }
        let plan = self.plan;
        let points = suite.cases.iter().map(|case| plan.points_of(case).len()).sum();
        let mut budget = Budget::new(plan.effort, self.executor.now_ns(), points);
        let of_case = |case| -> Vec<Point<'_>> {
            let parameters = plan.points_of(case);
            let point = |own| Point::new(plan, suite, case, &own, budget.trial_limit_ns());
            parameters.into_iter().map(point).collect()
        };
        let mut cases: Vec<Vec<Point<'_>>> = suite.cases.iter().map(of_case).collect();
        let run =
            SuiteRun { name: suite.name.clone(), about: suite.about.clone(), cases: Vec::new() };
        self.record.suites.push(run);
        for pass in 1..=self.passes {
            self.pass = pass;
            self.prepared.clear(); // files lie elsewhere in memory when they are made anew
            budget.begin_pass();
            for (place, points) in cases.iter_mut().enumerate() {
                self.case(suite, place, points, &mut budget);
            }
        }
        if let Some(run) = self.record.suites.last_mut() {
            let drift = Drifts::of(run);
            run.cases.iter_mut().for_each(|case| passes::estimate(case, drift));
            self.onlooker.suite_done(run);
        }
    }

    /// Visits the points of a case once, and puts what is known then into the record.
    fn case(&mut self, suite: &Suite, place: usize, points: &mut [Point<'_>], budget: &mut Budget) {
        let mut has_visited = false;
        for point in points.iter_mut() {
            if point.visit(self, budget).is_none() {
                break;
            }
            has_visited = true;
            self.visits.done += 1;
            self.visits.last_done_ns = self.executor.now_ns();
        }
        let Some(run) = self.record.suites.last_mut().filter(|_| has_visited) else {
            return;
        };
        let done = case_run(self.plan, suite, &suite.cases[place], points);
        match run.cases.get_mut(place) {
            Some(case) => *case = done,
            None => run.cases.push(done),
        }
        let drift = Drifts::of(run);
        if let Some(case) = run.cases.get_mut(place) {
            passes::estimate(case, drift);
        }
        self.record.elapsed_ns = self.executor.now_ns() - self.visits.began_ns;
        self.onlooker.case_done(&self.record);
    }
}

/// A case as the record has it, but for its intervals.
fn case_run(plan: &Plan, suite: &Suite, case: &Case, points: &[Point<'_>]) -> CaseRun {
    let is_quick = plan.effort == Effort::Quick;
    CaseRun {
        name: case.name.clone(),
        title: case.title.clone(),
        about: case.about.clone(),
        command: format!("{} {}", plan.command, shell_words::quote(&suite.word_of(case))),
        quantity: case.quantity.clone(),
        ratio: case.ratio,
        chart: case.chart.clone(),
        sweep: if is_quick { &case.quick_sweep } else { &case.sweep }.clone(),
        fixed: if is_quick { &case.quick_fixed } else { &case.fixed }.clone(),
        columns: case.columns.clone(),
        baseline: case.baseline.clone(),
        engines: case.engines.iter().map(note).collect(),
        points: points.iter().filter_map(Point::run).collect(),
    }
}

fn note(engine: &crate::suite::Engine) -> EngineNote {
    let command = match &engine.run {
        Run::Builtin { engine, parameters } => {
            let words = parameters.0.iter().map(|(name, value)| format!(" {name}={value}"));
            format!("built in: {engine}{}", words.collect::<String>())
        }
        Run::Words(words) => words.join(" "),
        Run::Line(line) => line.clone(),
    };
    EngineNote {
        name: engine.name.clone(),
        label: engine.label.clone(),
        marks: engine.marks.clone(),
        published: engine.published.clone(),
        command,
    }
}
