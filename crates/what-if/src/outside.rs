//! What stands outside the pipeline and fills its first pipe or drains its last one: it keeps its own pace.

use fullbore_record::{PipeRecord, RunRecord};

use crate::flows;
use crate::model::{Model, Port, Stage, Start, Work};
use crate::steps::Step;

/// In a step in which the stage waited at the pipe for this part of it, the other side set the pace.
const SETS_THE_PACE: f64 = 0.1;

/// Adds a stage for each pipe that leads into the pipeline or out of it.
pub(crate) fn add(model: &mut Model, record: &RunRecord, all: &[Vec<Step>]) {
    for (place, pipe) in record.pipes.iter().enumerate() {
        let reader = only_stage(record, pipe, false).filter(|_| pipe.outside_writer);
        let writer = only_stage(record, pipe, true).filter(|_| pipe.outside_reader);
        // A pipe between two stages of the pipeline has its ends already.
        let is_taken = |stage: &Stage| {
            stage.inputs.iter().chain(&stage.outputs).any(|port| port.pipe == place)
        };
        if model.stages.iter().any(is_taken) {
            continue;
        }
        if let Some(stage) = reader {
            connect(model, record, (stage, place), &all[stage], false);
        } else if let Some(stage) = writer {
            connect(model, record, (stage, place), &all[stage], true);
        }
    }
}

/// The one stage on a side of a pipe that nobody else of the pipeline shares.
fn only_stage(record: &RunRecord, pipe: &PipeRecord, writes: bool) -> Option<usize> {
    let (own, other) =
        if writes { (&pipe.writers, &pipe.readers) } else { (&pipe.readers, &pipe.writers) };
    match (own.as_slice(), other.is_empty()) {
        ([number], true) => record.stages.iter().position(|stage| stage.stage == *number),
        _ => None,
    }
}

fn connect(
    model: &mut Model,
    record: &RunRecord,
    (stage, pipe): (usize, usize),
    steps: &[Step],
    writes: bool,
) {
    let Some(bytes) = flows::counted(record, stage, writes) else { return };
    let waits = |step: &Step| {
        let waited_ns = if writes { step.writing_ns } else { step.reading_ns };
        let sets_the_pace = waited_ns >= SETS_THE_PACE * step.length_ns;
        Work { cpu_ns: 0.0, wait_ns: if sets_the_pace { step.length_ns } else { 0.0 } }
    };
    let own = Port { pipe, bytes };
    let theirs = vec![own.clone()];
    let (inputs, outputs) = if writes { (theirs, Vec::new()) } else { (Vec::new(), theirs) };
    model.stages.push(Stage {
        number: None,
        start: Start::At(0.0),
        width: 0.0,
        steps: steps.iter().map(waits).collect(),
        inputs,
        outputs,
        batch_bytes: crate::model::PIPE_BYTES,
    });
    let ports = &mut model.stages[stage];
    if writes { ports.outputs.push(own) } else { ports.inputs.push(own) }
}
