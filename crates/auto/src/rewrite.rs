//! The line that runs instead.

use std::ops::Range;

use fullbore_rules::{commands, plain_words};
use fullbore_shell::{command_word, places};

use crate::deal::{Plan, is_promising};
use crate::fuse::{Fusion, fusion};
use crate::little::{FileBytes, Files, WORTH_DEALING, WORTH_FUSING};
use crate::redirection::before_redirection;
use crate::unsure::unsure;

/// What must be known beside the line.
pub struct Context<'a> {
    /// What to put before a command, as text for the shell: the program `fullbore` and its words up to `par --auto`.
    pub tool: &'a str,
    /// Whether lines are ordered by their bytes.
    pub collates_bytes: bool,
    /// Whether the shell would run a program for this name, not a function of its environment.
    pub is_program: &'a dyn Fn(&str) -> bool,
    /// How large files are. `None` changes commands however little they read.
    pub file_bytes: Option<FileBytes<'a>>,
}

/// The line that runs instead, and what was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The line for the shell; the one that was given if nothing was changed.
    pub line: String,
    /// In the order of the line.
    pub changes: Vec<Change>,
    /// Commands and stages that would have been changed if they read more.
    pub read_little: Vec<String>,
    /// Why nothing of the line may be changed, a clause that can follow "because".
    pub untouched: Option<&'static str>,
}

/// A change of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// This command decides when it runs whether it is dealt out.
    Offered(String),
    /// These stages became one.
    Fused(String),
}

/// Rewrites a line for a POSIX shell.
///
/// ```
/// use fullbore_auto::{Context, rewrite};
/// let tool = "fb par --auto";
/// let context = Context { tool, collates_bytes: true, is_program: &|_| true, file_bytes: None };
/// let rewritten = rewrite("zcat a.gz | jq -c .x | sort | uniq -c", &context);
/// assert_eq!(rewritten.line, "zcat a.gz | fb par --auto -- jq -c .x | fb par --auto -c 'sort | uniq -c'");
/// ```
#[must_use]
pub fn rewrite(line: &str, context: &Context<'_>) -> Rewritten {
    let untouched = |why| Rewritten {
        line: line.to_owned(),
        changes: Vec::new(),
        read_little: Vec::new(),
        untouched: Some(why),
    };
    let Some(pipelines) = places(line) else {
        return untouched("it has constructs that are not understood for certain");
    };
    if let Some(why) = unsure(line, &pipelines) {
        return untouched(why);
    }
    let sees_stages = line.to_ascii_lowercase().contains("pipestatus");
    let files = context.file_bytes.and_then(|bytes| Files::of(line, bytes));
    let (edits, changes, read_little) = (Vec::new(), Vec::new(), Vec::new());
    let mut rewriter = Rewriter { line, context, files, sees_stages, edits, changes, read_little };
    pipelines.iter().for_each(|stages| rewriter.pipeline(stages));
    let line = rewriter.text();
    let Rewriter { changes, read_little, .. } = rewriter;
    Rewritten { line, changes, read_little, untouched: None }
}

struct Rewriter<'a> {
    line: &'a str,
    context: &'a Context<'a>,
    files: Option<Files<'a>>,
    /// The line asks for the statuses of its stages, which must be those of as many stages as before.
    sees_stages: bool,
    /// What takes the place of which bytes, in order.
    edits: Vec<(Range<usize>, String)>,
    changes: Vec<Change>,
    read_little: Vec<String>,
}

impl Rewriter<'_> {
    fn pipeline(&mut self, stages: &[Range<usize>]) {
        let mut texts: Vec<&str> = stages.iter().map(|stage| &self.line[stage.clone()]).collect();
        let whole = texts.clone();
        if let Some(last) = texts.last_mut() {
            *last = before_redirection(last);
        }
        let reads = self.files.map(|files| files.read_by(&whole)).unwrap_or_default();
        let reads_little = |at: usize, worth: u64| {
            reads.get(at).copied().flatten().is_some_and(|bytes| bytes < worth)
        };
        let mut at = 0;
        while at < stages.len() {
            let fused = self
                .fusion(&texts[at..])
                .filter(|found| !self.sees_stages && self.joins(&stages[at..at + found.stages]))
                .map(|found| found.stages);
            match fused {
                Some(count) => {
                    let last = &stages[at + count - 1];
                    let redirected =
                        last.len() - before_redirection(&self.line[last.clone()]).len();
                    let range = stages[at].start..last.end - redirected;
                    match reads_little(at, WORTH_FUSING) {
                        true => self.read_little.push(self.line[range].to_owned()),
                        false => self.fuse(range),
                    }
                    at += count;
                }
                None => {
                    self.offer(&stages[at], whole[at], reads_little(at, WORTH_DEALING));
                    at += 1;
                }
            }
        }
    }

    fn fusion(&self, stages: &[&str]) -> Option<Fusion> {
        let found = fusion(stages, self.context.collates_bytes)?;
        // What `sort` gets when `head` leaves shows in the status. The stages before may be a fusion, too.
        let sees_it = found.ends_early() && self.line.contains("pipefail");
        if sees_it { self.fusion(&stages[..found.stages - 1]) } else { Some(found) }
    }

    /// Whether there is only one bar between these stages and their programs are what they seem.
    fn joins(&self, stages: &[Range<usize>]) -> bool {
        let are_programs = stages.iter().all(|stage| {
            command_word(&self.line[stage.clone()])
                .is_some_and(|(_, word)| (self.context.is_program)(&word))
        });
        let between = |pair: &[Range<usize>]| self.line[pair[0].end..pair[1].start].trim() == "|";
        are_programs && stages.windows(2).all(between)
    }

    fn fuse(&mut self, range: Range<usize>) {
        let text = &self.line[range.clone()];
        let new = format!("{} -c {}", self.context.tool, quoted(text));
        self.changes.push(Change::Fused(text.to_owned()));
        self.edits.push((range, new));
    }

    fn offer(&mut self, stage: &Range<usize>, text: &str, reads_little: bool) {
        // Messages among the output have their places there, which only one copy keeps.
        if text.contains("2>&1") {
            return;
        }
        let Some((at, word)) = command_word(text) else { return };
        let name = word.rsplit('/').next().unwrap_or(&word);
        if commands().binary_search(&name).is_err() || !(self.context.is_program)(&word) {
            return;
        }
        // What no arguments can change is known now.
        let may_gain = match plain_words(before_redirection(&text[at..])) {
            Some(words) => Plan::of(&words).is_ok(),
            None => is_promising(name),
        };
        if !may_gain {
            return;
        }
        if reads_little {
            self.read_little.push(text.to_owned());
            return;
        }
        let at = stage.start + at;
        self.changes.push(Change::Offered(text.to_owned()));
        self.edits.push((at..at, format!("{} -- ", self.context.tool)));
    }

    fn text(&self) -> String {
        let mut text = String::with_capacity(2 * self.line.len());
        let mut from = 0;
        for (range, new) in &self.edits {
            text.push_str(&self.line[from..range.start]);
            text.push_str(new);
            from = range.end;
        }
        text.push_str(&self.line[from..]);
        text
    }
}

