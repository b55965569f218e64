//! Engine `overlap`: do both sides of a pipe run at the same time? A producer that makes bursts, a consumer that works
//! through them, two processes.
//!
//! | parameter | values | default | |
//! |---|---|---|---|
//! | `burst` | 4 KiB … 1 GiB, whole words | 1 MiB | bytes the producer makes before it writes them |
//! | `producer_work` | 1 … 1,000,000 passes | 16 | over each burst while it is made |
//! | `consumer_work` | 1 … 1,000,000 passes | 16 | over what each read brought |
//! | `call_work` | words | 0 | the consumer works through for each read, whatever it brought |
//! | `read` | 1 B … 1 GiB | 4 KiB | bytes the consumer asks for at once: as stdio does |
//! | `pipe` | 4 KiB … 1 GiB | 64 KiB | capacity of the pipe |
//! | `other_work` | pieces of 8,192 words | 0 | the consumer has to do besides, on the whole |
//! | `non_blocking` | flag | off | the consumer does a piece of it when there is nothing to read; off: all of it at the end |
//! | `pin` | `none` `same` `neighbours` | `none` | CPUs of both sides |
//! | `total` | 4 KiB or more, whole words | 128 MiB | bytes that go through |
//! | `limit` | 1 … 3600 s | 120 | |
//!
//! Work is a number of passes, not a time: every trial does exactly the same. One pass over a word is one step of a hash
//! that needs the step before. The answer is a digest of the stream, the same for every pipe and every way of reading.
//!
//! Counters: `overlap_percent` is how much of the CPU time of the side that used less of it passed while the other one
//! was running, too: (CPU time of both − elapsed time) ÷ the smaller CPU time, not below 0. That takes for granted that
//! one of them is running at any time, so it is a lower bound. `overlap_ns` is that time itself. `predicted_percent` is
//! pipe ÷ burst, at most 100: while the producer makes the next burst, the consumer has only the pipe to live on. What is
//! measured is more where the pipe is small, for copying into the pipe is done next to the consumer's work, and what a
//! read has already taken out of the pipe is work, too.

mod work;

use std::os::fd::{AsFd, OwnedFd};

use fullbore_measure::Bytes;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};

use super::builtin::{Builtin, LIMIT, PIN, size, wrong};
use super::peers::{Peers, Report, failed};
use super::pipe::new_pipe;
use super::place;
use super::seat::{Seat, sample};
use super::spec::Spec;
use crate::{EngineError, Parameters, TrialResult};
use work::{Digest, Source, busy};

/// Parameters of the producer.
pub(super) const PRODUCER_SPECS: &[Spec] = &[BURST, PRODUCER_WORK, TOTAL];
/// Parameters of the consumer.
pub(super) const CONSUMER_SPECS: &[Spec] =
    &[CONSUMER_WORK, CALL_WORK, READ, OTHER_WORK, NON_BLOCKING];

const BURST: Spec = Spec::number("burst", "bytes", (4096, 1 << 30), 1 << 20, "made at once");
const PRODUCER_WORK: Spec =
    Spec::number("producer_work", "passes", (1, 1_000_000), 16, "over each burst");
const CONSUMER_WORK: Spec =
    Spec::number("consumer_work", "passes", (1, 1_000_000), 16, "over what each read brought");
const CALL_WORK: Spec = Spec::number("call_work", "words", (0, 1 << 32), 0, "for each read");
const READ: Spec = Spec::number("read", "bytes", (1, 1 << 30), 4096, "asked for at once");
const OTHER_WORK: Spec =
    Spec::number("other_work", "pieces of 8192 words", (0, 1 << 32), 0, "of the consumer, besides");
const NON_BLOCKING: Spec =
    Spec::flag("non_blocking", "other work while there is nothing to read, not at the end");
const TOTAL: Spec = Spec::number("total", "bytes", (4096, u64::MAX), 128 << 20, "that go through");

/// The engine.
pub(super) const ENGINE: Builtin = Builtin {
    name: "overlap",
    about: "whether both sides of a pipe run at the same time",
    parameters: &[
        BURST,
        PRODUCER_WORK,
        CONSUMER_WORK,
        CALL_WORK,
        READ,
        Spec::number("pipe", "bytes", (4096, 1 << 30), 64 << 10, "capacity of the pipe"),
        OTHER_WORK,
        NON_BLOCKING,
        PIN,
        TOTAL,
        LIMIT,
    ],
    run,
};

/// Part of the producer.
pub(super) const PRODUCER: &str = "overlap-producer";
/// Part of the consumer.
pub(super) const CONSUMER: &str = "overlap-consumer";

fn run(parameters: &Parameters) -> Result<TrialResult, EngineError> {
    let (pipe, burst) = (parameters.number("pipe")?, parameters.number("burst")?);
    Producing::new(parameters)?;
    let (out, into) = new_pipe(Bytes(pipe))?;
    let parts = [("producer", PRODUCER, vec![into]), ("consumer", CONSUMER, vec![out])];
    let reports = Peers::start(parts, parameters)?.run()?;
    let mut sample = sample(["producer", "consumer"], reports, 1);
    let total = parameters.number("total")?;
    if sample.bytes != Some(total) {
        return Err(wrong(format!("overlap: {:?} bytes arrived of {total}", sample.bytes)));
    }
    let cpu: Vec<u64> = sample.sides.iter().map(|side| side.cpu_ns).collect();
    let (overlap_ns, percent) = overlap([cpu[0], cpu[1]], sample.elapsed_ns);
    let counters = [
        ("overlap_ns", overlap_ns),
        ("overlap_percent", percent),
        ("predicted_percent", (100 * pipe / burst).min(100)),
    ];
    sample.counters.extend(counters.map(|(name, value)| (name.to_owned(), Some(value))));
    Ok(sample)
}

