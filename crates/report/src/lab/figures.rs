//! Values of a case as text, in the unit of the case.

use fullbore_lab::Estimate;
use fullbore_lab::record::CaseRun;
use fullbore_lab::suite::{Quantity, RatioStyle};

/// Three significant digits, without an exponent.
pub(crate) fn digits(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => "?".to_owned(),
        v if v >= 99.95 || v == 0.0 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 => format!("{value:.2}"),
        v if v >= 0.0995 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// Steps of a unit, the smallest first: from which value on, what it is divided by, its name.
type Unit = &'static [(f64, &'static str)];

const BYTES_PER_SECOND: Unit =
    &[(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")];
const PER_SECOND: Unit = &[(1.0, "/s"), (1e3, "k/s"), (1e6, "M/s"), (1e9, "G/s")];
const NANOSECONDS: Unit = &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
const SECONDS: Unit = &[(1e-6, "µs"), (1e-3, "ms"), (1.0, "s")];
const PLAIN: Unit = &[(1.0, "")];
const COUNT: Unit = &[(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")];
const PERCENT: Unit = &[(1.0, "%")];

fn unit(quantity: &Quantity) -> Unit {
    match quantity {
        Quantity::BytesPerSecond => BYTES_PER_SECOND,
        Quantity::OperationsPerSecond => PER_SECOND,
        Quantity::LatencyNs | Quantity::NsPerOperation => NANOSECONDS,
        Quantity::Seconds => SECONDS,
        Quantity::Counter(name) => counter_unit(name),
    }
}

fn counter_unit(name: &str) -> Unit {
    if name.ends_with("_percent") {
        PERCENT
    } else if name.ends_with("_ns") {
        NANOSECONDS
    } else {
        PLAIN
    }
}

fn in_unit(value: f64, unit: Unit) -> String {
    let (size, name) =
        unit.iter().rev().find(|(size, _)| value.abs() >= size * 0.9995).unwrap_or(&unit[0]);
    format!("{} {name}", digits(value / size)).trim_end().to_owned()
}

/// A value of the case, such as `2.31 GB/s`.
pub(super) fn value(quantity: &Quantity, value: f64) -> String {
    in_unit(value, unit(quantity))
}

/// A counter by its name.
pub(super) fn counter(name: &str, value: Option<f64>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| in_unit(value, counter_unit(name)))
}

/// How often something happened: whole below ten thousand, then three digits.
pub(super) fn count(value: f64) -> String {
    if value.abs() < 10_000.0 { format!("{value:.0}") } else { in_unit(value, COUNT) }
}

/// A counter's name as the head of a column.
pub(super) fn counter_head(name: &str) -> String {
    let bare = name.strip_suffix("_percent").or(name.strip_suffix("_ns")).unwrap_or(name);
    bare.replace('_', " ")
}

/// A time in nanoseconds.
pub(crate) fn nanoseconds(value: u64) -> String {
    in_unit(value as f64, NANOSECONDS)
}

/// What is measured, for the axis of a chart.
pub(super) fn quantity(quantity: &Quantity) -> String {
    match quantity {
        Quantity::BytesPerSecond => "bytes per second, more is better".to_owned(),
        Quantity::OperationsPerSecond => "operations per second, more is better".to_owned(),
        Quantity::LatencyNs => "median latency, less is better".to_owned(),
        Quantity::Seconds => "time, less is better".to_owned(),
        Quantity::NsPerOperation => "time of one operation, less is better".to_owned(),
        Quantity::Counter(name) => format!("{}, more is better", counter_head(name)),
    }
}

/// How uncertain an estimate is: `± 4 %`; `?` when that is not known.
pub(crate) fn spread(estimate: &Estimate) -> String {
    match estimate.half_width() {
        None => "?".to_owned(),
        Some(half) if half < std::f64::consts::LN_2 => format!("± {} %", percent(half)),
        Some(_) => "> ± 100 %".to_owned(),
    }
}

fn percent(half: f64) -> String {
    let percent = (half.exp() - 1.0) * 100.0;
    if percent < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

/// Half a width, as a logarithm, from which an interval says nothing: its ends are a hundred times apart.
const TELLS_NOTHING: f64 = std::f64::consts::LN_10;

/// A ratio as its case tells it, with its interval: `3.9 (3.7–4.1)`. One whose interval is too wide to say anything is
/// told by the end that is nearer to 1, or not at all.
pub(super) fn ratio(case: &CaseRun, speed: &Estimate) -> String {
    ratio_in(case.ratio, speed)
}

fn ratio_in(style: RatioStyle, speed: &Estimate) -> String {
    let told = match style {
        RatioStyle::Speed => *speed,
        RatioStyle::Slowdown => speed.inverse(),
    };
    match (told.low, told.high) {
        _ if told.half_width().is_none_or(|half| half < TELLS_NOTHING) => interval(&told),
        (Some(low), _) if low > 1.0 => format!("over {}", digits(low)),
        (_, Some(high)) if high < 1.0 => format!("under {}", digits(high)),
        _ => "cannot tell".to_owned(),
    }
}

/// A middle and its interval.
pub(crate) fn interval(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            format!("{} ({}–{})", digits(estimate.middle), end(low), end(high))
        }
        _ => format!("{} (?)", digits(estimate.middle)),
    }
}

/// The end of an interval: far from all that is ever measured, only that it is there.
fn end(value: f64) -> String {
    match value {
        v if v < 0.0001 => "0".to_owned(),
        v if v > 1e7 => "∞".to_owned(),
        v => digits(v),
    }
}

/// The head of the column of values.
pub(super) fn value_head(case: &CaseRun) -> &'static str {
    if case.quantity == Quantity::LatencyNs { "p50" } else { "median" }
}

/// The head of the column of ratios.
pub(super) fn ratio_head(case: &CaseRun) -> &'static str {
    match case.ratio {
        RatioStyle::Speed => "× as fast",
        RatioStyle::Slowdown => "× as long",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_three_digits_and_a_unit() {
        assert_eq!(value(&Quantity::BytesPerSecond, 2.314e9), "2.31 GB/s");
        assert_eq!(value(&Quantity::OperationsPerSecond, 999_900.0), "1.00 M/s");
        assert_eq!(value(&Quantity::LatencyNs, 1234.0), "1.23 µs");
        assert_eq!(value(&Quantity::Seconds, 0.0042), "4.20 ms");
        assert_eq!(value(&Quantity::Counter("overlap_percent".into()), 6.25), "6.25 %");
        assert_eq!(digits(0.0123), "0.0123");
        assert_eq!([0.0, 9999.0, 12_345.0, 4.56e8].map(count), ["0", "9999", "12.3 k", "456 M"]);
    }

    #[test]
    fn an_interval_that_says_nothing_is_told_as_nothing() {
        let estimate = |low, high| Estimate { middle: 8.42, low: Some(low), high: Some(high) };
        assert_eq!(interval(&estimate(1e-7, 267_556_800_000.0)), "8.42 (0–∞)");
        let told = |low, high| ratio_in(RatioStyle::Speed, &estimate(low, high));
        assert_eq!(told(1e-7, 2.7e11), "cannot tell");
        assert_eq!(told(2.0, 900.0), "over 2.00");
        assert_eq!(told(1.0 / 900.0, 0.5), "under 0.500");
        assert_eq!(told(2.0, 30.0), "8.42 (2.00–30.0)");
        assert_eq!(ratio_in(RatioStyle::Slowdown, &estimate(2.0, 900.0)), "under 0.500");
    }

    #[test]
    fn an_interval_that_is_not_known_is_a_question() {
        let unknown = Estimate { middle: 2.0, low: None, high: None };
        assert_eq!((spread(&unknown), interval(&unknown)), ("?".into(), "2.00 (?)".into()));
        let known = Estimate { middle: 2.0, low: Some(1.9), high: Some(2.1) };
        assert_eq!(
            (spread(&known), interval(&known)),
            ("± 5.1 %".into(), "2.00 (1.90–2.10)".into())
        );
    }
}
