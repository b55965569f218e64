//! Why names in a line may mean something else than they seem to.

use std::ops::Range;

/// Text that tells so wherever it stands.
const TELLING: [(&str, &str); 6] = [
    ("PATH=", "it changes PATH"),
    ("ENV=", "it changes what shells read at their start"),
    ("LC_", "it changes the locale"),
    ("LANG=", "it changes the locale"),
    ("BASH_COMMAND", "it looks at its own text"),
    ("DEBUG", "it looks at its own text"),
];

/// Commands that tell so.
const COMMANDS: [(&str, &str); 12] = [
    (".", "it takes in another file"),
    ("source", "it takes in another file"),
    ("alias", "it has an alias"),
    ("unalias", "it has an alias"),
    ("eval", "it makes text of its own"),
    ("exec", "it replaces the shell or its descriptors"),
    ("shopt", "it changes how the shell works"),
    ("setopt", "it changes how the shell works"),
    ("enable", "it changes how the shell works"),
    ("hash", "it changes how the shell works"),
    ("autoload", "it takes in another file"),
    ("unset", "it forgets what a name means"),
];

/// Words before a command.
const BEFORE: [&str; 11] =
    ["if", "then", "elif", "else", "while", "until", "do", "command", "builtin", "time", "env"];

/// What separates commands.
const BETWEEN: [char; 9] = [';', '&', '|', '(', '{', '`', '!', '\n', ')'];

/// Why the names of a line may mean something else, a clause that can follow "because"; `pipelines` are its places.
pub(crate) fn unsure(line: &str, pipelines: &[Vec<Range<usize>>]) -> Option<&'static str> {
    let harmless = line.replace("LC_ALL=C ", " ");
    if let Some((_, why)) = TELLING.iter().find(|(text, _)| harmless.contains(text)) {
        return Some(why);
    }
    let told = bare(line).split(BETWEEN).find_map(|text| {
        let words: Vec<&str> = command(text);
        let (name, rest) = words.split_first()?;
        if *name == "set" && !is_harmless(rest) {
            return Some("it changes how the shell works");
        }
        // Without the name of a file, a dot is text.
        let is_text = *name == "." && rest.is_empty();
        COMMANDS.iter().find(|(command, _)| command == name && !is_text).map(|(_, why)| *why)
    });
    // What stands alone runs in the shell itself.
    let alone = pipelines.iter().filter(|stages| stages.len() == 1);
    let is_unknown = |stages: &Vec<Range<usize>>| {
        let text = bare(&line[stages[0].clone()]);
        text.split(BETWEEN)
            .any(|text| command(text).first().is_some_and(|word| word.starts_with('$')))
    };
    told.or_else(|| {
        alone.into_iter().any(is_unknown).then_some("it runs a command whose name is not known")
    })
}

/// The text without quotes, with which a name can be hidden.
fn bare(text: &str) -> String {
    text.replace(['\'', '"', '\\'], "")
}

/// The words of a command, behind assignments and the words of the shell before it.
fn command(text: &str) -> Vec<&str> {
    let is_assignment = |word: &&str| {
        let name = word.split('=').next().unwrap_or_default();
        word.contains('=') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    text.split_whitespace()
        .skip_while(|word| BEFORE.contains(word) || is_assignment(word))
        .collect()
}

/// Whether `set` with these words changes nothing but when a shell gives up, or the status of a pipeline.
fn is_harmless(words: &[&str]) -> bool {
    let mut is_name = false;
    words.iter().all(|word| {
        if std::mem::take(&mut is_name) {
            return ["pipefail", "errexit", "nounset"].contains(word);
        }
        let letters = word.strip_prefix(['-', '+']).unwrap_or_default();
        is_name = letters.ends_with('o');
        let plain = letters.strip_suffix('o').unwrap_or(letters);
        !letters.is_empty() && plain.chars().all(|letter| "eu".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(line: &str) -> Option<&'static str> {
        unsure(line, &fullbore_shell::places(line).unwrap())
    }

    #[test]
    fn what_can_change_the_meaning_of_names_is_found() {
        for line in [
            ". ./lib.sh; seq 3 | tr 1 2",
            "command . ./lib.sh; seq 3 | tr 1 2",
            "x=.; $x ./lib.sh; seq 3 | tr 1 2",
            "x=.; if true; then $x ./lib.sh; fi; seq 3 | tr 1 2",
            "x=. && \"$x\" ./lib.sh; seq 3 | tr 1 2",
            "$(echo .) ./lib.sh; seq 3 | tr 1 2",
            "'ev'al 'tr() { :; }'; seq 3 | tr 1 2",
            "al\"\"ias tr=cat\nseq 3 | tr 1 2",
            "true && \\source lib.sh; grep x",
            "{ . ./lib.sh; }; grep x",
            "set -x; grep x",
            "set -euxo pipefail; grep x",
            "set -o posix; grep x",
            "export PATH=/x; grep x",
            "LC_COLLATE=de_DE sort",
            "unset LANG; sort -u",
        ] {
            assert!(why(line).is_some(), "{line}");
        }
    }

    #[test]
    fn words_that_only_look_like_it_are_not() {
        for line in [
            "cat medieval.txt | grep evaluation",
            "grep -c alias ~/.bashrc",
            "sed 's/exec/run/' executable | sort",
            "cat x | $FILTER | sort",
            "cat . | grep hash | cut -d. -f1",
            r"cat f | grep '\(.\).*\1\(.\).*\2' | sed 's/(.)/x/'",
            "set -e; set -euo pipefail; set +u; grep x # set -e ",
            "LC_ALL=C sort | uniq",
            "x=$(cat f | grep y); echo $x",
            "command -v jq && cat f | jq .a",
        ] {
            assert_eq!(why(line), None, "{line}");
        }
    }
}
