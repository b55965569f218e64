//! The chain of jobs that a workflow could not have been shorter than, as far as times tell.
//!
//! Records do not say which job waited for which. The chain begins at the end: before each job in it comes the one that ended
//! last before that job began. Clocks of hosts may differ by seconds, so jobs of different hosts may overlap a little.

use crate::jobs::{Job, Jobs};

/// Jobs of one host follow each other to this precision.
const SAME_CLOCK_NS: u64 = 50_000_000;

/// Clocks of hosts differ by this much, at most one part in a hundred of the whole.
const OTHER_CLOCK_NS: u64 = 5_000_000_000;
const OTHER_CLOCK_PART: u64 = 100;

/// The chain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    /// Its jobs, the last one first, with the time that each adds in nanoseconds.
    pub(crate) links: Vec<(usize, u64)>,
    /// First start and last end, in nanoseconds since 1970.
    pub(crate) span: Option<(u64, u64)>,
    /// Time in which no job ran at all, in nanoseconds.
    pub(crate) idle_ns: u64,
}

impl Chain {
    /// From the first start to the last end, in nanoseconds; 0 when unknown.
    pub(crate) fn span_ns(&self) -> u64 {
        self.span.map_or(0, |(start, end)| end - start)
    }
}

/// Finds the chain.
pub(crate) fn chain(jobs: &Jobs<'_>) -> Chain {
    // A recipe that calls make lasts as long as the jobs of that make, which are here, too.
    let starts_jobs = |job: &Job<'_>| jobs.rules[job.rule].starts_jobs;
    let all_do = jobs.all.iter().all(starts_jobs);
    let mut spans: Vec<(u64, u64, usize)> = jobs
        .all
        .iter()
        .enumerate()
        .filter(|(_, job)| all_do || !starts_jobs(job))
        .filter_map(|(place, job)| job.span().map(|(start, end)| (start, end, place)))
        .collect();
    let first = spans.iter().map(|(start, ..)| *start).min();
    let last = spans.iter().map(|(_, end, _)| *end).max();
    let Some(span) = first.zip(last) else { return Chain::default() };
    let idle_ns = idle(&mut spans);
    spans.sort_unstable_by_key(|(_, end, _)| *end);
    let slack = OTHER_CLOCK_NS.min((span.1 - span.0) / OTHER_CLOCK_PART);
    let mut links = Vec::new();
    let mut next = spans.len().checked_sub(1);
    let mut until = span.1;
    while let Some(at) = next {
        let (start, end, place) = spans[at];
        links.push((place, end.min(until).saturating_sub(start)));
        until = start;
        let host = jobs.all[place].host;
        next = before(jobs, &spans[..at], start, host, slack);
    }
    Chain { links, span: Some(span), idle_ns }
}

/// Among jobs sorted by their end, the last one that ended before `start` and began before it, too.
fn before(
    jobs: &Jobs<'_>,
    spans: &[(u64, u64, usize)],
    start: u64,
    host: usize,
    slack: u64,
) -> Option<usize> {
    let bound = start.saturating_add(slack.max(SAME_CLOCK_NS));
    let count = spans.partition_point(|(_, end, _)| *end <= bound);
    spans[..count].iter().rposition(|(began, end, place)| {
        let allowed = if jobs.all[*place].host == host { SAME_CLOCK_NS } else { slack };
        *began < start && *end <= start.saturating_add(allowed)
    })
}

/// Time between the first start and the last end in which no job ran, in nanoseconds.
fn idle(spans: &mut [(u64, u64, usize)]) -> u64 {
    spans.sort_unstable_by_key(|(start, ..)| *start);
    let mut idle = 0;
    let mut busy_until = spans.first().map_or(0, |(start, ..)| *start);
    for (start, end, _) in spans {
        idle += start.saturating_sub(busy_until);
        busy_until = busy_until.max(*end);
    }
    idle
}
