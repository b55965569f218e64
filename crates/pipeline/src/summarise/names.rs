//! What stages are called: their command lines, and for copies of the shell the text of the line.

use std::collections::BTreeMap;

use crate::topology::Topology;
use fullbore_shell as label;

/// A copy of the shell executes a simple command sooner than this; one that lives longer runs a loop or a group.
const EXECUTES_WITHIN_NS: f64 = 50e6;

/// Names for stages that have none of their own: copies of the shell, by the text of the line.
pub(crate) fn labels(
    topology: &Topology,
    life_ns: impl Fn(usize) -> f64,
    shown: &[usize],
    line: &str,
) -> BTreeMap<usize, String> {
    let shell_words = &topology.roots.shell_words;
    if shell_words.is_empty() {
        return BTreeMap::new();
    }
    let stages = &topology.stages;
    let is_copy = |index: usize| &stages[index].words == shell_words;
    let mut labels: BTreeMap<usize, String> = shown
        .iter()
        .filter(|index| is_copy(**index))
        .map(|index| (*index, "(subshell)".to_owned()))
        .collect();
    if let Some(label) = labels.get_mut(&0) {
        *label = "(the shell)".to_owned();
    }
    if labels.is_empty() {
        return labels;
    }
    // In the order in which the shell started them, not in that of the data.
    let mut started: Vec<usize> = (1..stages.len())
        .filter(|index| stages[*index].container == topology.roots.shell)
        .collect();
    if stages.first().is_some_and(|shell| &shell.words != shell_words) {
        started.push(0);
    }
    let texts: Vec<String> = label::segments(line).into_iter().flatten().flatten().collect();
    let shell = program_of(shell_words);
    let who = |index: &usize| match is_copy(*index) {
        false => match in_the_line(program_of(&stages[*index].words)) {
            // It ended as a copy of the shell, before its words were read.
            name if name == shell && stages[*index].words.len() == 1 => Who::Copy,
            name => Who::Program(name),
        },
        true if life_ns(*index) > EXECUTES_WITHIN_NS => Who::Compound,
        true => Who::Copy,
    };
    let mut names: Vec<Who<'_>> = started.iter().map(who).collect();
    let mut aligned = align(&names, &texts);
    if aligned.is_empty() {
        // A copy that ended before it executed anything may be of the body of a loop.
        started.retain(|index| who(index) != Who::Copy);
        names.retain(|name| *name != Who::Copy);
        aligned = align(&names, &texts);
    }
    for (index, text) in started.iter().zip(aligned) {
        labels.entry(*index).and_modify(|label| *label = label::shorten(text, 200));
    }
    labels
}

/// What a stage is known to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who<'a> {
    /// A program of this name.
    Program(&'a str),
    /// A copy of the shell that runs a loop or a group.
    Compound,
    /// A copy of the shell that ended early: it may have been about to execute a program.
    Copy,
}

/// The texts of stages, in the order in which a shell started them: a program's text holds its name, a
/// copy of the shell runs a loop or a group. Empty when they do not fit: a wrong name is worse
/// than none. A stage too short to be seen leaves its text over.
fn align<'t>(names: &[Who<'_>], texts: &'t [String]) -> Vec<&'t str> {
    let is_compound = |text: &str| {
        ["while ", "until ", "for ", "if ", "case ", "select ", "{ ", "("]
            .iter()
            .any(|start| text.starts_with(start))
    };
    // More loops and groups than the line has: some are functions, whose text looks like any command's.
    let compounds = names.iter().filter(|who| **who == Who::Compound).count();
    let are_functions = names.len() == texts.len()
        && compounds > texts.iter().filter(|text| is_compound(text)).count();
    let mut left = texts.iter();
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let fits = |text: &&String| match name {
            Who::Program(name) => text.contains(*name),
            Who::Compound => is_compound(text) || are_functions,
            Who::Copy => is_compound(text) || names.len() == texts.len(),
        };
        match left.find(fits) {
            Some(text) => found.push(text.as_str()),
            None => return Vec::new(),
        }
    }
    found
}

/// A name as the line has it: a program that ended before its words were read is `[head]` (see ps(1)).
fn in_the_line(name: &str) -> &str {
    name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name)
}

/// The program's name without its folder.
pub(crate) fn program_of(words: &[String]) -> &str {
    let first = words.first().map_or("", String::as_str);
    first.rsplit('/').next().unwrap_or(first)
}

/// A command line as one would type it: words with odd characters in quotes.
pub(crate) fn text_of(words: &[String]) -> String {
    let is_plain = |c: char| {
        c.is_alphanumeric() || "_@%+=:,./-[]{}()^~#*?!&;<>|$".contains(c) || !c.is_ascii()
    };
    let quoted = |word: &String| {
        let needs_quotes = word.is_empty()
            || !word.chars().all(is_plain)
            || word.contains(['|', ';', '&', '$', '*', '<', '>', '(', '{']);
        if needs_quotes { format!("'{}'", word.replace('\'', "'\\''")) } else { word.clone() }
    };
    let mut words = words.iter().enumerate().map(|(place, word)| {
        if place == 0 { program_of(std::slice::from_ref(word)).to_owned() } else { quoted(word) }
    });
    let text = words.by_ref().take(64).collect::<Vec<_>>().join(" ");
    label::shorten(&text, 400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_gets_its_text_though_a_short_stage_was_not_seen() {
        let texts = ["seq 9", "while read l; do echo $l; done", "sort"].map(str::to_owned);
        let (seq, sort) = (Who::Program("seq"), Who::Program("sort"));
        assert_eq!(align(&[Who::Copy, sort], &texts), [&texts[1], &texts[2]]);
        assert_eq!(align(&[seq, Who::Compound, sort], &texts), texts);
        assert_eq!(align(&[Who::Copy, Who::Compound, sort], &texts), texts);
    }

    #[test]
    fn a_function_has_the_text_of_a_command() {
        let texts = ["seq 9", "f", "while read l; do echo $l; done"].map(str::to_owned);
        let names = [Who::Program("seq"), Who::Compound, Who::Compound];
        assert_eq!(align(&names, &texts), texts);
    }

    /// `seq` was not seen, but a copy for the body of the loop was.
    #[test]
    fn a_loop_is_not_called_by_the_command_before_it() {
        let texts = ["seq 9", "while read l; do echo $l; done", "sort"].map(str::to_owned);
        let sort = Who::Program("sort");
        assert!(align(&[Who::Compound, Who::Copy, sort], &texts).is_empty());
        assert_eq!(align(&[Who::Compound, sort], &texts), [&texts[1], &texts[2]]);
    }

    #[test]
    fn a_program_whose_words_were_not_read_is_still_found_in_the_line() {
        assert_eq!(["[head]", "head", "["].map(in_the_line), ["head", "head", "["]);
    }

    #[test]
    fn stages_that_do_not_fit_the_line_get_no_names() {
        let texts = ["seq 9", "f", "sort"].map(str::to_owned);
        assert!(align(&[Who::Program("awk"), Who::Copy], &texts).is_empty());
        assert!(align(&[Who::Copy, Who::Program("sort")], &texts).is_empty());
    }

    #[test]
    fn words_are_written_as_one_would_type_them() {
        let words = ["/usr/bin/tr", "-cs", "A-Za-z", "two words", "it's", ""].map(str::to_owned);
        assert_eq!(text_of(&words), "tr -cs A-Za-z 'two words' 'it'\\''s' ''");
    }
}
