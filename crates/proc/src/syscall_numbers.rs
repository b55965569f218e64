//! Knows the numbers of the system calls whose waits fullbore can name.
//!
//! Source: linux `arch/x86/entry/syscalls/syscall_64.tbl` and `syscall_32.tbl`, `scripts/syscall.tbl` (arm64 and riscv64 share
//! it), `arch/s390/kernel/syscalls/syscall.tbl`.

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
    /// 32-bit x86, whose programs also run on 64-bit x86.
    X86,
    /// IBM Z.
    S390X,
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
        } else if cfg!(target_arch = "s390x") {
            Self::S390X
        } else {
            Self::Other
        }
    }

    /// Returns the machine that 32-bit programs on this one were built for, which have other numbers.
    pub(crate) fn of_32_bit_programs(self) -> Self {
        match self {
            Self::X86_64 => Self::X86,
            _ => Self::Other,
        }
    }

    /// Returns what system call `number` waits for; `None` when fullbore has no name for it.
    pub(crate) fn shape(self, number: i64) -> Option<Shape> {
        let table = match self {
            Self::X86_64 => X86_64,
            Self::Generic64 => GENERIC_64,
            Self::X86 => X86,
            Self::S390X => S390X,
            Self::Other => return None,
        };
        let table = if number < FIRST_COMMON { table } else { COMMON };
        table.binary_search_by_key(&number, |(number, _)| *number).ok().map(|place| table[place].1)
    }
}

/// From here on, a new call has the same number on every machine.
const FIRST_COMMON: i64 = 424;

const COMMON: &[(i64, Shape)] = &[
    (437, Open),  // openat2
    (441, Epoll), // epoll_pwait2
    (449, Lock),  // futex_waitv
    (455, Lock),  // futex_wait
];

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
];

/// Not in it: call 82, the old select(2), whose arguments are in memory.
const X86: &[(i64, Shape)] = &[
    (0, Restart),    // restart_syscall
    (3, Read),       // read
    (4, Write),      // write
    (5, Open),       // open
    (7, Child),      // waitpid
    (8, Open),       // creat
    (29, Sleep),     // pause
    (114, Child),    // wait4
    (118, Sync),     // fsync
    (142, Select),   // _newselect
    (143, Lock),     // flock
    (145, Read),     // readv
    (146, Write),    // writev
    (148, Sync),     // fdatasync
    (162, Sleep),    // nanosleep
    (168, Poll),     // poll
    (180, Read),     // pread64
    (181, Write),    // pwrite64
    (187, Sendfile), // sendfile
    (239, Sendfile), // sendfile64
    (240, Lock),     // futex
    (256, Epoll),    // epoll_wait
    (267, Sleep),    // clock_nanosleep
    (284, Child),    // waitid
    (295, Open),     // openat
    (308, Select),   // pselect6
    (309, Poll),     // ppoll
    (313, Splice),   // splice
    (314, Sync),     // sync_file_range
    (315, Tee),      // tee
    (316, Write),    // vmsplice
    (319, Epoll),    // epoll_pwait
    (333, Read),     // preadv
    (334, Write),    // pwritev
    (337, Socket),   // recvmmsg
    (345, Socket),   // sendmmsg
    (362, Socket),   // connect
    (364, Socket),   // accept4
    (369, Socket),   // sendto
    (370, Socket),   // sendmsg
    (371, Socket),   // recvfrom
    (372, Socket),   // recvmsg
    (378, Read),     // preadv2
    (379, Write),    // pwritev2
    (407, Sleep),    // clock_nanosleep_time64
    (413, Select),   // pselect6_time64
    (414, Poll),     // ppoll_time64
    (417, Socket),   // recvmmsg_time64
    (422, Lock),     // futex_time64
];

const S390X: &[(i64, Shape)] = &[
    (3, Read),       // read
    (4, Write),      // write
    (5, Open),       // open
    (7, Restart),    // restart_syscall
    (8, Open),       // creat
    (29, Sleep),     // pause
    (114, Child),    // wait4
    (118, Sync),     // fsync
    (142, Select),   // select
    (143, Lock),     // flock
    (145, Read),     // readv
    (146, Write),    // writev
    (148, Sync),     // fdatasync
    (162, Sleep),    // nanosleep
    (168, Poll),     // poll
    (180, Read),     // pread64
    (181, Write),    // pwrite64
    (187, Sendfile), // sendfile
    (238, Lock),     // futex
    (251, Epoll),    // epoll_wait
    (262, Sleep),    // clock_nanosleep
    (281, Child),    // waitid
    (288, Open),     // openat
    (301, Select),   // pselect6
    (302, Poll),     // ppoll
    (306, Splice),   // splice
    (307, Sync),     // sync_file_range
    (308, Tee),      // tee
    (309, Write),    // vmsplice
    (312, Epoll),    // epoll_pwait
    (328, Read),     // preadv
    (329, Write),    // pwritev
    (357, Socket),   // recvmmsg
    (358, Socket),   // sendmmsg
    (362, Socket),   // connect
    (364, Socket),   // accept4
    (369, Socket),   // sendto
    (370, Socket),   // sendmsg
    (371, Socket),   // recvfrom
    (372, Socket),   // recvmsg
    (376, Read),     // preadv2
    (377, Write),    // pwritev2
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted_so_that_they_can_be_searched() {
        for table in [X86_64, GENERIC_64, X86, S390X, COMMON] {
            assert!(table.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let is_common = table[0].0 >= FIRST_COMMON;
            assert!(table.iter().all(|(number, _)| (*number >= FIRST_COMMON) == is_common));
        }
    }
}
