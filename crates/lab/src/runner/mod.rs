//! Suites → [`LabRun`]: who runs when, for how long, and whose times count.

mod budget;
mod point;
mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use self::budget::Budget;
use self::point::Point;
use crate::executor::{Executor, Missing};
use crate::passes::{self, Drifts};
use crate::record::{CaseRun, Effort, EngineNote, LabRun, Machine, SCHEMA, SuiteRun};
use crate::suite::{Case, Need, Run, Suite, expand, points};
use crate::{Parameter, Parameters};

/// Sees what happens while it happens.
pub trait Onlooker {
    /// A trial is about to start.
    fn progress(&mut self, progress: &Progress<'_>);

    /// A pass over a case is done; the record holds what it found.
    fn case_done(&mut self, run: &LabRun);

    /// A suite is done, or what will be done of it: its intervals are the last ones.
    fn suite_done(&mut self, suite: &SuiteRun);
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// `suite/case`
    pub case: &'a str,
    /// The engine that runs now, for people.
    pub engine: &'a str,
    /// The swept values of the point, for people.
    pub point: &'a str,
    /// The pass over the suite, from 1.
    pub pass: u32,
    /// Passes there are.
    pub passes: u32,
    /// The round of this point, over all passes; 0 while answers are checked.
    pub round: u32,
    /// Visits to points that are done, of all suites; each point is visited once a pass.
    pub visits_done: usize,
    /// Visits there are.
    pub visits: usize,
    /// Time it has taken so far.
    pub elapsed_ns: u64,
    /// Time it will still take, by what the visits took so far.
    pub left_ns: u64,
}

/// What to run, and what the record says about it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The suites; cases that are not wanted are left out of them.
    pub suites: Vec<Suite>,
    /// How much to measure.
    pub effort: Effort,
    /// Values of `{dir}` and `{fullbore}`.
    pub places: Parameters,
    /// The command, options without suites, that repeats it: `fullbore lab --quick`.
    pub command: String,
    /// When it began.
    pub started_unix_ns: u64,
    /// Where it runs.
    pub machine: Machine,
    /// Version of the program.
    pub fullbore_version: String,
}

impl Plan {
    /// Names of the programs that take part.
    #[must_use]
    pub fn programs(&self) -> BTreeSet<String> {
        let engines =
            self.suites.iter().flat_map(|suite| &suite.cases).flat_map(|case| &case.engines);
        let named = |need: &Need| match need {
            Need::Program { name, .. } => Some(name.clone()),
            _ => None,
        };
        engines
            .flat_map(|engine| {
                let first = match &engine.run {
                    Run::Words(words) => words.first().filter(|word| !word.contains('{')).cloned(),
                    Run::Builtin { .. } | Run::Line(_) => None,
                };
                engine.needs.iter().filter_map(named).chain(first).collect::<Vec<_>>()
            })
            .collect()
    }

    fn points_of(&self, case: &Case) -> Vec<Parameters> {
        match self.effort {
            Effort::Quick => points(&case.quick_sweep, &case.quick_fixed),
            Effort::Usual | Effort::Runs(_) => points(&case.sweep, &case.fixed),
        }
    }

    /// A case as the record has it, but for its intervals.
    fn case_run(&self, suite: &Suite, case: &Case, points: &[Point<'_>]) -> CaseRun {
        let is_quick = self.effort == Effort::Quick;
        CaseRun {
            name: case.name.clone(),
            title: case.title.clone(),
            about: case.about.clone(),
            command: format!("{} {}/{}", self.command, suite.name, case.name),
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
}

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
        command: format!("{}{}", plan.command, names(&plan.suites)),
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
        began_ns,
        pass: 1,
        passes,
        visits: points * passes as usize,
        visits_done: 0,
        last_done_ns: began_ns,
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

fn names(suites: &[Suite]) -> String {
    suites.iter().fold(String::new(), |names, suite| names + " " + &suite.name)
}

/// The state of a run.
struct Runner<'a> {
    plan: &'a Plan,
    executor: &'a mut dyn Executor,
    onlooker: &'a mut dyn Onlooker,
    stop: &'a AtomicBool,
    record: LabRun,
    began_ns: u64,
    pass: u32,
    passes: u32,
    visits: usize,
    visits_done: usize,
    /// When the last of them was done.
    last_done_ns: u64,
    /// Lines that made files in this pass, and how that went.
    prepared: BTreeMap<String, Result<(), String>>,
    /// What was asked of the machine, and what it lacks.
    needs: BTreeMap<Need, Option<Missing>>,
}

impl Runner<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

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
            self.visits_done += 1;
            self.last_done_ns = self.executor.now_ns();
        }
        let Some(run) = self.record.suites.last_mut().filter(|_| has_visited) else {
            return;
        };
        let done = self.plan.case_run(suite, &suite.cases[place], points);
        match run.cases.get_mut(place) {
            Some(case) => *case = done,
            None => run.cases.push(done),
        }
        let drift = Drifts::of(run);
        if let Some(case) = run.cases.get_mut(place) {
            passes::estimate(case, drift);
        }
        self.record.elapsed_ns = self.executor.now_ns() - self.began_ns;
        self.onlooker.case_done(&self.record);
    }

    fn missing(&mut self, needs: &[Need], parameters: &Parameters) -> Option<Missing> {
        needs.iter().find_map(|need| {
            let need = match need {
                Need::Check { line, what, install } => Need::Check {
                    line: expand(line, parameters).unwrap_or_else(|_| line.clone()),
                    what: what.clone(),
                    install: install.clone(),
                },
                other => other.clone(),
            };
            let known = self.needs.entry(need.clone());
            known.or_insert_with(|| self.executor.missing(&need)).clone()
        })
    }

    fn prepare(&mut self, line: String) -> Result<(), String> {
        if let Some(known) = self.prepared.get(&line) {
            return known.clone();
        }
        let done = self.executor.prepare(&line);
        self.prepared.insert(line, done.clone());
        done
    }

    /// Time the whole run will still take, by what its visits took so far.
    fn left_ns(&mut self, budget: &Budget) -> u64 {
        let left = self.visits.saturating_sub(self.visits_done) as u64;
        if self.visits_done == 0 {
            let passed_ns = self.executor.now_ns() - self.began_ns;
            return budget.usual_visit_ns().saturating_mul(left).saturating_sub(passed_ns);
        }
        let whole_ns = (self.last_done_ns - self.began_ns) / self.visits_done as u64 * left;
        whole_ns.saturating_sub(self.executor.now_ns() - self.last_done_ns)
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

/// The swept values for people: `chunk 64 KiB, busy true`.
#[must_use]
pub fn point_text(sweep: &[crate::suite::Axis], parameters: &Parameters) -> String {
    let part = |axis: &crate::suite::Axis| {
        let value = parameters.0.get(&axis.name)?;
        Some(format!("{} {}", axis.name.replace('_', " "), value_text(axis, value)))
    };
    sweep.iter().filter_map(part).collect::<Vec<_>>().join(", ")
}

/// One swept value for people.
#[must_use]
pub fn value_text(axis: &crate::suite::Axis, value: &Parameter) -> String {
    match value {
        Parameter::Number(bytes) if axis.is_size => fullbore_measure::Bytes(*bytes).to_string(),
        other => other.to_string(),
    }
}
