//! Colours and patterns of the causes, and the bar that divides a time by them.

use fullbore_gather::{Cause, Causes};
use maud::{Markup, html};

use super::notes;
use crate::figures::percent;
use crate::html::svg::number;

/// Class of what shows a cause; the page of a run has the same for the shares that both know.
pub(super) fn class(cause: Cause) -> &'static str {
    match cause {
        Cause::Running => "s-run",
        Cause::Cpu => "s-cpu",
        Cause::Disk => "s-out",
        Cause::Network => "s-net",
        Cause::Stages => "s-in",
        Cause::Other => "s-oth",
        Cause::Unseen => "s-not",
    }
}

/// The pattern that the page of a run does not have.
pub(super) fn patterns() -> Markup {
    html! {
        svg.patterns width="0" height="0" aria-hidden="true" {
            defs {
                pattern #p-net width="6" height="6" patternUnits="userSpaceOnUse" {
                    rect.t-net width="6" height="6" {}
                    rect.k-net width="6" height="1.6" {}
                }
            }
        }
    }
}

/// The names of the causes that there are, beside their colours.
pub(super) fn legend(causes: &Causes) -> Markup {
    let shown = Cause::ALL.iter().filter(|cause| causes.percent(**cause) >= 0.5);
    html! {
        ul.legend {
            @for cause in shown {
                li {
                    svg width="22" height="12" aria-hidden="true" { rect.(class(*cause)) width="22" height="12" {} }
                    (notes::cause(*cause)) " " (percent(causes.percent(*cause)))
                }
            }
        }
    }
}

/// One bar divided by cause, as wide as the page.
pub(super) fn bar(causes: &Causes) -> Markup {
    let mut left = 0.0;
    let mut parts = Vec::new();
    for cause in Cause::ALL {
        let width = causes.percent(cause) * 10.0;
        if width > 0.0 {
            parts.push((cause, left, width));
        }
        left += width;
    }
    html! {
        svg.causes viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label=(notes::causes(causes)) {
            rect.s-not width="1000" height="20" {}
            @for (cause, left, width) in parts {
                rect.(class(cause)) x=(number(left)) width=(number(width)) height="20" {
                    title { (notes::cause(cause)) " " (percent(causes.percent(cause))) }
                }
            }
        }
    }
}
