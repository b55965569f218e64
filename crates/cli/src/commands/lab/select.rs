//! Finds the suites and cases that the user named.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Result;
use fullbore_lab::record::Effort;
use fullbore_lab::suite::{BUILT_IN, Suite, built_in, read};

use crate::exit::Exit;
use crate::messages::{Failure, plain};
use crate::nearest::nearest;

/// Name of the suite of disks.
const DISK: &str = "disk";

/// The named suites, each with the wanted cases.
pub(super) fn suites(names: &[String], only_ladder: bool) -> Result<Vec<Suite>, Failure> {
    let mut suites: Vec<Suite> = Vec::new();
    for name in names {
        let mut suite = suite(name)?;
        if only_ladder {
            keep(&mut suite, "ladder");
            if suite.cases.is_empty() {
                return Err(failure(
                    format!("lab: --ladder: {name}: this suite has no case 'ladder'"),
                    "try fullbore lab pipe --ladder",
                ));
            }
        }
        match suites.iter_mut().find(|known| known.name == suite.name) {
            Some(known) => {
                let is_new = |case: &fullbore_lab::suite::Case| {
                    !known.cases.iter().any(|earlier| earlier.name == case.name)
                };
                let new: Vec<_> = suite.cases.into_iter().filter(is_new).collect();
                known.cases.extend(new);
                known.is_whole |= suite.is_whole;
            }
            None => suites.push(suite),
        }
    }
    Ok(suites)
}

/// Keeps the engines that run fullbore as a program, each paired with the same engine of another build.
pub(super) fn pair_builds(suites: &mut Vec<Suite>, before: &Path) -> Result<(), Failure> {
    let is_program = std::fs::metadata(before).map_err(|error| plain(&error)).and_then(|meta| {
        let may_run = meta.is_file() && meta.permissions().mode() & 0o111 != 0;
        if may_run { Ok(()) } else { Err("it is not a program".to_owned()) }
    });
    if let Err(why) = is_program {
        return Err(failure(
            format!("lab: --against: {}: {why}", before.display()),
            "give the path of another build, such as target/release/fullbore of another commit",
        ));
    }
    suites.iter_mut().for_each(Suite::pair_builds);
    suites.retain(|suite| !suite.cases.is_empty());
    if suites.is_empty() {
        return Err(failure(
            "lab: --against: none of these cases runs fullbore as a program".to_owned(),
            "try fullbore lab stages --against PROGRAM",
        ));
    }
    Ok(())
}

/// All suites, their cases, and what they need.
pub(super) fn listing(names: &[String]) -> Result<String, Failure> {
    let all: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
    // The suite of disks is measured by a command of its own.
    let with_disk = names.is_empty() || names.iter().any(|name| name == DISK);
    let names = if names.is_empty() { all } else { names.to_vec() };
    let names: Vec<String> = names.into_iter().filter(|name| name != DISK).collect();
    let mut text = fullbore_report::lab::text::listing(&suites(&names, false)?);
    if with_disk {
        let suite = fullbore_lab::disk::suite(Effort::Usual, None)
            .map_err(|error| failure(format!("lab: the suite disk: {error}"), ""))?;
        text.push_str(&fullbore_report::disk::text::listing(&suite));
    }
    Ok(text)
}

fn failure(message: String, hint: &str) -> Failure {
    Failure { message, hint: hint.to_owned(), exit: Exit::NotDone }
}

fn suite(name: &str) -> Result<Suite, Failure> {
    if let Some((file, case)) = split_path(name) {
        let text = std::fs::read_to_string(file).map_err(|error| {
            failure(format!("lab: reading the suite: {file}: {}", plain(&error)), "")
        })?;
        let stem = Path::new(file)
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let suite = Suite { word: file.to_owned(), ..parsed(&stem, file, &text)? };
        return with_case(suite, case);
    }
    let (suite, case) =
        name.split_once('/').map_or((name, None), |(suite, case)| (suite, Some(case)));
    let Some(text) = built_in(suite) else {
        let known: Vec<_> = BUILT_IN.iter().map(|(name, _)| *name).collect();
        let others = ["list", "show", "compare", "disk", "import"];
        let hint = match nearest(suite, known.iter().chain(&others).copied()) {
            Some(near) => format!("did you mean '{near}'? See fullbore lab list"),
            None => {
                "the path of your own suite must end in .toml; see fullbore lab list".to_owned()
            }
        };
        return Err(failure(
            format!("lab: no suite '{suite}'; the suites are {}", known.join(", ")),
            &hint,
        ));
    };
    with_case(parsed(suite, &format!("suites/{suite}.toml"), text)?, case)
}

/// `mine.toml` or `mine.toml/case`.
fn split_path(name: &str) -> Option<(&str, Option<&str>)> {
    if name.ends_with(".toml") {
        return Some((name, None));
    }
    let at = name.rfind(".toml/")? + ".toml".len();
    Some((&name[..at], Some(&name[at + 1..])))
}

fn parsed(name: &str, file: &str, text: &str) -> Result<Suite, Failure> {
    let hint = "docs/guide.md, \"How do I write my own suite?\", has an example";
    read(name, file, text).map_err(|error| failure(format!("lab: {error}"), hint))
}

/// Leaves out all cases but one.
fn keep(suite: &mut Suite, case: &str) {
    let all = suite.cases.len();
    suite.cases.retain(|known| known.name == case);
    suite.is_whole &= suite.cases.len() == all;
}

fn with_case(mut suite: Suite, case: Option<&str>) -> Result<Suite, Failure> {
    let Some(case) = case else {
        return Ok(suite);
    };
    let known: Vec<_> = suite.cases.iter().map(|case| case.name.clone()).collect();
    keep(&mut suite, case);
    if suite.cases.is_empty() {
        let message =
            format!("lab: {}: no case '{case}'; the cases are {}", suite.name, known.join(", "));
        let hint = match nearest(case, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean '{}/{near}'? See fullbore lab list", suite.word),
            None => "see fullbore lab list".to_owned(),
        };
        return Err(failure(message, &hint));
    }
    Ok(suite)
}
