//! From the record of a run to how long it would take with one thing changed: a pure function.
//!
//! ```text
//! record ─ model (what each stage read, computed, waited and wrote, step by step) ─ fit (how much it does in one go)
//!        ─ replay (the run as recorded, then with each change) ─ path (what each replay waited for) ─▶ Forecast
//! ```
#![forbid(unsafe_code)]

mod build;
mod change;
mod cpus;
mod error;
mod fit;
mod flows;
mod limit;
mod model;
mod outside;
mod path;
mod pieces;
mod replay;
mod steps;

use fullbore_record::RunRecord;

use crate::model::Model;

pub use change::{Change, Speed};
pub use error::Error;
pub use limit::Limit;

/// What is predicted about one run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Forecast {
    /// Time that the recorded run took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Time that the replay of the unchanged run takes, in nanoseconds. Every prediction is corrected by the ratio of both.
    pub replayed_ns: u64,
    /// What limits the unchanged run.
    pub limit: Limit,
    /// One prediction for each change, the shortest time first.
    pub predictions: Vec<Prediction>,
}

/// How long the run would take with one change.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// What is different.
    pub change: Change,
    /// Time that the run would take, in nanoseconds.
    pub elapsed_ns: u64,
    /// What would limit it then.
    pub limit: Limit,
}

/// Replays a run as it was and with each change that makes sense for it, and says how long it would take.
///
/// The result depends on the record alone. `findings` is ignored.
///
/// # Errors
/// [`Error`] when the record is of another schema, or does not contain the whole run over time.
pub fn forecast(record: &RunRecord) -> Result<Forecast, Error> {
    predict(record, change::all)
}

/// The same with these changes and no others. A stage or pipe that the record does not have changes nothing.
///
/// # Errors
/// As for [`forecast`].
pub fn forecast_with(record: &RunRecord, changes: Vec<Change>) -> Result<Forecast, Error> {
    predict(record, |_, _| changes)
}

fn predict(
    record: &RunRecord,
    changes: impl FnOnce(&RunRecord, &Model) -> Vec<Change>,
) -> Result<Forecast, Error> {
    error::check(record)?;
    // The first model is the best one.
    let models = fit::fit(Model::of(record), record);
    let bases: Vec<_> = models.iter().map(replay::replay).collect();
    let best = (&models[0], &bases[0]);
    let mut predictions: Vec<Prediction> = changes(record, best.0)
        .into_iter()
        .map(|change| {
            let changed: Vec<_> = models.iter().map(|model| change.made_in(model)).collect();
            let replayed: Vec<_> = changed.iter().map(replay::replay).collect();
            let parts = replayed.iter().zip(&bases);
            // A run of nothing but waits for each other takes no time in the replay.
            let parts = parts.map(|(now, then)| now.elapsed_ns / then.elapsed_ns.max(1.0));
            let part = parts.sum::<f64>() / models.len() as f64;
            Prediction {
                change,
                elapsed_ns: steps::whole(record.elapsed_ns as f64 * part),
                limit: path::limit(&changed[0], &replayed[0]),
            }
        })
        .collect();
    predictions.sort_by_key(|prediction| prediction.elapsed_ns);
    Ok(Forecast {
        elapsed_ns: record.elapsed_ns,
        replayed_ns: steps::whole(best.1.elapsed_ns),
        limit: path::limit(best.0, best.1),
        predictions,
    })
}
