//! Round trips, each timed.

use hdrhistogram::Histogram;
use rustix::time::ClockId;

use super::super::builtin::wrong;
use super::super::clock::now_ns;
use super::super::peers::{Report, failed};
use super::super::seat::Seat;
use super::channel::Channel;
use super::plan::{Plan, WARM_UP_TRIPS, answer, report};
use crate::{EngineError, Latency};

/// Sends each message and waits until it is back.
pub(super) fn ask(
    plan: &Plan,
    channel: &mut dyn Channel,
    seat: &Seat,
) -> Result<Report, EngineError> {
    let mut message = vec![0; plan.message];
    let mut trip = |number: u64| {
        message[..8].copy_from_slice(&number.to_le_bytes());
        channel.send(&message).map_err(|e| failed("send", &e))?;
        channel.receive(&mut message).map_err(|e| failed("receive", &e))?;
        Ok::<_, EngineError>(u64::from(message[..8] != number.to_le_bytes()))
    };
    let mut wrong = 0;
    for number in 0..WARM_UP_TRIPS {
        wrong += trip(number)?;
    }
    let mut times = histogram()?;
    let begun = seat.begin()?;
    let mut before = now_ns(ClockId::Monotonic);
    for number in 0..plan.count {
        wrong += trip(number)?;
        let now = now_ns(ClockId::Monotonic);
        times.saturating_record(now - before);
        before = now;
    }
    let usage = begun.end();
    let answer = Some(answer(wrong, plan.count));
    Ok(Report { answer, latency: Some(summarise(&times)), ..report(plan, usage, None) })
}

/// Sends each message back.
pub(super) fn reply(
    plan: &Plan,
    channel: &mut dyn Channel,
    seat: &Seat,
) -> Result<Report, EngineError> {
    let mut message = vec![0; plan.message];
    let mut echo = || {
        channel.receive(&mut message).map_err(|e| failed("receive", &e))?;
        channel.send(&message).map_err(|e| failed("send", &e))
    };
    (0..WARM_UP_TRIPS).try_for_each(|_| echo())?;
    let begun = seat.begin()?;
    (0..plan.count).try_for_each(|_| echo())?;
    Ok(report(plan, begun.end(), None))
}

/// For times up to an hour, with three digits.
fn histogram() -> Result<Histogram<u64>, EngineError> {
    const HOUR_NS: u64 = 3_600_000_000_000;
    Histogram::new_with_bounds(1, HOUR_NS, 3).map_err(|e| wrong(e.to_string()))
}

/// Upper bound of the first bucket.
const FIRST_BUCKET_NS: u64 = 64;
/// Each bucket's upper bound over that of the one before: 24 buckets for ten times the time.
const BUCKET_RATIO: f64 = 1.1;

fn summarise(times: &Histogram<u64>) -> Latency {
    let max_ns = times.max();
    let at = |quantile| times.value_at_quantile(quantile).min(max_ns);
    let buckets = times.iter_log(FIRST_BUCKET_NS, BUCKET_RATIO);
    let counted =
        buckets.map(|bucket| (bucket.value_iterated_to(), bucket.count_since_last_iteration()));
    Latency {
        count: times.len(),
        p50_ns: at(0.5),
        p99_ns: at(0.99),
        p999_ns: at(0.999),
        max_ns,
        buckets: counted.filter(|(_, count)| *count > 0).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_rise_and_buckets_hold_every_value() {
        let mut times = histogram().unwrap();
        for value in 1..=10_000_u64 {
            times.saturating_record(value * 7);
        }
        let latency = summarise(&times);
        assert!((34_950..=35_050).contains(&latency.p50_ns), "{latency:?}");
        assert!((69_200..=69_400).contains(&latency.p99_ns), "{latency:?}");
        assert!(latency.p999_ns <= latency.max_ns, "{latency:?}");
        assert_eq!(latency.buckets.iter().map(|(_, count)| count).sum::<u64>(), 10_000);
        assert!(latency.buckets.is_sorted_by(|one, next| one.0 < next.0), "{latency:?}");
        assert!(latency.buckets.len() < 80, "{latency:?}");
    }
}
