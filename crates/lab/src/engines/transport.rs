//! Engine `transport`: ways to pass messages from one process to another.
//!
//! | parameter | values | default | |
//! |---|---|---|---|
//! | `kind` | `pipe` `socketpair-stream` `unix-stream` `unix-datagram` `tcp` `shm-futex` `shm-spin` `eventfd` `mqueue` `uring-pipe` | `pipe` | what they go through |
//! | `task` | `throughput` `latency` | `throughput` | one way; there and back, one at a time |
//! | `message` | 64 B … 1 MiB | 64 KiB | bytes of a message; `eventfd` carries no bytes |
//! | `total` | 64 B or more | 1 GiB | bytes of a throughput trial, rounded up to whole messages |
//! | `trips` | 1 or more | 100,000 | timed round trips of a latency trial, after 200 that are not |
//! | `buffer` | 4 KiB … 1 GiB, a power of two | 64 KiB | capacity of the pipe or the shared ring; sockets and queues keep the kernel's |
//! | `pin` | `none` `same` `neighbours` | `none` | CPUs of both processes |
//! | `limit` | 1 … 3600 s | 120 | |
//!
//! `unix-stream` is a listening socket with an abstract name that was connected to, `tcp` is on 127.0.0.1 without Nagle's
//! delay, `shm-*` is a ring in memory that both processes map, where an empty or full ring is waited for with futex(2) or
//! by looking again and again; `uring-pipe` passes one write and one read at a time through io_uring to a pipe.
//!
//! Each message begins with its number, which the receiver compares: the answer is `ok`, or how many were wrong.
//! Every receiver has the message in memory of its own at the end.

mod channel;
mod latency;
mod mqueue;
mod shm;
mod uring;
mod wire;

use super::peers::{Peers, Report, failed};
use super::seat::{Seat, sample};
use super::{Builtin, LIMIT, PIN, Spec, place, size, wrong};
use crate::{EngineError, Parameters, Sample};
use channel::Channel;

/// The engine.
pub(super) const ENGINE: Builtin = Builtin {
    name: "transport",
    about: "ways to pass messages from one process to another",
    parameters: &[
        Spec::text(
            "kind",
            &[
                "pipe",
                "socketpair-stream",
                "unix-stream",
                "unix-datagram",
                "tcp",
                "shm-futex",
                "shm-spin",
                "eventfd",
                "mqueue",
                "uring-pipe",
            ],
            "what they go through",
        ),
        Spec::text("task", &["throughput", "latency"], "one way, or there and back"),
        Spec::number("message", "bytes", (64, 1 << 20), 64 << 10, "a message"),
        Spec::number("total", "bytes", (64, u64::MAX), 1 << 30, "throughput: bytes that pass"),
        Spec::number("trips", "round trips", (1, u64::MAX), 100_000, "latency: how many are timed"),
        Spec::number("buffer", "bytes", (4096, 1 << 30), 64 << 10, "capacity of the pipe or ring"),
        PIN,
        LIMIT,
    ],
    run,
};

/// Part of the process that sends, or sends first.
pub(super) const NEAR: &str = "transport-near";
/// Part of the process that receives, or sends back.
pub(super) const FAR: &str = "transport-far";

/// Round trips before the timed ones.
const WARM_UP_TRIPS: u64 = 200;

/// The parameters, as both sides use them.
#[derive(Debug)]
struct Plan {
    kind: String,
    is_latency: bool,
    message: usize,
    /// Messages one way, or timed round trips.
    count: u64,
    buffer: usize,
}

impl Plan {
    fn new(parameters: &Parameters) -> Result<Self, EngineError> {
        let kind = parameters.text("kind")?.to_owned();
        let is_latency = parameters.text("task")? == "latency";
        let message = size(parameters.number("message")?)?;
        let buffer = size(parameters.number("buffer")?)?;
        if !buffer.is_power_of_two() {
            return Err(wrong(format!("transport: buffer = {buffer}: must be a power of two")));
        }
        if kind == "eventfd" && !is_latency {
            return Err(wrong("transport: eventfd carries no bytes; use task = latency"));
        }
        let count = match is_latency {
            true => parameters.number("trips")?,
            false => parameters.number("total")?.div_ceil(message as u64),
        };
        Ok(Self { kind, is_latency, message, count, buffer })
    }
}

fn run(parameters: &Parameters) -> Result<Sample, EngineError> {
    let plan = Plan::new(parameters)?;
    let [near, far] = wire::lay(&plan)?;
    let parts = [("near", NEAR, near), ("far", FAR, far)];
    let reports = Peers::start(parts, parameters)?.run()?;
    // Who has everything at the end: the sender has its echo, or the receiver all messages.
    Ok(sample(["near", "far"], reports, usize::from(!plan.is_latency)))
}

/// The process that sends, or sends first.
pub(super) fn near_side(seat: &mut Seat) -> Result<Report, EngineError> {
    let (plan, mut channel) = sit_down(seat, 0)?;
    if plan.is_latency {
        return latency::ask(&plan, channel.as_mut(), seat);
    }
    let mut message = vec![0; plan.message];
    let begun = seat.begin()?;
    for number in 0..plan.count {
        message[..8].copy_from_slice(&number.to_le_bytes());
        channel.send(&message).map_err(|e| failed("send", &e))?;
    }
    Ok(report(&plan, begun.end(), None))
}

/// The process that receives, or sends back.
pub(super) fn far_side(seat: &mut Seat) -> Result<Report, EngineError> {
    let (plan, mut channel) = sit_down(seat, 1)?;
    if plan.is_latency {
        return latency::reply(&plan, channel.as_mut(), seat);
    }
    let mut message = vec![0; plan.message];
    let mut wrong = 0_u64;
    let begun = seat.begin()?;
    for number in 0..plan.count {
        channel.receive(&mut message).map_err(|e| failed("receive", &e))?;
        wrong += u64::from(message[..8] != number.to_le_bytes());
    }
    Ok(report(&plan, begun.end(), Some(wrong)))
}

fn sit_down(seat: &mut Seat, number: usize) -> Result<(Plan, Box<dyn Channel>), EngineError> {
    let plan = Plan::new(&seat.parameters)?;
    place::pin(&seat.parameters, number)?;
    let (input, output) = (seat.descriptor()?, seat.descriptor()?);
    let channel = channel::open(&plan, input, output)?;
    Ok((plan, channel))
}

fn report(plan: &Plan, usage: super::clock::Usage, wrong: Option<u64>) -> Report {
    Report {
        usage,
        bytes: Some(plan.count * plan.message as u64),
        operations: Some(plan.count),
        answer: wrong.map(|wrong| answer(wrong, plan.count)),
        latency: None,
    }
}

/// `ok`, or how many messages were wrong.
fn answer(wrong: u64, count: u64) -> String {
    if wrong == 0 { "ok".to_owned() } else { format!("{wrong} of {count} messages wrong") }
}
