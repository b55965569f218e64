//! Predictions as the record has them, and as JSON.

use fullbore_record::{
    ChangeKind, ChangeRecord, LimitKind, LimitRecord, Name, PredictionRecord, RunRecord,
    SpeedRecord, WhatIfRecord,
};
use fullbore_what_if::{Change, Forecast, Limit, Speed};
use serde_json::json;

use super::names;

/// Name and version of the schema of the document.
const SCHEMA: &str = "fullbore.what-if/1";

/// Predictions with their words.
pub(super) fn record_of(record: &RunRecord, forecast: &Forecast) -> WhatIfRecord {
    let prediction = |one: &fullbore_what_if::Prediction| {
        let mut prediction = PredictionRecord::default();
        prediction.change = change(&one.change);
        prediction.text = names::change(record, &one.change);
        prediction.elapsed_ns = one.elapsed_ns;
        prediction.limit = limit(record, one.limit);
        prediction
    };
    let mut what_if = WhatIfRecord::default();
    what_if.replayed_ns = forecast.replayed_ns;
    what_if.limit = limit(record, forecast.limit);
    what_if.predictions = forecast.predictions.iter().map(prediction).collect();
    what_if
}

/// One object with all predictions, the shortest time first.
pub(super) fn document(record: &RunRecord, what_if: &WhatIfRecord) -> String {
    let whole = json!({
        "schema": SCHEMA,
        "command": record.command,
        "elapsed_ns": record.elapsed_ns,
        "replayed_ns": what_if.replayed_ns,
        "limit": what_if.limit,
        "predictions": what_if.predictions,
    });
    format!("{whole:#}\n")
}

fn change(change: &Change) -> ChangeRecord {
    let mut found = ChangeRecord::default();
    match *change {
        Change::TwiceAsFast(stage) => {
            (found.kind, found.stage) = (ChangeKind::TwiceAsFast, Some(stage));
        }
        Change::InfinitelyFast(stage) => {
            (found.kind, found.stage) = (ChangeKind::InfinitelyFast, Some(stage));
        }
        Change::OnTwoCpus(stage) => {
            (found.kind, found.stage) = (ChangeKind::OnTwoCpus, Some(stage));
        }
        Change::PipeOf { pipe, bytes } => {
            (found.kind, found.pipe) = (ChangeKind::PipeOf, Some(pipe));
            found.capacity_bytes = Some(bytes);
        }
        Change::AllPipesOf { bytes } => {
            (found.kind, found.capacity_bytes) = (ChangeKind::AllPipesOf, Some(bytes));
        }
        Change::BufferOf { pipe, bytes } => {
            (found.kind, found.pipe) = (ChangeKind::BufferOf, Some(pipe));
            found.buffer_bytes = Some(bytes);
        }
        Change::Cpus(cpus) => (found.kind, found.cpus) = (ChangeKind::Cpus, Some(cpus)),
        Change::Faster(ref speeds) => {
            found.kind = ChangeKind::Faster;
            found.faster = speeds.iter().map(speed).collect();
        }
        _ => found.kind = ChangeKind::Other(Name::new("other")),
    }
    found
}

fn speed(speed: &Speed) -> SpeedRecord {
    let mut found = SpeedRecord::default();
    (found.stage, found.times) = (speed.stage, speed.times);
    found
}

fn limit(record: &RunRecord, limit: Limit) -> LimitRecord {
    let mut found = LimitRecord::default();
    found.text = names::limit(record, limit);
    (found.kind, found.stage, found.pipe) = match limit {
        Limit::Stage(stage) => (LimitKind::Stage, Some(stage), None),
        Limit::Waiting(stage) => (LimitKind::Waiting, Some(stage), None),
        Limit::Cpus => (LimitKind::Cpus, None, None),
        Limit::Pipe(pipe) => (LimitKind::Pipe, None, Some(pipe)),
        Limit::Outside => (LimitKind::Outside, None, None),
        _ => (LimitKind::Other(Name::new("other")), None, None),
    };
    found
}
