//! What can move bytes, by name; the ways that every processor has.
#![allow(unsafe_code)]

use std::arch::asm;

use super::super::wrong;
#[cfg(target_arch = "x86_64")]
use super::kernels_avx as x86;
use crate::EngineError;

/// All methods.
pub(super) const NAMES: &[&str] =
    &["libc-memcpy", "avx512", "avx2", "sse2", "scalar", "rep-movsb", "non-temporal"];

/// A method for one task.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kernel {
    /// From the second to the first, which have the same length.
    Copy(fn(&mut [u8], &[u8])),
    /// This value into every byte.
    Write(fn(&mut [u8], u8)),
    /// The sum of all whole little-endian words of 8 bytes, wrapping.
    Read(fn(&[u8]) -> u64),
}

/// The method `method` for `task`.
///
/// # Errors
/// The processor has no such instructions; the method cannot do the task.
pub(super) fn find(method: &str, task: &str) -> Result<Kernel, EngineError> {
    match (method, task) {
        ("libc-memcpy", "copy") => Ok(Kernel::Copy(|to, from| to.copy_from_slice(from))),
        ("libc-memcpy", "write") => Ok(Kernel::Write(<[u8]>::fill)),
        ("scalar", "copy") => Ok(Kernel::Copy(copy_scalar)),
        ("scalar", "write") => Ok(Kernel::Write(write_scalar)),
        ("scalar", "read") => Ok(Kernel::Read(read_scalar)),
        ("libc-memcpy" | "rep-movsb" | "non-temporal", "read") => {
            Err(wrong(format!("memory: {method} cannot read; use avx512, avx2, sse2 or scalar")))
        }
        _ => vectors(method, task),
    }
}

