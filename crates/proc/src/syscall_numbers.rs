//! Knows the numbers of the system calls whose waits fullbore can name.
//!
//! Source: linux `arch/x86/entry/syscalls/syscall_64.tbl` and `scripts/syscall.tbl` (arm64 and riscv64 share it).

/// What a waiting system call waits for, according to its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// First argument: descriptor read from.
    Read,
    /// First argument: descriptor written to.
    Write,
    /// First argument: descriptor read from; second: written to (tee), or third with an offset between (splice).
    Tee,
    Splice,
    /// First argument: descriptor written to; second: read from.
    Sendfile,
    /// First argument: address of the entries; second: their number.
    Poll,
    /// First argument: number of descriptors; second and third: addresses of the sets.
    Select,
    /// First argument: epoll descriptor.
    Epoll,
    /// First argument: socket.
    Socket,
    Sleep,
    Lock,
    Child,
    Open,
    Sync,
    /// What was interrupted and goes on (by a stop, a tracer).
    Restart,
}

use Shape::{
    Child, Epoll, Lock, Open, Poll, Read, Restart, Select, Sendfile, Sleep, Socket, Splice, Sync,
    Tee, Write,
};

/// A kind of machine, as far as its system call numbers differ from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Machine {
    /// 64-bit x86.
    X86_64,
    /// 64-bit ARM and RISC-V, which use the numbers that Linux gives to every new machine.
    Generic64,
    /// A machine whose numbers fullbore does not know, so it names no wait.
    Other,
}

impl Machine {
    /// Returns the machine this program was built for.
    #[must_use]
    pub fn own() -> Self {
        if cfg!(target_arch = "x86_64") {
            Self::X86_64
        } else if cfg!(any(target_arch = "aarch64", target_arch = "riscv64")) {
            Self::Generic64
        } else {
            Self::Other
        }
    }

    /// Returns what system call `number` waits for; `None` when fullbore has no name for it.
    pub(crate) fn shape(self, number: i64) -> Option<Shape> {
        let table = match self {
            Self::X86_64 => X86_64,
            Self::Generic64 => GENERIC_64,
            Self::Other => return None,
        };
        table.binary_search_by_key(&number, |(number, _)| *number).ok().map(|place| table[place].1)
    }
}

const X86_64: &[(i64, Shape)] = &[
    (0, Read),      // read
    (1, Write),     // write
    (2, Open),      // open
    (7, Poll),      // poll
    (17, Read),     // pread64
    (18, Write),    // pwrite64
    (19, Read),     // readv
    (20, Write),    // writev
    (23, Select),   // select
    (34, Sleep),    // pause
    (35, Sleep),    // nanosleep
    (40, Sendfile), // sendfile
    (42, Socket),   // connect
    (43, Socket),   // accept
    (44, Socket),   // sendto
    (45, Socket),   // recvfrom
    (46, Socket),   // sendmsg
    (47, Socket),   // recvmsg
    (61, Child),    // wait4
    (73, Lock),     // flock
    (74, Sync),     // fsync
    (75, Sync),     // fdatasync
    (85, Open),     // creat
    (202, Lock),    // futex
    (219, Restart), // restart_syscall
    (230, Sleep),   // clock_nanosleep
    (232, Epoll),   // epoll_wait
    (247, Child),   // waitid
    (257, Open),    // openat
    (270, Select),  // pselect6
    (271, Poll),    // ppoll
    (275, Splice),  // splice
    (276, Tee),     // tee
    (277, Sync),    // sync_file_range
    (278, Write),   // vmsplice
    (281, Epoll),   // epoll_pwait
    (288, Socket),  // accept4
    (295, Read),    // preadv
    (296, Write),   // pwritev
    (299, Socket),  // recvmmsg
    (307, Socket),  // sendmmsg
    (327, Read),    // preadv2
    (328, Write),   // pwritev2
    (437, Open),    // openat2
    (441, Epoll),   // epoll_pwait2
    (449, Lock),    // futex_waitv
    (455, Lock),    // futex_wait
];

const GENERIC_64: &[(i64, Shape)] = &[
    (22, Epoll),    // epoll_pwait
    (32, Lock),     // flock
    (56, Open),     // openat
    (63, Read),     // read
    (64, Write),    // write
    (65, Read),     // readv
    (66, Write),    // writev
    (67, Read),     // pread64
    (68, Write),    // pwrite64
    (69, Read),     // preadv
    (70, Write),    // pwritev
    (71, Sendfile), // sendfile
    (72, Select),   // pselect6
    (73, Poll),     // ppoll
    (75, Write),    // vmsplice
    (76, Splice),   // splice
    (77, Tee),      // tee
    (82, Sync),     // fsync
    (83, Sync),     // fdatasync
    (84, Sync),     // sync_file_range
    (95, Child),    // waitid
    (98, Lock),     // futex
    (101, Sleep),   // nanosleep
    (115, Sleep),   // clock_nanosleep
    (128, Restart), // restart_syscall
    (202, Socket),  // accept
    (203, Socket),  // connect
    (206, Socket),  // sendto
    (207, Socket),  // recvfrom
    (211, Socket),  // sendmsg
    (212, Socket),  // recvmsg
    (242, Socket),  // accept4
    (243, Socket),  // recvmmsg
    (260, Child),   // wait4
    (269, Socket),  // sendmmsg
    (286, Read),    // preadv2
    (287, Write),   // pwritev2
    (437, Open),    // openat2
    (441, Epoll),   // epoll_pwait2
    (449, Lock),    // futex_waitv
    (455, Lock),    // futex_wait
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted_so_that_they_can_be_searched() {
        for table in [X86_64, GENERIC_64] {
            assert!(table.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
