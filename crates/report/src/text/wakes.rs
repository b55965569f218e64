//! What stages waited to be woken, and what `run --keep-awake` did about it.

use fullbore_measure::seconds;
use fullbore_record::{KeepAwakeRecord, Outcome, RunRecord};

use super::{Style, wrap};
use crate::figures::percent;
use crate::visible;

/// Less than this of a stage's life is not worth a line, in percent.
const NOTABLE_PERCENT: f64 = 5.0;

/// Stages that are named.
const STAGES: usize = 4;

/// Appends up to two lines, if there is something to say.
pub(super) fn write(record: &RunRecord, style: Style, lines: &mut Vec<String>) {
    let keep_awake = record.keep_awake.as_ref().map(keep_awake);
    for sentence in waiting(record).into_iter().chain(keep_awake) {
        lines.extend(wrap::wrap(&sentence, style.columns(), "  ", "    "));
    }
}

fn waiting(record: &RunRecord) -> Option<String> {
    let price_ns = record.wake_up_price_ns?;
    let mut notable: Vec<(f64, String)> = record
        .stages
        .iter()
        .filter_map(|stage| {
            let share = stage.waking_percent.filter(|share| *share >= NOTABLE_PERCENT)?;
            Some((share, visible::line(&stage.title())))
        })
        .collect();
    notable.sort_by(|one, other| other.0.total_cmp(&one.0));
    let shares = notable.iter().take(STAGES);
    let shares: Vec<String> =
        shares.map(|(share, title)| format!("{title} {}", percent(*share))).collect();
    (!shares.is_empty()).then(|| {
        format!(
            "waiting for a CPU to wake up, at {} µs each time: about {} of the time",
            price_ns.div_ceil(1000),
            shares.join(", ")
        )
    })
}

fn keep_awake(record: &KeepAwakeRecord) -> String {
    if let Some(why) = &record.ruled_out {
        return format!("keep-awake: not tried, because {}", visible::line(why));
    }
    let kept: Vec<_> =
        record.trials.iter().filter(|trial| trial.outcome == Outcome::Kept).collect();
    let tried = match (record.trials.len(), kept.len()) {
        (0, _) => return "keep-awake: not tried, because it would not have helped".to_owned(),
        (1, 0) => "tried once and put back".to_owned(),
        (tries, 0) => format!("tried {tries} times and put back"),
        (tries, kept) => format!("tried {tries}×, kept {kept}×"),
    };
    let lasted_ns: u64 = kept.iter().map(|trial| trial.lasted_ns).sum();
    let speed = kept.iter().filter_map(|trial| trial.speed_percent).fold(0.0, f64::max);
    let speed = match speed > 0.0 {
        true => format!(" with up to {:.1} times the bytes per second", speed / 100.0),
        false => String::new(),
    };
    let lasted = match lasted_ns {
        0 => String::new(),
        ns => format!(" for {}{speed}", seconds(ns)),
    };
    format!("keep-awake: {tried}{lasted}; it took {} of idle CPU time", seconds(record.cpu_ns))
}