#[cfg(target_arch = "x86_64")]
fn vectors(method: &str, task: &str) -> Result<Kernel, EngineError> {
    let has_it = match method {
        "avx512" => x86::has_avx512(),
        "avx2" => x86::has_avx2(),
        _ => true,
    };
    if !has_it {
        return Err(lacking(method));
    }
    Ok(match (method, task) {
        ("avx512", "copy") => Kernel::Copy(x86::copy_avx512),
        ("avx512", "write") => Kernel::Write(x86::write_avx512),
        ("avx512", _) => Kernel::Read(x86::read_avx512),
        ("avx2", "copy") => Kernel::Copy(x86::copy_avx2),
        ("avx2", "write") => Kernel::Write(x86::write_avx2),
        ("avx2", _) => Kernel::Read(x86::read_avx2),
        ("sse2", "copy") => Kernel::Copy(x86::copy_sse2),
        ("sse2", "write") => Kernel::Write(x86::write_sse2),
        ("sse2", _) => Kernel::Read(x86::read_sse2),
        ("rep-movsb", "copy") => Kernel::Copy(x86::copy_rep),
        ("rep-movsb", _) => Kernel::Write(x86::write_rep),
        (_, "copy") => Kernel::Copy(x86::copy_non_temporal),
        _ => Kernel::Write(x86::write_non_temporal),
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors(method: &str, _task: &str) -> Result<Kernel, EngineError> {
    Err(lacking(method))
}

fn lacking(method: &str) -> EngineError {
    EngineError::Unavailable {
        what: format!("a processor with {method}"),
        remedy: "another machine, or another method".to_owned(),
    }
}

/// The same word, in a register, in a way that the compiler cannot see through: it can make neither vectors nor a call
/// of memcpy of a loop with this in it.
#[inline(always)]
fn as_written(mut word: u64) -> u64 {
    // SAFETY: no instruction.
    unsafe { asm!("/* {} */", inout(reg) word, options(nomem, nostack, preserves_flags)) };
    word
}

/// Eight bytes at a time.
fn copy_scalar(to: &mut [u8], from: &[u8]) {
    let (to, to_rest) = to.as_chunks_mut::<8>();
    let (from, from_rest) = from.as_chunks::<8>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = as_written(u64::from_ne_bytes(*from)).to_ne_bytes();
    }
    to_rest.copy_from_slice(from_rest);
}

fn write_scalar(to: &mut [u8], value: u8) {
    let word = u64::from_ne_bytes([value; 8]);
    let (words, rest) = to.as_chunks_mut::<8>();
    for to in words {
        *to = as_written(word).to_ne_bytes();
    }
    rest.fill(value);
}

fn read_scalar(from: &[u8]) -> u64 {
    let words = from.as_chunks::<8>().0.iter();
    words.fold(0, |sum: u64, word| sum.wrapping_add(as_written(u64::from_le_bytes(*word))))
}

#[cfg(test)]
mod tests {
    use super::super::plain_sum;
    use super::*;

    const GUARD: u8 = 0x5A;
    const AROUND: usize = 64;

    /// Runs `test` with every method that this processor has for a task.
    fn every(task: &str, mut test: impl FnMut(&str, Kernel)) {
        let mut tested = 0;
        for name in NAMES {
            match find(name, task) {
                Ok(kernel) => test(name, kernel),
                Err(EngineError::Unavailable { .. }) => eprintln!("skipped: no {name} here"),
                Err(_) => continue,
            }
            tested += 1;
        }
        assert!(tested >= 4, "{tested} methods for {task}");
    }

    fn pattern(len: usize) -> Vec<u8> {
        (0..len).map(|index| u8::try_from(index * 7 % 251).unwrap()).collect()
    }

    fn lengths() -> impl Iterator<Item = usize> {
        (0..300).chain([511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 32 << 10])
    }

    #[test]
    fn every_copy_is_the_plain_one_and_touches_nothing_else() {
        every("copy", |name, kernel| {
            let Kernel::Copy(copy) = kernel else { panic!("{name}") };
            for len in lengths() {
                for (to_at, from_at) in [(0, 0), (1, 0), (0, 3), (7, 7), (31, 17), (63, 1)] {
                    let from = pattern(from_at + len);
                    let mut to = vec![GUARD; AROUND + to_at + len + AROUND];
                    copy(&mut to[AROUND + to_at..][..len], &from[from_at..]);
                    let mut expected = vec![GUARD; to.len()];
                    expected[AROUND + to_at..][..len].copy_from_slice(&from[from_at..]);
                    assert!(to == expected, "{name}: {len} bytes at {to_at} from {from_at}");
                }
            }
        });
    }

    #[test]
    fn every_write_fills_its_bytes_and_no_others() {
        every("write", |name, kernel| {
            let Kernel::Write(write) = kernel else { panic!("{name}") };
            for len in lengths() {
                for at in [0, 1, 8, 31, 63] {
                    let mut to = vec![GUARD; AROUND + at + len + AROUND];
                    write(&mut to[AROUND + at..][..len], 0xA7);
                    let mut expected = vec![GUARD; to.len()];
                    expected[AROUND + at..][..len].fill(0xA7);
                    assert!(to == expected, "{name}: {len} bytes at {at}");
                }
            }
        });
    }

    #[test]
    fn every_read_sums_all_whole_words() {
        every("read", |name, kernel| {
            let Kernel::Read(read) = kernel else { panic!("{name}") };
            for len in lengths() {
                for at in [0, 1, 8, 31] {
                    let from = pattern(at + len);
                    assert_eq!(read(&from[at..]), plain_sum(&from[at..]), "{name}: {len} at {at}");
                }
            }
        });
    }

    #[test]
    #[should_panic(expected = "length")]
    fn buffers_of_different_lengths_are_refused() {
        let Ok(Kernel::Copy(copy)) = find("rep-movsb", "copy") else {
            panic!("length: no such kernel")
        };
        copy(&mut [0; 8], &[0; 9]);
    }

    #[test]
    fn a_processor_without_the_instructions_is_unavailable_not_wrong() {
        let error = lacking("avx512").to_string();
        assert!(error.starts_with("not available here: a processor with avx512"), "{error}");
        let error = find("rep-movsb", "read").unwrap_err().to_string();
        assert_eq!(error, "memory: rep-movsb cannot read; use avx512, avx2, sse2 or scalar");
    }
}
