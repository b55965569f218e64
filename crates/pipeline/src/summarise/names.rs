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
    let shell = program_of(shell_words);
    // It may have ended before its words were read.
    let is_copy = |index: usize| {
        let stage = &stages[index];
        &stage.words == shell_words || stage.name_in_brackets() == Some(shell)
    };
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
        .filter(|index| stages[*index].repeats.is_none())
        .collect();
    if stages.first().is_some_and(|shell| &shell.words != shell_words) {
        started.push(0);
    }
    let (functions, line) = label::without_functions(line);
    let texts: Vec<String> = label::segments(line).into_iter().flatten().flatten().collect();
    let who = |index: &usize| match is_copy(*index) {
        false => Who::Program(in_the_line(program_of(&stages[*index].words))),
        true if life_ns(*index) > EXECUTES_WITHIN_NS => Who::Compound,
        true => Who::Copy,
    };
    let names: Vec<Who<'_>> = started.iter().map(who).collect();
    for (index, text) in started.iter().zip(align(&names, &texts, &functions)) {
        let Some(text) = text else { continue };
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

/// The text of each stage; stages and texts are in the order in which a shell started them.
///
/// A program's text holds its name; a copy of the shell runs a loop or a group. What was too short to be seen leaves its text
/// over, and a copy may belong to no text (it ended before it executed anything, in the body of a loop). So the stages are aligned as
/// two versions of a file are: as many as possible get a text, programs first. A stage whose text differs between the best
/// alignments gets none, since a wrong name is worse.
fn align<'t>(names: &[Who<'_>], texts: &'t [String], functions: &[String]) -> Vec<Option<&'t str>> {
    let is_call = |text: &str| {
        let first = text.split_whitespace().next().unwrap_or_default();
        functions.iter().any(|function| function == first)
    };
    let is_compound = |text: &str| {
        is_call(text)
            || ["while ", "until ", "for ", "if ", "case ", "select ", "{ ", "("]
                .iter()
                .any(|start| text.starts_with(start))
    };
    // More loops and groups than the line has: some are functions, whose text looks like any command's.
    let compounds = names.iter().filter(|who| **who == Who::Compound).count();
    let are_all_there = names.len() == texts.len();
    let are_functions =
        are_all_there && compounds > texts.iter().filter(|text| is_compound(text)).count();
    // Each kind outweighs any number of the next one: a line has fewer than 1000 stages with names.
    let worth = |name: usize, text: usize| match names[name] {
        Who::Program(program) => texts[text].contains(program).then_some(1_000_000),
        Who::Compound => (is_compound(&texts[text]) || are_functions).then_some(1_000),
        Who::Copy => (is_compound(&texts[text]) || are_all_there).then_some(1),
    };
    let (before, after) = best_worths([names.len(), texts.len()], worth);
    let best = before[names.len()][texts.len()];
    let text_of = |name: usize| {
        let is_best = |text: &usize| {
            worth(name, *text).is_some_and(|worth| {
                before[name][*text] + worth + after[name + 1][*text + 1] == best
            })
        };
        let mut found = (0..texts.len()).filter(is_best);
        let may_lack = (0..=texts.len()).any(|t| before[name][t] + after[name + 1][t] == best);
        match (found.next(), found.next()) {
            (Some(text), None) if !may_lack => Some(texts[text].as_str()),
            _ => None,
        }
    };
    (0..names.len()).map(text_of).collect()
}

