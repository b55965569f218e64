//! Reads `/proc/PID/task/TID/syscall`: whether a thread waits, in which call and on which descriptor.

use crate::syscall_numbers::{Machine, Shape};

/// What a thread is doing at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It is on a CPU or waiting for one.
    Running,
    /// It waits.
    Blocked(Wait),
}

/// What a blocked thread waits for. Descriptors are those of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Reading from a descriptor.
    Read(i32),
    /// Writing to a descriptor.
    Write(i32),
    /// Moving data from one descriptor to another (splice, tee, sendfile).
    Move {
        /// The descriptor it reads from.
        from: i32,
        /// The descriptor it writes to.
        to: i32,
    },
    /// poll(2) on `count` entries at `address` in its memory.
    Poll {
        /// Address of the first `struct pollfd`.
        address: u64,
        /// Number of entries.
        count: u64,
    },
    /// select(2) on descriptors below `count`.
    Select {
        /// One more than the highest descriptor.
        count: u64,
        /// Address of the set of descriptors to read from, or 0.
        reads: u64,
        /// Address of the set of descriptors to write to, or 0.
        writes: u64,
    },
    /// epoll_wait(2) on an epoll descriptor.
    Epoll(i32),
    /// A call on a socket.
    Socket(i32),
    /// The end of a sleep it asked for.
    Sleep,
    /// A lock, or another thread.
    Lock,
    /// The end of a child.
    Child,
    /// Opening a file, or on a FIFO the other side's opening.
    Open,
    /// Data to reach the disk.
    Sync,
    /// What it waited for before it was interrupted, by a stop or a tracer: `restart_syscall(2)`.
    AsBefore,
    /// A call that fullbore has no name for, or no call at all (a page fault, a stop).
    Other,
}

impl Activity {
    /// Parses the file's text as Linux writes it on the machine this program was built for; returns `None` for any
    /// other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_of(Machine::own(), text)
    }

    /// Parses the file's text as Linux writes it on `machine`; returns `None` for any other text.
    ///
    /// Source: `proc_pid_syscall(5)`.
    #[must_use]
    pub fn parse_of(machine: Machine, text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let first = words.next()?;
        if first == "running" {
            return words.next().is_none().then_some(Self::Running);
        }
        let number: i64 = first.parse().ok()?;
        let mut register = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
        let mut arguments = [0_u64; 6];
        if number >= 0 {
            for argument in &mut arguments {
                *argument = register()?;
            }
        }
        let (stack, instruction) = (register()?, register()?);
        if number < 0 {
            return Some(Self::Blocked(Wait::Other));
        }
        let is_32_bit = is_narrow(stack) && is_narrow(instruction);
        let machine = if is_32_bit { machine.of_32_bit_programs() } else { machine };
        Some(Self::Blocked(Wait::in_call(machine, number, &arguments)))
    }
}

/// Tells whether an address could belong to a 32-bit program, whose calls have other numbers.
fn is_narrow(address: u64) -> bool {
    u32::try_from(address).is_ok()
}

impl Wait {
    fn in_call(machine: Machine, number: i64, arguments: &[u64; 6]) -> Self {
        let Some(shape) = machine.shape(number) else {
            return Self::Other;
        };
        let fd = |argument: usize| descriptor(arguments[argument]);
        match shape {
            Shape::Read => Self::Read(fd(0)),
            Shape::Write => Self::Write(fd(0)),
            Shape::Tee => Self::Move { from: fd(0), to: fd(1) },
            Shape::Splice => Self::Move { from: fd(0), to: fd(2) },
            Shape::Sendfile => Self::Move { from: fd(1), to: fd(0) },
            Shape::Poll => Self::Poll { address: arguments[0], count: arguments[1] },
            Shape::Select => {
                Self::Select { count: arguments[0], reads: arguments[1], writes: arguments[2] }
            }
            Shape::Epoll => Self::Epoll(fd(0)),
            Shape::Socket => Self::Socket(fd(0)),
            Shape::Sleep => Self::Sleep,
            Shape::Lock => Self::Lock,
            Shape::Child => Self::Child,
            Shape::Open => Self::Open,
            Shape::Sync => Self::Sync,
            Shape::Restart => Self::AsBefore,
        }
    }
}

/// Returns a descriptor from the low 32 bits of a register, because Linux ignores the others.
#[expect(clippy::cast_possible_truncation, reason = "the kernel takes the low 32 bits, too")]
fn descriptor(register: u64) -> i32 {
    (register as u32).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_and_waiting_are_told_apart() {
        assert_eq!(Activity::parse("running\n"), Some(Activity::Running));
        assert_eq!(
            Activity::parse("-1 0x7ffc56a0ecb8 0x7f5b08e2c2ad\n"),
            Some(Activity::Blocked(Wait::Other))
        );
        assert_eq!(Activity::parse(""), None);
        assert_eq!(Activity::parse("0 0x1"), None);
    }

    #[test]
    fn the_call_and_its_descriptors_are_named() {
        let parse = |text| Activity::parse_of(Machine::X86_64, text);
        let read =
            "0 0x3 0x7f5b08f12000 0x20000 0x0 0xffffffff 0x0 0x7ffc56a0ecb8 0x7f5b08e2c2ad\n";
        assert_eq!(parse(read), Some(Activity::Blocked(Wait::Read(3))));
        let splice = "275 0x0 0x0 0x1 0x0 0x100000 0x0 0x7ffc56a0ecb8 0x7f5b08e2c2ad";
        assert_eq!(parse(splice), Some(Activity::Blocked(Wait::Move { from: 0, to: 1 })));
        let sendfile = "40 0x1 0x5 0x0 0x100000 0x0 0x0 0x7ffc56a0ecb8 0x7f5b08e2c2ad";
        assert_eq!(parse(sendfile), Some(Activity::Blocked(Wait::Move { from: 5, to: 1 })));
        let unknown = "999 0x1 0x5 0x0 0x100000 0x0 0x0 0x7ffc56a0ecb8 0x7f5b08e2c2ad";
        assert_eq!(parse(unknown), Some(Activity::Blocked(Wait::Other)));
    }
}
