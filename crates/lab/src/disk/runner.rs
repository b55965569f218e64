//! Who runs when: all workloads in turn, pass after pass, each pass beginning with the next one, so that what a workload leaves
//! behind on the device meets each of the others. It knows neither clocks nor processes; a [`Tester`] runs the passes.

use std::sync::atomic::{AtomicBool, Ordering};

use super::job::Job;
use super::record::{DiskRun, PassRun, SCHEMA, Target, WorkloadRun};
use super::summary::summarise;
use super::{DiskSuite, record};
use crate::record::{Effort, Machine};

/// Runs one pass of one workload.
pub trait Tester {
    /// What does the requests: `fio-3.33`.
    fn version(&self) -> String;

    /// The time since it was made, in ms.
    fn now_ms(&self) -> u64;

    /// Runs a job to its end; `tick` is called several times a second with the ms since its start.
    ///
    /// # Errors
    /// Why there is no result.
    fn pass(&mut self, job: &Job, tick: &mut dyn FnMut(u64)) -> Result<PassRun, String>;
}

/// Everything that is known before the first pass.
#[derive(Clone, Debug)]
pub struct DiskPlan {
    /// What is measured.
    pub suite: DiskSuite,
    /// The jobs of its workloads.
    pub jobs: Vec<Job>,
    /// The job that comes before the first pass.
    pub steady: Option<Job>,
    /// The command that repeats it.
    pub command: String,
    /// A name for it in comparisons.
    pub label: Option<String>,
    /// How much is measured.
    pub effort: Effort,
    /// When it began.
    pub started_unix_ns: u64,
    /// Where.
    pub machine: Machine,
    /// On what.
    pub target: Target,
    /// Hosts of `fio --client`.
    pub hosts: Vec<String>,
    /// Version of the program.
    pub fullbore_version: String,
    /// What must be known about the numbers.
    pub notes: Vec<String>,
}

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskProgress<'a> {
    /// Name of the workload.
    pub workload: &'a str,
    /// The pass, from 1; zero before the first.
    pub pass: u32,
    /// All passes.
    pub passes: u32,
    /// Time spent, in ms.
    pub done_ms: u64,
    /// Time expected in all.
    pub whole_ms: u64,
}

