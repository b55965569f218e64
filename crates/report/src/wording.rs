//! The words of the record, as people read them.

use fullbore_measure::seconds;
use fullbore_record::{Cause, FindingKind, Outcome, PipeRecord, RunRecord, StageRecord};

use crate::figures::{cpu_of_no_stage_ns, percent};
use crate::visible;

/// The kind of a finding.
pub(crate) fn kind(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Bottleneck => "bottleneck",
        FindingKind::TakingTurns => "taking turns",
        FindingKind::CpuStarved => "too few CPUs",
        FindingKind::SourceBound => "source-bound",
        FindingKind::SinkBound => "sink-bound",
        FindingKind::SmallCalls => "small calls",
        FindingKind::SmallPipe => "small pipe",
        FindingKind::WakeUps => "wake-ups",
        FindingKind::LeakedEnd => "leaked end",
        FindingKind::Deadlock => "deadlock",
        FindingKind::Stalled => "stalled",
        _ => "other",
    }
}

/// What a stage waits for that is not a pipe.
pub(crate) fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Disk => "disk",
        Cause::Network => "network",
        Cause::LocalSocket => "local socket",
        Cause::Peer => "stage at a socket",
        Cause::Terminal => "terminal",
        Cause::Sleep => "sleep",
        Cause::Lock => "lock",
        Cause::Event => "event",
        Cause::Child => "child process",
        Cause::FifoPeer => "FIFO not open",
        Cause::Stopped => "stopped",
        _ => "unknown",
    }
}

/// The line below the stages that says how much CPU time none of them shows.
pub(crate) fn cpu_of_no_stage(record: &RunRecord) -> Option<String> {
    let missing_ns = cpu_of_no_stage_ns(record)?;
    let share = percent(missing_ns as f64 / record.cpu_ns? as f64 * 100.0);
    let time = seconds(missing_ns);
    Some(format!(
        "in no stage: {time} of CPU time ({share}), used by the shell and by processes too short-lived to be seen"
    ))
}

/// What follows a command in an advice: without the sign that ends the command's sentence.
pub(crate) fn after_command(text: &str) -> &str {
    text.trim().trim_start_matches(['.', ';', ',']).trim_start()
}

/// What became of a change to a pipe.
pub(crate) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Kept => "kept",
        Outcome::Reverted => "reverted",
        Outcome::Refused => "refused",
        _ => "other",
    }
}

/// An exit status as a person says it: the signal for 128 + n, the number for the rest.
pub(crate) fn exit_status(status: i32) -> String {
    signal(status).map_or_else(|| status.to_string(), str::to_owned)
}

/// The name of the signal in a shell's exit status.
fn signal(status: i32) -> Option<&'static str> {
    signal_hook::low_level::signal_name(status.checked_sub(128)?)
}

/// The command of a stage, safe to show; a stand-in when it is empty.
pub(crate) fn command(stage: &StageRecord) -> String {
    let text = visible::line(stage.title().trim());
    if text.is_empty() { format!("(process {})", stage.pid) } else { text }
}

/// The ends of a pipe: `1→2`, `1,3→2`, `outside→1`.
pub(crate) fn pipe_ends(pipe: &PipeRecord) -> String {
    let ends = |stages: &[u32], outside: bool| {
        let mut names: Vec<String> = stages.iter().take(4).map(u32::to_string).collect();
        if stages.len() > 4 {
            names.push("…".to_owned());
        }
        if outside {
            names.push("outside".to_owned());
        }
        if names.is_empty() { "?".to_owned() } else { names.join(",") }
    };
    format!(
        "{}→{}",
        ends(&pipe.writers, pipe.outside_writer),
        ends(&pipe.readers, pipe.outside_reader)
    )
}

/// A pipe by its ends, or by its number when the record does not hold it.
pub(crate) fn pipe(record: &RunRecord, number: u32) -> String {
    match record.pipes.iter().find(|pipe| pipe.pipe == number) {
        Some(pipe) => format!("pipe {}", pipe_ends(pipe)),
        None => format!("pipe number {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_has_a_name_and_a_plain_failure_a_number() {
        assert_eq!(exit_status(141), "SIGPIPE");
        assert_eq!(exit_status(137), "SIGKILL");
        assert_eq!(exit_status(2), "2");
        assert_eq!(exit_status(255), "255");
        assert_eq!(exit_status(i32::MIN), i32::MIN.to_string());
    }

    #[test]
    fn a_pipe_is_named_by_its_ends() {
        let mut pipe = PipeRecord::default();
        pipe.writers = vec![1, 3];
        pipe.outside_reader = true;
        assert_eq!(pipe_ends(&pipe), "1,3→outside");
        assert_eq!(pipe_ends(&PipeRecord::default()), "?→?");
    }
}
