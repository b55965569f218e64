//! What `--auto` would have done about the stage that held a run back.

use std::ffi::OsStr;

use fullbore_auto::{Change, Rewritten};
use fullbore_feed::par::FAST_BYTES_PER_SECOND;
use fullbore_measure::{seconds, visible};
use fullbore_record::{ChangeKind, ChangeRecord, FindingKind, RunRecord, StageRecord};
use fullbore_rules::plain_words;

use super::auto::rewritten;

/// Shorter runs are not worth a word.
const WORTH_A_WORD_NS: u64 = 1_000_000_000;

/// Nor is a change that leaves more than this share of the time.
const WORTH_DEALING: f64 = 0.85;

/// A line for the end of the summary, with a newline; `None` if `--auto` would not touch that stage or gain little.
pub(crate) fn hint(record: &RunRecord, shell: &OsStr, line: &OsStr) -> Option<String> {
    let verdict = record.findings.first().filter(|found| found.kind == FindingKind::Bottleneck)?;
    if record.elapsed_ns < WORTH_A_WORD_NS || record.is_cut_off() {
        return None;
    }
    let stage = record.stages.iter().find(|stage| Some(stage.stage) == verdict.stage)?;
    let Rewritten { changes, untouched: None, .. } =
        rewritten(shell, line, "fullbore par --auto", true)
    else {
        return None;
    };
    changes.iter().find_map(|change| gain(record, stage, change))
}

/// Whether `--auto` would leave the command alone, because it takes so many bytes in a second of CPU time.
fn is_fast(stage: &StageRecord) -> bool {
    let taken = stage.read_bytes.unwrap_or(0) as f64;
    taken > FAST_BYTES_PER_SECOND * stage.cpu_ns as f64 * 1e-9
}

fn program(stage: &StageRecord) -> &str {
    let word = stage.words.first().map_or("", String::as_str);
    word.rsplit('/').next().unwrap_or(word)
}

/// The words of the program: `plain_words` writes assignments as `env LC_ALL=C sort`, the record has `sort`.
fn without_env(words: &[String]) -> &[String] {
    match words.split_first() {
        Some((env, rest)) if env == "env" => {
            let assigned = rest.iter().take_while(|word| word.contains('=')).count();
            &rest[assigned..]
        }
        _ => words,
    }
}

fn gain(record: &RunRecord, stage: &StageRecord, change: &Change) -> Option<String> {
    let is_it =
        |text: &str| plain_words(text).is_some_and(|words| without_env(&words) == stage.words);
    match change {
        Change::Offered(text) if is_it(text) && record.host.cpus > 1 && !is_fast(stage) => {
            let dealt = |tried: &ChangeRecord| {
                tried.kind == ChangeKind::OnTwoCpus && tried.stage == Some(stage.stage)
            };
            let predictions = &record.what_if.as_ref()?.predictions;
            let found = predictions.iter().find(|found| dealt(&found.change))?;
            let is_worth_it = found.elapsed_ns as f64 <= WORTH_DEALING * record.elapsed_ns as f64;
            is_worth_it.then(|| {
                format!(
                    "  hint: `fullbore run --auto …` would deal {} out over 2 CPUs:\n    about {} instead of {}.\n",
                    visible(program(stage)),
                    seconds(found.elapsed_ns),
                    seconds(record.elapsed_ns),
                )
            })
        }
        Change::Fused(text) if text.split('|').any(is_it) => Some(format!(
            "  hint: `fullbore run --auto …` would not sort every line:\n    `{}` becomes one stage.\n",
            visible(text),
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use fullbore_record::Finding;

    use super::*;

    /// A run of three seconds that its first stage held back, which used so much of them and took so many bytes.
    fn record(words: &[&str], cpu_ns: u64, read_bytes: u64) -> RunRecord {
        let mut stage = StageRecord::default();
        stage.stage = 1;
        stage.words = words.iter().map(|word| (*word).to_owned()).collect();
        stage.cpu_ns = cpu_ns;
        stage.read_bytes = Some(read_bytes);
        let mut record = RunRecord::default();
        record.elapsed_ns = 3_000_000_000;
        record.host.cpus = 2;
        record.stages = vec![stage];
        record.findings =
            vec![Finding::new(FindingKind::Bottleneck, "It is on a CPU.").about_stage(1)];
        record
    }

    fn hint_of(record: &RunRecord, line: &str) -> Option<String> {
        hint(record, OsStr::new("sh"), OsStr::new(line))
    }

    #[test]
    fn a_sort_that_could_be_a_count_is_named_and_another_is_not() {
        let sort = record(&["sort", "-u"], 2_900_000_000, 100_000_000);
        let found = hint_of(&sort, "cat f | LC_ALL=C sort -u").unwrap_or_default();
        assert!(found.contains("`LC_ALL=C sort -u` becomes one stage"), "{found}");
        assert_eq!(hint_of(&sort, "cat f | LC_ALL=C sort -u -k2"), None);
        assert_eq!(hint_of(&sort, "alias sort=x; cat f | LC_ALL=C sort -u"), None);
    }

    #[test]
    fn a_short_run_and_a_fast_command_get_no_hint() {
        let mut ended = record(&["sort", "-u"], 2_900_000_000, 100_000_000);
        ended.exit_status = Some(130);
        assert_eq!(hint_of(&ended, "cat f | LC_ALL=C sort -u"), None, "after Ctrl-C");
        let mut short = record(&["sort", "-u"], 200_000_000, 1_000_000);
        short.elapsed_ns = 300_000_000;
        assert_eq!(hint_of(&short, "cat f | LC_ALL=C sort -u"), None);
        // 500 MB in a second of CPU time: `--auto` would leave it alone.
        let grep = record(&["grep", "-v", "e"], 2_000_000_000, 1_000_000_000);
        assert!(is_fast(&grep.stages[0]));
        assert_eq!(hint_of(&grep, "cat f | grep -v e"), None);
        let sed = record(&["sed", "s/a/b/"], 2_000_000_000, 100_000_000);
        assert!(!is_fast(&sed.stages[0]));
    }
}
