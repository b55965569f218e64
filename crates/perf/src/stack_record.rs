//! Records of the ring buffer that say where a thread was, and what is mapped where.

use crate::body::Body;
use crate::record::{EXIT, FORK, Family, LOST, lost, split_id};

/// Something about one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in nanoseconds of `CLOCK_MONOTONIC` (clock_gettime(2)).
    pub at_ns: u64,
    /// The process, as the pid namespace of the caller numbers it.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// What happened.
    pub happened: Happened,
}

/// What happened to a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Happened {
    /// It was on a CPU.
    Sample(Sample),
    /// It mapped code.
    Mapped(Mapping),
    /// It called execve(2): nothing is mapped any more.
    Executed,
    /// It began; for the first thread of a process, everything that `parent` has mapped is mapped.
    Begun {
        /// The process that started it: its own, for a thread.
        parent: i32,
    },
    /// It ended.
    Ended,
}

/// Where a thread was on a CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Registers in user space; `None` for a thread that has none.
    pub registers: Option<Registers>,
    /// Addresses in the kernel, innermost first; empty when it was in user space or the kernel may not be seen.
    pub kernel: Vec<u64>,
    /// Its stack from the stack pointer on, as much as was asked for; empty for a 32-bit program, whose words are shorter.
    pub stack: Vec<u8>,
}

/// The registers that say where a thread is and who called it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// The program counter.
    pub instruction: u64,
    /// The stack pointer.
    pub stack: u64,
    /// The frame pointer: `rbp`, `x29`.
    pub frame: u64,
    /// The link register; 0 where there is none.
    pub link: u64,
}

/// A file, or memory without one, that is mapped to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its first address.
    pub start: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// The path as Linux gives it; `//anon` for memory without a file, `[vdso]` for what Linux maps itself.
    pub path: String,
}

/// Types of records and their flags: perf_event_open(2), `linux/perf_event.h`.
const COMM: u32 = 3;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const COMM_EXEC: u16 = 1 << 13;
const PROT_EXEC: i32 = 4;

/// Addresses of this size and above are no addresses: they say whose addresses follow (`PERF_CONTEXT_*`).
const CONTEXT_MIN: u64 = u64::MAX - 4094;
/// A 64-bit program (`PERF_SAMPLE_REGS_ABI_64`).
const ABI_64: u64 = 2;

/// The registers that a sample has, as `sample_regs_user` asks for them, in the order of their numbers in
/// `asm/perf_regs.h`.
#[cfg(target_arch = "x86_64")]
pub(crate) const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8; // BP, SP, IP
#[cfg(target_arch = "aarch64")]
pub(crate) const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32; // X29, LR, SP, PC
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) const REGISTERS: u64 = 0;

/// What one record of the ring buffer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StackRecord {
    Event(Event),
    /// So many records found no room.
    Lost(u64),
    /// Nothing that is asked for here.
    Other,
}

impl StackRecord {
    /// Reads a record of a counter with `sample_id_all` and samples of thread, time, call chain if `with_chain`, registers
    /// and stack. `None` for one that is too short.
    pub(crate) fn parse(kind: u32, misc: u16, body: &[u8], with_chain: bool) -> Option<Self> {
        if kind == SAMPLE {
            return sample(Body(body), with_chain).map(Self::Event);
        }
        let (mut before, mut id) = split_id(body)?;
        let (_, _, at_ns) = (id.int()?, id.int()?, id.long()?);
        let event = |pid, tid, happened| Self::Event(Event { at_ns, pid, tid, happened });
        Some(match kind {
            // `{ u32 pid, tid; u64 addr, len, pgoff; u32 maj, min; u64 ino, generation; u32 prot, flags; char filename[]; }`
            MMAP2 => {
                let (pid, tid) = (before.int()?, before.int()?);
                let (start, length, offset) = (before.long()?, before.long()?, before.long()?);
                before.bytes(24)?;
                let protection = before.int()?;
                before.int()?;
                if protection & PROT_EXEC == 0 {
                    return Some(Self::Other);
                }
                let mapping = Mapping { start, length, offset, path: before.text() };
                event(pid, tid, Happened::Mapped(mapping))
            }
            COMM if misc & COMM_EXEC != 0 => {
                event(before.int()?, before.int()?, Happened::Executed)
            }
            FORK | EXIT => {
                let Family { pid, parent, tid, at_ns } = Family::read(before)?;
                let happened =
                    if kind == FORK { Happened::Begun { parent } } else { Happened::Ended };
                Self::Event(Event { at_ns, pid, tid, happened })
            }
            LOST => Self::Lost(lost(&mut before)?),
            _ => Self::Other,
        })
    }
}

