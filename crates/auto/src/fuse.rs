//! Neighbours that are one question.

use fullbore_rules::plain_words;

/// What is answered at once instead of by some stages that begin with `sort`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fusion {
    /// The file that is read; `None` for standard input.
    pub file: Option<String>,
    /// What the stages ask.
    pub question: Question,
    /// So many stages it stands for.
    pub stages: usize,
}

/// What some stages ask of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// How often does each line occur? `sort | uniq -c`.
    Count {
        /// What is printed.
        form: Form,
        /// The most frequent come first.
        is_by_count: bool,
        /// At most so many lines are printed.
        top: Option<usize>,
    },
    /// Which lines are the first or last ones? `sort | head`.
    Few(Few),
}

/// The lines at one end of the sorted ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Few {
    /// What they are sorted by.
    pub key: Key,
    /// They are sorted in reverse (-r).
    pub is_reversed: bool,
    /// Of equal lines only one counts (-u).
    pub is_distinct: bool,
    /// The last ones are wanted: `tail`.
    pub is_last: bool,
    /// At most so many.
    pub most: usize,
}

/// What lines are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Their bytes.
    Line,
    /// The numbers that they begin with (-n), then their bytes.
    Number,
}

impl Fusion {
    /// A line for a shell that gives the same answer of standard input.
    #[must_use]
    pub fn line(&self) -> String {
        match self.question {
            Question::Count { form, is_by_count, top } => {
                let mut line = "LC_ALL=C sort | LC_ALL=C uniq".to_owned();
                line.push_str(match form {
                    Form::Counts => " -c",
                    Form::Lines => "",
                    Form::Repeated => " -d",
                });
                if is_by_count {
                    line.push_str(" | LC_ALL=C sort -rn");
                }
                if let Some(top) = top {
                    line.push_str(&format!(" | head -n {top}"));
                }
                line
            }
            Question::Few(few) => few.line(),
        }
    }

    /// Whether the last stage may leave while others still write.
    pub(crate) fn ends_early(&self) -> bool {
        match self.question {
            Question::Count { top, .. } => top.is_some(),
            Question::Few(few) => !few.is_last,
        }
    }
}

impl Few {
    fn line(self) -> String {
        let mut line = "LC_ALL=C sort".to_owned();
        let letters = [
            (self.key == Key::Number, " -n"),
            (self.is_reversed, " -r"),
            (self.is_distinct, " -u"),
        ];
        letters.iter().filter(|(is_set, _)| *is_set).for_each(|(_, option)| line.push_str(option));
        let end = if self.is_last { "tail" } else { "head" };
        line + &format!(" | {end} -n {}", self.most)
    }
}

/// What is printed of each distinct line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Its number and the line, as `uniq -c` prints them.
    Counts,
    /// The line, as `sort -u` prints it.
    Lines,
    /// The line, if there is more than one of it, as `uniq -d` prints it.
    Repeated,
}

/// The number of lines that head and tail print if nobody says how many. Source: head(1), tail(1).
const HEAD_LINES: usize = 10;

/// More lines than this are sorted.
const MOST_FEW: usize = 100_000;

/// The longest fusion that the stages begin with, if they begin with one.
///
/// `collates_bytes` tells whether the environment of the line orders lines by their bytes (LC_ALL=C); a stage may also say
/// so itself.
///
/// ```
/// use fullbore_auto::{Form, Question, fusion};
/// let found = fusion(&["sort", "uniq -c", "sort -rn", "head -n 3", "cat"], true).unwrap();
/// let question = Question::Count { form: Form::Counts, is_by_count: true, top: Some(3) };
/// assert_eq!((found.question, found.stages), (question, 4));
/// assert_eq!(fusion(&["sort", "uniq -c"], false), None);
/// assert!(fusion(&["LC_ALL=C sort", "LC_ALL=C uniq -c"], false).is_some());
/// assert_eq!(fusion(&["sort -n", "tail -n 1"], true).unwrap().stages, 2);
/// ```
#[must_use]
pub fn fusion(stages: &[&str], collates_bytes: bool) -> Option<Fusion> {
    let words: Vec<Option<Vec<String>>> =
        stages.iter().take(MOST_STAGES).map(|stage| words(stage, collates_bytes)).collect();
    let stage = |index: usize| words.get(index).and_then(Option::as_deref);
    let (options, file) = sorted(stage(0)?)?;
    let letters = letters(&options)?;
    let is_plain_uniq = stage(1).is_some_and(|second| second.len() == 1 && second[0] == "uniq");
    if letters.is_empty()
        && !is_plain_uniq
        && let Some(found) = counted(stage(1), stage(2), stage(3))
    {
        let (question, stages) = found;
        return Some(Fusion { file, question, stages });
    }
    let is_distinct = letters.contains('u') || (letters.is_empty() && is_plain_uniq);
    let before = if is_plain_uniq && letters.is_empty() { 2 } else { 1 };
    let key = if letters.contains('n') { Key::Number } else { Key::Line };
    let is_reversed = letters.contains('r');
    // `sort -nu` calls lines with equal numbers equal.
    if key == Key::Number && is_distinct {
        return None;
    }
    if let Some((is_last, most)) = stage(before).and_then(end_lines).filter(|(_, n)| *n <= MOST_FEW)
    {
        let few = Few { key, is_reversed, is_distinct, is_last, most };
        return Some(Fusion { file, question: Question::Few(few), stages: before + 1 });
    }
    let question = Question::Count { form: Form::Lines, is_by_count: false, top: None };
    let is_lines = is_distinct && !is_reversed;
    is_lines.then_some(Fusion { file, question, stages: before })
}

