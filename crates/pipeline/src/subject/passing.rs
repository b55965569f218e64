//! Passing signals on: a signal sent to fullbore alone must reach the shell, and one sent to the whole process
//! group must reach it once.
//!
//! kill(2) can do either, and siginfo is the same for both. So fullbore waits a moment and then looks who else
//! got the signal: the shell itself (it has ended, or the signal is pending), and where the shell catches the
//! signal, the other processes of the group, which would have died of it. In doubt it is passed on: a trap
//! that runs twice does less harm than a pipeline that cannot be ended.

use std::time::{Duration, Instant};

use fullbore_proc::{Root, State, Status};
use rustix::process::getpid;

/// kill(2) reaches the processes of a group one after the other; this is far longer than that takes.
const SETTLE: Duration = Duration::from_millis(20);

/// SIGKILL: Linux marks every thread with it once another signal has decided to end the process.
const SIGKILL: i32 = 9;

/// A signal that fullbore got, and of which it is not known whether the shell got it, too.
#[derive(Clone, Debug)]
pub(crate) struct Doubt {
    pub(crate) number: i32,
    /// When to decide.
    pub(crate) due: Instant,
    /// Processes of the same group that lived when the signal came, and when they were first seen.
    witnesses: Vec<(i32, u64)>,
    /// Processes that ended after this moment of the run may have ended of it.
    pub(crate) since_ns: u64,
}

/// What a process shows about a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// It got the signal: it died of it, or has it pending.
    Got,
    /// It did not get the signal: it would have died of it, and lives.
    Missed,
    /// It catches or ignores the signal, or ended in another way.
    None,
}

impl Doubt {
    /// A doubt about a signal that came just now. `known` are the processes of the pipeline, and when they were first seen.
    pub(crate) fn new(
        root: &Root,
        number: i32,
        sender: Option<i32>,
        known: impl Iterator<Item = (i32, u64)>,
        since_ns: u64,
    ) -> Self {
        // In a container, the group may be 0: it began outside.
        let group_of = |pid: i32| root.stat(pid).map(|stat| stat.group);
        let own = group_of(getpid().as_raw_pid());
        let is_of_group = |(pid, _): &(i32, u64)| own.is_some() && group_of(*pid) == own;
        // Who signals the group to which it belongs gets the signal, too.
        let sender = sender.map(|pid| (pid, 0));
        let witnesses = known.chain(sender).filter(is_of_group).collect();
        Self { number, due: Instant::now() + SETTLE, witnesses, since_ns }
    }

    /// Whether the signal must be passed on to the shell. `ended` are the processes that ended since the moment of the
    /// doubt, and when that was seen; `status_of` is the status, as wait(2) encodes it, of a process that has ended.
    pub(crate) fn must_pass_on(
        &self,
        root: &Root,
        shell: i32,
        ended: &[(i32, u64)],
        status_of: impl Fn(i32) -> Option<i32>,
    ) -> bool {
        let evidence = |pid: i32| evidence(self.number, look(root, pid), status_of(pid));
        let is_caught = root.status(shell).is_some_and(|status| status.catches(self.number));
        let of_shell = if has_ended(root, shell) { Evidence::Got } else { evidence(shell) };
        let others = self.witnesses.iter().filter(|(pid, _)| *pid != shell);
        let others = others.map(|(pid, first_ns)| (evidence(*pid), *first_ns)).collect();
        // Of these, only one that died of this signal shows anything.
        let has_died = |pid: i32| status_of(pid).is_some_and(|end| end & 0x7f == self.number);
        let died = ended.iter().filter(|(pid, _)| has_died(*pid)).map(|(_, at_ns)| *at_ns);
        decide(of_shell, is_caught, &all_evidence(others, &died.collect::<Vec<_>>()))
    }
}

