//! What this Linux tells about no process at all.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use fullbore_proc::{Fact, Root, Unavailable};

/// What this Linux withholds about every process.
#[derive(Clone, Debug)]
pub(super) struct Withheld {
    facts: BTreeSet<Fact>,
    /// A sentence for each.
    gaps: Vec<String>,
}

impl Withheld {
    /// What it withholds even about the process of fullbore.
    pub(super) fn of(root: &Root, own: i32) -> Self {
        let withheld = root.unavailable(own);
        // Linux hides no process from itself, so without its own state there is no /proc at all.
        let gaps = if withheld.iter().any(|(fact, _)| *fact == Fact::State) {
            vec!["/proc is not mounted: nothing of this run can be seen".to_owned()]
        } else {
            withheld.iter().map(|(fact, why)| gap(*fact, *why)).collect()
        };
        Self { gaps, facts: withheld.into_iter().map(|(fact, _)| fact).collect() }
    }

    /// The same of the real `/proc`. It is asked once, because `top` watches hundreds of pipelines and nothing of this changes.
    pub(super) fn of_system(own: i32) -> Self {
        static KNOWN: OnceLock<Withheld> = OnceLock::new();
        KNOWN.get_or_init(|| Self::of(&Root::system(), own)).clone()
    }

    pub(super) fn lacks(&self, fact: Fact) -> bool {
        self.facts.contains(&fact)
    }

    pub(super) fn gaps(&self) -> &[String] {
        &self.gaps
    }
}

/// What the record lacks when Linux withholds a fact about every process.
fn gap(fact: Fact, why: Unavailable) -> String {
    let lacks = match fact {
        Fact::State => "nothing of this run can be seen",
        // A record has no word for an unknown share of waiting for a CPU, so this says what its 0 % means.
        Fact::Times => {
            "CPU time is known to a clock tick only; waiting for a CPU is unknown and counts as none"
        }
        Fact::Wait => "what stages wait for is unknown",
        Fact::Io => "bytes and calls are unknown",
        Fact::Children => {
            "processes are found by reading all of /proc, so short ones may be missed"
        }
        Fact::Descriptors => "pipes cannot be seen",
    };
    format!("/proc/PID/{}: {why}: {lacks}", fact.file())
}