/// Is told what happens.
pub trait DiskOnlooker {
    /// Several times a second.
    fn progress(&mut self, progress: &DiskProgress<'_>);

    /// After each pass of a workload.
    fn pass_done(&mut self, run: &DiskRun);
}

/// What fio needs beside the time of its job, in ms: to start and to end, of which a part shows only at the end.
const AROUND_MS: u64 = 700;

/// Measures; what was measured until `stop` or a failure is kept.
pub fn run(
    plan: &DiskPlan,
    tester: &mut dyn Tester,
    onlooker: &mut dyn DiskOnlooker,
    stop: &AtomicBool,
) -> DiskRun {
    let mut run = empty(plan, tester.version());
    let mut clock = Clock::new(plan);
    if let Some(steady) = &plan.steady {
        clock.begin(plan.suite.timing.steady_limit_s * 1000);
        let found = tester.pass(steady, &mut |ms| clock.tick(ms, steady, 0, plan, onlooker));
        clock.end();
        run.notes.push(told_of_steady(&found));
    }
    let began_ms = tester.now_ms();
    for pass in 0..plan.suite.timing.passes {
        if let Some(note) = too_late(plan, pass, began_ms, tester.now_ms()) {
            run.notes.push(note);
            run.is_complete = true;
            onlooker.pass_done(&run);
            break;
        }
        for place in order(plan.jobs.len(), pass) {
            if stop.load(Ordering::Relaxed) {
                run.elapsed_ns = tester.now_ms() * 1_000_000;
                return run;
            }
            if run.workloads[place].trouble.is_some() {
                continue;
            }
            let job = &plan.jobs[place];
            clock.begin(plan.suite.timing.pass_s() * 1000 + AROUND_MS);
            let found = tester.pass(job, &mut |ms| clock.tick(ms, job, pass + 1, plan, onlooker));
            clock.end();
            match found {
                Ok(found) => run.workloads[place].passes.push(found),
                Err(_) if stop.load(Ordering::Relaxed) => continue,
                Err(why) => run.workloads[place].trouble = Some(why),
            }
            run.elapsed_ns = tester.now_ms() * 1_000_000;
            run.is_complete = pass + 1 == plan.suite.timing.passes
                && run
                    .workloads
                    .iter()
                    .all(|w| w.trouble.is_some() || w.passes.len() == pass as usize + 1);
            summarise(&mut run);
            onlooker.pass_done(&run);
        }
    }
    run
}

/// Whether a further pass would exceed the time of the whole run, and what is said then. On a busy machine fio takes seconds to start.
fn too_late(plan: &DiskPlan, pass: u32, began_ms: u64, now_ms: u64) -> Option<String> {
    let limit_ms = plan.suite.timing.limit_s.filter(|_| pass > 0)? * 1000;
    let of_a_pass_ms = now_ms.saturating_sub(began_ms) / u64::from(pass);
    (now_ms + of_a_pass_ms > limit_ms).then(|| {
        format!(
            "{pass} of {} passes: the machine was busy, and a pass took {} s",
            plan.suite.timing.passes,
            of_a_pass_ms / 1000
        )
    })
}

/// The order of a pass: each begins one further on.
fn order(workloads: usize, pass: u32) -> impl Iterator<Item = usize> {
    (0..workloads).map(move |place| (place + pass as usize) % workloads)
}

fn told_of_steady(found: &Result<PassRun, String>) -> String {
    match found {
        Ok(pass) => {
            let write = pass.directions.iter().map(|run| run.runtime_ms).max().unwrap_or(0);
            format!(
                "before the first pass the device was written at random for {} s to reach a steady state",
                write / 1000
            )
        }
        Err(why) => format!("the device was not brought to a steady state: {why}"),
    }
}

fn empty(plan: &DiskPlan, tester: String) -> DiskRun {
    let workloads = plan.jobs.iter().map(|job| WorkloadRun {
        name: job.name.clone(),
        title: job.title.clone(),
        stands_for: job.stands_for.clone(),
        options: job.options.clone(),
        command: job.command(),
        passes: Vec::new(),
        trouble: None,
        summaries: Vec::new(),
    });
    let warning = plan
        .suite
        .warning
        .as_ref()
        .map(|warning| format!("profile {}: {warning}", plan.suite.profile));
    record::DiskRun {
        schema: SCHEMA.to_owned(),
        fullbore_version: plan.fullbore_version.clone(),
        label: plan.label.clone(),
        command: plan.command.clone(),
        started_unix_ns: plan.started_unix_ns,
        elapsed_ns: 0,
        is_complete: false,
        effort: Some(plan.effort),
        profile: plan.suite.profile.clone(),
        tester,
        hosts: plan.hosts.clone(),
        machine: Some(plan.machine.clone()),
        target: Some(plan.target.clone()),
        workloads: workloads.collect(),
        notes: warning.into_iter().chain(plan.notes.iter().cloned()).collect(),
    }
}

/// Time as the passes tell it.
struct Clock {
    done_ms: u64,
    now_ms: u64,
    expected_ms: u64,
    left_ms: u64,
}

impl Clock {
    fn new(plan: &DiskPlan) -> Self {
        let passes = u64::from(plan.suite.timing.passes) * plan.jobs.len() as u64;
        let steady = plan.steady.as_ref().map_or(0, |_| plan.suite.timing.steady_limit_s * 1000);
        let left_ms = passes * (plan.suite.timing.pass_s() * 1000 + AROUND_MS) + steady;
        Self { done_ms: 0, now_ms: 0, expected_ms: 0, left_ms }
    }

    fn begin(&mut self, expected_ms: u64) {
        self.expected_ms = expected_ms;
        self.now_ms = 0;
    }

    fn end(&mut self) {
        self.done_ms += self.now_ms;
        self.left_ms = self.left_ms.saturating_sub(self.expected_ms);
        self.now_ms = 0;
    }

    fn tick(
        &mut self,
        ms: u64,
        job: &Job,
        pass: u32,
        plan: &DiskPlan,
        onlooker: &mut dyn DiskOnlooker,
    ) {
        self.now_ms = ms;
        let left = self.left_ms.saturating_sub(ms.min(self.expected_ms));
        onlooker.progress(&DiskProgress {
            workload: &job.name,
            pass,
            passes: plan.suite.timing.passes,
            done_ms: self.done_ms + ms,
            whole_ms: self.done_ms + ms + left,
        });
    }
}

#[cfg(test)]
mod tests;
