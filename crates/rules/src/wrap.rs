//! Commands that run another command: what keeps its answer, and how a merge must repeat them.

use crate::answer::{Dealt, Merge, Rule};
use crate::options::Parsed;
use crate::table::table;
use crate::{apply, line};

/// The rule of a command, with or without wrappers.
pub(crate) fn rule(words: &[String]) -> Rule {
    let Some((first, rest)) = words.split_first() else { return Rule::unknown() };
    let name = first.rsplit('/').next().unwrap_or(first);
    let wrapped = match name {
        "env" => env(rest),
        "nice" => skip(rest, &["-n", "--adjustment"], |word| digits(word.trim_start_matches('-'))),
        "ionice" => skip(rest, &["-c", "-n", "--class", "--classdata"], |word| word == "-t"),
        "stdbuf" => skip(rest, &["-i", "-o", "-e", "--input", "--output", "--error"], |_| false),
        "nohup" => Some(0),
        "taskset" => taskset(rest),
        "timeout" => return Rule::differs("every block gets the whole time", None),
        "busybox" => return busybox(rest),
        "sh" | "bash" | "dash" => return shell(rest),
        _ => return apply::rule(name, rest),
    };
    match wrapped {
        Some(count) if count < rest.len() => repeat(rule(&rest[count..]), &words[..=count]),
        _ => Rule::unknown(),
    }
}

/// Puts the wrapper before the command of a merge, which needs the same locale.
fn repeat(mut rule: Rule, wrapper: &[String]) -> Rule {
    if let Dealt::Merge(
        Merge::Sort(words) | Merge::Uniq(words) | Merge::Head(words) | Merge::Tail(words),
    ) = &mut rule.dealt
    {
        words.splice(0..0, wrapper.iter().cloned());
    }
    rule
}

/// How many words are options: those in `valued` have a value, attached or not; `flag` accepts others.
fn skip(words: &[String], valued: &[&str], flag: impl Fn(&str) -> bool) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        if word == "--" {
            return Some(at + 1);
        }
        let attached = valued.iter().any(|option| {
            let rest = word.strip_prefix(option);
            rest.is_some_and(|rest| {
                if option.len() > 2 { rest.starts_with('=') } else { !rest.is_empty() }
            })
        });
        at += match valued.contains(&word.as_str()) {
            true => 2,
            false if attached || flag(word) => 1,
            false => return None,
        };
    }
    Some(at)
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `env`: options and assignments.
fn env(words: &[String]) -> Option<usize> {
    let flag = |word: &str| matches!(word, "-i" | "-" | "--ignore-environment");
    let mut at = skip(words, &["-u", "--unset"], flag)?;
    while let Some((name, _)) = words.get(at).and_then(|word| word.split_once('=')) {
        at += 1;
        is_harmless(name).then_some(())?;
    }
    Some(at)
}

/// Tells whether a variable leaves the options of commands as they are. `POSIXLY_CORRECT` or `XZ_OPT` would not.
pub(crate) fn is_harmless(name: &str) -> bool {
    let known =
        ["LANG", "LANGUAGE", "TZ", "PATH", "TMPDIR", "HOME", "TERM", "NO_COLOR", "OMP_NUM_THREADS"];
    let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let own = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(letters);
    known.contains(&name) || name.starts_with("LC_") || own
}

/// `taskset MASK` or `taskset -c LIST`.
fn taskset(words: &[String]) -> Option<usize> {
    let flag = matches!(words.first()?.as_str(), "-c" | "--cpu-list");
    let list = words.get(usize::from(flag))?;
    (!list.starts_with('-')).then_some(usize::from(flag) + 1)
}

/// The applets of busybox that follow the table with these letters; it has options of its own, and no abbreviations.
const APPLETS: &[(&str, &str)] = &[
    ("cat", "u"),
    ("cut", "bcfdsn"),
    ("grep", "EFiwxvocqhseH"),
    ("egrep", "iwxvoch"),
    ("fgrep", "iwxvoch"),
    ("head", "nc"),
    ("rev", ""),
    ("sed", "nrEe"),
    ("tr", "cds"),
    ("uniq", "ic"),
    ("wc", "lcw"),
];

fn busybox(words: &[String]) -> Rule {
    let Some((name, rest)) = words.split_first() else { return Rule::unknown() };
    let Some((_, letters)) = APPLETS.iter().find(|(applet, _)| applet == name) else {
        return Rule::unknown();
    };
    let row = table().row(name);
    let parsed = row.and_then(|row| Parsed::read(row, rest));
    let fits = |(option, _): &(String, Option<String>)| match option.strip_prefix('-') {
        Some("#") => true,
        Some(letter) => letter.len() == 1 && letters.contains(letter),
        None => false,
    };
    let short = rest.iter().all(|word| !word.starts_with("--") || word == "--");
    if !short || !parsed.is_some_and(|parsed| parsed.options.iter().all(fits)) {
        return Rule::unknown();
    }
    repeat(apply::rule(name, rest), &["busybox".to_owned()])
}

/// `sh -c TEXT`, if a shell would only run the pipeline in it.
fn shell(words: &[String]) -> Rule {
    match words {
        [option, text] if option == "-c" => line::rule(text, rule),
        _ => Rule::unknown(),
    }
}
