//! What `run --auto` did, in a line.

use fullbore_measure::Bytes;
use fullbore_record::{AutoRecord, AutoWhat, RunRecord};

use super::{Style, wrap};
use crate::visible;

/// Appends the line, if there is something to say.
pub(super) fn write(record: &RunRecord, style: Style, lines: &mut Vec<String>) {
    if record.auto.is_empty() {
        return;
    }
    let parts: Vec<String> = record.auto.iter().filter_map(|auto| part(record, auto)).collect();
    let sentence = match parts.is_empty() {
        true => "auto: every command ran as it is".to_owned(),
        false => format!("auto: {}", parts.join("; ")),
    };
    lines.extend(wrap::wrap(&sentence, style.columns(), "  ", "    "));
}

fn part(record: &RunRecord, auto: &AutoRecord) -> Option<String> {
    let stage = record.stages.iter().find(|stage| Some(stage.stage) == auto.stage)?;
    let title = visible::line(&stage.title());
    let proved = auto
        .proved_bytes
        .map_or(String::new(), |bytes| format!(" (the same on the first {})", Bytes(bytes)));
    Some(match auto.what {
        AutoWhat::Dealt => format!("{title} was dealt out{proved}"),
        AutoWhat::Fused => format!("{title} was answered without sorting every line{proved}"),
        AutoWhat::Differs if title.contains('|') => {
            format!(
                "{title} ran as it is, because the answer without sorting differed on this data"
            )
        }
        AutoWhat::Differs => {
            format!("{title} ran once, because several copies wrote something else on this data")
        }
        AutoWhat::Alone if auto.proved_bytes.is_some() => {
            let bytes = Bytes(auto.proved_bytes.unwrap_or_default());
            format!(
                "{title} ran as it is; the other way writes the same for all {bytes} of its input"
            )
        }
        AutoWhat::Alone => {
            format!("{title} ran once: it is fast, nothing waited for it, or no CPU was idle")
        }
        _ => return None,
    })
}
