//! The five things a stage does with its time, in the order and the colours in which every chart shows them.

use fullbore_record::StageRecord;
use maud::{Markup, html};

use crate::figures::{known_percent, share};

/// What a stage did with a part of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// On a CPU.
    Running,
    /// Waiting for a CPU.
    Runnable,
    /// Blocked reading a pipe.
    Reading,
    /// Blocked writing a pipe.
    Writing,
    /// Blocked on anything else.
    Other,
}

impl Share {
    /// All of them, from the bottom of a chart to its top.
    pub(super) const ALL: [Self; 5] =
        [Self::Running, Self::Runnable, Self::Reading, Self::Writing, Self::Other];

    /// Class of its shapes in the page.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Running => "s-run",
            Self::Runnable => "s-cpu",
            Self::Reading => "s-in",
            Self::Writing => "s-out",
            Self::Other => "s-oth",
        }
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Runnable => "waits for a CPU",
            Self::Reading => "waits for input",
            Self::Writing => "waits to write",
            Self::Other => "waits for something else",
        }
    }
}

/// The shares of a stage in percent, held to 0..=100.
pub(super) fn of_stage(stage: &StageRecord) -> [(Share, Option<f64>); 5] {
    [
        (Share::Running, Some(share(stage.running_percent))),
        (Share::Runnable, Some(share(stage.runnable_percent))),
        (Share::Reading, stage.blocked_reading_percent.map(share)),
        (Share::Writing, stage.blocked_writing_percent.map(share)),
        (Share::Other, Some(share(stage.blocked_other_percent))),
    ]
}

/// The shares in words; those that are zero are left out.
pub(super) fn sentence(shares: &[(Share, Option<f64>)]) -> String {
    let parts: Vec<String> = shares
        .iter()
        .filter(|(_, value)| value.is_none_or(|value| value >= 0.5))
        .map(|(share, value)| format!("{} {}", share.name(), known_percent(*value)))
        .collect();
    if parts.is_empty() { "did nothing".to_owned() } else { parts.join(", ") }
}

/// The names beside their colours and patterns.
pub(super) fn legend() -> Markup {
    html! {
        ul.legend {
            @for share in Share::ALL {
                li { svg width="22" height="12" aria-hidden="true" { rect.(share.class()) width="22" height="12" {} } (share.name()) }
            }
        }
    }
}

/// The patterns that tell the shares apart without colour.
pub(crate) fn patterns() -> Markup {
    html! {
        svg.patterns width="0" height="0" aria-hidden="true" {
            defs {
                pattern #p-cpu width="4" height="4" patternUnits="userSpaceOnUse" {
                    rect.t-cpu width="4" height="4" {}
                    rect.k-cpu width="1.3" height="4" {}
                }
                pattern #p-in width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect.t-in width="7" height="7" {}
                    rect.k-in width="1.6" height="7" {}
                }
                pattern #p-out width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)" {
                    rect.t-out width="5" height="5" {}
                    rect.k-out width="2" height="5" {}
                }
                pattern #p-oth width="5" height="5" patternUnits="userSpaceOnUse" {
                    rect.t-oth width="5" height="5" {}
                    circle.k-oth cx="1.5" cy="1.5" r="1" {}
                }
            }
        }
    }
}
