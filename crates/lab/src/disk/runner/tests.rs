use super::*;
use crate::disk::job::{Ground, jobs};
use crate::disk::record::DirectionRun;
use crate::disk::suite;

/// Gives each pass a rate, and fails where it is told to.
struct Pretend {
    seen: Vec<String>,
    fails: Option<(&'static str, usize)>,
    each_ms: u64,
}

impl Tester for Pretend {
    fn version(&self) -> String {
        "fio-0".to_owned()
    }

    fn now_ms(&self) -> u64 {
        self.seen.len() as u64 * self.each_ms
    }

    fn pass(&mut self, job: &Job, tick: &mut dyn FnMut(u64)) -> Result<PassRun, String> {
        self.seen.push(job.name.clone());
        tick(1000);
        let times = self.seen.iter().filter(|name| **name == job.name).count();
        if self.fails == Some((job.name.as_str(), times)) {
            return Err("fio was killed by signal 9".to_owned());
        }
        let iops = 1000.0 + times as f64;
        let run = DirectionRun {
            direction: "read".to_owned(),
            iops,
            bytes_per_s: iops * 4096.0,
            ..DirectionRun::default()
        };
        Ok(PassRun { directions: vec![run], ..PassRun::default() })
    }
}

struct Seen {
    left_s: Vec<u64>,
    passes: usize,
    stop_after: Option<usize>,
    stop: std::sync::Arc<AtomicBool>,
}

impl DiskOnlooker for Seen {
    fn progress(&mut self, progress: &DiskProgress<'_>) {
        self.left_s.push((progress.whole_ms - progress.done_ms) / 1000);
    }

    fn pass_done(&mut self, _: &DiskRun) {
        self.passes += 1;
        if self.stop_after == Some(self.passes) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn ran(
    fails: Option<(&'static str, usize)>,
    stop_after: Option<usize>,
) -> (DiskRun, Pretend, Seen) {
    ran_at(4700, fails, stop_after)
}

fn ran_at(
    each_ms: u64,
    fails: Option<(&'static str, usize)>,
    stop_after: Option<usize>,
) -> (DiskRun, Pretend, Seen) {
    let suite = suite(Effort::Quick, None).unwrap();
    let ground = Ground { filename: "f".to_owned(), size_bytes: Some(1 << 30), is_direct: true };
    let plan = DiskPlan {
        jobs: jobs(&suite, &ground),
        suite,
        steady: None,
        command: String::new(),
        label: None,
        effort: Effort::Quick,
        started_unix_ns: 0,
        machine: Machine::default(),
        target: Target::default(),
        hosts: Vec::new(),
        fullbore_version: String::new(),
        notes: Vec::new(),
    };
    let stop = std::sync::Arc::new(AtomicBool::new(false));
    let mut tester = Pretend { seen: Vec::new(), fails, each_ms };
    let mut seen =
        Seen { left_s: Vec::new(), passes: 0, stop_after, stop: std::sync::Arc::clone(&stop) };
    let run = run(&plan, &mut tester, &mut seen, &stop);
    (run, tester, seen)
}

#[test]
fn each_pass_begins_with_another_workload_and_time_left_falls() {
    let (run, tester, seen) = ran(None, None);
    assert!(run.is_complete && run.workloads.iter().all(|workload| workload.passes.len() == 5));
    assert_eq!((tester.seen[0].as_str(), tester.seen[6].as_str()), ("random-read", "random-write"));
    assert!(seen.left_s.is_sorted_by(|a, b| a >= b), "{:?}", seen.left_s);
    assert!(seen.left_s[0] < 180 && *seen.left_s.last().unwrap() <= 5, "{:?}", seen.left_s);
    // The median of five passes is a number of one of them.
    assert!((run.workloads[0].summaries[0].iops.middle - 1003.0).abs() < 1e-9);
}

#[test]
fn what_a_failed_workload_did_before_is_kept_and_the_others_go_on() {
    let (run, _, _) = ran(Some(("stream-read", 3)), None);
    let failed = &run.workloads[4];
    assert_eq!(
        (failed.passes.len(), failed.trouble.as_deref()),
        (2, Some("fio was killed by signal 9"))
    );
    assert_eq!(failed.summaries.len(), 1);
    assert!(run.has_trouble() && run.is_complete);
    assert!(run.workloads.iter().filter(|w| w.trouble.is_none()).all(|w| w.passes.len() == 5));
}

#[test]
fn a_stop_keeps_what_is_done() {
    let (run, _, _) = ran(None, Some(8));
    let passes: usize = run.workloads.iter().map(|workload| workload.passes.len()).sum();
    assert_eq!((passes, run.is_complete, run.has_trouble()), (8, false, false));
}

#[test]
fn on_a_busy_machine_fewer_passes_are_made_and_the_record_says_so() {
    let (run, ..) = ran_at(8000, None, None);
    assert!(run.is_complete && run.workloads.iter().all(|workload| workload.passes.len() == 3));
    assert_eq!(run.notes, ["3 of 5 passes: the machine was busy, and a pass took 48 s"]);
}
