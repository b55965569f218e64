//! The reported shares are those the stages measured themselves.

use crate::cases::mixes;
use crate::gate::Pass;

/// One try decides. Its bound grows with the time that others took from the CPUs meanwhile, which `/proc/stat` tells;
/// `make bench CLAIMS=shares-spread` shows how far tries are off on a machine.
#[test]
fn shares_agree_with_what_the_stages_measured() {
    require!(
        std::thread::available_parallelism().unwrap().get() >= 2,
        "one CPU cannot run two stages at once"
    );
    let _alone = Pass::alone();
    for mix in mixes::all() {
        let one = mix.one_try();
        assert!(one.excess_points() <= 0.0, "{}: {}", mix.name, one.text());
    }
}
