//! A record, or a comparison of two, as one HTML page that needs nothing else.

mod page;
mod tail;
mod time;
mod versus;

use fullbore_lab::disk::compare::DiskComparison;
use fullbore_lab::disk::record::DiskRun;

/// One self-contained page about a record: the table, then for each workload its latencies, its rates over time and its command; the
/// record itself in `<script type="application/json" id="fullbore-disk">`.
#[must_use]
pub fn page(run: &DiskRun) -> String {
    page::page(run).into_string()
}

/// One self-contained page about two records: what differs, every number before and after with its verdict, latencies over each other.
#[must_use]
pub fn comparison(comparison: &DiskComparison, before: &DiskRun, after: &DiskRun) -> String {
    versus::page(comparison, before, after).into_string()
}
