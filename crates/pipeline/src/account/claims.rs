//! From samples of what a stage waited for to shares of the time it waited.

use std::collections::BTreeMap;

use crate::account::reason::Reason;

/// What each reason to wait is still owed.
///
/// A sample stands for all the time since the one before. How much of that was spent waiting is known exactly, but must
/// not weigh the sample: a stage that sleeps for a moment whenever it was given a CPU has waited less in the intervals that
/// end in that sleep, and the sleep would seem shorter than it is. So a reason earns the length of the interval, times
/// the proportion that is waited on average, and is paid from what was waited, in this interval or a later one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims {
    /// Below 0: was paid before it earned.
    owed_ns: BTreeMap<Reason, f64>,
    /// Length of the intervals that reasons have earned, and what was waited meanwhile.
    earned_ns: f64,
    waited_ns: f64,
}

/// Weight that the past keeps at each sample in the proportion that is waited: about the last thousand samples count.
const LONG_PAST: f64 = 0.999;
/// Weight that a debt keeps: after about thirty samples the stage may be doing something else.
const PAST: f64 = 0.97;

impl Claims {
    /// A reason was seen at the end of an interval, for `length_ns` of it; `waited_ns` were waited in it.
    pub(crate) fn earn(&mut self, reason: Reason, length_ns: f64, waited_ns: f64) {
        self.earned_ns = self.earned_ns * LONG_PAST + length_ns;
        self.waited_ns = self.waited_ns * LONG_PAST + waited_ns;
        self.owed_ns.values_mut().for_each(|owed| *owed *= PAST);
        if length_ns > 0.0 {
            let proportion = self.waited_ns / self.earned_ns;
            *self.owed_ns.entry(reason).or_default() += length_ns * proportion;
        }
        self.owed_ns.retain(|_, owed| owed.abs() >= 1.0);
    }

    /// Divides what was waited among those who are owed; what remains goes to `heirs`, by their weights.
    pub(crate) fn pay(
        &mut self,
        waited_ns: f64,
        heirs: &BTreeMap<Reason, f64>,
    ) -> Vec<(Reason, f64)> {
        let creditors = || self.owed_ns.iter().filter(|(_, owed)| **owed > 0.0);
        let owed: f64 = creditors().map(|(_, owed)| owed).sum();
        let part = if owed > waited_ns { waited_ns / owed } else { 1.0 };
        let mut paid: BTreeMap<_, _> =
            creditors().map(|(reason, owed)| (*reason, owed * part)).collect();
        let rest = (waited_ns - owed).max(0.0);
        let weights: f64 = heirs.values().sum();
        for (reason, weight) in heirs {
            *paid.entry(*reason).or_default() += rest * weight / weights;
        }
        for (reason, ns) in &paid {
            *self.owed_ns.entry(*reason).or_default() -= ns;
        }
        paid.retain(|_, ns| *ns > 0.0);
        paid.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullbore_record::Cause;

    const NAP: Reason = Reason::Other(Cause::Sleep);
    const LOCK: Reason = Reason::Other(Cause::Lock);

    fn see(claims: &mut Claims, reason: Reason, waited_ns: f64) -> Vec<(Reason, f64)> {
        claims.earn(reason, 1000.0, waited_ns);
        claims.pay(waited_ns, &BTreeMap::from([(reason, 1.0)]))
    }

    #[test]
    fn one_reason_has_all_that_was_waited() {
        let mut claims = Claims::default();
        for waited_ns in [1000.0, 0.0, 300.0, 1000.0, 700.0] {
            let paid = see(&mut claims, NAP, waited_ns);
            let sum: f64 = paid.iter().map(|(_, ns)| ns).sum();
            assert!(
                (sum - waited_ns).abs() < 1e-9 && paid.iter().all(|(reason, _)| *reason == NAP)
            );
        }
    }

    #[test]
    fn an_interval_with_little_waiting_in_it_is_paid_for_by_the_next() {
        let mut claims = Claims::default();
        let mut sums = BTreeMap::<Reason, f64>::new();
        for turn in 0..4000 {
            let (reason, waited_ns) = if turn % 4 == 0 { (NAP, 400.0) } else { (LOCK, 1000.0) };
            for (reason, ns) in see(&mut claims, reason, waited_ns) {
                *sums.entry(reason).or_default() += ns;
            }
        }
        let share = sums[&NAP] / sums.values().sum::<f64>();
        assert!((share - 0.25).abs() < 0.01, "{share}");
    }

    #[test]
    fn a_new_phase_does_not_pay_for_the_old_one_for_long() {
        let mut claims = Claims::default();
        for _ in 0..100 {
            see(&mut claims, NAP, 500.0);
            see(&mut claims, LOCK, 1000.0);
        }
        let late: f64 = (0..100)
            .flat_map(|_| see(&mut claims, LOCK, 1000.0))
            .filter(|(reason, _)| *reason == NAP)
            .map(|(_, ns)| ns)
            .sum();
        assert!(late < 500.0, "{late}");
    }
}