/// The longest fusion has so many stages.
const MOST_STAGES: usize = 4;

/// The question of the stages after a plain `sort`, and how many stages it takes with that.
fn counted(
    second: Option<&[String]>,
    third: Option<&[String]>,
    fourth: Option<&[String]>,
) -> Option<(Question, usize)> {
    let (name, options) = second?.split_first()?;
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let form = match options[..] {
        _ if name != "uniq" => return None,
        ["-d" | "--repeated"] => Form::Repeated,
        ["-c" | "--count"] => Form::Counts,
        _ => return None,
    };
    let is_by_count = form == Form::Counts && third.is_some_and(is_by_count);
    let top = match fourth.filter(|_| is_by_count).and_then(end_lines) {
        Some((false, lines)) => Some(lines),
        _ => None,
    };
    let stages = 2 + usize::from(is_by_count) + usize::from(top.is_some());
    Some((Question::Count { form, is_by_count, top }, stages))
}

/// The words of `sort` between its name and the one file that it reads, if it reads one.
fn sorted(words: &[String]) -> Option<(Vec<&str>, Option<String>)> {
    let (name, words) = words.split_first()?;
    let is_file = |word: &&String| !word.is_empty() && !word.starts_with('-');
    let file = words.last().filter(is_file);
    let options = &words[..words.len() - usize::from(file.is_some())];
    let options = options.iter().map(String::as_str).collect();
    (name == "sort").then(|| (options, file.cloned()))
}

/// The fusion that a whole line is.
///
/// ```
/// use fullbore_auto::fusion_of_line;
/// assert!(fusion_of_line("sort | uniq -c | sort -rn", true).is_some());
/// assert!(fusion_of_line("sort | uniq -c | wc -l", true).is_none());
/// ```
#[must_use]
pub fn fusion_of_line(line: &str, collates_bytes: bool) -> Option<Fusion> {
    let lines = fullbore_shell::segments(line)?;
    let [stages] = &lines[..] else { return None };
    let stages: Vec<&str> = stages.iter().map(String::as_str).collect();
    fusion(&stages, collates_bytes).filter(|found| found.stages == stages.len())
}

/// The words of a stage that orders lines by their bytes.
fn words(stage: &str, collates_bytes: bool) -> Option<Vec<String>> {
    let words = plain_words(stage)?;
    match words.first().map(String::as_str) {
        Some("env") if words.get(1).is_some_and(|word| word == "LC_ALL=C") => {
            Some(words[2..].to_vec()).filter(|words| !words.is_empty())
        }
        Some("env") | None => None,
        // The order of lines means nothing to head and tail.
        Some(name) if collates_bytes || name == "head" || name == "tail" => Some(words),
        Some(_) => None,
    }
}

/// The letters of options of `sort` without values, each at most once and of those that are understood: n, r, u.
fn letters(options: &[&str]) -> Option<String> {
    let mut letters = String::new();
    for option in options {
        match *option {
            "--reverse" => letters.push('r'),
            "--numeric-sort" => letters.push('n'),
            "--unique" => letters.push('u'),
            short => letters.push_str(short.strip_prefix('-').filter(|s| !s.is_empty())?),
        }
    }
    letters.chars().all(|letter| "nru".contains(letter)).then_some(letters)
}

/// `sort -rn`, however it is written.
fn is_by_count(words: &[String]) -> bool {
    let options: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let letters = letters(&options).unwrap_or_default();
    words[0] == "sort" && (letters == "rn" || letters == "nr")
}