/// The time in which both ran, and its share in percent of the smaller CPU time.
fn overlap(cpu_ns: [u64; 2], elapsed_ns: u64) -> (u64, u64) {
    let less = cpu_ns[0].min(cpu_ns[1]);
    let both = (cpu_ns[0] + cpu_ns[1]).saturating_sub(elapsed_ns).min(less);
    (both, (100 * both + less / 2).checked_div(less).unwrap_or(0))
}

/// The process that produces.
pub(super) fn produce_side(seat: &mut Seat) -> Result<Report, EngineError> {
    let mut producing = Producing::new(&seat.parameters)?;
    place::pin(&seat.parameters, 0)?;
    let pipe = seat.descriptor()?;
    let begun = seat.begin()?;
    producing.run(&pipe)?;
    Ok(Report { usage: begun.end(), bytes: Some(producing.total), ..Report::default() })
}

/// The process that consumes.
pub(super) fn consume_side(seat: &mut Seat) -> Result<Report, EngineError> {
    let mut consuming = Consuming::new(&seat.parameters)?;
    place::pin(&seat.parameters, 1)?;
    let pipe: OwnedFd = seat.descriptor()?;
    let begun = seat.begin()?;
    consuming.run(&pipe)?;
    Ok(Report {
        usage: begun.end(),
        bytes: Some(consuming.digest.bytes()),
        operations: Some(consuming.reads),
        answer: Some(consuming.answer()),
        latency: None,
    })
}

/// Makes bursts and writes them.
#[derive(Debug)]
pub(super) struct Producing {
    block: Vec<u8>,
    work: u64,
    total: u64,
}

impl Producing {
    /// By the parameters of a producer.
    pub(super) fn new(parameters: &Parameters) -> Result<Self, EngineError> {
        let burst = size(parameters.number("burst")?)?;
        let total = parameters.number("total")?;
        if !burst.is_multiple_of(8) || !total.is_multiple_of(8) {
            return Err(wrong("overlap: burst and total must be multiples of 8"));
        }
        Ok(Self { block: vec![0; burst], work: parameters.number("producer_work")?, total })
    }

    /// Writes all of it.
    pub(super) fn run(&mut self, out: impl AsFd) -> Result<(), EngineError> {
        let mut source = Source::default();
        let mut left = self.total;
        while left > 0 {
            let len = self.block.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let burst = &mut self.block[..len];
            source.make(burst, self.work);
            let mut rest = &*burst;
            while !rest.is_empty() {
                let count = retry_on_intr(|| rustix::io::write(&out, rest));
                rest = &rest[count.map_err(|errno| failed("write", &errno.into()))?..];
            }
            left -= len as u64;
        }
        Ok(())
    }
}

/// Reads to the end and works through it.
#[derive(Debug)]
pub(super) struct Consuming {
    block: Vec<u8>,
    work: u64,
    call_work: u64,
    other_work: u64,
    non_blocking: bool,
    digest: Digest,
    reads: u64,
}

impl Consuming {
    /// By the parameters of a consumer.
    pub(super) fn new(parameters: &Parameters) -> Result<Self, EngineError> {
        Ok(Self {
            block: vec![0; size(parameters.number("read")?)?],
            work: parameters.number("consumer_work")?,
            call_work: parameters.number("call_work")?,
            other_work: parameters.number("other_work")?,
            non_blocking: parameters.flag("non_blocking")?,
            digest: Digest::default(),
            reads: 0,
        })
    }

    /// Works through the whole input, and through all other work.
    pub(super) fn run(&mut self, input: impl AsFd) -> Result<(), EngineError> {
        if self.non_blocking {
            rustix::io::ioctl_fionbio(&input, true)
                .map_err(|errno| failed("ioctl FIONBIO", &errno.into()))?;
        }
        loop {
            match rustix::io::read(&input, &mut self.block) {
                Ok(0) => break,
                Ok(count) => {
                    self.reads += 1;
                    self.digest.take(&self.block[..count], self.work);
                    busy(self.call_work);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if self.other_work > 0 => self.do_other_work(),
                Err(Errno::AGAIN) => {
                    let mut fds = [PollFd::new(&input, PollFlags::IN)];
                    retry_on_intr(|| poll(&mut fds, None))
                        .map_err(|errno| failed("poll", &errno.into()))?;
                }
                Err(errno) => return Err(failed("read", &errno.into())),
            }
        }
        while self.other_work > 0 {
            self.do_other_work();
        }
        Ok(())
    }

    fn do_other_work(&mut self) {
        self.other_work -= 1;
        busy(8192);
    }

    /// A digest of the input.
    pub(super) fn answer(&self) -> String {
        self.digest.to_string()
    }

    /// Bytes read.
    pub(super) fn bytes(&self) -> u64 {
        self.digest.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_the_time_that_does_not_fit_one_after_the_other() {
        assert_eq!(overlap([100, 100], 200), (0, 0));
        assert_eq!(overlap([100, 100], 210), (0, 0));
        assert_eq!(overlap([100, 100], 100), (100, 100));
        assert_eq!(overlap([1000, 160], 1150), (10, 6));
        assert_eq!(overlap([0, 100], 100), (0, 0));
    }
}
