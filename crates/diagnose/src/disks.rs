//! What the disk did for a stage that waited for it, and the command that measures what it can.

use std::path::Path;
use std::time::Duration;

use fullbore_measure::{Bytes, BytesPerSecond};
use fullbore_record::{FindingKind, StageRecord};

use super::flow::StageFlow;
use super::names::Command;
use super::parts::{Advice, paste};

/// Fewer bytes say nothing about a rate.
const LEAST_BYTES: u64 = 64 << 20;

/// `The disk gave 161 MB/s to cat; this measures what it can: fullbore lab disk --quick --dir /mnt/hdd.`
pub(super) fn measured_by(kind: FindingKind, stage: &StageFlow<'_>) -> Advice {
    let before = match (kind, rate(kind, stage.stage)) {
        (FindingKind::SourceBound, Some(rate)) => {
            format!("The disk gave {rate} to {}; this measures what it can: ", stage.name)
        }
        (FindingKind::SinkBound, Some(rate)) => {
            format!("The disk took {rate} from {}; this measures what it can: ", stage.name)
        }
        _ => "This measures what the disk can: ".to_owned(),
    };
    paste(before, format!("fullbore lab disk --quick --dir {}", folder(kind, stage.stage)))
}

/// What went between the disk and the stage, over its life.
fn rate(kind: FindingKind, stage: &StageRecord) -> Option<String> {
    let bytes = match kind {
        FindingKind::SourceBound => stage.read_bytes,
        FindingKind::SinkBound => stage.written_bytes,
        _ => None,
    };
    let bytes = bytes.filter(|bytes| *bytes >= LEAST_BYTES && stage.life_ns > 0)?;
    Some(BytesPerSecond::over(Bytes(bytes), Duration::from_nanos(stage.life_ns)).to_string())
}

/// The folder of the file that the stage names; `DIR` where its words name none, such as behind `>`.
fn folder(kind: FindingKind, stage: &StageRecord) -> String {
    let runs = Command::of(stage);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@,%".contains(c);
    let named = runs.arguments.iter().rev().find_map(|word| {
        let file = word.strip_prefix("of=").or(word.strip_prefix("if=")).unwrap_or(word);
        let is_file =
            file.starts_with('/') && !file.starts_with("/dev/") && !file.starts_with("/proc/");
        (is_file && file.chars().all(is_plain)).then_some(file)
    });
    // What a stage writes stands behind `>`, which is not among its words: only dd and the like name it.
    let may_be_named =
        kind != FindingKind::SinkBound || runs.arguments.iter().any(|word| word.starts_with("of="));
    let parent = named.filter(|_| may_be_named).and_then(|file| Path::new(file).parent());
    parent.map_or_else(|| "DIR".to_owned(), |folder| folder.display().to_string())
}
