//! Pipes that began smaller than usual because the user holds too many pages in pipes.

use fullbore_measure::Bytes;

use fullbore_record::{Finding, FindingKind, PipeRecord};

use super::evidence::Evidence;
use super::flow::Flow;
use super::parts::paste;

/// What a new pipe holds unless its user is over quota. Source: pipe(7), "Pipe capacity".
const USUAL_BYTES: u64 = 65536;

/// A quota that leaves room for dozens of large pipes.
const ROOMY_QUOTA_PAGES: u64 = 262_144;

/// One finding for all pipes that began too small.
pub(super) fn finding(flow: &Flow<'_>) -> Option<Finding> {
    let initial = |pipe: &PipeRecord| pipe.initial_capacity_bytes.unwrap_or(USUAL_BYTES);
    let small: Vec<&PipeRecord> =
        flow.record.pipes.iter().filter(|p| p.path.is_none() && initial(p) < USUAL_BYTES).collect();
    let smallest = *small.iter().min_by_key(|pipe| initial(pipe))?;
    let (from, usual) = (Bytes(initial(smallest)), Bytes(USUAL_BYTES));
    let what = match small.len() {
        1 => flow.pipe_name(smallest),
        several => format!("{several} pipes of the pipeline"),
    };
    let quota = flow.record.host.pipe_user_pages_soft.filter(|&pages| pages > 0);
    let page_bytes = flow.record.host.page_bytes.max(1);
    let limit = quota.map_or_else(
        || "the limit for one user".to_owned(),
        |pages| format!("the limit of {}", Bytes(pages.saturating_mul(page_bytes))),
    );
    let wanted = quota.map_or(ROOMY_QUOTA_PAGES, |pages| pages.saturating_mul(4));
    let message = format!(
        "{} began with {from} instead of {usual}, because the pipes of this user together are over {limit}.",
        capitalised(&what)
    );
    let advice = paste(
        "Close programs that hold large pipes, or raise the limit: ",
        format!("sudo sysctl fs.pipe-user-pages-soft={wanted}"),
    );
    let evidence = Evidence::default()
        .number("small_pipes_count", small.len() as f64)
        .number("initial_capacity_bytes", initial(smallest) as f64)
        .optional("capacity_bytes", smallest.capacity_bytes)
        .optional("pipe_user_pages_soft_pages", quota);
    let finding = Finding::new(FindingKind::SmallPipe, message)
        .about_pipe(smallest.pipe)
        .with_advice(advice)
        .with_evidence(evidence.done());
    Some(finding)
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
