//! Tells whether a line certainly prints nothing on its standard output.

use super::line::{Line, ends_word};

/// Words that begin something else than a simple command.
const OPENERS: [&str; 11] =
    ["{", "if", "while", "until", "for", "select", "case", "[[", "function", "coproc", "!"];

/// Tells whether a line is one pipeline whose last command writes its standard output to a file, so that nothing appears where
/// the shell's own standard output leads. `false` whenever that is not certain.
///
/// ```
/// use fullbore_shell::prints_nothing;
/// assert!(prints_nothing("zcat a.gz | sort > sorted.txt"));
/// assert!(!prints_nothing("zcat a.gz | sort") && !prints_nothing("sort a > b; wc b"));
/// ```
#[must_use]
pub fn prints_nothing(line: &str) -> bool {
    let found = super::places(line).unwrap_or_default();
    let [stages] = &found[..] else { return false };
    let (Some(first), Some(last)) = (stages.first(), stages.last()) else { return false };
    // Names of the terminal, and `>(…)`, whose commands print where the shell does.
    let elsewhere = line.replace("/dev/null", "");
    let may_lead_elsewhere =
        ["/dev/", "/proc/", ">("].into_iter().any(|name| elsewhere.contains(name));
    let around = [&line[..first.start], &line[last.end..]];
    let is_alone = around.iter().all(|text| text.chars().all(char::is_whitespace));
    is_alone && !may_lead_elsewhere && writes_to_file(&line[last.clone()]) == Some(true)
}

/// Whether the last redirection of a simple command's standard output leads to a file; `None`: it is not certain.
fn writes_to_file(stage: &str) -> Option<bool> {
    let mut line = Line::new(stage);
    let mut is_in_file = false;
    let mut has_command = false;
    loop {
        line.skip_blanks();
        match line.peek(0) {
            None => return Some(is_in_file && has_command),
            Some('<' | '>') => is_in_file = line.output("", is_in_file)?,
            Some(c) if ends_word(c) => return None,
            Some(_) => {
                let start = line.at;
                let word = line.word()?;
                let text: String = line.text[start..line.at].iter().collect();
                let is_before_redirection = matches!(line.peek(0), Some('<' | '>'));
                if is_before_redirection && text.chars().all(|c| c.is_ascii_digit()) {
                    is_in_file = line.output(&text, is_in_file)?;
                } else if is_before_redirection && text.starts_with('{') {
                    return None;
                } else if !has_command && !line.is_assignment(start) {
                    has_command = !OPENERS.contains(&word?.as_str());
                    has_command.then_some(())?;
                }
            }
        }
    }
}

impl Line {
    /// Reads a redirection of this descriptor; returns whether standard output leads to a file behind it.
    fn output(&mut self, descriptor: &str, was_in_file: bool) -> Option<bool> {
        let is_input = self.peek(0) == Some('<');
        let start = self.at;
        self.redirection()?;
        let text: String = self.text[start..self.at].iter().collect();
        let is_output = match descriptor {
            "" => !is_input,
            number => number.trim_start_matches('0') == "1",
        };
        if !is_output {
            return Some(was_in_file);
        }
        let target = [">>", ">|", ">"].into_iter().find_map(|operator| text.strip_prefix(operator));
        let target = target?.trim_start();
        let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:=@%~".contains(c);
        Some(!target.is_empty() && target.chars().all(is_plain))
    }
}

#[cfg(test)]
mod tests {
    use super::prints_nothing;

    #[test]
    fn one_pipeline_into_a_file_prints_nothing() {
        for line in [
            "a > f",
            "a|b>f",
            " a x 'y|z' | b -c >> out/f.txt \n",
            "a | LC_ALL=C b >| f 2>&1",
            "a | 2> log b 1> f",
            "a | b > /dev/null",
            "a | > f b <in",
            "time a | { b; c; } | d \"$x\" > ~/f",
            "a | b $(c; d) > f",
            "a | b > f >> g",
        ] {
            assert!(prints_nothing(line), "{line}");
        }
    }

    #[test]
    fn whatever_may_print_is_not_silent() {
        for line in [
            "",
            "a",
            "a | b",
            "a > f | b",
            "a | b > f; c",
            "a | b > f;",
            "a | b > f && c",
            "c || a | b > f",
            "a | b > f &",
            "a | b > f & c",
            "a | b '> f'",
            "a | b \\> f",
            "a | b 2> f",
            "a | b < f",
            "a | b > f >&2",
            "a | b > f 1>&2",
            "a | b >& f",
            "a | b &> f",
            "a | b 1<> f",
            "a | b > \"$f\"",
            "a | b > $f",
            "a | b > *",
            "a | b {x}> f",
            "a | b > /dev/tty",
            "a | b > /dev/stderr",
            "a | b > /dev/fd/2",
            "a | tee /dev/tty | b > f",
            "a | tee >(b) > f",
            "a | b > >(c)",
            "a | (b; c) > f",
            "a | { b; } > f",
            "a | while b; do c; done > f",
            "f() { a; } > f",
            "> f",
            "cat > f <<E\nx\nE\n",
            "a | b > f # note",
            "a | b > 'f",
        ] {
            assert!(!prints_nothing(line), "{line}");
        }
    }
}
