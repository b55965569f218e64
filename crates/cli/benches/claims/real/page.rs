//! The page that shows, for each real pipeline, the truth beside what was said.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{Case, Judged, Judgement, Truth};
use crate::table::machine;

/// One pipeline with its runs.
pub(super) struct Told {
    class: String,
    text: String,
}

impl Told {
    /// What there is to show of a pipeline.
    pub(super) fn of(case: &Case, truth: &Truth, judged: &[Judged]) -> Self {
        let mut text = format!("### {}\n\n```\n{}\n```\n\n", case.name, case.line);
        let _ = writeln!(text, "- shell: {}; {}", case.shell, truth.text);
        let mut said: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for one in judged {
            *said.entry((word(one.judgement), &one.message)).or_default() += 1;
        }
        let runs = judged.len();
        for ((judgement, message), times) in said {
            let _ = writeln!(text, "- {judgement}, {times} of {runs}: {message}");
        }
        let arrows: BTreeSet<&String> = judged.iter().flat_map(|one| &one.wrong_arrows).collect();
        for arrow in arrows {
            let _ = writeln!(text, "- an arrow that is not there: {arrow}");
        }
        Self { class: case.class.clone(), text: text + "\n" }
    }
}

fn word(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Right => "right",
        Judgement::Unsure => "not sure",
        Judgement::Wrong => "**wrong**",
    }
}

/// The whole page in Markdown.
pub(super) fn page(told: &[Told], sum: &str) -> String {
    let mut text = format!(
        "# Verdicts on real pipelines\n\n\
         `make bench CLAIMS=real` writes this page. For each pipeline, it shows what fullbore said, and in how many of the \
         runs. People who had not read the code of fullbore wrote the pipelines.\n\n\
         A verdict is right if it names the stage that takes longest when each stage runs alone, with its input in a file \
         (*alone*). A stage that takes at least three quarters as long counts as right, too. Where the times alone cannot \
         tell (a source with a rate of its own, a stage that waits), the author of the case says what holds the pipeline \
         back and why, in `crates/cli/tests/cases/real/` (*by construction*). Every run counts; none is repeated. An \
         *arrow* is a connection from one stage to another; each case lists those that exist.\n\n\
         Machine: {}\n\n{sum}\n",
        machine()
    );
    let mut classes: Vec<_> = told.iter().map(|one| one.class.as_str()).collect();
    classes.dedup();
    let links = classes
        .iter()
        .map(|class| format!("[{}](#{})", class.replace('_', " "), class.replace('_', "-")));
    let _ = writeln!(text, "Kinds of pipelines: {}.", links.collect::<Vec<_>>().join(", "));
    let mut class = "";
    for one in told {
        if one.class != class {
            class = &one.class;
            let _ = writeln!(text, "\n## {}\n", class.replace('_', " "));
        }
        text.push_str(&one.text);
    }
    text
}
