//! One point of a sweep: check every engine's answer, then, in each pass, run them in turn, A B C A B C …, until enough
//! is known.

use super::answers;
use super::budget::{Budget, Limit};
use super::entrant::{Entrant, Taken};
use super::plan::{Plan, Progress, point_text};
use super::state::Runner;
use super::summary;
use crate::executor::{Program, Purpose, Trial};
use crate::record::{Effort, Outcome, PointRun, Stopped};
use crate::suite::{Answer, Case, Engine, Run, Suite, expand};
use crate::{EngineError, Job, Parameters, TrialResult, engines};

/// A point of a sweep, and what is known about it so far.
pub(super) struct Point<'a> {
    case: &'a Case,
    /// `suite/case`
    name: String,
    /// The swept values, for people.
    text: String,
    /// Only what is swept: the rest is the same at all points.
    swept: Parameters,
    /// Everything that may stand in a line.
    parameters: Parameters,
    entrants: Vec<Entrant<'a>>,
    /// Rounds of each pass.
    passes: Vec<u32>,
    /// Why there are no more; `None` as long as no visit is done.
    stopped: Option<Stopped>,
}

impl<'a> Point<'a> {
    pub(super) fn new(
        plan: &Plan,
        suite: &Suite,
        case: &'a Case,
        own: &Parameters,
        limit_ns: u64,
    ) -> Self {
        let is_swept = |name: &String| case.sweep.iter().any(|axis| axis.name == *name);
        let kept = own.0.iter().filter(|(name, _)| is_swept(name));
        let swept = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut parameters = own.clone();
        parameters.0.extend(plan.places.0.clone());
        Self {
            case,
            name: format!("{}/{}", suite.name, case.name),
            text: point_text(&case.sweep, own),
            swept: Parameters(swept),
            entrants: enter(case, &parameters, limit_ns),
            parameters,
            passes: Vec::new(),
            stopped: None,
        }
    }

    /// Measures all engines for one pass; `None` when it was stopped before that was done, and nothing of it counts.
    pub(super) fn visit(&mut self, runner: &mut Runner<'_>, budget: &mut Budget) -> Option<()> {
        if runner.is_stopped() {
            return None;
        }
        let now_ns = runner.executor.now_ns();
        let limit = budget.next(now_ns, self.round_ns());
        if self.stopped.is_some() && self.is_out() {
            return Some(());
        }
        let Some(limit) = limit else {
            self.leave_out();
            return Some(());
        };
        let known = self.rounds();
        if self.measure(runner, limit, budget).is_none() {
            self.entrants.iter_mut().for_each(|entrant| entrant.taken.keep(known));
            return None;
        }
        Some(())
    }

    /// The point as the record has it, but for its intervals; `None` as long as no visit is done.
    pub(super) fn run(&self) -> Option<PointRun> {
        Some(PointRun {
            parameters: self.swept.clone(),
            rounds: self.rounds(),
            passes: self.passes.clone(),
            stopped: self.stopped?,
            engines: summary::engines(&self.entrants),
        })
    }

    fn rounds(&self) -> u32 {
        self.passes.iter().sum()
    }

    /// What a round takes: once each engine.
    fn round_ns(&self) -> u64 {
        self.entrants.iter().map(|entrant| entrant.taken.last_ns()).sum()
    }

    fn is_out(&self) -> bool {
        self.entrants.iter().all(|entrant| entrant.out.is_some())
    }

    /// There is no time for a visit.
    fn leave_out(&mut self) {
        if self.stopped.is_none() {
            let others = self.entrants.iter_mut().filter(|entrant| entrant.out.is_none());
            others.for_each(|entrant| entrant.out = Some(Outcome::NoTime));
        }
        self.stopped = Some(Stopped::Budget);
    }

