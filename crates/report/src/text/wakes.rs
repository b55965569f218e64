//! What `run --keep-awake` did.

use fullbore_measure::seconds;
use fullbore_record::{KeepAwakeRecord, Outcome, RunRecord};

use super::{Style, wrap};
use crate::visible;

/// Appends a line, if there is something to say.
pub(super) fn write(record: &RunRecord, style: Style, lines: &mut Vec<String>) {
    if let Some(keep_awake) = record.keep_awake.as_ref().map(keep_awake) {
        lines.extend(wrap::wrap(&keep_awake, style.columns(), "  ", "    "));
    }
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
