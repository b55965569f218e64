//! Records whose answers can be computed by hand.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests"
)]

mod made;

use fullbore_record::{Cause, RunRecord, TuningRecord};
use fullbore_what_if::{Change, Error, Forecast, Limit, Speed, forecast, forecast_with};

use crate::made::{MS, Made, Phase};

/// Predicted milliseconds with a change, and the limit then.
fn with(forecast: &Forecast, change: Change) -> (f64, Limit) {
    let found = forecast.predictions.iter().find(|one| one.change == change);
    let one = found.unwrap_or_else(|| panic!("no {change:?} in {:#?}", forecast.predictions));
    (one.elapsed_ns as f64 / 1e6, one.limit)
}

#[track_caller]
fn assert_near(found: (f64, Limit), ms: f64, limit: Limit) {
    assert!((found.0 - ms).abs() <= 0.015 * ms, "{} ms instead of {ms} ms", found.0);
    assert_eq!(found.1, limit);
}

#[track_caller]
fn assert_replays(forecast: &Forecast) {
    let ratio = forecast.replayed_ns as f64 / forecast.elapsed_ns as f64;
    assert!((0.98..=1.02).contains(&ratio), "replayed ÷ recorded: {ratio}");
}

/// Three stages that run 30 %, 100 % and 40 % of a second.
fn steady() -> RunRecord {
    Made::new(8)
        .stage(&[Phase::steps(100).runs(30.0).waits_out(70.0).writes(1_000_000)])
        .stage(&[Phase::steps(100).runs(100.0).reads(1_000_000).writes(500_000)])
        .stage(&[Phase::steps(100).runs(40.0).waits_in(60.0).reads(500_000)])
        .record()
}

#[test]
fn the_slowest_stage_sets_the_pace_until_another_one_does() {
    let forecast = forecast(&steady()).unwrap();
    assert_replays(&forecast);
    assert_eq!(forecast.limit, Limit::Stage(2));
    assert_near(with(&forecast, Change::TwiceAsFast(2)), 500.0, Limit::Stage(2));
    assert_near(with(&forecast, Change::InfinitelyFast(2)), 400.0, Limit::Stage(3));
    assert_near(with(&forecast, Change::OnTwoCpus(2)), 500.0, Limit::Stage(2));
    assert_near(with(&forecast, Change::InfinitelyFast(1)), 1000.0, Limit::Stage(2));
    assert_near(with(&forecast, Change::AllPipesOf { bytes: 1 << 20 }), 1000.0, Limit::Stage(2));
    let best = &forecast.predictions[0].change;
    assert_eq!(*best, Change::InfinitelyFast(2), "the best change comes first");
}

#[test]
fn stages_can_be_any_number_of_times_as_fast() {
    let predict = |speeds: &[(u32, f64)]| {
        let speeds = speeds.iter().map(|&(stage, times)| Speed::new(stage, times).unwrap());
        let change = Change::Faster(speeds.collect());
        let forecast = forecast_with(&steady(), vec![change.clone()]).unwrap();
        assert_eq!(forecast.predictions.len(), 1);
        with(&forecast, change)
    };
    assert_near(predict(&[(2, 1.25)]), 800.0, Limit::Stage(2));
    assert_near(predict(&[(2, 10.0)]), 400.0, Limit::Stage(3));
    assert_near(predict(&[(2, 10.0), (3, 2.0)]), 300.0, Limit::Stage(1));
    assert_near(predict(&[(3, 0.2)]), 2000.0, Limit::Stage(3));
    assert_near(predict(&[(9, 2.0)]), 1000.0, Limit::Stage(2));
    for times in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Speed::new(1, times), None);
    }
}

#[test]
fn a_stage_that_reads_everything_first_divides_the_run() {
    // The source needs 600 ms, sorting takes 200 ms more, then the sink needs 200 ms.
    let record = Made::new(4)
        .stage(&[Phase::steps(60).runs(100.0).writes(1_000_000)])
        .stage(&[
            Phase::steps(60).runs(20.0).waits_in(80.0).reads(1_000_000),
            Phase::steps(20).runs(100.0),
            Phase::steps(20).runs(10.0).waits_out(90.0).writes(3_000_000),
        ])
        .stage(&[Phase::steps(80).waits_in(100.0), Phase::steps(20).runs(100.0).reads(3_000_000)])
        .record();
    let forecast = forecast(&record).unwrap();
    assert_replays(&forecast);
    assert_near(with(&forecast, Change::InfinitelyFast(3)), 820.0, Limit::Stage(1));
    assert_near(with(&forecast, Change::InfinitelyFast(1)), 520.0, Limit::Stage(2));
    assert_near(with(&forecast, Change::TwiceAsFast(1)), 700.0, Limit::Stage(1));
    assert_near(
        with(&forecast, Change::BufferOf { pipe: 2, bytes: 256 << 20 }),
        1000.0,
        Limit::Stage(1),
    );
}

