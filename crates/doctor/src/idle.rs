//! What idle CPUs of a virtual machine do.

use crate::{Finding, Level, Places};

/// Linux's own value, in nanoseconds. Source: drivers/cpuidle/governors/haltpoll.c.
const POLL_NS: u64 = 200_000;
const POLL_FILE: &str = "module/haltpoll/parameters/guest_halt_poll_ns";

/// What idle CPUs do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Idle {
    /// Whether this is a virtual machine, as far as the CPU says.
    pub is_virtual: bool,
    /// What decides how idle CPUs sleep, such as `menu` or `haltpoll`; empty where nothing does, so that they halt at once.
    /// `None` where that is not known.
    pub governor: Option<String>,
    /// How long the governor haltpoll lets a CPU wait for work before it sleeps, in nanoseconds.
    pub poll_ns: Option<u64>,
}

impl Idle {
    pub(crate) fn read(from: &mut Places) -> Self {
        let flags = from.proc("cpuinfo");
        if let Some(text) = &flags {
            from.understood("/proc/cpuinfo", (!text.trim().is_empty()).then_some(()));
        }
        let flags = flags.unwrap_or_default();
        let mut flags = flags.lines().filter(|line| line.starts_with("flags"));
        let is_virtual = flags
            .next()
            .is_some_and(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
        let governor = from.sys("devices/system/cpu/cpuidle/current_governor");
        let governor = governor.map(|text| text.trim().to_owned());
        let governor = governor.or_else(|| from.has_sys().then(String::new));
        let poll_ns = from.sys(POLL_FILE);
        let poll_ns = poll_ns.and_then(|text| {
            from.understood(&format!("/sys/{POLL_FILE}"), text.trim().parse().ok())
        });
        Self { is_virtual, governor, poll_ns }
    }

    pub(crate) fn examine(&self, usable: Option<usize>, findings: &mut Vec<Finding>) {
        if !self.is_virtual || usable.is_some_and(|usable| usable < 2) {
            return;
        }
        let Some(governor) = self.governor.as_deref() else { return };
        let polls = governor == "haltpoll";
        if polls && self.poll_ns == Some(0) {
            let what = "idle CPUs of this virtual machine sleep at once (haltpoll, but guest_halt_poll_ns is 0)";
            let so = "Waking another CPU takes 22 to 29 µs where it was measured, on the same CPU 2 µs; two light stages can spend most \
                      of their time so. CPUs that wait for work before they sleep take CPU time from the host. Light stages may also be \
                      faster on one CPU (`taskset -c 0`).";
            let finding =
                Finding::new("wake_ups", Level::Costs, what).so(so).source("docs/wake-ups.md");
            findings.push(finding.write(format!("/sys/{POLL_FILE}"), 0, POLL_NS));
        } else if !polls {
            let what =
                "idle CPUs of this virtual machine sleep at once, and the host has to wake them";
            let so = "That takes 15 to 75 µs where it was measured, on the same CPU 2 µs. Light stages may be faster on one CPU.";
            let finding =
                Finding::new("wake_ups", Level::Note, what).so(so).source("docs/wake-ups.md");
            findings.push(finding.command("taskset -c 0 fullbore run 'a | b'"));
        }
    }
}
