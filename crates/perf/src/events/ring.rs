//! Ring buffers of perf events, one for each CPU.

use perf_event::{Builder, Sampler};
use rustix::time::{ClockId, clock_gettime};

use crate::refused::Refused;

/// A record may be written this long after the time that it names.
const WRITING_NS: u64 = 20_000;

/// The ring buffer of one CPU.
pub(crate) struct Ring(pub(crate) Sampler);

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ring")
    }
}

impl Ring {
    /// Opens the event for one thread (or the calling one, and whatever it starts) on each of these CPUs.
    pub(crate) fn open_all(
        builder: &mut Builder<'_>,
        cpus: &[usize],
        bytes: usize,
    ) -> Result<Vec<Self>, Refused> {
        let ring = |cpu: &usize| {
            let counter = builder.one_cpu(*cpu).build();
            let counter = counter.map_err(|error| Refused::new("perf_event_open", error))?;
            let ring = counter.sampled(bytes);
            Ok(Self(ring.map_err(|error| Refused::new("memory for perf events", error))?))
        };
        cpus.iter().map(ring).collect()
    }

    /// Hands over every record that is there; never waits.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(u32, u16, &[u8])) {
        while let Some(record) = self.0.next_record() {
            take(record.ty(), record.misc(), &record.to_contiguous());
        }
    }
}

/// Until when records are complete that are read from now on, in nanoseconds of `CLOCK_MONOTONIC`.
pub(crate) fn complete_until_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let now_ns = now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned();
    now_ns.saturating_sub(WRITING_NS)
}
