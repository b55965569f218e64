//! Engine `transport`: ways to pass messages from one process to another.
//!
//! | parameter | values | default | |
//! |---|---|---|---|
//! | `kind` | `pipe` `socketpair-stream` `unix-stream` `unix-datagram` `tcp` `shm-futex` `shm-spin` `eventfd` `mqueue` `uring-pipe` | `pipe` | what they go through |
//! | `task` | `throughput` `latency` | `throughput` | one way; there and back, one at a time |
//! | `message` | 64 B … 1 MiB | 64 KiB | bytes of a message; `eventfd` carries no bytes, and is measured with 64 B only |
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
//! Two sides of `shm-spin` on the same CPU are refused: each would wait for the end of the other's time slice.
//!
//! Each message begins with its number, which the receiver compares: the answer is `ok`, or how many were wrong.
//! Every receiver has the message in memory of its own at the end.

mod channel;
mod latency;
mod mqueue;
mod plan;
mod shm;
mod uring;
mod wire;

use std::os::fd::OwnedFd;

use super::builtin::{Builtin, LIMIT, PIN};
use super::peers::{Peers, Report, failed};
use super::place;
use super::seat::{Seat, sample};
use super::spec::Spec;
use crate::{EngineError, Parameters, TrialResult};
use channel::Channel;
use plan::{LEAST_MESSAGE, Plan, report};

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
        Spec::number("message", "bytes", (LEAST_MESSAGE as u64, 1 << 20), 64 << 10, "a message"),
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

fn run(parameters: &Parameters) -> Result<TrialResult, EngineError> {
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

/// The side's channel over the descriptors it was given.
fn open(plan: &Plan, input: OwnedFd, output: OwnedFd) -> Result<Box<dyn Channel>, EngineError> {
    Ok(match plan.kind.as_str() {
        "unix-datagram" => Box::new(channel::Datagrams { input, output }),
        "eventfd" => Box::new(channel::Events { input, output }),
        "mqueue" => Box::new(mqueue::Queues::open(input, output)),
        "shm-futex" => Box::new(shm::Rings::open(&input, &output, shm::Wait::Futex)?),
        "shm-spin" => Box::new(shm::Rings::open(&input, &output, shm::Wait::Spin)?),
        "uring-pipe" => Box::new(uring::Uring::open(input, output)?),
        _ => Box::new(channel::Stream { input, output }),
    })
}

fn sit_down(seat: &mut Seat, number: usize) -> Result<(Plan, Box<dyn Channel>), EngineError> {
    let plan = Plan::new(&seat.parameters)?;
    place::pin(&seat.parameters, number)?;
    let (input, output) = (seat.descriptor()?, seat.descriptor()?);
    let channel = open(&plan, input, output)?;
    Ok((plan, channel))
}
