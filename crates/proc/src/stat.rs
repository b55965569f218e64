//! Reads `/proc/PID/stat`: state, parent, CPU time.

/// The state of a process or thread, from the kernel's letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// R: on a CPU, or waiting for one.
    Running,
    /// S: waiting for an event.
    Sleeping,
    /// D: waiting and not interruptible by signals, usually for a disk.
    DiskSleep,
    /// T, t: stopped by a signal or a debugger.
    Stopped,
    /// Z, X: ended, and its parent has not asked for the status yet.
    Ended,
    /// I or a letter of a later kernel.
    Other,
}

/// The fields of `/proc/PID/stat` that fullbore uses.
///
/// Source: proc_pid_stat(5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The program's name, at most 15 bytes; it may contain any character.
    pub comm: String,
    /// Its state.
    pub state: State,
    /// It has called exit(2) or was killed, and Linux takes it apart (PF_EXITING in the kernel's include/linux/sched.h).
    pub is_exiting: bool,
    /// Process number of its parent.
    pub parent: i32,
    /// Its process group; a shell with job control gives every pipeline one of its own.
    pub group: i32,
    /// Its session: the process number of the process that began it (setsid(2)).
    pub session: i32,
    /// Device number of its controlling terminal; 0 for none.
    pub terminal: i32,
    /// CPU time in user mode and in the kernel, in clock ticks.
    pub cpu_ticks: u64,
    /// CPU time of children that ended and were waited for, in clock ticks.
    pub children_cpu_ticks: u64,
    /// Number of threads.
    pub threads: u32,
    /// When the process started, in clock ticks after boot. Together with the process number it identifies a process
    /// for good.
    pub start_ticks: u64,
}

const PF_EXITING: u64 = 4;

impl Stat {
    /// Parses the file's text; returns `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // The line ends with a newline; a cut one may end within a number.
        let text = text.strip_suffix('\n')?;
        // The name may contain spaces and parentheses, so the last ')' ends it.
        let open = text.find('(')?;
        let close = text.rfind(')')?;
        text[..open].strip_suffix(' ')?.parse::<i32>().ok()?;
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
            is_exiting: number(9)? & PF_EXITING != 0,
            parent: rest.get(1)?.parse().ok()?,
            group: rest.get(2)?.parse().ok()?,
            session: rest.get(3)?.parse().ok()?,
            terminal: rest.get(4)?.parse().ok()?,
            cpu_ticks: number(14)?.checked_add(number(15)?)?,
            children_cpu_ticks: number(16)?.checked_add(number(17)?)?,
            threads: u32::try_from(number(20)?).ok()?,
            start_ticks: number(22)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str =
        "4242 (a) R (b) S 7 4242 1376 0 -1 4194304 96 0 0 0 250 50 30 20 20 0 3 0 98765 0 0\n";

    #[test]
    fn a_hostile_name_does_not_move_the_fields() {
        let stat = Stat::parse(HOSTILE).unwrap();
        assert_eq!(stat.comm, "a) R (b");
        assert_eq!(stat.state, State::Sleeping);
        assert_eq!(stat.parent, 7);
        assert!(!stat.is_exiting);
        assert!(Stat::parse(&HOSTILE.replace("4194304", "4194308")).unwrap().is_exiting);
        assert_eq!((stat.group, stat.session, stat.terminal), (4242, 1376, 0));
        assert_eq!(stat.cpu_ticks, 300);
        assert_eq!(stat.children_cpu_ticks, 50);
        assert_eq!(stat.threads, 3);
        assert_eq!(stat.start_ticks, 98765);
    }

    #[test]
    fn a_truncated_line_is_refused() {
        for end in 0..HOSTILE.len() {
            assert_eq!(Stat::parse(&HOSTILE[..end]), None, "{}", &HOSTILE[..end]);
        }
    }

    #[test]
    fn text_that_is_not_a_stat_line_is_refused() {
        let line = |change: fn(&str) -> String| Stat::parse(&change(HOSTILE));
        assert_eq!(Stat::parse(") (\n"), None);
        assert_eq!(line(|text| text.replace("4242 (", "x (")), None);
        assert_eq!(line(|text| text.replace("4242 (", "(")), None);
        assert_eq!(line(|text| text.replace(" 98765", " ?")), None);
        // Numbers that overflow when they are added up.
        assert_eq!(line(|text| text.replace(" 250 ", " 18446744073709551615 ")), None);
        assert_eq!(line(|text| text.replace(" 30 ", " 18446744073709551615 ")), None);
    }
}
