//! Tests that every kernel for memory matches the naive version and touches nothing else.
#![allow(clippy::print_stderr, reason = "a test says what it skips")]

mod skip;

use fullbore_apparatus::memory::{Kernel, MemoryError, Method, Operation, naive};
use skip::lacking;

/// Value of the bytes around every target.
const GUARD: u8 = 0x5A;
const AROUND: usize = 64;
/// Number of alignments to test: all within the longest vector, and within a cache line.
const ALIGNMENTS: usize = 64;
/// Longest length to test: four steps of the widest kernel (four vectors of 64 bytes), and one byte.
const MOST: usize = 4 * 256 + 1;

/// Bytes that start at a multiple of 64.
#[repr(align(64))]
struct Aligned([u8; AROUND + ALIGNMENTS + MOST + AROUND]);

impl Aligned {
    fn guarded() -> Self {
        Self([GUARD; AROUND + ALIGNMENTS + MOST + AROUND])
    }

    fn patterned() -> Self {
        let mut bytes = Self::guarded();
        for (index, byte) in bytes.0.iter_mut().enumerate() {
            *byte = (index * 7 % 251).to_le_bytes()[0];
        }
        bytes
    }
}

/// Runs `test` with every method that this processor has for a task.
fn every(task: Operation, test: impl Fn(Method, Kernel)) {
    let mut tested = 0;
    for method in Method::ALL {
        match method.kernel(task) {
            Ok(kernel) => test(method, kernel),
            Err(MemoryError::Unsupported(_)) => {
                lacking(&format!("instructions of {method}"));
                continue;
            }
            Err(MemoryError::CannotRead(_)) => continue,
            Err(error) => panic!("{error}"),
        }
        tested += 1;
    }
    let least = if cfg!(target_arch = "x86_64") { 2 } else { 1 };
    assert!(tested >= least, "{tested} methods for {task:?}");
}

#[test]
fn every_copy_matches_naive_at_every_length_and_alignment_and_touches_nothing_else() {
    let source = Aligned::patterned();
    every(Operation::Copy, |method, kernel| {
        let Kernel::Copy(copy) = kernel else { panic!("{method}") };
        let (mut got, mut expected) = (Aligned::guarded(), Aligned::guarded());
        for len in 0..=MOST {
            for to_at in 0..ALIGNMENTS {
                // An odd factor, so that each length meets every alignment of the source, and neighbours meet other
                // pairs.
                let from_at = (to_at * 37 + len) % ALIGNMENTS;
                let from = &source.0[from_at..][..len];
                copy(&mut got.0[AROUND + to_at..][..len], from);
                naive::copy(&mut expected.0[AROUND + to_at..][..len], from);
                assert!(got.0 == expected.0, "{method}: {len} bytes at {to_at} from {from_at}");
                got.0[AROUND + to_at..][..len].fill(GUARD);
                expected.0[AROUND + to_at..][..len].fill(GUARD);
            }
        }
    });
}

#[test]
fn every_write_matches_naive_at_every_length_and_alignment_and_touches_nothing_else() {
    every(Operation::Write, |method, kernel| {
        let Kernel::Write(write) = kernel else { panic!("{method}") };
        let (mut got, mut expected) = (Aligned::guarded(), Aligned::guarded());
        for len in 0..=MOST {
            for at in 0..ALIGNMENTS {
                write(&mut got.0[AROUND + at..][..len], 0xA7);
                naive::write(&mut expected.0[AROUND + at..][..len], 0xA7);
                assert!(got.0 == expected.0, "{method}: {len} bytes at {at}");
                got.0[AROUND + at..][..len].fill(GUARD);
                expected.0[AROUND + at..][..len].fill(GUARD);
            }
        }
    });
}

#[test]
fn every_read_matches_naive_at_every_length_and_alignment() {
    let source = Aligned::patterned();
    every(Operation::Read, |method, kernel| {
        let Kernel::Read(read) = kernel else { panic!("{method}") };
        for len in 0..=MOST {
            for at in 0..ALIGNMENTS {
                let from = &source.0[at..][..len];
                assert_eq!(read(from), naive::read(from), "{method}: {len} bytes at {at}");
            }
        }
    });
}

#[test]
fn many_steps_are_right_too() {
    let from: Vec<u8> = (0..100_003_u32).map(|index| (index % 251).to_le_bytes()[0]).collect();
    for method in Method::ALL {
        if let Ok(Kernel::Copy(copy)) = method.kernel(Operation::Copy) {
            let mut to = vec![GUARD; from.len()];
            copy(&mut to, &from);
            assert!(to == from, "{method}");
        }
        if let Ok(Kernel::Read(read)) = method.kernel(Operation::Read) {
            assert_eq!(read(&from), naive::read(&from), "{method}");
        }
    }
}

#[test]
fn buffers_of_different_lengths_are_refused_by_every_copy() {
    every(Operation::Copy, |method, kernel| {
        let Kernel::Copy(copy) = kernel else { panic!("{method}") };
        for (to, from) in [(8, 9), (9, 8), (0, 1), (256, 512)] {
            let outcome = std::panic::catch_unwind(|| copy(&mut vec![0; to], &vec![0; from]));
            assert!(outcome.is_err(), "{method}: {from} bytes into {to}");
        }
    });
}