/// Two stages that need 52 % of the time each and wait for each other otherwise, at a pipe of 64 KiB.
fn turns() -> RunRecord {
    Made::new(4)
        .stage(&[Phase::steps(100).runs(52.0).waits_out(48.0).writes(1_000_000)])
        .stage(&[Phase::steps(100).runs(52.0).waits_in(48.0).reads(1_000_000)])
        .record()
}

#[test]
fn stages_that_take_turns_overlap_over_a_larger_pipe() {
    let forecast = forecast(&turns()).unwrap();
    assert_replays(&forecast);
    assert_eq!(forecast.limit, Limit::Pipe(1));
    // Bursts of 820 KB explain the waits: 52 + 52 - 52 · 64 / 820 = 100.
    let (ms, _) = with(&forecast, Change::PipeOf { pipe: 1, bytes: 1 << 20 });
    assert!((515.0..560.0).contains(&ms), "{ms} ms");
    let (ms, _) = with(&forecast, Change::TwiceAsFast(1));
    assert!((720.0..780.0).contains(&ms), "{ms} ms");
}

#[test]
fn more_stages_than_cpus_share_them() {
    let phase = Phase::steps(100).runs(50.0).waits_for_a_cpu(50.0);
    let record = Made::new(2)
        .stage(&[phase.writes(1_000_000)])
        .stage(&[phase.reads(1_000_000).writes(1_000_000)])
        .stage(&[phase.reads(1_000_000).writes(1_000_000)])
        .stage(&[phase.reads(1_000_000)])
        .record();
    let forecast = forecast(&record).unwrap();
    assert_replays(&forecast);
    assert_eq!(forecast.limit, Limit::Cpus);
    let (ms, limit) = with(&forecast, Change::Cpus(4));
    assert!((495.0..515.0).contains(&ms), "{ms} ms");
    assert!(matches!(limit, Limit::Stage(_)), "{limit:?}");
    // Half of one stage's work is an eighth of all, and some time is lost because stages on a CPU wait for those without one.
    let (ms, limit) = with(&forecast, Change::TwiceAsFast(2));
    assert!((870.0..910.0).contains(&ms), "{ms} ms");
    assert_eq!(limit, Limit::Cpus);
}

#[test]
fn other_programs_take_no_more_than_the_time_in_which_cpus_were_in_use() {
    // Two stages, each on a CPU half of the time and waiting for one half of it: either others took the CPUs …
    let phase = Phase::steps(100).runs(50.0).waits_for_a_cpu(50.0);
    let mut record =
        Made::new(2).stage(&[phase.writes(1_000_000)]).stage(&[phase.reads(1_000_000)]).record();
    assert_replays(&forecast(&record).unwrap());
    record.cpu_ns = Some(1000 * MS);
    record.idle_cpu_ns = Some(0);
    assert_replays(&forecast(&record).unwrap());
    // … or, if CPUs were idle meanwhile, the replay does not know why, and its time is shorter.
    record.idle_cpu_ns = Some(1000 * MS);
    let replayed_ns = forecast(&record).unwrap().replayed_ns;
    assert!((490 * MS..520 * MS).contains(&replayed_ns), "{replayed_ns} ns");
}

#[test]
fn what_a_disk_takes_stays() {
    let mut record = Made::new(4)
        .stage(&[Phase::steps(100).runs(20.0).waits_elsewhere(80.0).writes(1_000_000)])
        .stage(&[Phase::steps(100).runs(50.0).waits_in(50.0).reads(1_000_000)])
        .record();
    record.stages[0].blocked_other_causes.insert(Cause::Disk, 80.0);
    let forecast = forecast(&record).unwrap();
    assert_replays(&forecast);
    assert_eq!(forecast.limit, Limit::Waiting(1));
    assert_near(with(&forecast, Change::InfinitelyFast(1)), 800.0, Limit::Waiting(1));
    assert_near(with(&forecast, Change::InfinitelyFast(2)), 1000.0, Limit::Waiting(1));
}

