//! `/proc/PID/stat`: state, parent, CPU time.

/// What a process or thread is doing, as one letter of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// R: on a CPU, or waiting for one.
    Running,
    /// S: waiting for an event.
    Sleeping,
    /// D: waiting without being open to signals, usually for a disk.
    DiskSleep,
    /// T, t: stopped by a signal or a debugger.
    Stopped,
    /// Z, X: ended; its parent has not asked for the status yet.
    Ended,
    /// I or a letter of a later kernel.
    Other,
}

/// The fields of `/proc/PID/stat` that fullbore uses.
///
/// Source: proc_pid_stat(5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Name of the program, at most 15 bytes; may hold any character.
    pub comm: String,
    /// Its state.
    pub state: State,
    /// Its parent.
    pub parent: i32,
    /// CPU time in user mode and in the kernel, in clock ticks.
    pub cpu_ticks: u64,
    /// The same of children that ended and were waited for, in clock ticks.
    pub children_cpu_ticks: u64,
    /// Threads.
    pub threads: u32,
    /// Start of the process after boot, in clock ticks: with the pid it names a process for good.
    pub start_ticks: u64,
}

impl Stat {
    /// Reads the text of the file; `None` when it is not of that form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // The name may hold spaces and parentheses, so the last ')' ends it.
        let open = text.find('(')?;
        let close = text.rfind(')')?;
        let comm = text.get(open + 1..close)?.to_owned();
        let rest: Vec<&str> = text.get(close + 1..)?.split_ascii_whitespace().collect();
        // proc_pid_stat(5) numbers the fields from 1; `rest` begins with field 3.
        let number = |field: usize| rest.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            comm,
            state: match *rest.first()? {
                "R" => State::Running,
                "S" => State::Sleeping,
                "D" => State::DiskSleep,
                "T" | "t" => State::Stopped,
                "Z" | "X" | "x" => State::Ended,
                _ => State::Other,
            },
            parent: rest.get(1)?.parse().ok()?,
            cpu_ticks: number(14)? + number(15)?,
            children_cpu_ticks: number(16)? + number(17)?,
            threads: u32::try_from(number(20)?).ok()?,
            start_ticks: number(22)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str =
        "4242 (a) R (b) S 7 4242 1376 0 -1 4194304 96 0 0 0 250 50 30 20 20 0 3 0 98765 0 0";

    #[test]
    fn a_hostile_name_does_not_move_the_fields() {
        let stat = Stat::parse(HOSTILE).unwrap();
        assert_eq!(stat.comm, "a) R (b");
        assert_eq!(stat.state, State::Sleeping);
        assert_eq!(stat.parent, 7);
        assert_eq!(stat.cpu_ticks, 300);
        assert_eq!(stat.children_cpu_ticks, 50);
        assert_eq!(stat.threads, 3);
        assert_eq!(stat.start_ticks, 98765);
    }

    #[test]
    fn half_a_line_is_no_answer() {
        for end in 0..HOSTILE.len() - 8 {
            let _ = Stat::parse(&HOSTILE[..end]);
        }
        assert_eq!(Stat::parse(""), None);
        assert_eq!(Stat::parse("1 (x) S"), None);
        assert_eq!(Stat::parse(") ("), None);
    }
}
