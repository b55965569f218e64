//! The reported shares are those the stages measured themselves.

use crate::cases::mixes::{self, Deviation};
use crate::gate::Pass;

/// Points of percent a share may be off. The bar of docs/claims.md is 3, for the median of three runs five
/// times as long.
const MOST_POINTS: f64 = 5.0;

#[test]
fn shares_agree_with_what_the_stages_measured() {
    require!(
        std::thread::available_parallelism().unwrap().get() >= 2,
        "one CPU cannot run two stages at once"
    );
    let _alone = Pass::alone();
    for mix in mixes::all() {
        let worst = |deviations: Vec<Deviation>| {
            deviations
                .into_iter()
                .max_by(|a, b| a.points().total_cmp(&b.points()))
                .expect("a mix has stages")
        };
        let mut found = worst(mix.measure(2.0));
        if found.points() > MOST_POINTS {
            found = worst(mix.measure(2.0)); // other programs share the CPUs
        }
        assert!(found.points() <= MOST_POINTS, "{}: {}", mix.name, found.text());
    }
}
