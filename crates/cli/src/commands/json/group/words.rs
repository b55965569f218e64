//! The words after `json group`: keys, aggregates and files.

use std::ffi::{OsStr, OsString};
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::slice::Iter;

use anyhow::{Result, anyhow};
use fullbore_codec::aggregate::{Aggregate, KeyPart, NAMES, Question};
use fullbore_codec::json::query::{Cut, SyntaxError};

use crate::commands::json::paths::{is_path, mistake};
use crate::messages::caret::Mistake;
use crate::nearest::nearest;

/// The command for messages.
pub(super) const NAME: &str = "json group";

/// What is asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) keys: Vec<KeyPart>,
    pub(super) questions: Vec<Question>,
    pub(super) files: Vec<PathBuf>,
}

/// Reads the words; with `by`, no word is a key.
///
/// # Errors
/// If one has a mistake: where.
pub(super) fn read(words: &[OsString], by: Option<&str>) -> Result<Asked> {
    let mut asked = Asked::default();
    let mut words = words.iter().peekable();
    match by {
        Some(by) => asked.keys = keys(by)?,
        None => {
            let first = words.next_if(|word| begins_keys(word));
            if let Some(first) = first {
                let mut text = first.to_string_lossy().into_owned();
                if Cut::of_function(text.trim()).is_some() {
                    add_next(&mut text, &mut words);
                }
                asked.keys = keys(&text)?;
            }
        }
    }
    while let Some(word) = words.next() {
        match word.to_str() {
            Some(text) if Question::begins(text) => {
                asked.questions.extend(questions(text, &mut words)?);
            }
            _ if is_path(word) => return Err(lone_path(word, by.is_some()).into()),
            _ if is_file(word) => asked.files.push(PathBuf::from(word)),
            _ => return Err(unknown(word)),
        }
    }
    if asked.questions.is_empty() {
        asked.questions.push(Question { aggregate: Aggregate::Records, path: None });
    }
    Ok(asked)
}

fn begins_keys(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    let name = text.split_whitespace().next().unwrap_or_default();
    is_path(word) || Cut::of_function(name).is_some() && !is_file(word)
}

fn keys(text: &str) -> Result<Vec<KeyPart>> {
    let hint = "keys are paths with commas between them, such as .host,.method or 'hour .time'";
    Ok(KeyPart::parse_list(text).map_err(|error| mistake(NAME, text, &error, hint))?)
}

/// Reads an aggregate that begins with this word, and may go on in the next words.
fn questions(word: &str, words: &mut Peekable<Iter<'_, OsString>>) -> Result<Vec<Question>> {
    let mut text = word.to_owned();
    loop {
        let read = Question::parse(&text);
        let goes_on = match &read {
            Ok(questions) => {
                let is_short = questions.iter().all(|question| question.path.is_none());
                is_short && words.peek().is_some_and(|next| is_path(next))
            }
            Err(SyntaxError { at, .. }) => *at == text.len(),
        };
        if !goes_on || !add_next(&mut text, words) {
            return Ok(read.map_err(|error| mistake(NAME, &text, &error, ""))?);
        }
    }
}

/// Adds the next word; returns whether there was one.
fn add_next(text: &mut String, words: &mut Peekable<Iter<'_, OsString>>) -> bool {
    let Some(next) = words.next() else { return false };
    text.push(' ');
    text.push_str(&next.to_string_lossy());
    true
}

fn is_file(word: &OsStr) -> bool {
    let path = Path::new(word);
    word == "-" || word.as_encoded_bytes().contains(&b'/') || path.exists()
}

fn lone_path(word: &OsStr, has_by: bool) -> Mistake {
    let text = word.to_string_lossy().into_owned();
    let hint = if has_by {
        format!(
            "what about it? for example 'sum {text}' or 'count {text}'; a file is written as ./{text}"
        )
    } else {
        format!(
            "several keys have commas between them; for an aggregate, write 'sum {text}' or the like"
        )
    };
    let message = format!("{NAME}: expected an aggregate or a file, found a path");
    Mistake { message, text, at: 0, hint }
}

fn unknown(word: &OsStr) -> anyhow::Error {
    let text = word.to_string_lossy().into_owned();
    let begin = text.len() - text.trim_start().len();
    let name: String = text[begin..].chars().take_while(|c| c.is_alphanumeric()).collect();
    if name.is_empty() {
        return anyhow!("{NAME}: {text}: expected an aggregate or a file");
    }
    let hint = match nearest(&name, NAMES.into_iter()) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("aggregates: {}; a path begins with a dot", NAMES.join(", ")),
    };
    let message = format!("{NAME}: neither an aggregate nor a file");
    Mistake { message, text, at: begin, hint }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &[&str], by: Option<&str>) -> Result<(String, String, String), String> {
        let words: Vec<OsString> = line.iter().map(OsString::from).collect();
        let asked = read(&words, by).map_err(|error| match error.downcast::<Mistake>() {
            Ok(mistake) => format!("{}|{}|{}", mistake.message, mistake.at, mistake.hint),
            Err(error) => error.to_string(),
        })?;
        let keys: Vec<String> = asked.keys.iter().map(KeyPart::to_string).collect();
        let questions: Vec<String> = asked.questions.iter().map(Question::to_string).collect();
        let files: Vec<String> =
            asked.files.iter().map(|file| file.display().to_string()).collect();
        Ok((keys.join(","), questions.join(","), files.join(",")))
    }

    #[test]
    fn words_are_keys_aggregates_and_files() {
        for (line, keys, questions, files) in [
            (&[".a"][..], ".a", "count", ""),
            (&["count"], "", "count", ""),
            (&[".a,hour .t", "sum .b", "/x"], ".a,hour .t", "sum .b", "/x"),
            (&["hour", ".t", "sum", ".b"], "hour .t", "sum .b", ""),
            (&[".a", "count", ".b", "count", "-"], ".a", "count .b,count", "-"),
            (&[".a", "top", "3", ".b", "./x"], ".a", "top 3 .b", "./x"),
            (&["p50,p99", ".ms", "./.x"], "", "p50 .ms,p99 .ms", "./.x"),
            (&["$.a", "src/main.rs", "max .b"], ".a", "max .b", "src/main.rs"),
        ] {
            let expected = (keys.to_owned(), questions.to_owned(), files.to_owned());
            assert_eq!(asked(line, None), Ok(expected), "{line:?}");
        }
        let by = asked(&["sum .b"], Some(".a,.c"));
        assert_eq!(by, Ok((".a,.c".to_owned(), "sum .b".to_owned(), String::new())));
    }

    #[test]
    fn mistakes_say_what_was_probably_meant() {
        for (line, by, expected) in [
            (
                &[".a", "summ .b"][..],
                None,
                "json group: neither an aggregate nor a file|0|did you mean sum?",
            ),
            (&[".a", "sum"], None, "json group: expected a path, which begins with . or $|3|"),
            (&[".a", "sum", "b"], None, "json group: expected a path, which begins with . or $|4|"),
            (
                &[".a", ".b"],
                None,
                "json group: expected an aggregate or a file, found a path|0|several",
            ),
            (
                &[".b"],
                Some(".a"),
                "json group: expected an aggregate or a file, found a path|0|what about it?",
            ),
            (
                &[".a,"],
                None,
                "json group: expected a path, which begins with . or $|3|keys are paths",
            ),
            (&["host"], None, "json group: neither an aggregate nor a file|0|"),
            (&[".a", "=="], None, "json group: ==: expected an aggregate or a file"),
        ] {
            let message = asked(line, by).unwrap_err();
            assert!(message.starts_with(expected), "{line:?}: {message}");
        }
    }
}
