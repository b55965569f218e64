//! The Firefox Profiler's processed profile.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use fxprof_processed_profile::{
    CategoryColor, CategoryPairHandle, CpuDelta, Frame, FrameFlags, FrameInfo, Profile as File,
    SamplingInterval, ThreadHandle, Timestamp,
};

use crate::formats::paths::{own_times, stage_name, whole};
use crate::tower::{Kind, Node, Profile, Tower};

/// Time that one sample stands for, at least: 1 ms, or a 20,000th of the run.
const INTERVAL_MIN_NS: u64 = 1_000_000;
const SAMPLES_MAX: u64 = 20_000;

/// A category for each kind of time.
struct Categories(Vec<(Kind, CategoryPairHandle)>);

impl Categories {
    fn new(file: &mut File) -> Self {
        let all = [
            (Kind::User, "On a CPU", CategoryColor::Orange),
            (Kind::Kernel, "In the kernel", CategoryColor::Red),
            (Kind::Runnable, "Waits for a CPU", CategoryColor::Yellow),
            (Kind::Reading, "Waits for data", CategoryColor::Blue),
            (Kind::Writing, "Waits for room", CategoryColor::Purple),
            (Kind::Waiting, "Waits", CategoryColor::LightBlue),
            (Kind::Caller, "Caller", CategoryColor::Gray),
        ];
        let add = |(kind, name, color)| (kind, file.add_category(name, color).into());
        Self(all.into_iter().map(add).collect())
    }

    fn of(&self, kind: Kind) -> CategoryPairHandle {
        let found = self.0.iter().find(|(known, _)| *known == kind);
        found.unwrap_or(&self.0[0]).1
    }
}

pub(super) fn write(profile: &Profile, to: &mut impl Write) -> io::Result<()> {
    let interval_ns = (profile.elapsed_ns / SAMPLES_MAX).max(INTERVAL_MIN_NS);
    let began = SystemTime::UNIX_EPOCH + Duration::from_nanos(profile.started_unix_ns);
    let interval = SamplingInterval::from_nanos(interval_ns);
    let mut file = File::new(&profile.command, began.into(), interval);
    file.set_os_name("Linux");
    file.set_symbolicated(true);
    let categories = Categories::new(&mut file);
    for tower in &profile.towers {
        let name = stage_name(tower.stage, &tower.root);
        let start = Timestamp::from_nanos_since_reference(tower.start_ns);
        let process = file.add_process(&name, tower.stage, start);
        let thread = file.add_thread(process, tower.stage, start, true);
        file.set_thread_name(thread, &name);
        add_samples(&mut file, thread, tower, interval_ns, &categories);
    }
    let mut packed = GzEncoder::new(to, Compression::default());
    serde_json::to_writer(&mut packed, &file).map_err(io::Error::from)?;
    packed.finish().map(drop)
}

/// A sample for each stack, one after the other, as many times as it was long; when each happened is not known.
fn add_samples(
    file: &mut File,
    thread: ThreadHandle,
    tower: &Tower,
    interval_ns: u64,
    categories: &Categories,
) {
    let (mut passed_ns, mut shown) = (0.0, 0);
    for (path, own_ns) in own_times(&tower.root) {
        passed_ns += own_ns;
        let until = whole(passed_ns / interval_ns as f64);
        let count = until.saturating_sub(shown);
        if count == 0 {
            continue;
        }
        let frames: Vec<FrameInfo> = path
            .iter()
            .map(|node: &&Node| FrameInfo {
                frame: Frame::Label(file.intern_string(&node.name)),
                category_pair: categories.of(node.kind),
                flags: FrameFlags::empty(),
            })
            .collect();
        let stack = file.intern_stack_frames(thread, frames.into_iter());
        let at = Timestamp::from_nanos_since_reference(tower.start_ns + shown * interval_ns);
        let runs = path.last().is_some_and(|node| matches!(node.kind, Kind::User | Kind::Kernel));
        let cpu_ns = if runs { count * interval_ns } else { 0 };
        let weight = i32::try_from(count).unwrap_or(i32::MAX);
        file.add_sample(thread, at, stack, CpuDelta::from_nanos(cpu_ns), weight);
        shown = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::sample::sample;

    #[test]
    fn every_stage_is_a_process_and_its_samples_weigh_its_time() {
        let mut bytes = Vec::new();
        write(&sample(), &mut bytes).unwrap();
        let file: serde_json::Value =
            serde_json::from_reader(flate2::read::GzDecoder::new(&bytes[..])).unwrap();
        let threads = file["threads"].as_array().unwrap();
        assert_eq!(threads.len(), 2);
        let weight = |thread: &serde_json::Value| -> i64 {
            let weights = thread["samples"]["weight"].as_array().unwrap();
            weights.iter().map(|weight| weight.as_i64().unwrap()).sum()
        };
        assert_eq!([weight(&threads[0]), weight(&threads[1])], [500, 1000], "in milliseconds");
    }
}