    fn measure(&mut self, runner: &mut Runner<'_>, limit: Limit, budget: &Budget) -> Option<()> {
        let (case, known) = (self.case, self.rounds());
        let seen = Seen { name: &self.name, point: &self.text, budget };
        let (parameters, entrants) = (&self.parameters, &mut self.entrants);
        let is_first = self.stopped.is_none();
        if is_first {
            available(runner, parameters, entrants);
        }
        prepare(runner, case, parameters, entrants);
        if is_first {
            check(runner, case, parameters, entrants, &seen)?;
        }
        let (rounds, stopped) = rounds(runner, case, entrants, known, limit, &seen)?;
        if rounds > 0 {
            self.passes.push(rounds);
        }
        self.stopped = Some(stopped);
        Some(())
    }
}

/// What an onlooker is told at each trial.
struct Seen<'a> {
    name: &'a str,
    point: &'a str,
    budget: &'a Budget,
}

fn enter<'a>(case: &'a Case, parameters: &Parameters, limit_ns: u64) -> Vec<Entrant<'a>> {
    let enter = |engine: &'a Engine| {
        let trial = trial(case, engine, parameters, limit_ns);
        let (trial, out) = match trial {
            Ok(trial) => (Some(trial), None),
            Err(why) => (None, Some(Outcome::Failed { why })),
        };
        Entrant { engine, trial, taken: Taken::default(), out }
    };
    case.engines.iter().map(enter).collect()
}

fn trial(
    case: &Case,
    engine: &Engine,
    parameters: &Parameters,
    limit_ns: u64,
) -> Result<Trial, String> {
    let fill = |text: &String| expand(text, parameters).map_err(|unknown| unknown.to_string());
    let amount =
        |text: Option<&String>| text.map(|text| crate::suite::product(&fill(text)?)).transpose();
    let program = match &engine.run {
        Run::Builtin { engine, parameters: own } => {
            let own =
                crate::suite::filled(own, parameters).map_err(|unknown| unknown.to_string())?;
            let told = match engines::find(engine) {
                Ok(known) => known.told(parameters, &own),
                Err(_) => own, // it says itself that there is no such engine
            };
            Program::Builtin(Job { engine: engine.clone(), parameters: told })
        }
        Run::Words(words) => Program::Words(words.iter().map(fill).collect::<Result<_, _>>()?),
        Run::Line(line) => Program::Line(fill(line)?),
    };
    Ok(Trial {
        program,
        purpose: Purpose::Check(case.answer_from),
        sink: case.sink,
        time_from: case.time_from,
        bytes: amount(engine.bytes.as_ref().or(case.bytes.as_ref()))?,
        operations: amount(engine.operations.as_ref().or(case.operations.as_ref()))?,
        limit_ns,
    })
}

fn available(runner: &mut Runner<'_>, parameters: &Parameters, entrants: &mut [Entrant<'_>]) {
    let is_quick = runner.plan.effort == Effort::Quick;
    for entrant in entrants.iter_mut().filter(|entrant| entrant.out.is_none()) {
        if let (true, Some(why)) = (is_quick, &entrant.engine.not_quick) {
            let (what, remedy) = (why.clone(), "run it without --quick".to_owned());
            entrant.out = Some(Outcome::NotAvailable { what, remedy });
        } else if let Some(missing) = runner.missing(&entrant.engine.needs, parameters) {
            entrant.out =
                Some(Outcome::NotAvailable { what: missing.what, remedy: missing.remedy });
        }
    }
}

