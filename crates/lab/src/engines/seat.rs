//! A side's place in a trial: what it was given, and the moment at which it may begin.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, set_parent_process_death_signal};

use super::clock::Begun;
use super::counters::Counters;
use super::peers::{Report, Saying, Task, failed, receive, send};
use crate::{EngineError, Parameters, Side, TrialResult};

/// A side that is ready waits this long without sleeping; setting the other one up takes less, as a rule.
const WAKEFUL: Duration = Duration::from_millis(100);

/// What a side was given.
#[derive(Debug)]
pub(super) struct Seat {
    control: OwnedFd,
    /// All parameters of the engine.
    pub(super) parameters: Parameters,
    descriptors: std::vec::IntoIter<OwnedFd>,
}

/// What a side of a trial does: one function for each part that an engine hands out.
pub(super) type Role = fn(&mut Seat) -> Result<Report, EngineError>;

/// Does one side of a trial, by the function that `roles` has for its part: takes the task from standard input, and
/// reports there.
///
/// # Errors
/// When standard input is not the socket of a trial. What goes wrong in the trial is reported, not returned.
pub(super) fn serve(roles: &[(&str, Role)]) -> Result<(), EngineError> {
    // Refused nowhere; without it, a side would outlive a coordinator that is killed.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|e| failed("signal of the parent's death", &e.into()))?;
    let control = std::io::stdin().as_fd().try_clone_to_owned();
    let control = control.map_err(|e| failed("standard input", &e))?;
    let taken = receive::<Task>(&control).map_err(|e| failed("standard input", &e))?;
    let (task, descriptors) =
        taken.ok_or_else(|| EngineError::Failed("no task on standard input".to_owned()))?;
    let role = roles.iter().find(|(name, _)| *name == task.role);
    let mut seat =
        Seat { control, parameters: task.parameters, descriptors: descriptors.into_iter() };
    let outcome = match role {
        Some((_, role)) => role(&mut seat),
        None => Err(EngineError::Failed(format!("no part {}", task.role))),
    };
    let saying = match outcome {
        Ok(report) => Saying::Done(Box::new(report)),
        Err(error) => Saying::Failed(error),
    };
    send(&seat.control, &saying, &[]).map_err(|e| failed("report", &e))
}

impl Seat {
    /// The next of the descriptors that came with the task.
    pub(super) fn descriptor(&mut self) -> Result<OwnedFd, EngineError> {
        self.descriptors
            .next()
            .ok_or_else(|| EngineError::Failed("a descriptor is missing".to_owned()))
    }

    /// Says that all is set up, waits until the other side is, too, and starts the clocks.
    pub(super) fn begin(&self) -> Result<Begun, EngineError> {
        let counters =
            if self.parameters.flag("counters")? { Counters::open() } else { Counters::none() };
        send(&self.control, &Saying::Ready, &[]).map_err(|e| failed("coordinator", &e))?;
        // Asleep, both would be woken on one CPU, and stay there for a while: a shell starts stages that run.
        let until = Instant::now() + WAKEFUL;
        while Instant::now() < until && !has_message(&self.control) {}
        match receive::<()>(&self.control).map_err(|e| failed("coordinator", &e))? {
            Some(_) => Ok(Begun::process(counters)),
            None => Err(EngineError::Failed("the coordinator ended".to_owned())),
        }
    }
}

fn has_message(control: &OwnedFd) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(control, PollFlags::IN)], Some(&now)) != Ok(0)
}

/// One sample from the reports of both sides; the time ends with the side number `last`, which has everything then.
pub(super) fn sample(names: [&str; 2], reports: [Report; 2], last: usize) -> TrialResult {
    let start = reports.iter().map(|report| report.usage.start_ns).min().unwrap_or(0);
    let mut sample = TrialResult {
        elapsed_ns: reports[last].usage.end_ns.saturating_sub(start),
        bytes: reports[last].bytes,
        operations: reports[last].operations,
        answer: reports[last].answer.clone(),
        latency: reports[last].latency.clone(),
        ..TrialResult::default()
    };
    for (name, report) in names.into_iter().zip(&reports) {
        let usage = &report.usage;
        sample.sides.push(Side {
            name: name.to_owned(),
            cpu_ns: usage.cpu_ns,
            peak_memory_bytes: usage.peak_memory_bytes,
        });
        for (counter, value) in usage.counters() {
            // Both sides together, when both are known.
            let sum = match sample.counters.get(&counter) {
                None => value,
                Some(other) => other.zip(value).map(|(one, other)| one + other),
            };
            sample.counters.insert(format!("{name}_{counter}"), value);
            sample.counters.insert(counter, sum);
        }
        sample.missing.extend(usage.missing());
    }
    sample
}
