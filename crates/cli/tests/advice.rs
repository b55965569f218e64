//! Every command of ours that a document, a help text or a finding tells somebody to type is one that we understand.

use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::Value;

use crate::arguments::{commands, examples, program};

/// What a text tells somebody to type, and where.
struct Advice {
    place: String,
    line: String,
    /// Whether it only names a command (`fullbore gost`), which may need more to run.
    is_mention: bool,
}

#[test]
fn every_command_that_documents_name_is_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut documents = files(&root.join("docs"), ".md");
    let others = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"];
    documents.extend(others.map(|name| root.join(name)));
    let mut advice = Vec::new();
    for file in documents {
        let text = std::fs::read_to_string(&file).unwrap();
        advice.extend(in_markdown(&file.display().to_string(), &text));
    }
    assert_understood(&advice, 60);
}

#[test]
fn every_command_that_a_help_text_names_is_understood() {
    let mut advice = Vec::new();
    for (path, mut command) in commands() {
        let place = path.join(" ");
        for line in examples(&command) {
            advice.push(Advice { place: place.clone(), line, is_mention: false });
        }
        advice.extend(mentions(&place, &command.render_long_help().to_string()));
    }
    assert_understood(&advice, 40);
}

#[test]
fn every_command_that_a_finding_advises_is_understood() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut advice = Vec::new();
    for file in files(crates, ".findings.json") {
        advice.extend(in_findings(&file, &json(&file)));
    }
    assert_understood(&advice, 4);
}

#[test]
fn every_command_that_a_record_advises_is_understood() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut advice = Vec::new();
    for file in files(&crates.join("pipeline/tests/recordings"), ".record.json") {
        advice.extend(in_findings(&file, &json(&file)["findings"]));
    }
    assert_understood(&advice, 1);
}

#[test]
fn a_hint_that_names_a_wrong_command_is_found() {
    for (hint, is_right) in [
        ("make a key with: fullbore gost keygen -o FILE", true),
        ("mgm is slow; use fullbore gost seal and open for more", true),
        ("options follow the command: fullbore gost seal --key-file; see fullbore --help", true),
        ("give a file such as target/release/fullbore of another commit", true),
        ("make a key with: fullbore gost keygan -o FILE", false),
        ("options follow the command: fullbore gost seal --key-flie; see fullbore --help", false),
        ("did you mean 'a'? See fullbore lab list --long", false),
    ] {
        let (_, wrong) = misunderstood(&in_hints(&format!("error: no\nhint: {hint}\n")));
        assert_eq!(wrong.is_empty(), is_right, "{hint}: {wrong:?}");
    }
}

/// Fails when the hint of a message names a command that the program does not have.
pub(crate) fn assert_hint_is_understood(message: &str) {
    assert_understood(&in_hints(message), 0);
}

fn assert_understood(advice: &[Advice], least: usize) {
    let (seen, wrong) = misunderstood(advice);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen >= least, "only {seen} commands were found: the search is broken");
}

/// The number of commands of ours, and what is wrong with those that the program does not understand.
fn misunderstood(advice: &[Advice]) -> (usize, Vec<String>) {
    let (mut seen, mut wrong) = (0, Vec::new());
    for Advice { place, line, is_mention } in advice {
        for words in commands_of_ours(line) {
            seen += 1;
            let Err(error) = program().try_get_matches_from(&words) else { continue };
            let is_incomplete = matches!(
                error.kind(),
                ErrorKind::MissingRequiredArgument
                    | ErrorKind::MissingSubcommand
                    | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            ) || has_no_value(&error);
            let is_shown =
                matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            let is_placeholder = |word: &String| word.bytes().all(|byte| byte.is_ascii_uppercase());
            let is_general =
                error.kind() == ErrorKind::InvalidValue && words.iter().any(is_placeholder);
            let is_right = is_shown || (*is_mention && (is_incomplete || is_general));
            if !is_right {
                wrong.push(format!("{place}: {line}\n  {words:?}\n  {error}"));
            }
        }
    }
    (seen, wrong)
}

/// Files below a folder whose names end so.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_str().is_some_and(|path| path.ends_with(end)) {
            found.push(path);
        }
    }
    found
}

