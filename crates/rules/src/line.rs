//! Pipelines as text for a shell.

use crate::answer::{Dealt, Ends, Rule};
use crate::wrap;

/// The rule of a pipeline.
pub(crate) fn rule(text: &str) -> Rule {
    let stages = fullbore_shell::segments(text).filter(|pipelines| pipelines.len() == 1);
    let Some(stages) = stages.and_then(|mut pipelines| pipelines.pop()) else {
        return Rule::unknown();
    };
    let words: Option<Vec<Vec<String>>> = stages.iter().map(|stage| plain_words(stage)).collect();
    let Some(words) = words else { return Rule::unknown() };
    let mut rules = words.iter().map(|words| wrap::rule(words));
    let Some(mut whole) = rules.next() else { return Rule::unknown() };
    for (at, next) in rules.enumerate() {
        whole = joined(&whole, next, &stages[at], &stages[at + 1]);
        if !matches!(whole.dealt, Dealt::Records | Dealt::Merge(_) | Dealt::Equivalent { .. }) {
            break;
        }
    }
    whole
}

/// Two stages as one: `next` reads what `first` writes for each block.
fn joined(first: &Rule, next: Rule, first_text: &str, next_text: &str) -> Rule {
    let fits = next.input == Ends::Bytes || next.input == first.output;
    match (&first.dealt, &next.dealt) {
        (Dealt::Unknown | Dealt::Differs { .. }, _) => first.clone(),
        (_, Dealt::Unknown | Dealt::Differs { .. }) => next,
        (Dealt::Records, _) if fits => {
            let mut whole = Rule { input: joined_input(first, &next), ..next };
            if let Some(needs) = &first.needs {
                let later = whole.needs.replace(needs.clone());
                later.iter().for_each(|later| whole.need(later));
            }
            whole.output = if first.output == Ends::Bytes { Ends::Bytes } else { whole.output };
            whole
        }
        (Dealt::Records, _) => Rule::differs(
            &format!("`{next_text}` needs whole records, which `{first_text}` does not keep"),
            None,
        ),
        _ => Rule::differs(
            &format!(
                "the outputs of `{first_text}` must be merged before `{next_text}` reads them"
            ),
            Some(&format!(
                "deal out the stages up to `{first_text}`, and run `{next_text}` after the merge"
            )),
        ),
    }
}

/// A stage that can be cut anywhere takes its place from the next.
fn joined_input(first: &Rule, next: &Rule) -> Ends {
    if first.input == Ends::Bytes { next.input } else { first.input }
}

/// The words of a stage, if a shell would pass them on as they are.
fn plain_words(stage: &str) -> Option<Vec<String>> {
    is_plain(stage).then_some(())?;
    let mut words = shell_words::split(stage).ok()?;
    let assigned = words.iter().take_while(|word| is_assignment(word)).count();
    if assigned > 0 {
        words.insert(0, "env".to_owned());
    }
    Some(words)
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.starts_with(|c: char| !c.is_ascii_digit()) && name.bytes().all(letters)
}

/// Tells whether a shell expands, redirects and groups nothing in this text.
fn is_plain(stage: &str) -> bool {
    let mut chars = stage.chars().peekable();
    let mut at_word = true;
    while let Some(c) = chars.next() {
        let starts_word = std::mem::replace(&mut at_word, c.is_whitespace());
        match c {
            '\'' => {
                if !chars.by_ref().any(|c| c == '\'') {
                    return false;
                }
            }
            '"' => {
                if !is_plain_quoted(&mut chars) {
                    return false;
                }
            }
            '\\' => match chars.next() {
                None | Some('\n') => return false,
                Some(_) => {}
            },
            '$' | '`' | '*' | '?' | '[' | '<' | '>' | '(' | ')' | '&' | ';' | '|' | '\n' => {
                return false;
            }
            // Braces of a list expand, and those that stand alone group; `{}` is a word.
            '{' if chars.next_if_eq(&'}').is_none() => return false,
            '}' => return false,
            '~' | '#' | '!' if starts_word => return false,
            _ => {}
        }
    }
    true
}

/// Skips to the end of a text in double quotes; false if something in it expands.
fn is_plain_quoted(chars: &mut impl Iterator<Item = char>) -> bool {
    while let Some(c) = chars.next() {
        match c {
            '"' => return true,
            // An interactive bash would expand a `!`, a script does not.
            '$' | '`' => return false,
            '\\' => {
                if chars.next().is_none() {
                    return false;
                }
            }
            _ => {}
        }
    }
    false
}
