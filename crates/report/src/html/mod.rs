//! The record as one HTML page that needs nothing else: no network, no other file, no script to be complete.

mod arrows;
mod axis;
pub(crate) mod document;
pub(crate) mod drawing;
mod layout;
mod outlook;
mod page;
mod shares;
mod steps;
pub(crate) mod svg;
mod tables;
mod timeline;

use fullbore_record::RunRecord;

pub(crate) use page::headline;
pub(crate) use shares::patterns;

/// One self-contained page: the verdict, a drawing of the pipeline, charts over time, every number in tables,
/// and the record itself in `<script type="application/json" id="fullbore-run">`.
///
/// A long time line is merged to fewer steps, so that the page of 200 stages stays below 1 MB.
#[must_use]
pub fn page(record: &RunRecord) -> String {
    page::page(record).into_string()
}