/// Makes the files of the point; without them nobody can run.
fn prepare(
    runner: &mut Runner<'_>,
    case: &Case,
    parameters: &Parameters,
    entrants: &mut [Entrant<'_>],
) {
    if entrants.iter().all(|entrant| entrant.out.is_some()) {
        return;
    }
    let done = case.setup.iter().try_for_each(|line| {
        let line = expand(line, parameters).map_err(|unknown| unknown.to_string())?;
        runner.prepare(line)
    });
    if let Err(why) = done {
        for entrant in entrants.iter_mut().filter(|entrant| entrant.out.is_none()) {
            entrant.out = Some(Outcome::Failed { why: format!("setup: {why}") });
        }
    }
}

/// Runs each engine once without counting its time; engines with a wrong answer are out.
fn check(
    runner: &mut Runner<'_>,
    case: &Case,
    parameters: &Parameters,
    entrants: &mut [Entrant<'_>],
    seen: &Seen<'_>,
) -> Option<()> {
    for entrant in entrants.iter_mut() {
        let purpose = Purpose::Check(case.answer_from);
        if let Some(sample) = run(runner, entrant, purpose, 0, seen)? {
            entrant.taken.check = Some(sample);
        }
    }
    if case.answer != Answer::Unchecked {
        let wanted = match &case.answer {
            Answer::Literal(text) => {
                Some(expand(text, parameters).unwrap_or_else(|_| text.clone()))
            }
            Answer::Same | Answer::Unchecked => None,
        };
        answers::judge(entrants, wanted);
    }
    Some(())
}

/// Runs one trial of an engine that is not out. The outer `None`: it was stopped; the inner: the engine is out.
fn run(
    runner: &mut Runner<'_>,
    entrant: &mut Entrant<'_>,
    purpose: Purpose,
    round: u32,
    seen: &Seen<'_>,
) -> Option<Option<TrialResult>> {
    if runner.is_stopped() {
        return None;
    }
    let (None, Some(trial)) = (&entrant.out, &entrant.trial) else {
        return Some(None);
    };
    let left_ns = runner.left_ns(seen.budget);
    runner.onlooker.progress(&Progress {
        case: seen.name,
        engine: &entrant.engine.label,
        point: seen.point,
        pass: runner.pass,
        passes: runner.passes,
        round,
        visits_done: runner.visits.done,
        visits: runner.visits.all,
        elapsed_ns: runner.executor.now_ns() - runner.visits.began_ns,
        left_ns,
    });
    let result = runner.executor.run(&Trial { purpose, ..trial.clone() });
    if runner.is_stopped() {
        return None; // what it found may be the work of the signal
    }
    Some(match result {
        Ok(sample) => Some(sample),
        Err(EngineError::Unavailable { what, remedy }) => {
            entrant.out = Some(Outcome::NotAvailable { what, remedy });
            None
        }
        Err(EngineError::Failed(why)) => {
            entrant.out = Some(Outcome::Failed { why });
            None
        }
    })
}

/// Rounds, after the `known` ones of earlier passes, until the limit says stop; `None` when it was stopped from outside
/// before that.
fn rounds(
    runner: &mut Runner<'_>,
    case: &Case,
    entrants: &mut [Entrant<'_>],
    known: u32,
    mut limit: Limit,
    seen: &Seen<'_>,
) -> Option<(u32, Stopped)> {
    let mut rounds = 0;
    loop {
        if entrants.iter().all(|entrant| entrant.out.is_some()) {
            return Some((rounds, Stopped::Nothing));
        }
        let began_ns = runner.executor.now_ns();
        for entrant in entrants.iter_mut() {
            let Some(sample) = run(runner, entrant, Purpose::Time, known + rounds + 1, seen)?
            else {
                continue;
            };
            take(case, entrant, sample);
        }
        rounds += 1;
        let now_ns = runner.executor.now_ns();
        let estimates = || summary::estimates(case, entrants);
        if let Some(stopped) = limit.stops(rounds, now_ns, now_ns - began_ns, estimates) {
            return Some((rounds, stopped));
        }
    }
}

/// Counts a trial, unless its answer is wrong.
fn take(case: &Case, entrant: &mut Entrant<'_>, sample: TrialResult) {
    // Programs answer only when they are checked.
    if !entrant.engine.is_unchecked
        && let (Some(found), Some(expected)) = (&sample.answer, entrant.taken.expected.clone())
    {
        let found = found.clone();
        answers::hold(entrant, &found, &expected);
    }
    if entrant.out.is_some() {
        return;
    }
    match summary::value(&case.quantity, &sample) {
        Some(value) => entrant.taken.add(value, sample),
        None => {
            let why = format!("a trial did not tell {}", summary::wanted(&case.quantity));
            entrant.out = Some(Outcome::Failed { why });
        }
    }
}