/// The text as one word for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        line_with(text, None)
    }

    fn line_with(text: &str, file_bytes: Option<FileBytes<'_>>) -> String {
        let is_program = |name: &str| name != "jq";
        let context =
            Context { tool: "P", collates_bytes: true, is_program: &is_program, file_bytes };
        rewrite(text, &context).line
    }

    #[test]
    fn commands_that_read_little_stay() {
        for (text, mebibytes, new) in [
            ("cat f | grep -i x | sort | uniq -c", 0, "cat f | grep -i x | sort | uniq -c"),
            ("cat f | grep -i x | sort | uniq -c", 1, "cat f | grep -i x | P -c 'sort | uniq -c'"),
            ("cat f | grep -i x | wc -w", 4, "cat f | P -- grep -i x | P -- wc -w"),
            ("sort f | uniq -c | sort -rn >o", 0, "sort f | uniq -c | sort -rn >o"),
            ("grep -i x <f; seq 9 | rev | sort", 4, "P -- grep -i x <f; seq 9 | rev | sort"),
        ] {
            let bytes = |_: &str| Some(mebibytes << 20);
            assert_eq!(line_with(text, Some(&bytes)), new, "{text}");
        }
    }

    #[test]
    fn commands_of_top_level_pipelines_are_offered() {
        for (text, new) in [
            ("grep -i x | cut -f\"$f\"", "P -- grep -i x | P -- cut -f\"$f\""),
            ("A=$(b) sed s/a/b/ <f", "A=$(b) P -- sed s/a/b/ <f"),
            ("cat f && grep -ic é | awk 1 & wait", "cat f && P -- grep -ic é | P -- awk 1 & wait"),
            ("/usr/bin/sed p", "P -- /usr/bin/sed p"),
            ("sort | uniq -c|wc -w", "P -c 'sort | uniq -c'|P -- wc -w"),
            ("sort | uniq -c > out", "P -c 'sort | uniq -c' > out"),
            ("sort -u f >>$OUT; echo", "P -c 'sort -u f' >>$OUT; echo"),
            ("sort | uniq 2>e", "sort | P -- uniq 2>e"),
            ("sort | uniq -c >a >b", "sort | P -- uniq -c >a >b"),
            ("sort | uniq -c >'a b'", "sort | P -- uniq -c >'a b'"),
            ("cat | sed 's/>a/b/' >b", "cat | P -- sed 's/>a/b/' >b"),
            ("sort -u # all of it", "P -c 'sort -u' # all of it"),
            ("sort | uniq -d; grep -i 'it''s'", "P -c 'sort | uniq -d'; P -- grep -i 'it''s'"),
            ("set -o pipefail; grep -i x", "set -o pipefail; P -- grep -i x"),
            (
                "set -o pipefail; sort | uniq -c | sort -rn | head -n1",
                "set -o pipefail; P -c 'sort | uniq -c | sort -rn' | head -n1",
            ),
        ] {
            assert_eq!(line(text), new, "{text}");
        }
    }

    #[test]
    fn what_may_be_something_else_stays() {
        for text in [
            "jq .a",
            "$grep -i x",
            "\\grep -i x",
            "'grep' -i x",
            "(grep -i x)",
            "{ grep -i x; }",
            "while read a; do grep -i x; done",
            "! grep -i x",
            "time grep -i x",
            "<f grep -i x",
            "grep() { :; }; grep -i x",
            "alias grep=cat; grep -i x",
            "PATH=/x; grep -i x",
            "export LC_ALL=de_DE.UTF-8; grep -i x",
            "set -x; grep -i x",
            "exec grep -i x",
            "tr a-z A-Z | grep -v x",
            "frobnicate | cat | head -n1 | wc -l",
            "sed 5q",
            "cat f | grep -i x 2>&1 | cat",
            "awk 'END { print NR + x }'",
            "echo grep",
            "tail -n \"$n\"",
            "grep 'x",
        ] {
            assert_eq!(line(text), text);
        }
    }

    #[test]
    fn who_asks_for_statuses_gets_those_of_all_stages() {
        let text = "rev | sort | uniq -c | sort -rn | head; echo ${PIPESTATUS[@]}";
        assert_eq!(line(text), format!("P -- {text}"));
    }
}
