//! What repeated jobs have in common: their command without numbers, names of files and quoted data.

/// Longer commands are compared by their beginning.
const LONGEST: usize = 16_384;

/// Words after which a command begins.
const KEYWORDS: [&str; 11] =
    ["!", "{", "do", "then", "else", "elif", "if", "while", "until", "time", "exec"];

/// A number.
const NUMBER: &str = "N";
/// The name of a file.
const FILE: &str = "FILE";
/// Quoted data.
const DATA: &str = "'…'";

/// A command without what differs between repeated jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// `bwa mem -t N FILE… | samtools sort`.
    pub(crate) text: String,
    /// `bwa | samtools`.
    pub(crate) programs: String,
}

enum Token {
    Word { text: String, is_quoted: bool },
    Sign(String),
}

/// The shape of a command.
pub(crate) fn shape(command: &str) -> Shape {
    let end = command.char_indices().nth(LONGEST).map_or(command.len(), |(end, _)| end);
    let (mut words, mut programs): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut begins, mut is_target) = (true, false);
    for token in tokens(&command[..end]) {
        match token {
            Token::Sign(sign) => {
                is_target = sign.contains(['<', '>']);
                begins |= !is_target;
                words.push(sign);
            }
            Token::Word { text, is_quoted } => {
                let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
                let new = if is_target && !is_number {
                    FILE.to_owned()
                } else if begins && !is_quoted && !is_assignment(&text) {
                    let program = text.rsplit('/').next().unwrap_or(&text).to_owned();
                    begins = KEYWORDS.contains(&text.as_str());
                    if !begins {
                        programs.push(program.clone());
                    }
                    program
                } else if is_quoted {
                    begins = false;
                    quoted(&text)
                } else {
                    plain(&text)
                };
                is_target = false;
                push(&mut words, new);
            }
        }
    }
    if let Some(begin) = after_settings(&words) {
        words.drain(..begin);
        programs.remove(0);
    }
    Shape { text: words.join(" "), programs: programs.join(" | ") }
}

/// Where the command begins after `set -euo pipefail ;`, which workflow managers put in front of every job.
fn after_settings(words: &[String]) -> Option<usize> {
    let end = words.iter().position(|word| word == ";")?;
    (words[0] == "set" && end + 1 < words.len()).then_some(end + 1)
}

/// Programs that start jobs of their own.
const STARTERS: [&str; 6] = ["gmake", "just", "make", "nextflow", "ninja", "snakemake"];

impl Shape {
    /// Whether the command starts other jobs, which leave records of their own.
    pub(crate) fn starts_jobs(&self) -> bool {
        self.programs.split(" | ").any(|program| STARTERS.contains(&program))
    }
}

/// Adds a word; several files or numbers in a row become one with dots.
fn push(words: &mut Vec<String>, new: String) {
    if (new == FILE || new == NUMBER || new == DATA)
        && let Some(last) = words.last_mut()
        && last.strip_suffix('…').unwrap_or(last) == new.strip_suffix('…').unwrap_or(&new)
    {
        *last = if new == DATA { new } else { format!("{new}…") };
        return;
    }
    words.push(new);
}