/// `{ u32 pid, tid; u64 time; u64 nr; u64 ips[nr]; u64 abi; u64 regs[]; u64 size; char data[size]; u64 dyn_size; }`
fn sample(mut body: Body<'_>, with_chain: bool) -> Option<Event> {
    let (pid, tid, at_ns) = (body.int()?, body.int()?, body.long()?);
    let mut kernel = Vec::new();
    if with_chain {
        let count = body.long()?;
        for _ in 0..count {
            let address = body.long()?;
            if address < CONTEXT_MIN {
                kernel.push(address);
            }
        }
    }
    let abi = body.long()?;
    let registers = if abi == 0 { None } else { Some(registers_of(&mut body)?) };
    let size = usize::try_from(body.long()?).ok()?;
    let mut stack = body.bytes(size)?;
    if size != 0 {
        let valid = usize::try_from(body.long()?).ok()?;
        stack = stack.get(..valid)?;
    }
    if abi != ABI_64 {
        stack = &[];
    }
    let sample = Sample { registers, kernel, stack: stack.to_vec() };
    Some(Event { at_ns, pid, tid, happened: Happened::Sample(sample) })
}

#[cfg(target_arch = "x86_64")]
fn registers_of(body: &mut Body<'_>) -> Option<Registers> {
    let (frame, stack, instruction) = (body.long()?, body.long()?, body.long()?);
    Some(Registers { instruction, stack, frame, link: 0 })
}

#[cfg(target_arch = "aarch64")]
fn registers_of(body: &mut Body<'_>) -> Option<Registers> {
    let (frame, link) = (body.long()?, body.long()?);
    let (stack, instruction) = (body.long()?, body.long()?);
    Some(Registers { instruction, stack, frame, link })
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn registers_of(_: &mut Body<'_>) -> Option<Registers> {
    None
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn longs(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    fn ints(values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    fn event(record: Option<StackRecord>) -> Event {
        match record {
            Some(StackRecord::Event(event)) => event,
            other => panic!("{other:?}"),
        }
    }

    fn a_sample(abi: u64, chain: &[u64]) -> Vec<u8> {
        let mut body = [ints(&[70, 71]), longs(&[5])].concat();
        body.extend(longs(&[chain.len() as u64]));
        body.extend(longs(chain));
        body.extend(longs(&[abi]));
        if abi != 0 {
            body.extend(longs(&[300, 200, 100]));
        }
        body.extend(longs(&[16]));
        body.extend([7; 16]);
        body.extend(longs(&[8]));
        body
    }

    #[test]
    fn a_sample_has_registers_the_kernels_part_and_the_stack_that_was_there() {
        let body = a_sample(ABI_64, &[u64::MAX - 127, 0xffff_ffff_8100_0000]);
        let event = event(StackRecord::parse(SAMPLE, 0, &body, true));
        let registers = Registers { instruction: 100, stack: 200, frame: 300, link: 0 };
        let kernel = vec![0xffff_ffff_8100_0000];
        let sample = Sample { registers: Some(registers), kernel, stack: vec![7; 8] };
        assert_eq!((event.pid, event.tid, event.at_ns), (70, 71, 5));
        assert_eq!(event.happened, Happened::Sample(sample));
    }

    #[test]
    fn of_a_32_bit_program_it_is_known_where_it_was_and_not_who_called() {
        let event = event(StackRecord::parse(SAMPLE, 0, &a_sample(1, &[]), true));
        let Happened::Sample(sample) = event.happened else { panic!("{event:?}") };
        assert_eq!(sample.registers.map(|registers| registers.instruction), Some(100));
        assert!(sample.stack.is_empty());
    }

    #[test]
    fn a_thread_of_the_kernel_has_no_registers() {
        let event = event(StackRecord::parse(SAMPLE, 0, &a_sample(0, &[]), true));
        assert!(matches!(event.happened, Happened::Sample(Sample { registers: None, .. })));
    }

    #[test]
    fn only_what_may_be_executed_counts_as_mapped() {
        let mapping = |protection| {
            let mut body = [ints(&[70, 70]), longs(&[4096, 8192, 512])].concat();
            body.extend(ints(&[8, 1]));
            body.extend(longs(&[99, 0]));
            body.extend(ints(&[protection, 2]));
            body.extend(*b"/bin/a\0\0");
            body.extend(ints(&[1, 1]));
            body.extend(longs(&[6]));
            StackRecord::parse(MMAP2, 0, &body, true)
        };
        let path = "/bin/a".to_owned();
        let expected = Mapping { start: 4096, length: 8192, offset: 512, path };
        assert_eq!(event(mapping(5)).happened, Happened::Mapped(expected));
        assert_eq!(mapping(1), Some(StackRecord::Other));
    }

    #[test]
    fn execve_is_told_from_a_new_name() {
        let body = [ints(&[70, 70]), b"cat\0\0\0\0\0".to_vec(), ints(&[70, 70]), longs(&[6])];
        let parse = |misc| StackRecord::parse(COMM, misc, &body.concat(), true);
        assert_eq!(event(parse(COMM_EXEC)).happened, Happened::Executed);
        assert_eq!(parse(0), Some(StackRecord::Other));
    }

    #[test]
    fn no_length_of_a_record_is_too_short_to_be_refused() {
        let body = a_sample(ABI_64, &[1, 2]);
        for length in 0..body.len() {
            let record = StackRecord::parse(SAMPLE, 0, &body[..length], true);
            assert_eq!(record, None, "{length}");
        }
    }
}
