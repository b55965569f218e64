//! Every pipeline of a machine as text, for terminals without a screen and for files.

use fullbore_record::{Overview, Seen};

use super::style::Style;
use super::table;
use super::wrap::wrap;
use crate::visible;

/// Shows every pipeline in which something moves, and with `shows_idle` the others, too: a line about each, a table of its stages,
/// and what holds it back. The last line ends with a line feed.
#[must_use]
pub fn overview(overview: &Overview, shows_idle: bool, style: Style) -> String {
    let mut lines = vec![head(overview)];
    let idle = overview.pipelines.iter().filter(|seen| seen.is_idle).count();
    for seen in overview.pipelines.iter().filter(|seen| shows_idle || !seen.is_idle) {
        lines.push(String::new());
        pipeline(seen, style, &mut lines);
    }
    if idle > 0 && !shows_idle {
        lines.push(String::new());
        let (are, them) = if idle == 1 { ("pipeline is", "it") } else { ("pipelines are", "them") };
        lines.push(format!("{idle} more {are} idle; --idle shows {them}."));
    }
    let hidden = overview.hidden_pipelines;
    if hidden > 0 {
        let (what, them) = if hidden == 1 { ("pipeline", "it") } else { ("pipelines", "them") };
        lines.push(format!("{hidden} {what} of other users cannot be seen; root can see {them}."));
    } else if overview.hidden_processes > 0 {
        let processes = overview.hidden_processes;
        lines.push(format!(
            "{processes} processes of other users cannot be seen; root can see them."
        ));
    }
    lines.join("\n") + "\n"
}

fn head(overview: &Overview) -> String {
    let active = overview.pipelines.iter().filter(|seen| !seen.is_idle).count();
    let plural = if active == 1 { "" } else { "s" };
    format!(
        "{active} pipeline{plural} on {}, watched for {:.1} s, {} processes seen",
        visible::line(&overview.host.name),
        overview.elapsed_ns as f64 / 1e9,
        overview.processes,
    )
}

fn pipeline(seen: &Seen, style: Style, lines: &mut Vec<String>) {
    let record = &seen.snapshot.record;
    let command = visible::line(&record.command);
    lines.push(style.bold(&visible::cut(&command, style.columns())));
    let mut about = vec![format!("  process {}", seen.pid), place(seen)];
    about.push(format!("for {}", clock(seen.age_ns)));
    if seen.is_idle {
        about.push("idle".to_owned());
    }
    if let Some(progress) = seen.progress {
        let left = match (progress.left_ns, progress.input_left_ns) {
            (Some(left_ns), _) => format!(", {} left", clock(left_ns)),
            (None, Some(left_ns)) => format!(", the rest in {}, its end unknown", clock(left_ns)),
            (None, None) => String::new(),
        };
        about.push(format!("{:.0} % of its file read{left}", progress.percent()));
    }
    lines.push(visible::cut(&about.join(", "), style.columns()));
    if seen.is_idle && record.elapsed_ns == 0 {
        return;
    }
    table::write(record, style, lines);
    if let Some(finding) = record.findings.first().filter(|_| !seen.is_idle) {
        let message = visible::sentence(&visible::line(&finding.message));
        lines.extend(wrap(&message, style.columns(), "  ", "  "));
    }
}

fn place(seen: &Seen) -> String {
    let place = &seen.place;
    let user = place.user.clone().unwrap_or_else(|| place.uid.to_string());
    let place = match place.unit.as_ref().or(place.terminal.as_ref()) {
        Some(place) => format!("{place}, {user}"),
        None => format!("session {}, {user}", place.session),
    };
    visible::line(&place)
}

/// `0:03:12`, with hours that have as many digits as they need.
fn clock(nanoseconds: u64) -> String {
    let seconds = nanoseconds / 1_000_000_000;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn idle_pipelines_are_counted_and_strange_names_are_harmless() {
        let mut one = Seen::default();
        Arc::make_mut(&mut one.snapshot).record.command = "a\x1b[2J | b".to_owned();
        let mut idle = Seen::default();
        idle.is_idle = true;
        Arc::make_mut(&mut idle.snapshot).record.command = "journalctl -f | grep x".to_owned();
        let mut all = Overview::default();
        all.pipelines = vec![one, idle];
        all.hidden_pipelines = 2;
        let text = overview(&all, false, Style::plain(80));
        assert!(!text.contains('\x1b') && !text.contains("journalctl"), "{text}");
        assert!(text.contains("1 more pipeline is idle; --idle shows it."), "{text}");
        assert!(text.contains("2 pipelines of other users cannot be seen"), "{text}");
        assert!(overview(&all, true, Style::plain(80)).contains("journalctl -f"));
    }
}
