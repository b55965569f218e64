//! The predictions as JSON.

use fullbore_record::RunRecord;
use fullbore_what_if::{Change, Forecast, Limit};
use serde_json::{Value, json};

use super::names;

/// Name and version of the schema of the document.
const SCHEMA: &str = "fullbore.what-if/1";

/// One object with all predictions, the shortest time first.
pub(super) fn document(record: &RunRecord, forecast: &Forecast) -> String {
    let predictions: Vec<Value> = forecast
        .predictions
        .iter()
        .map(|one| {
            json!({
                "change": change(one.change),
                "text": names::change(record, one.change),
                "elapsed_ns": one.elapsed_ns,
                "limit": limit(record, one.limit),
            })
        })
        .collect();
    let whole = json!({
        "schema": SCHEMA,
        "command": record.command,
        "elapsed_ns": forecast.elapsed_ns,
        "replayed_ns": forecast.replayed_ns,
        "limit": limit(record, forecast.limit),
        "predictions": predictions,
    });
    format!("{whole:#}\n")
}

fn change(change: Change) -> Value {
    match change {
        Change::TwiceAsFast(stage) => json!({ "kind": "twice_as_fast", "stage": stage }),
        Change::InfinitelyFast(stage) => json!({ "kind": "infinitely_fast", "stage": stage }),
        Change::OnTwoCpus(stage) => json!({ "kind": "on_two_cpus", "stage": stage }),
        Change::PipeOf { pipe, bytes } => {
            json!({ "kind": "pipe_of", "pipe": pipe, "capacity_bytes": bytes })
        }
        Change::AllPipesOf { bytes } => json!({ "kind": "all_pipes_of", "capacity_bytes": bytes }),
        Change::BufferOf { pipe, bytes } => {
            json!({ "kind": "buffer_of", "pipe": pipe, "buffer_bytes": bytes })
        }
        Change::Cpus(cpus) => json!({ "kind": "cpus", "cpus": cpus }),
        _ => json!({ "kind": "other" }),
    }
}

fn limit(record: &RunRecord, limit: Limit) -> Value {
    let text = names::limit(record, limit);
    match limit {
        Limit::Stage(stage) => json!({ "kind": "stage", "stage": stage, "text": text }),
        Limit::Waiting(stage) => json!({ "kind": "waiting", "stage": stage, "text": text }),
        Limit::Cpus => json!({ "kind": "cpus", "text": text }),
        Limit::Pipe(pipe) => json!({ "kind": "pipe", "pipe": pipe, "text": text }),
        Limit::Outside => json!({ "kind": "outside", "text": text }),
        _ => json!({ "kind": "other", "text": text }),
    }
}
