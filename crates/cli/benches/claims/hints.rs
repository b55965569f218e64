//! Whether what a hint tells to paste is faster than what it replaces.

use std::process::Command;

use fullbore_measure::Summary;

use crate::Effort;
use crate::cases::hints::{STAGES, json_lines, pasted, text};
use crate::pairs::Pairs;
use crate::sandbox::{Sandbox, is_installed, path_with_ours};
use crate::table::{Outcome, Row};

/// Slower than this part of the speed of what it replaces: the hint did harm.
const HARM: f64 = 0.95;
/// Faster than this: the hint was worth pasting.
const WORTH_PASTING: f64 = 1.2;
/// The locale of most people's terminals; the C locale that some hints name is no gain without it.
const LOCALE: &str = "en_US.UTF-8";

/// One command and its replacement.
struct Measured {
    plain: String,
    pasted: String,
    gain: Summary,
}

/// Every command that `fullbore run` names for `cat FILE | STAGE | wc -c` against the stage it is meant for.
pub(crate) fn speed(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let copies = effort.pick(1, 2);
    std::fs::write(place.path("text"), text().repeat(copies)).unwrap();
    std::fs::write(place.path("json"), json_lines().repeat(copies)).unwrap();
    let mut notes = Vec::new();
    let locale = if has_locale() { LOCALE } else { "C.UTF-8" };
    notes.push(format!("locale of the commands: {locale}"));
    let mut all = Vec::new();
    for (words, _) in effort.part_of(STAGES.to_vec()) {
        let plain = shell_words::join(words);
        let file = if words.contains(&"jq") { "json" } else { "text" };
        let line = |stage: &str| format!("cat {file} | {stage} | wc -c");
        let record = place.record_of_silent({
            let mut command = place.reporting(&[], &line(&plain));
            command.env("LC_ALL", locale);
            command
        });
        let Some(verdict) = record.findings.first().filter(|verdict| verdict.stage == Some(2))
        else {
            notes.push(format!("`{plain}` does not hold its pipeline back"));
            continue;
        };
        for pasted in pasted(verdict) {
            let program = pasted.split_whitespace().find(|word| !word.contains('='));
            let is_missing = |program: &&str| *program != "fullbore" && !is_installed(program);
            if let Some(missing) = program.filter(is_missing) {
                notes.push(format!("left out: `{pasted}` ({missing} is not installed)"));
                continue;
            }
            let shell = |stage: &str| -> Command {
                let mut command = place.command("sh");
                command.args(["-c", &line(stage)]).env("LC_ALL", locale);
                command.env("PATH", path_with_ours());
                command
            };
            let pairs = Pairs::measure(effort.times(3, 3), |_| shell(&plain), |_| shell(&pasted));
            let gain = pairs.first_to_second();
            println!("   {:.2}  {plain}  →  {pasted}", gain.median);
            all.push(Measured { plain: plain.clone(), pasted, gain });
        }
    }
    vec![row(all, notes)]
}

fn row(mut all: Vec<Measured>, mut notes: Vec<String>) -> Row {
    all.sort_by(|a, b| a.gain.median.total_cmp(&b.gain.median));
    let harmful = all.iter().filter(|one| one.gain.median < HARM).count();
    let useful = all.iter().filter(|one| one.gain.median >= WORTH_PASTING).count();
    notes.extend(all.iter().map(|one| {
        let Measured { plain, pasted, gain } = one;
        format!("{:.2} ± {:.2}: `{plain}` → `{pasted}`", gain.median, gain.mad)
    }));
    Row {
        claim: format!(
            "{} commands of hints: time of the stage as it was ÷ time with what was pasted",
            all.len()
        ),
        bar: format!("none below {HARM}, more than half at least {WORTH_PASTING}"),
        measured: format!("{harmful} below {HARM}, {useful} at least {WORTH_PASTING}"),
        outcome: Outcome::met_if(harmful == 0 && 2 * useful > all.len()),
        command: "cat FILE | STAGE | wc -c   # crates/cli/tests/cases/hints.rs".to_owned(),
        notes,
    }
}

fn has_locale() -> bool {
    let listed = Command::new("locale").arg("-a").output();
    let names = listed.map(|output| output.stdout).unwrap_or_default();
    let names = String::from_utf8_lossy(&names).to_lowercase();
    names.lines().any(|name| name.replace('-', "") == LOCALE.to_lowercase().replace('-', ""))
}