/// Whether a plain `head` or `tail` prints the last lines, and how many; at least one.
pub(crate) fn end_lines(words: &[String]) -> Option<(bool, usize)> {
    let options: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let is_last = match words[0].as_str() {
        "head" => false,
        "tail" => true,
        _ => return None,
    };
    let count = match options[..] {
        [] => return Some((is_last, HEAD_LINES)),
        ["-n" | "--lines", count] => count,
        [one] => one
            .strip_prefix("--lines=")
            .or_else(|| one.strip_prefix("-n"))
            .or_else(|| one.strip_prefix('-'))?,
        _ => return None,
    };
    let is_number = count.bytes().all(|byte| byte.is_ascii_digit());
    let count = count.parse().ok().filter(|count| is_number && *count > 0)?;
    Some((is_last, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_the_same_question_is_fused() {
        let stages = |stages: &[&str]| fusion(stages, true).map_or(0, |found| found.stages);
        for (texts, count) in [
            (&["sort", "uniq"][..], 2),
            (&["sort", "uniq -d"], 2),
            (&["sort -u"], 1),
            (&["sort", "uniq -c", "sort -nr"], 3),
            (&["sort", "uniq -c", "sort -r -n", "head -5"], 4),
            (&["sort", "uniq -c", "sort --reverse --numeric-sort", "head"], 4),
            (&["sort", "uniq -c", "sort -n"], 2),
            (&["sort", "uniq -c", "sort -rn", "head -c 5"], 3),
            (&["sort", "uniq -c", "sort -rn", "head -n -5"], 3),
            (&["sort", "uniq -c", "sort -rn", "head -n 0"], 3),
            (&["sort", "uniq -c", "sort -rn", "head -n 5 file"], 3),
            (&["sort", "uniq -c", "sort -rnk2"], 2),
            (&["sort", "uniq -u"], 0),
            (&["sort", "uniq -ci"], 0),
            (&["sort", "uniq -c file"], 0),
            (&["sort file", "uniq -c"], 2),
            (&["sort -u 'a file'"], 1),
            (&["sort a b", "uniq -c"], 0),
            (&["sort -", "uniq -c"], 0),
            (&["sort -o out", "uniq -c"], 0),
            (&["sort *", "uniq -c"], 0),
            (&["sort -f", "uniq -c"], 0),
            (&["sort 2>/dev/null", "uniq -c"], 0),
            (&["sort", "uniq -c >out"], 0),
            (&["sort $x", "uniq"], 0),
            (&["LC_ALL=de_DE sort", "uniq"], 0),
            (&["A=b LC_ALL=C sort", "uniq"], 0),
            (&["sort"], 0),
            (&["uniq -c"], 0),
            (&["sort -r", "uniq -c"], 0),
            (&["sort -ru"], 0),
            (&["sort", "head"], 2),
            (&["sort -rn f", "head -3"], 2),
            (&["sort --numeric-sort", "tail -n1"], 2),
            (&["sort -u", "head -n 5"], 2),
            (&["sort -ur", "tail -n 5"], 2),
            (&["sort", "uniq", "head"], 3),
            (&["sort -n", "uniq", "head"], 0),
            (&["sort -nu", "head"], 0),
            (&["sort -k2", "head"], 0),
            (&["sort -g", "head"], 0),
            (&["sort -", "head"], 0),
            (&["sort", "tail -n +2"], 0),
            (&["sort", "tail -f"], 0),
            (&["sort", "head -n -2"], 0),
            (&["sort", "head -q"], 0),
            (&["sort", "head -n 100001"], 0),
            (&["sort", "uniq -c", "head"], 2),
            (&["sort", "uniq -c", "sort -rn", "tail"], 3),
        ] {
            assert_eq!(stages(texts), count, "{texts:?}");
        }
    }

    #[test]
    fn the_same_stages_without_the_file_can_be_written_down() {
        for (texts, file, line) in [
            (
                &["sort f", "uniq -c", "sort -nr", "head"][..],
                Some("f"),
                "LC_ALL=C sort | LC_ALL=C uniq -c | LC_ALL=C sort -rn | head -n 10",
            ),
            (&["sort", "uniq -d"], None, "LC_ALL=C sort | LC_ALL=C uniq -d"),
            (&["sort -u f"], Some("f"), "LC_ALL=C sort | LC_ALL=C uniq"),
            (&["sort -rn", "tail -3"], None, "LC_ALL=C sort -n -r | tail -n 3"),
            (&["sort f", "uniq", "head"], Some("f"), "LC_ALL=C sort -u | head -n 10"),
        ] {
            let found = fusion(texts, true).unwrap();
            assert_eq!((found.file.as_deref(), found.line().as_str()), (file, line));
        }
    }

    #[test]
    fn where_bytes_are_not_the_order_every_stage_must_say_so() {
        for (texts, is_fused) in [
            (&["LC_ALL=C sort", "LC_ALL=C uniq -c"][..], true),
            (&["LC_ALL=C sort", "uniq -c"], false),
            (&["LC_ALL=C sort -u"], true),
            (&["sort -u"], false),
        ] {
            assert_eq!(fusion(texts, false).is_some(), is_fused, "{texts:?}");
        }
        let found = fusion(&["LC_ALL=C sort", "LC_ALL=C uniq -c", "sort -rn", "head"], false);
        assert_eq!(found.unwrap().stages, 2);
    }
}
