//! Pipelines as text for a shell.

use std::iter::Peekable;
use std::str::Chars;

use crate::answer::{Dealt, Ends, Rule};

/// The rule of a pipeline; `of_command` gives that of one stage.
pub(crate) fn rule(text: &str, of_command: fn(&[String]) -> Rule) -> Rule {
    let stages = fullbore_shell::segments(text).filter(|pipelines| pipelines.len() == 1);
    let Some(stages) = stages.and_then(|mut pipelines| pipelines.pop()) else {
        return Rule::unknown();
    };
    // Whatever is more than stages and the bars between them (`&`, `!`, `|&`) is not understood.
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    if bare(&stages.join("|")) != bare(text) {
        return Rule::unknown();
    }
    let words: Option<Vec<Vec<String>>> = stages.iter().map(|stage| plain_words(stage)).collect();
    let Some(words) = words else { return Rule::unknown() };
    let mut rules = words.iter().map(|words| of_command(words));
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
            whole.is_light &= first.is_light;
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
pub(crate) fn plain_words(stage: &str) -> Option<Vec<String>> {
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
        let plain = match c {
            '\'' => chars.by_ref().any(|c| c == '\''),
            '"' => is_plain_quoted(&mut chars),
            '\\' => chars.next().is_some_and(|c| c != '\n'),
            // Braces of a list expand, and those that stand alone group; `{}` is a word.
            '{' => chars.next_if_eq(&'}').is_some(),
            '~' | '#' | '!' => !starts_word,
            c => !"$`*?[<>()&;|}\n".contains(c),
        };
        if !plain {
            return false;
        }
    }
    true
}

/// Skips to the end of a text in double quotes; false if something in it expands.
fn is_plain_quoted(chars: &mut Peekable<Chars>) -> bool {
    while let Some(c) = chars.next() {
        let plain = match c {
            '"' => return true,
            // A `$` that ends a pattern is only a character.
            '$' => chars.peek().is_some_and(|next| " \"|/).,".contains(*next)),
            '\\' => chars.next().is_some(),
            c => c != '`',
        };
        if !plain {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Merge;
    use crate::wrap;

    fn rule(text: &str) -> Rule {
        super::rule(text, wrap::rule)
    }

    #[test]
    fn what_a_shell_would_change_is_unknown() {
        let lines = [
            "grep $x",
            "grep \"$x\"",
            "grep `x`",
            "grep \"`x`\"",
            "cat *",
            "cat a?",
            "cat [ab]",
            "cut -c1 < x",
            "cut -c1 > x",
            "(cut -c1)",
            "{ cut -c1; }",
            "cut -c{1,2}",
            "cut -c1 &",
            "cut -c1; rev",
            "cut -c1 && rev",
            "! grep x",
            "cut -c1 |& rev",
            "cat ~/x",
            "cut -c1 # x",
            "cut -c1\nrev",
            "cut -c1 |",
            "| cut -c1",
            "cut -c'1",
            "",
            "if x; then y; fi",
            "LC_ALL=$x sort",
            "GREP_OPTIONS=-c grep x",
            "cut -c1 2>/dev/null",
        ];
        for line in lines {
            assert_eq!(rule(line).dealt, Dealt::Unknown, "{line}");
        }
    }

    #[test]
    fn what_a_shell_would_leave_alone_is_understood() {
        let lines = [
            "grep '$x`*?[<>(){}&;|'",
            "grep \"x$\"",
            "grep \"a b'c\"",
            "grep a\\*b",
            "grep x | grep y",
            "sed 's/|/;/'",
            "grep \"\\$x\"",
            "LC_ALL=C grep -a x",
            "grep a#b",
            "grep x~",
            " grep x ",
        ];
        for line in lines {
            assert_eq!(rule(line).dealt, Dealt::Records, "{line}");
        }
    }

    #[test]
    fn the_last_stage_may_need_a_merge_and_no_other() {
        assert_eq!(rule("grep x | wc -l").dealt, Dealt::Merge(Merge::Sum));
        let words = ["env", "LC_ALL=C", "sort", "-m", "-n"].map(str::to_owned).to_vec();
        assert_eq!(rule("cut -f1 | LC_ALL=C sort -n").dealt, Dealt::Merge(Merge::Sort(words)));
        for line in ["sort | uniq", "gzip | wc -c", "sort | python x", "tac | rev"] {
            assert!(!matches!(rule(line).dealt, Dealt::Merge(_) | Dealt::Records), "{line}");
        }
    }

    #[test]
    fn a_stage_that_does_not_keep_lines_whole_cannot_feed_one_that_needs_them() {
        for line in [
            "tr '\\n' ' ' | sed 's/^a/b/'",
            "awk '{printf \"%s\", $1}' | grep x",
            "jq -j . | wc -L",
        ] {
            assert!(matches!(rule(line).dealt, Dealt::Differs { .. }), "{line}");
        }
        assert_eq!(rule("tr '\\n' ' ' | tr -d a").dealt, Dealt::Records);
        assert_eq!(rule("tr -d '\\n' | wc -c").dealt, Dealt::Merge(Merge::Sum));
    }

    #[test]
    fn the_conditions_of_all_stages_hold_together() {
        let needs = rule("grep x | jq -c .a").needs.unwrap();
        assert!(needs.contains("NUL") && needs.contains("JSON"), "{needs}");
    }
}