/// Words and signs of a shell line, without claim to be its grammar.
fn tokens(command: &str) -> Vec<Token> {
    let (mut tokens, mut word, mut is_quoted, mut has_word) =
        (Vec::new(), String::new(), false, false);
    let mut characters = command.chars().peekable();
    loop {
        let next = characters.next();
        let ends = next.is_none_or(|c| c.is_whitespace() || "|&;<>()\n".contains(c));
        if ends && has_word {
            tokens.push(Token::Word { text: std::mem::take(&mut word), is_quoted });
            (is_quoted, has_word) = (false, false);
        }
        let Some(character) = next else { return tokens };
        match character {
            '\n' => tokens.push(Token::Sign(";".to_owned())),
            '\'' | '"' => {
                let before = word.len();
                while let Some(inner) = characters.next().filter(|inner| *inner != character) {
                    word.push(inner);
                    if inner == '\\' && character == '"' {
                        word.extend(characters.next());
                    }
                }
                // An option with a quoted value is an option.
                is_quoted |= before == 0;
                has_word = true;
            }
            '\\' => {
                let escaped = characters.next().filter(|escaped| *escaped != '\n');
                word.extend(escaped);
                has_word |= escaped.is_some();
            }
            sign if "|&;<>()".contains(sign) => {
                let mut text = String::from(sign);
                while let Some(more) = characters.next_if(|more| "|&<>".contains(*more)) {
                    text.push(more);
                }
                tokens.push(Token::Sign(text));
            }
            space if space.is_whitespace() => {}
            other => {
                word.push(other);
                has_word = true;
            }
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A word without quotes.
fn plain(word: &str) -> String {
    if let Some((before, value)) = word.split_once('=')
        && (before.starts_with('-') || is_name(before))
    {
        return format!("{}={}", digits_replaced(before), plain(value));
    }
    if word.starts_with('-') && word.len() > 1 {
        if word.contains('/') {
            let option: String = word.chars().take_while(|c| *c != '/').take(2).collect();
            return format!("{option}{FILE}");
        }
        return digits_replaced(word);
    }
    if is_number(word) || is_hash(word) {
        NUMBER.to_owned()
    } else if is_file(word) {
        FILE.to_owned()
    } else {
        digits_replaced(word)
    }
}

/// A word in quotes: program text stays, data does not.
fn quoted(word: &str) -> String {
    let is_one = !word.contains(char::is_whitespace);
    if is_one && (is_number(word) || is_hash(word)) {
        NUMBER.to_owned()
    } else if word.contains(['{', '(', ';', '$']) {
        let pieces = word.split_inclusive(|c: char| c.is_whitespace() || "\"'(){};,".contains(c));
        let pieces = pieces.map(|piece| {
            let end =
                piece.trim_end_matches(|c: char| c.is_whitespace() || "\"'(){};,".contains(c));
            let rest = &piece[end.len()..];
            let is_path = is_file(end) && end.chars().any(char::is_alphabetic);
            format!("{}{rest}", if is_path { FILE.to_owned() } else { digits_replaced(end) })
        });
        format!("'{}'", pieces.collect::<String>())
    } else if is_one && is_file(word) {
        FILE.to_owned()
    } else {
        DATA.to_owned()
    }
}

/// `10`, `1.5`, `64K`, `0x1f`, `2024-01-01`, `10:20`.
fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-']);
    let unit = digits.trim_start_matches(|c: char| c.is_ascii_digit() || ".,:-_xX".contains(c));
    digits.starts_with(|c: char| c.is_ascii_digit())
        && (unit.len() <= 3 && unit.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        && !(unit.len() >= 2 && digits.contains('.'))
}

/// A digest or an identifier of random digits.
fn is_hash(word: &str) -> bool {
    word.len() >= 8
        && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether it looks like the name of a file: a path, a pattern, a name with an ending.
fn is_file(word: &str) -> bool {
    if word.contains(['/', '*', '?']) || word == "." || word == ".." || word.starts_with('~') {
        return true;
    }
    word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=6).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

/// Every run of digits as one `N`.
fn digits_replaced(word: &str) -> String {
    let mut replaced = String::with_capacity(word.len());
    for character in word.chars() {
        if !character.is_ascii_digit() {
            replaced.push(character);
        } else if !replaced.ends_with('N') {
            replaced.push('N');
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(command: &str) -> String {
        shape(command).text
    }

    #[test]
    fn numbers_files_and_quoted_data_are_replaced() {
        for (command, wanted) in [
            ("sort -k2 in/a.txt", "sort -kN FILE"),
            (
                "bwa mem -t 8 ref.fa s1_1.fq s1_2.fq | samtools sort -@4 -o out/s1.bam",
                "bwa mem -t N FILE… | samtools sort -@N -o FILE",
            ),
            ("grep -c 'some pattern' x.log > /tmp/n", "grep -c '…' FILE > FILE"),
            ("awk '{print $1}' x.csv", "awk '{print $N}' FILE"),
            ("awk '{s+=$2} END{print s}' x.csv", "awk '{s+=$N} END{print s}' FILE"),
            ("/usr/bin/gzip -9 <a >b 2>&1", "gzip -N < FILE > FILE N >& N"),
            ("LC_ALL=C sort --parallel=4 -S 64K", "LC_ALL=C sort --parallel=N -S N"),
            ("python3 run.py --id 5f3a9c0d1e --date 2024-01-31", "python3 FILE --id N --date N"),
            ("cut -d, -f1-3 chr7", "cut -d, -fN-N chrN"),
        ] {
            assert_eq!(text(command), wanted, "{command}");
        }
    }

    #[test]
    fn different_programs_have_different_shapes() {
        assert_ne!(text("sort a.txt"), text("uniq a.txt"));
        assert_ne!(text("sort a.txt | uniq"), text("sort a.txt"));
        assert_ne!(text("gzip -d a"), text("gzip -c a"));
        assert_ne!(text("awk '{print $1}' a"), text("awk '{s+=$1} END {print s}' a"));
    }

    #[test]
    fn the_programs_of_a_line_are_named_in_order() {
        let programs = |command| shape(command).programs;
        assert_eq!(programs("set -euo pipefail; sort x"), "sort");
        assert_eq!(text("set -euo pipefail;  sort x.txt"), "sort FILE");
        assert!(shape("cd sub && make -j4 all").starts_jobs() && !shape("cp make x").starts_jobs());
        assert_eq!(programs("LC_ALL=C sort x | /bin/uniq -c > y"), "sort | uniq");
        assert_eq!(programs("while read f; do gzip $f; done"), "read | gzip | done");
        assert_eq!(programs("set -e; 'a b' c && d"), "d");
        assert_eq!(programs(""), "");
    }

    #[test]
    fn more_files_of_the_same_kind_do_not_make_another_shape() {
        assert_eq!(text("cat a.txt b.txt"), text("cat a.txt b.txt c.txt d.txt"));
        assert_eq!(text("cut -f 1 2"), text("cut -f 1 2 3"));
        // Nothing hangs on unfinished quotes and odd characters.
        for odd in ["'", "\"a\\", "a\\", "\u{1b}[2J", "((((", "a'b\"c"] {
            let _ = text(odd);
        }
    }
}
