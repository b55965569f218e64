//! The jobs of a host on the time axis: each as a bar when there are few, how many ran at once when there are many.

use fullbore_gather::{Cause, JobRow, Workflow};
use fullbore_measure::seconds;
use maud::{Markup, html};

use super::{notes, palette};
use crate::html::svg::number;
use crate::{visible, wording};

/// Units of the axis from left to right.
const WIDE: f64 = 1000.0;

/// A bar is never narrower than this.
const LEAST: f64 = 1.5;

/// Jobs in rows such that none covers another, in the order of their starts.
pub(super) fn rows<'a>(jobs: &[&'a JobRow]) -> Vec<Vec<&'a JobRow>> {
    let mut rows: Vec<(u64, Vec<&JobRow>)> = Vec::new();
    for job in jobs {
        let (start, end) = span(job);
        match rows.iter_mut().find(|(free, _)| *free <= start) {
            Some((free, row)) => {
                *free = end;
                row.push(job);
            }
            None => rows.push((end, vec![job])),
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

fn span(job: &JobRow) -> (u64, u64) {
    let start = job.start_ns.unwrap_or(0);
    (start, start.saturating_add(job.elapsed_ns.unwrap_or(0)))
}

/// Every job as a bar.
pub(super) fn bars(workflow: &Workflow, rows: &[Vec<&JobRow>], height: f64) -> Markup {
    let whole = workflow.totals.elapsed_ns.max(1) as f64;
    let all = height * rows.len() as f64;
    html! {
        svg.band viewBox={ "0 0 1000 " (number(all)) } preserveAspectRatio="none" style={ "height:" (number(all)) "px" } aria-hidden="true" {
            @for (place, row) in rows.iter().enumerate() {
                @for job in row {
                    @let (start, end) = span(job);
                    @let left = start as f64 / whole * WIDE;
                    @let width = ((end - start) as f64 / whole * WIDE).max(LEAST);
                    rect class={ (palette::class(job.causes.main())) @if has_failed(job) { " failed-job" } }
                        x=(number(left.min(WIDE - LEAST))) y=(number(place as f64 * height + 1.0))
                        width=(number(width)) height=(number(height - 2.0)) {
                        title { (sentence(workflow, job)) }
                    }
                }
            }
        }
    }
}

fn has_failed(job: &JobRow) -> bool {
    job.exit_status.is_some_and(|status| status != 0)
}

fn sentence(workflow: &Workflow, job: &JobRow) -> String {
    let rule = workflow.rules.get(job.rule).map_or("?", |rule| rule.name.as_str());
    let status = match job.exit_status {
        Some(0) => String::new(),
        Some(status) => format!(", exit status {}", wording::exit_status(status)),
        None => ", exit status unknown".to_owned(),
    };
    format!(
        "{}: {} from {} on{status}; {}; {}",
        visible::cut(&visible::line(rule), 80),
        job.elapsed_ns.map_or_else(|| "?".to_owned(), seconds),
        seconds(job.start_ns.unwrap_or(0)),
        notes::causes(&job.causes),
        visible::cut(&visible::line(&job.file), 80)
    )
}

/// How many jobs ran in each step of the time axis, by cause.
pub(super) struct Running {
    steps: Vec<[f64; Cause::ALL.len()]>,
}

impl Running {
    /// Counts jobs in `steps` steps.
    pub(super) fn of(workflow: &Workflow, jobs: &[&JobRow], steps: usize) -> Self {
        let mut running = Self { steps: vec![[0.0; Cause::ALL.len()]; steps] };
        let step_ns = workflow.totals.elapsed_ns.max(1) as f64 / steps as f64;
        for job in jobs {
            let (start, end) = span(job);
            let (start, end) = (start as f64 / step_ns, end as f64 / step_ns);
            let shares = Cause::ALL.map(|cause| job.causes.percent(cause) / 100.0);
            let (first, last) = (place(start, steps), place(end, steps));
            for (offset, step) in running.steps[first..=last].iter_mut().enumerate() {
                let begin = (first + offset) as f64;
                let part = (end.min(begin + 1.0) - start.max(begin)).max(0.0);
                for (sum, share) in step.iter_mut().zip(shares) {
                    *sum += share * part;
                }
            }
        }
        running
    }

    /// Most jobs at once.
    pub(super) fn most(&self) -> f64 {
        self.steps.iter().map(|step| step.iter().sum()).fold(0.0, f64::max)
    }

    /// The steps as areas above each other, where `most` jobs at once are as high as the band.
    pub(super) fn areas(&self, most: f64) -> Markup {
        let height = 50.0 / most.max(1e-9);
        let width = WIDE / self.steps.len() as f64;
        let mut below = vec![0.0; self.steps.len()];
        let mut areas = Vec::new();
        for (place, cause) in Cause::ALL.into_iter().enumerate() {
            let mut path = String::new();
            for (at, step) in
                self.steps.iter().enumerate().filter(|(_, step)| step[place] * height > 0.05)
            {
                let top = below[at] + step[place];
                let (x, y) = (at as f64 * width, 50.0 - top * height);
                path.push_str(&format!(
                    "M{} {}h{}v{}h-{}z",
                    number(x),
                    number(y),
                    number(width),
                    number(step[place] * height),
                    number(width)
                ));
                below[at] = top;
            }
            if !path.is_empty() {
                areas.push((cause, path));
            }
        }
        html! {
            svg.band.areas viewBox="0 0 1000 50" preserveAspectRatio="none" aria-hidden="true" {
                @for (cause, path) in areas { path.(palette::class(cause)) d=(path) {} }
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held to the steps")]
fn place(at: f64, steps: usize) -> usize {
    (at.max(0.0) as usize).min(steps - 1)
}
