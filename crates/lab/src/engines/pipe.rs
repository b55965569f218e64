//! Engine `pipe`: ways to write a pipe against ways to read it, two processes.
//!
//! | parameter | values | default | |
//! |---|---|---|---|
//! | `writer` | `write` `ring` `fresh` `double` `constant` | `write` | write(2); fullbore's safe zero-copy ways; vmsplice(2) of two buffers in turn (unsafe), of one buffer that never changes |
//! | `reader` | `read` `splice-null` `splice-file` `queue` | `read` | read(2); splice(2) to `/dev/null`, to a file in memory; through 16 pipes of the reader's own, read late |
//! | `fill` | `words` `stamps` `none` | `words` | what the writer makes anew for every chunk and the reader checks: every 8-byte word, the first of each page, nothing |
//! | `chunk` | 4 KiB … 64 MiB, whole pages | 256 KiB | bytes given to one write or taken by one read |
//! | `pipe` | 4 KiB … 1 GiB | 64 KiB | capacity of the pipe |
//! | `huge` | flag | off | both sides' memory on huge pages; off: never, so `ring` and `fresh` are not available |
//! | `busy` | flag | off | both sides try again at once instead of waiting (`write`, `double`, `constant`) |
//! | `pin` | `none` `same` `neighbours` | `none` | CPUs of both sides |
//! | `total` | 4 KiB or more, whole pages | 1 GiB | bytes that go through |
//! | `counters` | flag | off | counters of the processor are read, too: that makes every switch dearer |
//! | `limit` | 1 … 3600 s | 120 | |
//!
//! The time goes from the moment both sides are set up to the moment the reader has everything; checking what was read is
//! part of it (`words` costs both sides time, `stamps` next to none), checking the file and the last lap is not.
//! The answer is `ok`, or how many words were wrong; none where the reader sees no bytes or nothing was filled in.
//!
//! `double` is right only for readers that copy and chunks of at least the pipe's capacity. Published programs
//! work that way, which is why it is here.

mod lent;
mod plan;
mod reader;
mod writer;

use super::builtin::{Builtin, COUNTERS, LIMIT, PIN, wrong};
use super::peers::{Peers, Report};
use super::place;
use super::seat::{Seat, sample};
use super::spec::Spec;
use crate::{EngineError, Parameters, TrialResult};
use plan::Plan;
pub(super) use plan::new_pipe;

/// The engine.
pub(super) const ENGINE: Builtin = Builtin {
    name: "pipe",
    about: "ways to write a pipe against ways to read it",
    parameters: &[
        Spec::text(
            "writer",
            &["write", "ring", "fresh", "double", "constant"],
            "how it is written",
        ),
        Spec::text("reader", &["read", "splice-null", "splice-file", "queue"], "how it is read"),
        Spec::text("fill", &["words", "stamps", "none"], "what is made anew and checked"),
        Spec::number("chunk", "bytes", (4096, 64 << 20), 256 << 10, "bytes a call"),
        Spec::number("pipe", "bytes", (4096, 1 << 30), 64 << 10, "capacity of the pipe"),
        Spec::flag("huge", "memory of both sides on huge pages"),
        Spec::flag("busy", "both sides try again instead of waiting"),
        PIN,
        Spec::number("total", "bytes", (4096, u64::MAX), 1 << 30, "bytes that go through"),
        COUNTERS,
        LIMIT,
    ],
    run,
};

/// Part of the writer.
pub(super) const WRITER: &str = "pipe-writer";
/// Part of the reader.
pub(super) const READER: &str = "pipe-reader";

fn run(parameters: &Parameters) -> Result<TrialResult, EngineError> {
    let plan = Plan::new(parameters)?;
    let (out, into) = new_pipe(plan.pipe)?;
    let parts = [("writer", WRITER, vec![into]), ("reader", READER, vec![out])];
    let reports = Peers::start(parts, parameters)?.run()?;
    let sample = sample(["writer", "reader"], reports, 1);
    let bytes = sample.bytes;
    if bytes != Some(plan.total) {
        return Err(wrong(format!("pipe: {bytes:?} bytes arrived of {}", plan.total)));
    }
    Ok(sample)
}

/// The process that writes.
pub(super) fn write_side(seat: &mut Seat) -> Result<Report, EngineError> {
    let plan = prepare(seat, 0)?;
    let pipe = seat.descriptor()?;
    writer::run(&plan, &pipe, seat)
}

/// The process that reads.
pub(super) fn read_side(seat: &mut Seat) -> Result<Report, EngineError> {
    let plan = prepare(seat, 1)?;
    let pipe = seat.descriptor()?;
    reader::run(&plan, &pipe, seat)
}

fn prepare(seat: &Seat, number: usize) -> Result<Plan, EngineError> {
    let plan = Plan::new(&seat.parameters)?;
    place::pin(&seat.parameters, number)?;
    if !plan.huge {
        // Also for memory that this engine does not map itself. Refused by no known kernel.
        let _ = rustix::thread::disable_transparent_huge_pages(true);
    }
    Ok(plan)
}
