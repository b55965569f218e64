//! What all charts share: the two widths each is drawn in, and how an engine looks and is called.

use fullbore_lab::record::{CaseRun, EngineRun, PointRun};

use crate::html::svg::number;
use crate::visible;

/// Different looks of engines; more than these repeat.
pub(super) const LOOKS: usize = 10;

/// Width of a drawing on a desk and on a phone, in units of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// 960 units.
    Wide,
    /// 358 units: what a phone of 390 pixels has left.
    Narrow,
}

impl Width {
    pub(crate) fn units(self) -> f64 {
        match self {
            Self::Wide => 960.0,
            Self::Narrow => 358.0,
        }
    }

    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }

    /// Marks that fit on a horizontal axis.
    pub(crate) fn ticks(self) -> usize {
        match self {
            Self::Wide => 9,
            Self::Narrow => 4,
        }
    }
}

/// The line from one end of an interval to the other, with a bar across each end, or the tip of an arrow where the axis
/// ends before the interval does. An end is where it lies, and whether the axis cuts it off; `at` makes a point of a place
/// along the line and one across it.
pub(super) fn whisker(ends: [(f64, bool); 2], at: impl Fn(f64, f64) -> (f64, f64)) -> String {
    let point = |along: f64, across: f64| {
        let (x, y) = at(along, across);
        format!("{} {}", number(x), number(y))
    };
    let [(from, _), (to, _)] = ends;
    let outward = if from <= to { [-1.0, 1.0] } else { [1.0, -1.0] };
    let mut path = format!("M{}L{}", point(from, 0.0), point(to, 0.0));
    for ((place, is_cut), outward) in ends.into_iter().zip(outward) {
        let back = place - outward * if is_cut { 5.0 } else { 0.0 };
        let wide = if is_cut { 3.5 } else { 2.5 };
        path.push_str(&format!(
            "M{}L{}L{}",
            point(back, -wide),
            point(place, 0.0),
            point(back, wide)
        ));
    }
    path
}

/// The look of an engine in a case.
pub(super) fn look(case: &CaseRun, engine: &str) -> usize {
    case.engines.iter().position(|note| note.name == engine).unwrap_or(0) % LOOKS
}

/// Measured engines of a point.
pub(super) fn measured(point: &PointRun) -> impl Iterator<Item = &EngineRun> {
    point.engines.iter().filter(|run| run.value.is_some())
}

/// What is written beside an engine.
pub(super) fn label(case: &CaseRun, engine: &str) -> String {
    case.engine(engine).map_or_else(|| visible::line(engine), |note| visible::line(&note.label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_the_axis_cuts_off_has_the_tip_of_an_arrow_and_another_one_a_bar() {
        let drawn =
            |is_cut| whisker([(10.0, false), (90.0, is_cut)], |along, across| (along, across));
        let line = "M10 0L90 0M10 -2.5L10 0L10 2.5";
        assert_eq!(drawn(false), format!("{line}M90 -2.5L90 0L90 2.5"));
        assert_eq!(drawn(true), format!("{line}M85 -3.5L90 0L85 3.5"));
        let upward = whisker([(90.0, true), (10.0, true)], |along, across| (across, along));
        assert_eq!(upward, "M0 90L0 10M-3.5 85L0 90L3.5 85M-3.5 15L0 10L3.5 15");
    }
}
