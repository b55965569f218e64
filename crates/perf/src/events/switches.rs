//! Every switch of the processes that a thread starts.

use std::collections::VecDeque;

use perf_event::events::Software;
use perf_event::{Builder, Clock, SampleFlag};

use super::cpus;
use super::ring::{Ring, complete_until_ns};
use crate::reading::Reading;
use crate::record::{Record, Switch};
use crate::refused::Refused;

/// Memory for records of all CPUs together, in bytes; Linux lets a user without privileges lock 516 KiB for each CPU
/// (`kernel.perf_event_mlock_kb`), over all programs.
const RINGS_BYTES: usize = 4 << 20;
/// … and for one CPU: 10,000 records.
const RING_BYTES_MAX: usize = 256 << 10;
/// The least that is of use: where the user's programs have locked most of what they may.
const RING_BYTES_MIN: usize = 32 << 10;

/// Sees every switch of the processes that the thread which opened it starts afterwards, and of their descendants.
///
/// One descriptor and at most 256 KiB for each CPU. Each switch of a watched thread costs about a microsecond more.
/// Closed when dropped; the processes that are watched do not notice.
#[derive(Debug)]
pub struct Switches {
    rings: Vec<Ring>,
    own: i32,
    /// Read, but later than what is complete.
    pending: VecDeque<Switch>,
}

impl Switches {
    /// Watches what the calling thread starts from now on.
    ///
    /// # Errors
    /// Where Linux refuses perf events or has none; the message says what would allow them.
    pub fn of_descendants() -> Result<Self, Refused> {
        let cpus = cpus::online().map_err(|error| Refused::new("the CPUs are not known", error))?;
        let wanted = (RINGS_BYTES / cpus.len().max(1)).clamp(RING_BYTES_MIN, RING_BYTES_MAX);
        let opened = Self::open(&cpus, wanted).or_else(|_| Self::open(&cpus, RING_BYTES_MIN));
        let rings = opened?;
        Ok(Self { rings, own: std::process::id().cast_signed(), pending: VecDeque::new() })
    }

    fn open(cpus: &[usize], bytes: usize) -> Result<Vec<Ring>, Refused> {
        let mut builder = Builder::new(Software::DUMMY);
        builder.inherit(true).enabled(true).context_switch(true).task(true);
        builder.sample_id_all(true).sample(SampleFlag::TID | SampleFlag::TIME);
        builder.clockid(Clock::MONOTONIC).observe_self();
        Ring::open_all(&mut builder, cpus, bytes)
    }

    /// Reads what happened since the reading before; never waits.
    pub fn read(&mut self) -> Reading {
        let mut reading = Reading { until_ns: complete_until_ns(), ..Reading::default() };
        let mut switches = std::mem::take(&mut self.pending);
        for ring in &mut self.rings {
            ring.drain(|kind, misc, body| match Record::parse(kind, misc, body) {
                Some(Record::Switch(switch)) if switch.pid != self.own => {
                    switches.push_back(switch);
                }
                Some(Record::Lost(count)) => reading.lost += count,
                _ => {}
            });
        }
        let switches_in_order = switches.make_contiguous();
        switches_in_order.sort_by_key(|switch| switch.at_ns);
        let complete = switches_in_order.partition_point(|switch| switch.at_ns <= reading.until_ns);
        self.pending = switches.split_off(complete);
        reading.switches = switches.into();
        reading
    }
}