#[test]
fn a_pipeline_that_follows_another_begins_when_it_ends() {
    // a | b, then c alone.
    let record = Made::new(4)
        .stage(&[Phase::steps(50).runs(100.0).writes(1_000_000)])
        .stage(&[Phase::steps(50).runs(30.0).waits_in(70.0).reads(1_000_000)])
        .apart()
        .stage(&[Phase::steps(50), Phase::steps(50).runs(100.0)])
        .record();
    let forecast = forecast(&record).unwrap();
    assert_replays(&forecast);
    assert_near(with(&forecast, Change::TwiceAsFast(1)), 750.0, Limit::Stage(3));
    assert_near(with(&forecast, Change::TwiceAsFast(3)), 750.0, Limit::Stage(1));
}

#[test]
fn what_is_outside_keeps_its_pace() {
    let mut record = Made::new(4)
        .stage(&[Phase::steps(100).runs(40.0).waits_in(60.0).reads(1_000_000)])
        .record();
    let mut pipe = fullbore_record::PipeRecord::default();
    pipe.pipe = 1;
    pipe.readers = vec![1];
    pipe.outside_writer = true;
    record.pipes.push(pipe);
    let forecast = forecast(&record).unwrap();
    assert_replays(&forecast);
    assert_near(with(&forecast, Change::InfinitelyFast(1)), 1000.0, Limit::Outside);
}

#[test]
fn a_pipe_that_was_enlarged_during_the_run_was_small_before() {
    // Turns for half a second; then the pipe is large and both run.
    let record = Made::new(4)
        .stage(&[
            Phase::steps(50).runs(52.0).waits_out(48.0).writes(1_000_000),
            Phase::steps(50).runs(98.0).waits_out(2.0).writes(1_900_000),
        ])
        .stage(&[
            Phase::steps(50).runs(52.0).waits_in(48.0).reads(1_000_000),
            Phase::steps(50).runs(98.0).waits_in(2.0).reads(1_900_000),
        ])
        .record();
    let mut record = record;
    let outcome = fullbore_record::Outcome::Kept;
    record.tuning.push(TuningRecord::new(1, 500 * MS, 64 << 10, 1 << 20, outcome));
    let forecast = forecast(&record).unwrap();
    let (ms, _) = with(&forecast, Change::PipeOf { pipe: 1, bytes: 1 << 20 });
    assert!((740.0..840.0).contains(&ms), "{ms} ms");
}

#[test]
fn bytes_that_nobody_counted_follow_the_cpu_time() {
    let record = Made::new(4)
        .stage(&[Phase::steps(100).runs(100.0)])
        .stage(&[Phase::steps(100).runs(60.0).waits_in(40.0)])
        .record();
    let forecast = forecast(&record).unwrap();
    assert_replays(&forecast);
    assert_near(with(&forecast, Change::InfinitelyFast(1)), 600.0, Limit::Stage(2));
}

#[test]
fn files_that_a_stage_also_writes_are_not_the_pipe() {
    // The middle stage writes everything to temporary files first, as sort does.
    let record = Made::new(4)
        .stage(&[Phase::steps(50).runs(100.0).writes(1_000_000)])
        .stage(&[
            Phase::steps(50).runs(50.0).waits_in(50.0).reads(1_000_000).writes(1_000_000),
            Phase::steps(50).runs(20.0).waits_out(80.0).reads(1_000_000).writes(1_000_000),
        ])
        .stage(&[Phase::steps(50).waits_in(100.0), Phase::steps(50).runs(100.0).reads(1_000_000)])
        .record();
    let forecast = forecast(&record).unwrap();
    assert_replays(&forecast);
    assert_near(with(&forecast, Change::InfinitelyFast(3)), 600.0, Limit::Stage(1));
}

#[test]
fn records_that_cannot_be_replayed_are_named() {
    let mut other = steady();
    other.schema = "fullbore.run/9".to_owned();
    assert_eq!(forecast(&other), Err(Error::Schema("fullbore.run/9".to_owned())));
    let mut empty = steady();
    empty.timeline = fullbore_record::Timeline::default();
    assert_eq!(forecast(&empty), Err(Error::NoTimeline));
    let mut idle = steady();
    idle.stages.clear();
    assert_eq!(forecast(&idle), Err(Error::NoStages));
    let mut late = steady();
    late.attached_at_ns = Some(5);
    assert_eq!(forecast(&late), Err(Error::NotFromTheStart));
}
