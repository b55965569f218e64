//! How a run ends: the shell's status as others report it, and fullbore's own end.

/// A status of wait(2) as a shell reports it: the exit status, or 128 + the number of the signal.
pub(crate) fn as_shell_reports(status: i32) -> i32 {
    match status & 0x7f {
        0 => status >> 8 & 0xff,
        signal => 128 + signal,
    }
}

/// Ends this process by a signal, as the shell was ended, so that whoever started it sees the same;
/// leaves no core file. Returns only when the signal does not end a process, or not this one: Linux keeps from
/// process 1 of a container what it has no handler for.
pub fn die_of(signal: i32) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    // The shell has left its core file, if any; a second one of fullbore would mislead.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    fullbore_process::raise_unhandled(signal);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_reported_as_a_shell_does() {
        assert_eq!(as_shell_reports(0x0500), 5);
        assert_eq!(as_shell_reports(15), 143);
        assert_eq!(as_shell_reports(0x80 | 3), 131);
    }
}
