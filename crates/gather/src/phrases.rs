//! Words that findings share.

use crate::cause::Cause;

/// What a job does with its time: `waits for a disk`.
pub(crate) fn does(cause: Cause) -> &'static str {
    match cause {
        Cause::Running => "is on a CPU",
        Cause::Cpu => "waits for a CPU",
        Cause::Disk => "waits for disk",
        Cause::Network => "waits for the network",
        Cause::Stages => "has stages that wait for each other",
        Cause::Other => "waits for something else than CPU, disk, network and pipes",
        Cause::Unseen => "does something that was not seen",
    }
}

/// Where extra time goes, after "of the extra time": `waiting for disk`.
pub(crate) fn doing(cause: Cause) -> &'static str {
    match cause {
        Cause::Running => "on a CPU",
        Cause::Cpu => "waiting for a CPU",
        Cause::Disk => "waiting for disk",
        Cause::Network => "waiting for the network",
        Cause::Stages => "in stages that wait for each other",
        Cause::Other => "waiting for something else",
        Cause::Unseen => "in what was not seen",
    }
}

/// `3.1 ×`, `12 ×`.
pub(crate) fn times(factor: f64) -> String {
    if factor < 9.95 { format!("{factor:.1} ×") } else { format!("{factor:.0} ×") }
}

/// `71 %`.
pub(crate) fn percent(value: f64) -> String {
    format!("{:.0} %", value.clamp(0.0, 100.0))
}

/// A share of a whole in percent; 0 when there is no whole.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 }
}

/// `1 job`, `12 jobs`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A duration in nanoseconds as text.
#[expect(clippy::cast_possible_truncation, reason = "nanoseconds are whole, and a cast saturates")]
pub(crate) fn whole(ns: f64) -> u64 {
    ns.max(0.0).round() as u64
}

/// `a, b and c`.
pub(crate) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
