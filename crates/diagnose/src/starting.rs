//! What to do about a stage that starts many processes.

use fullbore_record::StageRecord;

use super::cures::MANY_PROCESSES;
use super::names::Command;
use super::parts::{Advice, only};
use super::phrases::count;

/// Programs whose work is to start others.
const MUST_START: [&str; 9] =
    ["make", "gmake", "ninja", "meson", "snakemake", "watch", "entr", "systemd", "cargo"];

/// The advice for a stage that started many processes; `None` when it did not, or when that is its work.
pub(super) fn advice(stage: &StageRecord) -> Option<Advice> {
    if stage.processes < MANY_PROCESSES || stage.copies.is_some() {
        return None;
    }
    let processes = count(u64::from(stage.processes));
    let cure = cure(&[Command::that_started(stage), Command::of(stage)])?;
    Some(only(format!("The stage ran at least {processes} processes: {cure}.")))
}

/// What suits the program that starts them: the first of these that is no shell, if one is known to do so.
fn cure(programs: &[Command]) -> Option<&'static str> {
    if let Some(cure) = programs.iter().find_map(of_program) {
        return cure;
    }
    let shell = programs.iter().any(Command::is_shell);
    Some(if shell {
        "let one program such as awk do the whole loop, or start fewer with xargs"
    } else {
        "one long-lived process is cheaper than many short ones"
    })
}

/// `None` for a program of which nothing is known, `Some(None)` for one that cannot but start them.
fn of_program(runs: &Command) -> Option<Option<&'static str>> {
    let script = runs.arguments.iter().find(|word| !word.starts_with('-'));
    let is_script = |name: &str| script.is_some_and(|word| word.rsplit('/').next() == Some(name));
    let cure = match runs.program.as_str() {
        "xargs" => {
            "give each more to do at once, if it takes several arguments (xargs with a larger -n, or without -n, -L and -I)"
        }
        "parallel" => FOR_PARALLEL,
        // GNU parallel is a script.
        "perl" if is_script("parallel") => FOR_PARALLEL,
        "find" if runs.mentions("-exec") => {
            "let each take many files (find with -exec … + in place of \\;)"
        }
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => {
            "let awk do that itself, or keep one process and ask it, in place of one for each system() or getline"
        }
        name if is_of_scripts(name) => {
            "do that in the script itself, or keep one process and ask it, in place of one for each piece"
        }
        name if MUST_START.contains(&name) => return Some(None),
        _ => return None,
    };
    Some(Some(cure))
}

const FOR_PARALLEL: &str = "give each more to do at once (parallel with -X or a larger -N; for lines of input, parallel --pipe)";

fn is_of_scripts(name: &str) -> bool {
    ["python", "perl", "ruby", "node", "tclsh", "lua"].iter().any(|one| name.starts_with(one))
}

#[cfg(test)]
mod tests {
    use fullbore_record::{CommandIs, advice_text};

    use super::*;

    fn text(words: &str, main_words: &str) -> String {
        let mut stage = StageRecord::default();
        (stage.processes, stage.command_is) = (400, CommandIs::Program);
        stage.words = shell_words::split(words).unwrap();
        stage.main_words = shell_words::split(main_words).unwrap();
        advice(&stage).map_or_else(String::new, |advice| advice_text(&advice))
    }

    #[test]
    fn the_advice_is_about_the_program_that_starts_them() {
        for (words, main_words, cure) in [
            ("awk '{\"date\" | getline x}'", "", "let awk do that itself"),
            ("awk '{\"date\" | getline x}'", "date", "let awk do that itself"),
            ("bash -c 'gawk 1'", "gawk 1", "let awk do that itself"),
            ("parallel gzip", "gzip", "parallel --pipe"),
            ("/usr/bin/perl /usr/bin/parallel -j2 gzip", "gzip", "parallel with -X"),
            ("xargs -n1 gzip", "gzip", "if it takes several arguments (xargs with a larger -n"),
            ("find . -exec gzip {} ;", "gzip", "-exec … +"),
            ("python3 x.py", "", "in the script itself"),
            ("bash x.sh", "", "let one program such as awk do the whole loop"),
            ("./x", "", "one long-lived process"),
        ] {
            let found = text(words, main_words);
            assert!(found.contains(cure), "{words}: {found}");
        }
        assert_eq!(text("make -j2", "cc"), "");
    }
}