/// The best worth of an alignment of the first `i` names with the first `j` texts, and of all from there on.
fn best_worths(
    [names, texts]: [usize; 2],
    worth: impl Fn(usize, usize) -> Option<u64>,
) -> (Vec<Vec<u64>>, Vec<Vec<u64>>) {
    let mut before = vec![vec![0; texts + 1]; names + 1];
    let mut after = before.clone();
    for i in 1..=names {
        for j in 1..=texts {
            let pair = worth(i - 1, j - 1).map_or(0, |worth| before[i - 1][j - 1] + worth);
            before[i][j] = pair.max(before[i - 1][j]).max(before[i][j - 1]);
        }
    }
    for i in (0..names).rev() {
        for j in (0..texts).rev() {
            let pair = worth(i, j).map_or(0, |worth| after[i + 1][j + 1] + worth);
            after[i][j] = pair.max(after[i + 1][j]).max(after[i][j + 1]);
        }
    }
    (before, after)
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

    /// The places of the texts that stages get; 9: none.
    fn places(names: &[Who<'_>], texts: &[&str]) -> Vec<usize> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let place = |text: Option<&str>| {
            text.map_or(9, |text| {
                texts.iter().position(|other| std::ptr::eq(&**other, text)).unwrap()
            })
        };
        align(names, &texts, &["twice".to_owned()]).into_iter().map(place).collect()
    }

    const SEQ: Who<'_> = Who::Program("seq");
    const SORT: Who<'_> = Who::Program("sort");

    #[test]
    fn a_loop_gets_its_text_though_a_short_stage_was_not_seen() {
        let texts = ["seq 9", "while read l; do echo $l; done", "sort"];
        assert_eq!(places(&[Who::Copy, SORT], &texts), [1, 2]);
        assert_eq!(places(&[SEQ, Who::Compound, SORT], &texts), [0, 1, 2]);
        assert_eq!(places(&[Who::Copy, Who::Compound, SORT], &texts), [0, 1, 2]);
    }

    #[test]
    fn a_function_has_the_text_of_a_command() {
        let texts = ["seq 9", "f", "while read l; do echo $l; done"];
        assert_eq!(places(&[SEQ, Who::Compound, Who::Compound], &texts), [0, 1, 2]);
    }

    #[test]
    fn a_function_that_the_line_defines_is_known() {
        let texts = ["seq 9", "twice", "sort -n", "cat"];
        assert_eq!(places(&[Who::Compound, SORT], &texts), [1, 2]);
    }

    /// `seq` was not seen, but a copy for the body of the loop was.
    #[test]
    fn a_loop_is_not_called_by_the_command_before_it() {
        let texts = ["seq 9", "while read l; do echo $l; done", "sort"];
        assert_eq!(places(&[Who::Compound, Who::Copy, SORT], &texts), [1, 9, 2]);
        assert_eq!(places(&[Who::Compound, SORT], &texts), [1, 2]);
    }

    /// A copy that was slow to execute `mkdir` looks like the group behind it.
    #[test]
    fn a_stage_that_cannot_be_told_costs_no_other_its_name() {
        let texts =
            ["rm d", "mkdir d", "(sleep 1)", "cat d", "while read l; do :; done", "sort", "wait"];
        let (rm, cat) = (Who::Program("rm"), Who::Program("cat"));
        let names = [rm, Who::Compound, Who::Compound, cat, Who::Compound, SORT];
        assert_eq!(places(&names, &texts), [0, 9, 9, 3, 4, 5]);
    }

    #[test]
    fn a_program_whose_words_were_not_read_is_still_found_in_the_line() {
        assert_eq!(["[head]", "head", "["].map(in_the_line), ["head", "head", "["]);
    }

    #[test]
    fn stages_that_do_not_fit_the_line_get_no_names() {
        let texts = ["seq 9", "f", "sort"];
        assert_eq!(places(&[Who::Program("awk"), Who::Copy], &texts), [9, 9]);
        assert_eq!(places(&[Who::Copy, SORT], &texts), [9, 2]);
    }

    #[test]
    fn words_are_written_as_one_would_type_them() {
        let words = ["/usr/bin/tr", "-cs", "A-Za-z", "two words", "it's", ""].map(str::to_owned);
        assert_eq!(text_of(&words), "tr -cs A-Za-z 'two words' 'it'\\''s' ''");
    }
}
