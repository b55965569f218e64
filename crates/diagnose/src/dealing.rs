//! Whether copies of a stage could share its input on idle CPUs, and the line that makes them do so.

use fullbore_rules::{Dealt, Ends, Merge, rule};
use fullbore_shell::segments;

use super::flow::{Flow, StageFlow};
use super::names::Command;
use super::parts::{Advice, paste};

/// A stage that reads at least this much, in bytes a second, is hardly slower than the pipe itself. On two CPUs, time alone
/// ÷ time with `par` was 1.5 at 40 MB/s (jq), 1.7 at 20 (sed), 1.6 at 65 (gzip) and at 240 (wc), 1.2 at 510 (grep -E), 1.1 at
/// 570 (cut), and 0.7 to 0.9 above that.
const KEEPS_UP: f64 = 400e6;

/// From less input, …
const ENOUGH_BYTES: u64 = 32_000_000;
/// … and less work, too few blocks can be made for the CPUs to share, and starting copies costs what they gain: `gzip -9` took
/// 1.82 s for 13 MB, and 1.85 s with `par`.
const ENOUGH_CPU_NS: u64 = 3_000_000_000;

/// Compressors that use all CPUs if they are told to.
const HAVE_THREADS: [&str; 2] = ["xz", "zstd"];

/// The line that deals out the input of a stage, and what it takes for granted; `None` where the output would be another.
pub(super) struct Line {
    line: String,
    program: String,
    /// What is to be known before.
    remark: String,
}

impl Line {
    /// Tells whether the command of a stage can be dealt out; `runs` is that command.
    pub(super) fn of(flow: &Flow<'_>, stage: &StageFlow<'_>, runs: &Command) -> Option<Self> {
        if stage.stage.copies.is_some() || !reads_a_pipe(flow, stage) || keeps_up(stage) {
            return None;
        }
        if !is_worth_dealing(stage) {
            return None;
        }
        let known = rule(&runs.words());
        // It finds the ends of such records itself as fast as they can be dealt out: time alone ÷ time with `par` was 0.94.
        if runs.program == "grep" && known.input == Ends::Zeros {
            return None;
        }
        let merge = match known.dealt {
            Dealt::Equivalent { .. } if HAVE_THREADS.contains(&runs.program.as_str()) => {
                return None;
            }
            Dealt::Records | Dealt::Equivalent { .. } => "",
            // Two end as soon as they have their lines. sort has threads of its own, so that merging costs what they gain;
            // uniq is faster than the merge where few lines are alike (0.6).
            Dealt::Merge(
                Merge::Head(_)
                | Merge::Tail(_)
                | Merge::Sort(_)
                | Merge::Uniq(_)
                | Merge::UniqCount,
            ) => return None,
            Dealt::Merge(_) => " --merge auto",
            Dealt::Differs { .. } | Dealt::Unknown => return None,
        };
        let records = if known.input == Ends::Zeros { " -0" } else { "" };
        let variables = assignments(&flow.record.command, runs)?;
        let line = runs.typed(&format!("{variables}fullbore par{records}{merge}"))?;
        let remark = match (known.dealt, known.needs) {
            (Dealt::Equivalent { why }, _) => format!(" (the output differs, but {why})"),
            (_, Some(needs)) => format!(" (condition: {needs})"),
            _ => String::new(),
        };
        Some(Self { line, program: runs.program.clone(), remark })
    }

    /// What to do; `opening` is `Run` or `Or run`.
    pub(super) fn advice(self, opening: &str) -> Advice {
        let Self { line, program, remark } = self;
        paste(format!("{opening} copies of {program} on the idle CPUs{remark}: "), line)
    }
}

fn reads_a_pipe(flow: &Flow<'_>, stage: &StageFlow<'_>) -> bool {
    flow.record.pipes.iter().any(|pipe| pipe.readers.contains(&stage.stage.stage))
}

fn is_worth_dealing(stage: &StageFlow<'_>) -> bool {
    let read_bytes = stage.stage.read_bytes.unwrap_or(0);
    read_bytes >= ENOUGH_BYTES || stage.stage.cpu_ns >= ENOUGH_CPU_NS
}

fn keeps_up(stage: &StageFlow<'_>) -> bool {
    let read = stage.stage.read_bytes.map(|bytes| bytes as f64);
    read.is_none_or(|bytes| bytes >= stage.life_ns / 1e9 * KEEPS_UP)
}

/// The variables that the line sets for this command, ready to stand before it: they are no part of its words. `None` where
/// a shell would expand them.
fn assignments(line: &str, runs: &Command) -> Option<String> {
    let stages = segments(line).into_iter().flatten().flatten();
    let mut found = String::new();
    for stage in stages {
        let Ok(words) = shell_words::split(&stage) else { continue };
        let is_variable = |word: &&String| super::names::is_assignment(word);
        let count = words.iter().take_while(is_variable).count();
        if count == 0 || !runs.is_typed_as(&words[count..]) {
            continue;
        }
        if words[..count].iter().any(|word| word.contains(['$', '`', '~'])) {
            return None;
        }
        // Quotes around the whole would make it a command.
        let typed = words[..count].iter().filter_map(|word| word.split_once('='));
        found =
            typed.map(|(name, value)| format!("{name}={} ", shell_words::quote(value))).collect();
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use fullbore_record::StageRecord;

    use super::*;

    fn command(text: &str) -> Command {
        let mut stage = StageRecord::default();
        stage.words = shell_words::split(text).unwrap();
        Command::of(&stage)
    }

    #[test]
    fn variables_before_a_command_stay_before_it() {
        for (line, runs, found) in [
            ("zcat f | LC_ALL=C grep x | wc", "grep x", Some("LC_ALL=C ")),
            (
                "zcat f | A='a b' LC_ALL=C /usr/bin/grep x",
                "/usr/bin/grep x",
                Some("A='a b' LC_ALL=C "),
            ),
            ("zcat f | A=1 grep y | grep x", "grep x", Some("")),
            ("zcat f | A=$B grep x", "grep x", None),
            ("zcat f | grep x", "grep x", Some("")),
        ] {
            assert_eq!(assignments(line, &command(runs)).as_deref(), found, "{line}");
        }
    }
}
