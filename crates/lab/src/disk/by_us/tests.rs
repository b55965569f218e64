use super::*;
use crate::disk::job::{Ground, jobs};
use crate::disk::{directory, lay_out, suite};
use crate::record::Effort;

#[test]
fn reads_and_writes_are_counted_and_their_latencies_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let place = directory(folder.path(), 8 << 20, true).unwrap();
    let laid = lay_out(&place, 8 << 20, &stop, &mut |_| {}).unwrap();
    let mut suite = suite(Effort::Quick, None).unwrap();
    (suite.timing.runtime_s, suite.timing.ramp_s) = (1, 0);
    let filename = place.filename.display().to_string();
    let ground = Ground { filename, size_bytes: Some(8 << 20), is_direct: laid.is_direct };
    let mut tester = Threads::new(Arc::clone(&stop));
    for mut job in jobs(&suite, &ground).into_iter().take(4) {
        job.options.set("iodepth", "2");
        let mut ticks = 0;
        let pass = tester.pass(&job, &mut |_| ticks += 1).unwrap();
        let [run] = pass.directions.as_slice() else { panic!("{pass:?}") };
        assert!(job.options.get("rw").unwrap().ends_with(&run.direction), "{}", job.name);
        assert!(run.requests > 0 && run.latency.bins.requests() == run.requests, "{run:?}");
        assert_eq!((run.bytes, ticks > 0), (run.requests * 4096, true));
        assert_eq!(run.timeline.iops.len(), 4);
        let by_steps: f64 = run.timeline.iops.iter().sum::<f64>() / 4.0;
        assert!((by_steps / run.iops - 1.0).abs() < 0.2, "{by_steps} {}", run.iops);
    }
    std::fs::remove_file(&place.filename).unwrap();
    let gone = tester.pass(&jobs(&suite, &ground)[0], &mut |_| {}).unwrap_err();
    assert!(gone.contains("No such file"), "{gone}");
}
