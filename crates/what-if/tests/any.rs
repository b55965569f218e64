//! Whatever a record says, there is an answer, and it is one that can be.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests"
)]

mod made;

use fullbore_record::RunRecord;
use fullbore_what_if::{Change, forecast};
use proptest::prelude::*;

use crate::made::{Made, Phase};

fn phase() -> impl Strategy<Value = Phase> {
    let shares = prop::array::uniform5(0.0_f32..100.0);
    (1..20_usize, shares, 0..5_000_000_u64, 0..5_000_000_u64).prop_map(
        |(steps, shares, read, written)| {
            let sum: f32 = shares.iter().sum::<f32>().max(1.0);
            let [running, runnable, reading, writing, other] =
                shares.map(|share| share / sum * 100.0);
            // A record in which nothing ever ran has no timeline to replay.
            let running = running.max(0.1);
            Phase { steps, running, runnable, reading, writing, other, read, written }
        },
    )
}

fn stages() -> impl Strategy<Value = Vec<Vec<Phase>>> {
    prop::collection::vec(prop::collection::vec(phase(), 1..4), 1..5)
}

fn record(cpus: u32, stages: &[Vec<Phase>]) -> RunRecord {
    stages.iter().fold(Made::new(cpus), |made, phases| made.stage(phases)).record()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_faster_stage_makes_no_run_longer_where_cpus_are_plenty(stages in stages()) {
        let forecast = forecast(&record(0, &stages)).unwrap();
        let most = forecast.elapsed_ns + forecast.elapsed_ns / 1000;
        // A buffer needs CPU time of its own.
        let is_buffer = |change: &Change| matches!(change, Change::BufferOf { .. });
        for one in forecast.predictions.iter().filter(|one| !is_buffer(&one.change)) {
            prop_assert!(one.elapsed_ns <= most, "{one:?} of {}", forecast.elapsed_ns);
        }
        for number in 1..=u32::try_from(stages.len()).unwrap() {
            let with = |change: Change| {
                forecast.predictions.iter().find(|one| one.change == change).map(|p| p.elapsed_ns)
            };
            let (half, none) =
                (with(Change::TwiceAsFast(number)), with(Change::InfinitelyFast(number)));
            prop_assert!(none <= half.map(|ns| ns + 1000));
        }
    }

    #[test]
    fn any_pipes_between_any_stages_have_an_answer(
        stages in stages(),
        ends in prop::collection::vec((0..6_u32, 0..6_u32, any::<bool>(), 0..200_000_u64), 0..6),
        cpus in 0..4_u32,
    ) {
        let mut record = record(cpus, &stages);
        let pipes = ends.into_iter().enumerate().map(|(place, (writer, reader, outside, bytes))| {
            let mut pipe = fullbore_record::PipeRecord::default();
            pipe.pipe = u32::try_from(place + 1).unwrap();
            pipe.writers = vec![writer];
            pipe.readers = vec![reader];
            pipe.outside_writer = outside;
            pipe.initial_capacity_bytes = Some(bytes);
            pipe
        });
        record.pipes = pipes.collect();
        let forecast = forecast(&record).unwrap();
        for pair in forecast.predictions.windows(2) {
            prop_assert!(pair[0].elapsed_ns <= pair[1].elapsed_ns);
        }
    }
}
