//! A machine as a whole.

use crate::{
    Attempt, Attempts, Cpus, Finding, Idle, Kernel, Memory, Pipes, Places, Pressure, Quota, Sight,
    Unread,
};

/// What is known about a machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Limits of pipes, and what they hold.
    pub pipes: Pipes,
    /// What a user may see of processes.
    pub sight: Sight,
    /// Which Linux this is.
    pub kernel: Kernel,
    /// Memory, huge pages, swap.
    pub memory: Memory,
    /// Which CPUs there are and may be used.
    pub cpus: Cpus,
    /// What idle CPUs do.
    pub idle: Idle,
    /// Quotas of CPU time, the tightest first.
    pub quotas: Vec<Quota>,
    /// How long tasks waited for what.
    pub pressure: Pressure,
    /// What was tried.
    pub attempts: Attempts,
    /// What is not known.
    pub unread: Vec<Unread>,
}

impl Machine {
    /// Reads a machine. Whatever cannot be read is unknown, and noted.
    #[must_use]
    pub fn read(mut places: Places, attempts: Attempts) -> Self {
        let from = &mut places;
        let sight = Sight::read(from);
        let kernel = Kernel::read(from);
        let pipes = Pipes::read(from, &sight);
        let memory = Memory::read(from);
        let cpus = Cpus::read(from);
        let idle = Idle::read(from);
        let quotas = Quota::read(from);
        let pressure = Pressure::read(from);
        for (what, attempt) in [
            ("whether pages can be lent to pipes", &attempts.lend_page),
            ("whether switches can be counted", &attempts.count_switches),
            ("whether pipes can be enlarged", &attempts.enlarge_pipe),
        ] {
            if let Attempt::NotTried(why) = attempt {
                let why = why.split(" (os error").next().unwrap_or(why);
                from.not_known(what, why);
            }
        }
        let unread = places.into_unread();
        Self { pipes, sight, kernel, memory, cpus, idle, quotas, pressure, attempts, unread }
    }
}

/// Finds what is worth knowing, what costs speed first.
#[must_use]
pub fn examine(machine: &Machine) -> Vec<Finding> {
    let mut findings = Vec::new();
    let cpus = machine.cpus.usable_count();
    machine.cpus.examine(&mut findings);
    Quota::examine(&machine.quotas, cpus, &mut findings);
    machine.pipes.examine(&machine.attempts, &mut findings);
    machine.memory.examine(&mut findings);
    machine.idle.examine(cpus, &mut findings);
    machine.pressure.examine(&mut findings);
    machine.kernel.examine(&mut findings);
    machine.sight.examine(&machine.attempts, &mut findings);
    findings.sort_by_key(|finding| finding.level);
    findings
}
