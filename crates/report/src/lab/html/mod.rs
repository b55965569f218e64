//! The record of the lab as one HTML page that needs nothing else.

mod bars;
mod chart;
pub(crate) mod drawing;
mod heat;
mod latency;
mod lines;
mod page;
pub(crate) mod scale;
mod tables;

use fullbore_lab::record::LabRun;

/// One self-contained page: what was found in a sentence, for every case its charts, its table and the command that
/// repeats it, the machine, and the record itself in `<script type="application/json" id="fullbore-lab">`.
#[must_use]
pub fn page(run: &LabRun) -> String {
    page::page(run).into_string()
}
