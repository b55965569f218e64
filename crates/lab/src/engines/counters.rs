//! Counters of the processor and of Linux, of a thread and of all that it starts: opened before the work, read after it.
//!
//! They count in the kernel too, where a pipe spends most of its time; half of a count would be worse than none. A counter
//! that runs makes every switch between processes dearer, so an engine counts only when it is told to.

use std::collections::BTreeMap;
use std::{fs, io};

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};
use perf_event::{Builder, Counter};

/// Every counter by its name, or why there is none.
pub(super) type Counted = BTreeMap<String, Result<u64, String>>;

/// Counters that are open and stand still.
#[derive(Debug, Default)]
pub(super) struct Counters(Vec<(&'static str, io::Result<Counter>)>);

impl Counters {
    /// No counters at all.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// All of them, for this thread and for threads and processes that it starts from now on.
    pub(super) fn open() -> Self {
        let tlb = |operation| Cache { which: CacheId::DTLB, operation, result: CacheResult::MISS };
        // Three of the programmable kind and two of the fixed: every processor of this century has as many at once.
        Self(vec![
            ("dtlb_load_misses", counter(Builder::new(tlb(CacheOp::READ)))),
            ("dtlb_store_misses", counter(Builder::new(tlb(CacheOp::WRITE)))),
            ("cache_misses", counter(Builder::new(Hardware::CACHE_MISSES))),
            ("instructions", counter(Builder::new(Hardware::INSTRUCTIONS))),
            ("cycles", counter(Builder::new(Hardware::CPU_CYCLES))),
            ("migrations", counter(Builder::new(Software::CPU_MIGRATIONS))),
        ])
    }

    /// Lets them run.
    pub(super) fn start(&mut self) {
        for (_, counter) in &mut self.0 {
            if let Ok(open) = counter
                && let Err(error) = open.enable()
            {
                *counter = Err(error);
            }
        }
    }

    /// Stops them.
    pub(super) fn stop(self) -> Counted {
        let mut counters = self.0;
        // All first: reading takes time, too.
        for counter in counters.iter_mut().filter_map(|(_, counter)| counter.as_mut().ok()) {
            // When that fails, reading does as well.
            let _ = counter.disable();
        }
        let read = |(name, counter): (&str, io::Result<Counter>)| {
            (name.to_owned(), counter.map_err(|error| why(&error)).and_then(read))
        };
        counters.into_iter().map(read).collect()
    }
}

fn counter(mut builder: Builder<'_>) -> io::Result<Counter> {
    builder.inherit(true).include_kernel().build()
}

/// The count; more than was seen when the counter had to be shared, by the time it was not there.
fn read(mut counter: Counter) -> Result<u64, String> {
    let seen = counter.read_count_and_time().map_err(|error| why(&error))?;
    if seen.time_running == 0 {
        return Err("no counter of the processor was free".to_owned());
    }
    let (count, enabled) = (u128::from(seen.count), u128::from(seen.time_enabled));
    let whole = count * enabled.max(1) / u128::from(seen.time_running);
    Ok(u64::try_from(whole).unwrap_or(u64::MAX))
}

/// What an error of perf_event_open(2) means to a person.
fn why(error: &io::Error) -> String {
    use rustix::io::Errno;
    match Errno::from_io_error(error) {
        Some(Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV) => {
            "this machine has no such counter, as most virtual machines".to_owned()
        }
        Some(Errno::ACCESS | Errno::PERM) => {
            let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
            let level = level.map_or_else(|_| "?".to_owned(), |text| text.trim().to_owned());
            format!("not allowed (sysctl kernel.perf_event_paranoid=1; it is {level})")
        }
        Some(Errno::NOSYS) => "this kernel has no perf_event_open".to_owned(),
        _ => format!("perf_event_open: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_a_count_or_a_reason() {
        let mut counters = Counters::open();
        counters.start();
        std::hint::black_box((0..100_000_u64).sum::<u64>());
        let counted = counters.stop();
        assert_eq!(counted.len(), 6, "{counted:?}");
        for (name, count) in &counted {
            if let Err(why) = count {
                // An error that is not told apart would be a mistake in how the counter is asked for.
                assert!(!why.starts_with("perf_event_open: "), "{name}: {why}");
            }
        }
        // Linux itself counts this one, where it may be asked at all.
        let migrations = counted["migrations"].as_ref();
        assert!(
            migrations.map_or_else(|why| why.contains("perf_event"), |n| *n < 1000),
            "{counted:?}"
        );
        if let Ok(instructions) = counted["instructions"] {
            assert!(instructions > 10_000, "{counted:?}");
        }
        assert!(Counters::none().stop().is_empty());
    }

    #[test]
    fn what_linux_refuses_is_told_with_what_to_do() {
        let told = |errno: i32| why(&io::Error::from_raw_os_error(errno));
        assert!(told(2).starts_with("this machine has no such counter"));
        assert!(told(13).contains("sysctl kernel.perf_event_paranoid=1"));
        assert!(told(38).contains("no perf_event_open"));
    }
}
