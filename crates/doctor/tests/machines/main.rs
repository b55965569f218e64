//! Machines with one thing wrong, each as files and folders: it is named, and nothing else is.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod fake;
mod linux;
mod shares;
mod unknown;

use fullbore_doctor::{Finding, Level, examine};

use crate::fake::Fake;

pub(crate) fn names(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.name).collect()
}

/// The only finding of a machine of which everything is known.
pub(crate) fn only(fake: &Fake, name: &str, level: Level) -> Finding {
    let machine = fake.machine();
    assert_eq!(machine.unread, [], "{name}");
    let findings = examine(&machine);
    assert_eq!(names(&findings), [name], "{findings:#?}");
    assert_eq!(findings[0].level, level, "{findings:#?}");
    assert!(!findings[0].consequence.is_empty(), "{findings:#?}");
    findings[0].clone()
}
