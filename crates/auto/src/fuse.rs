//! Neighbours that are one question.

use fullbore_rules::plain_words;

/// What `fullbore count` does instead of some stages that begin with `sort`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fusion {
    /// The file that is read; `None` for standard input.
    pub file: Option<String>,
    /// What is printed.
    pub form: Form,
    /// The most frequent come first.
    pub is_by_count: bool,
    /// At most so many lines are printed.
    pub top: Option<usize>,
    /// So many stages it stands for.
    pub stages: usize,
}

impl Fusion {
    /// A line for a shell that gives the same answer of standard input.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = "LC_ALL=C sort | LC_ALL=C uniq".to_owned();
        line.push_str(match self.form {
            Form::Counts => " -c",
            Form::Lines => "",
            Form::Repeated => " -d",
        });
        if self.is_by_count {
            line.push_str(" | LC_ALL=C sort -rn");
        }
        if let Some(top) = self.top {
            line.push_str(&format!(" | head -n {top}"));
        }
        line
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

/// The number of lines that head prints if nobody says how many. Source: head(1).
const HEAD_LINES: usize = 10;

/// The longest fusion that the stages begin with, if they begin with one.
///
/// `collates_bytes` tells whether the environment of the line orders lines by their bytes (LC_ALL=C); a stage may also say
/// so itself.
///
/// ```
/// use fullbore_auto::{Form, fusion};
/// let found = fusion(&["sort", "uniq -c", "sort -rn", "head -n 3", "cat"], true).unwrap();
/// assert_eq!((found.form, found.is_by_count, found.top, found.stages), (Form::Counts, true, Some(3), 4));
/// assert_eq!(fusion(&["sort", "uniq -c"], false), None);
/// assert!(fusion(&["LC_ALL=C sort", "LC_ALL=C uniq -c"], false).is_some());
/// ```
#[must_use]
pub fn fusion(stages: &[&str], collates_bytes: bool) -> Option<Fusion> {
    let mut words = stages.iter().map(|stage| words(stage, collates_bytes));
    let mut next = || words.next().flatten();
    let first = next()?;
    let (options, file) = sorted(&first)?;
    let form = Form::Lines;
    let lines = |stages| Fusion { file, form, is_by_count: false, top: None, stages };
    match options[..] {
        ["-u" | "--unique"] => return Some(lines(1)),
        [] => {}
        _ => return None,
    }
    let second = next()?;
    let options: Vec<&str> = second.iter().skip(1).map(String::as_str).collect();
    if second[0] != "uniq" {
        return None;
    }
    let mut found = match options[..] {
        [] => return Some(lines(2)),
        ["-d" | "--repeated"] => return Some(Fusion { form: Form::Repeated, ..lines(2) }),
        ["-c" | "--count"] => Fusion { form: Form::Counts, ..lines(2) },
        _ => return None,
    };
    if next().is_some_and(|third| is_by_count(&third)) {
        found = Fusion { is_by_count: true, stages: 3, ..found };
        if let Some(lines) = next().and_then(|fourth| head_lines(&fourth)) {
            found = Fusion { top: Some(lines), stages: 4, ..found };
        }
    }
    Some(found)
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
        // The order of lines means nothing to head.
        Some(name) if collates_bytes || name == "head" => Some(words),
        Some(_) => None,
    }
}

/// `sort -rn`, however it is written.
fn is_by_count(words: &[String]) -> bool {
    let mut letters = String::new();
    for word in &words[1..] {
        match word.as_str() {
            "--reverse" => letters.push('r'),
            "--numeric-sort" => letters.push('n'),
            short => match short.strip_prefix('-') {
                Some(short) if !short.starts_with('-') => letters.push_str(short),
                _ => return false,
            },
        }
    }
    words[0] == "sort" && (letters == "rn" || letters == "nr")
}

/// How many lines a plain `head` prints; at least one.
fn head_lines(words: &[String]) -> Option<usize> {
    let options: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    if words[0] != "head" {
        return None;
    }
    let count = match options[..] {
        [] => return Some(HEAD_LINES),
        ["-n" | "--lines", count] => count,
        [one] => one
            .strip_prefix("--lines=")
            .or_else(|| one.strip_prefix("-n"))
            .or_else(|| one.strip_prefix('-'))?,
        _ => return None,
    };
    let is_number = count.bytes().all(|byte| byte.is_ascii_digit());
    count.parse().ok().filter(|count| is_number && *count > 0)
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
