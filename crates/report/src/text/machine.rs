//! What a machine costs pipelines, as lines.

use fullbore_doctor::{Finding, Level, Unread};

use super::findings::labelled;
use super::style::Style;
use super::wrap::wrap;
use crate::visible;

/// Shows what was found about a machine, and what is not known about it.
///
/// Every line ends with a newline and is at most `style.width` columns wide (at least 20), except for commands to paste,
/// which are never broken.
#[must_use]
pub fn machine(findings: &[Finding], unread: &[Unread], style: Style) -> String {
    let mut lines = Vec::new();
    let costs = findings.iter().filter(|finding| finding.level == Level::Costs).count();
    let verdict = match costs {
        0 => "Nothing was found that costs pipelines speed here.".to_owned(),
        1 => "One thing costs pipelines speed here.".to_owned(),
        costs => format!("{costs} things cost pipelines speed here."),
    };
    lines.extend(wrap(&verdict, style.columns(), "  ", "  "));
    for finding in findings {
        let (label, code) = match finding.level {
            Level::Costs => ("costs speed:", "1;31"),
            Level::Hides => ("hides:", "1;33"),
            _ => ("good to know:", "1"),
        };
        labelled(label, &visible::line(&finding.what), code, style, &mut lines);
        let mut consequence = visible::line(&finding.consequence);
        if !finding.source.is_empty() {
            consequence.push_str(&format!(" ({})", finding.source));
        }
        lines.extend(wrap(&consequence, style.columns(), "    ", "    "));
        commands(&finding.commands, style, &mut lines);
        if !finding.undo.is_empty() {
            lines.extend(wrap("to undo it:", style.columns(), "    ", "    "));
            commands(&finding.undo, style, &mut lines);
        }
    }
    for unread in unread {
        let note =
            format!("not known: {}: {}", visible::line(&unread.what), visible::line(&unread.why));
        let wrapped = wrap(&note, style.columns(), "  ", "    ");
        lines.extend(wrapped.iter().map(|line| style.dim(line)));
    }
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

fn commands(commands: &[String], style: Style, lines: &mut Vec<String>) {
    for command in commands {
        lines.push(format!("      {}", style.bold(&visible::line(command))));
    }
}
