//! Which suites and cases are meant.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Result;
use fullbore_lab::suite::{BUILT_IN, Suite, built_in, read};

use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// The suites that were named, each with the cases that are wanted.
pub(super) fn suites(names: &[String], only_ladder: bool) -> Result<Vec<Suite>, Failure> {
    let mut suites: Vec<Suite> = Vec::new();
    for name in names {
        let mut suite = suite(name)?;
        if only_ladder {
            suite.cases.retain(|case| case.name == "ladder");
            if suite.cases.is_empty() {
                return Err(failure(
                    format!("lab: --ladder: {name}: this suite has no case 'ladder'"),
                    "fullbore lab pipe --ladder",
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
            }
            None => suites.push(suite),
        }
    }
    Ok(suites)
}

/// Keeps what runs fullbore as a program, beside the same of another build.
pub(super) fn pair_builds(suites: &mut Vec<Suite>, before: &Path) -> Result<(), Failure> {
    let is_program = std::fs::metadata(before).map_err(|error| plain(&error)).and_then(|meta| {
        let may_run = meta.is_file() && meta.permissions().mode() & 0o111 != 0;
        if may_run { Ok(()) } else { Err("it is no program".to_owned()) }
    });
    if let Err(why) = is_program {
        return Err(failure(
            format!("lab: --against: {}: {why}", before.display()),
            "the path of another build, such as target/release/fullbore of another commit",
        ));
    }
    suites.iter_mut().for_each(Suite::pair_builds);
    suites.retain(|suite| !suite.cases.is_empty());
    if suites.is_empty() {
        return Err(failure(
            "lab: --against: none of these cases runs fullbore as a program".to_owned(),
            "fullbore lab stages --against PROGRAM",
        ));
    }
    Ok(())
}

/// All suites, their cases, and what they need.
pub(super) fn listing(names: &[String]) -> Result<String, Failure> {
    let all: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
    let suites = suites(if names.is_empty() { &all } else { names }, false)?;
    Ok(fullbore_report::lab::text::listing(&suites))
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
        return with_case(parsed(&stem, file, &text)?, case);
    }
    let (suite, case) =
        name.split_once('/').map_or((name, None), |(suite, case)| (suite, Some(case)));
    let Some(text) = built_in(suite) else {
        let known: Vec<_> = BUILT_IN.iter().map(|(name, _)| *name).collect();
        return Err(failure(
            format!("lab: no suite '{suite}': there are {}", known.join(", ")),
            "a suite of your own is a path that ends in .toml; see fullbore lab list",
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
    let hint = "docs/guide.md, \"Suites of your own\", has an example";
    read(name, file, text).map_err(|error| failure(format!("lab: {error}"), hint))
}

fn with_case(mut suite: Suite, case: Option<&str>) -> Result<Suite, Failure> {
    let Some(case) = case else {
        return Ok(suite);
    };
    let known: Vec<_> = suite.cases.iter().map(|case| case.name.clone()).collect();
    suite.cases.retain(|known| known.name == case);
    if suite.cases.is_empty() {
        let message =
            format!("lab: {}: no case '{case}': there are {}", suite.name, known.join(", "));
        return Err(failure(message, "see fullbore lab list"));
    }
    Ok(suite)
}
