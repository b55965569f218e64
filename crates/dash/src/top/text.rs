//! Short texts of the list.

use fullbore_record::{Progress, Seen};

/// `3:12`, `2:14:03`, `5 d 7 h`.
pub(super) fn clock(nanoseconds: u64) -> String {
    let seconds = nanoseconds / 1_000_000_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes}:{:02}", seconds % 60),
        (0, _) => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
        (1..1000, _) => format!("{days} d {hours} h"),
        _ => format!("{days} d"),
    }
}

/// `41 % 3:12`; `41 % ?` if the end is not in sight; empty without a file.
pub(super) fn progress(progress: Option<Progress>) -> String {
    let Some(progress) = progress else { return String::new() };
    let left = progress.left_ns.map_or_else(|| "?".to_owned(), clock);
    format!("{:.0} % {left}", progress.percent())
}

/// Where a pipeline belongs: `backup.service · root`, `pts/3 · alice`.
pub(super) fn place(seen: &Seen) -> String {
    let place = &seen.place;
    let user = place.user.clone().unwrap_or_else(|| place.uid.to_string());
    let service = place.unit.as_ref().filter(|unit| !unit.starts_with("session-"));
    match service.or(place.terminal.as_ref()) {
        Some(place) => format!("{place} · {user}"),
        None => format!("session {} · {user}", place.session),
    }
}

/// What the keys do.
pub(super) const HELP: [(&str, &str); 17] = [
    ("↑ ↓", "one line up, down;  PgUp PgDn  a screen;  Home End  first, last"),
    ("Tab  Shift-Tab", "the next pipeline, the one before"),
    ("Enter", "everything about a pipeline: all findings and all pipes;  Esc  back"),
    ("Space  ← →", "fold and unfold its stages;  e  of all pipelines"),
    ("/  F4", "show only what contains a text: command, unit, user, process"),
    ("s  >  <  F6", "sort by CPU, rate, age, time left, unit"),
    ("i", "show pipelines in which nothing was moved for 5 s (daemons), too"),
    ("t", "widen the pipe behind a stage: it holds more, until its pipeline ends"),
    ("k  F9", "send a signal to a stage, or to all stages of a pipeline"),
    ("r", "forget what was seen: count from now on"),
    ("q  F10  Ctrl-C", "quit; every pipeline goes on"),
    ("", ""),
    ("now", "what a stage does: on a CPU, waits for a CPU, for input, for room, other"),
    ("▸", "the stage that holds its pipeline back"),
    ("left", "how far the first stage has read its file, and when all will be read;"),
    ("", "? behind a stage that takes everything in first (sort)"),
    ("rate", "bytes a second that a stage reads or writes, whichever is more; ? if uncounted"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let second = 1_000_000_000;
        for (seconds, text) in [
            (0, "0:00"),
            (192, "3:12"),
            (8043, "2:14:03"),
            (86_400 * 5 + 7 * 3600, "5 d 7 h"),
            (86_400 * 4000, "4000 d"),
        ] {
            assert_eq!(clock(seconds * second), text);
        }
    }
}