/// What others show, each with the moment at which it was first seen, and who `died` of the signal. Who was not there before
/// the first of these died may have begun after the signal: the shell goes on at once when the stages are dead.
fn all_evidence(others: Vec<(Evidence, u64)>, died: &[u64]) -> Vec<Evidence> {
    let first_ns = died.iter().copied().min().unwrap_or(u64::MAX);
    let there = others.into_iter().filter(|(_, seen_ns)| *seen_ns < first_ns);
    there.map(|(evidence, _)| evidence).chain(died.iter().map(|_| Evidence::Got)).collect()
}

fn has_ended(root: &Root, pid: i32) -> bool {
    root.stat(pid).is_none_or(|stat| stat.state == State::Ended)
}

fn look(root: &Root, pid: i32) -> Option<Status> {
    if has_ended(root, pid) { None } else { root.status(pid) }
}

/// What a process shows: `status` while it lives, `end` when it has ended and that is known.
fn evidence(number: i32, status: Option<Status>, end: Option<i32>) -> Evidence {
    match (status, end) {
        (Some(status), _) if status.has_pending(number) || status.has_pending(SIGKILL) => {
            Evidence::Got
        }
        (Some(status), _) if status.ignores(number) || status.catches(number) => Evidence::None,
        (Some(_), _) => Evidence::Missed,
        (None, Some(end)) if end & 0x7f == number => Evidence::Got,
        (None, Some(_)) => Evidence::None,
        // It ended in that moment, and nobody says of what: most likely of the signal.
        (None, None) => Evidence::Got,
    }
}

fn decide(of_shell: Evidence, is_caught: bool, of_others: &[Evidence]) -> bool {
    match of_shell {
        Evidence::Got => false,
        Evidence::Missed => true,
        // Ignored: passing it on changes nothing.
        Evidence::None if !is_caught => false,
        Evidence::None => {
            of_others.contains(&Evidence::Missed) || !of_others.contains(&Evidence::Got)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERM: i32 = 15;

    fn status(pending: &str, caught: &str, ignored: &str) -> Option<Status> {
        Some(Status::parse(&format!(
            "SigPnd:\t{pending}\nShdPnd:\t0\nSigIgn:\t{ignored}\nSigCgt:\t{caught}\n"
        )))
    }

    #[test]
    fn a_process_that_would_have_died_shows_what_happened() {
        assert_eq!(evidence(TERM, status("0", "0", "0"), None), Evidence::Missed);
        assert_eq!(evidence(TERM, status("4000", "0", "0"), None), Evidence::Got);
        assert_eq!(evidence(TERM, status("100", "0", "0"), None), Evidence::Got);
        assert_eq!(evidence(TERM, None, Some(TERM)), Evidence::Got);
    }

    #[test]
    fn a_process_that_catches_ignores_or_ended_by_itself_shows_nothing() {
        assert_eq!(evidence(TERM, status("0", "4000", "0"), None), Evidence::None);
        assert_eq!(evidence(TERM, status("0", "0", "4000"), None), Evidence::None);
        assert_eq!(evidence(TERM, None, Some(0)), Evidence::None);
    }

    #[test]
    fn a_shell_that_lives_without_a_trap_did_not_get_it() {
        assert!(decide(Evidence::Missed, false, &[]));
        assert!(!decide(Evidence::Got, false, &[]));
        assert!(!decide(Evidence::None, false, &[Evidence::Missed]), "ignored");
    }

    #[test]
    fn what_the_shell_starts_after_its_stages_died_of_the_signal_shows_nothing() {
        let (before, after) = ((Evidence::Missed, 10), (Evidence::Missed, 20));
        assert_eq!(all_evidence(vec![before, after], &[]), [Evidence::Missed; 2]);
        assert_eq!(all_evidence(vec![after], &[25, 20]), [Evidence::Got; 2]);
        assert_eq!(all_evidence(vec![before, after], &[20]), [Evidence::Missed, Evidence::Got]);
    }

    #[test]
    fn for_a_shell_with_a_trap_the_others_of_the_group_decide() {
        assert!(decide(Evidence::None, true, &[Evidence::Missed, Evidence::Got]));
        assert!(!decide(Evidence::None, true, &[Evidence::Got, Evidence::None]));
        assert!(decide(Evidence::None, true, &[]), "in doubt it is passed on");
    }
}