fn json(file: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Whether the line ends before the value of an option, as where a text is about the option itself.
fn has_no_value(error: &clap::Error) -> bool {
    let value = error.get(ContextKind::InvalidValue);
    error.kind() == ErrorKind::InvalidValue
        && matches!(value, Some(ContextValue::String(value)) if value.is_empty())
}

/// The commands that findings advise.
fn in_findings(file: &Path, findings: &Value) -> Vec<Advice> {
    let (mut advice, place) = (Vec::new(), file.display().to_string());
    for finding in findings.as_array().unwrap() {
        let parts = finding["advice"].as_array().unwrap();
        let lines = parts.iter().filter_map(|part| part["command"].as_str());
        advice.extend(lines.map(|line| Advice {
            place: place.clone(),
            line: line.to_owned(),
            is_mention: false,
        }));
        // What is only to be read must not hide a command of ours.
        let text = parts.iter().filter_map(|part| part["text"].as_str()).collect::<String>();
        let names_ours = text.split("fullbore ").skip(1).any(|rest| {
            let word = rest.split(|c: char| !c.is_alphanumeric()).next();
            commands().iter().any(|(path, _)| path.first().map(String::as_str) == word)
        });
        assert!(!names_ours, "{place}: a command within text: {text}");
    }
    advice
}

/// Where a sentence goes on after the command that it names.
const AFTER_A_COMMAND: &[&str] =
    &[";", ",", " and ", " lists ", " makes ", " replaces ", " takes ", " wrote"];

/// The commands that the hints of a message name. A path that ends in the name of the program is none.
fn in_hints(message: &str) -> Vec<Advice> {
    let hints = message.lines().filter(|line| line.starts_with("hint: "));
    let sentences = hints.flat_map(|hint| hint.split(" fullbore ").skip(1));
    let lines = sentences.map(|rest| {
        let ends = AFTER_A_COMMAND.iter().filter_map(|end| rest.find(end));
        format!("fullbore {}", &rest[..ends.min().unwrap_or(rest.len())])
    });
    lines.map(|line| Advice { place: message.to_owned(), line, is_mention: true }).collect()
}

/// Lines of blocks of code, and what stands between backticks elsewhere.
fn in_markdown(place: &str, text: &str) -> Vec<Advice> {
    let (mut advice, mut is_code) = (Vec::new(), false);
    for (number, line) in text.lines().enumerate() {
        let place = format!("{place}:{}", number + 1);
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if is_code {
            // A column of explanations.
            let line = line.trim_start().trim_start_matches("$ ");
            let line = line.split("   ").next().unwrap().split(" #").next().unwrap().to_owned();
            advice.push(Advice { place, line, is_mention: false });
        } else {
            advice.extend(mentions(&place, line));
        }
    }
    advice
}

/// What stands between backticks and begins with the name of the program.
fn mentions(place: &str, text: &str) -> Vec<Advice> {
    // In a table, a bar is escaped.
    let text = text.replace("\\|", "|");
    let quoted = text.split('`').skip(1).step_by(2);
    let ours = quoted.filter(|quoted| quoted.starts_with("fullbore "));
    // Labels of a key derivation.
    let ours = ours.filter(|quoted| !quoted.starts_with("fullbore sealed"));
    ours.map(|line| Advice { place: place.to_owned(), line: line.to_owned(), is_mention: true })
        .collect()
}

/// The stages of a shell line that run this program, each in words, without redirections.
fn commands_of_ours(line: &str) -> Vec<Vec<String>> {
    if !line.contains("fullbore ") {
        return Vec::new();
    }
    let line = without_substitutions(line);
    let pipelines =
        fullbore_shell::segments(&line).unwrap_or_else(|| panic!("no shell line: {line}"));
    let stages = pipelines.into_iter().flatten();
    let stages = stages.filter(|stage| stage.starts_with("fullbore "));
    stages.map(|stage| without_redirections(&shell_words::split(&stage).unwrap())).collect()
}

/// With a number that is a key, a code or a vector of some kind for `$NAME` and `$(…)` outside of quotes.
fn without_substitutions(line: &str) -> String {
    let (mut plain, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let is_quoted = plain.matches('\'').count() % 2 == 1;
        let end = match from.as_bytes().get(1) {
            Some(b'(') => from.find(')').map(|end| end + 1),
            _ => from[1..].find(|c: char| !c.is_ascii_uppercase()).map(|end| end + 1),
        };
        let end = end.unwrap_or(from.len());
        plain.push_str(if is_quoted { &from[..end] } else { "00112233" });
        rest = &from[end..];
    }
    plain + rest
}

fn without_redirections(words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let redirection = word.trim_start_matches(|c: char| c.is_ascii_digit());
        match redirection {
            "<" | ">" | ">>" | "<<<" => drop(words.next()),
            _ if redirection.starts_with(['<', '>']) => {}
            "…" | "..." => {}
            _ => kept.push(word.clone()),
        }
    }
    kept
}
