//! Switches of the threads of a pipeline, by the clock of the run.

use fullbore_perf::{Kind, Refused, Switches as Watched};
use rustix::time::{ClockId, clock_gettime};

use crate::sample::{Switch, Switches, Turn};

/// Reads every switch of the processes that were started since it was opened.
#[derive(Debug)]
pub(crate) struct SwitchReader {
    watched: Watched,
    /// When the run began, by the clock of the switches.
    start_ns: u64,
}

impl SwitchReader {
    /// Watches what the calling thread starts from now on; the run begins now.
    ///
    /// # Errors
    /// Where Linux refuses perf events.
    pub(crate) fn open() -> Result<Self, Refused> {
        let watched = Watched::of_descendants()?;
        let now = clock_gettime(ClockId::Monotonic);
        let start_ns = now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned();
        Ok(Self { watched, start_ns })
    }

    /// What happened since it was read before.
    pub(crate) fn read(&mut self) -> Switches {
        let reading = self.watched.read();
        let since_start = |at_ns: u64| at_ns.saturating_sub(self.start_ns);
        let list = reading.switches.into_iter().filter_map(|switch| {
            let to = match switch.kind {
                Kind::On => Turn::On,
                Kind::Off => Turn::Off,
                Kind::Preempted => Turn::Preempted,
                Kind::Begun { parent } => Turn::Begun(parent),
                Kind::Ended => Turn::Ended,
                _ => return None,
            };
            let at_ns = since_start(switch.at_ns);
            Some(Switch { at_ns, pid: switch.pid, tid: switch.tid, to })
        });
        Switches {
            list: list.collect(),
            until_ns: since_start(reading.until_ns),
            lost: reading.lost,
        }
    }
}
