//! Tests rings in shared memory.

use std::io;
use std::sync::atomic::Ordering::SeqCst;

use fullbore_apparatus::passing::{Counter, SharedRing};
use rustix::fs::{MemfdFlags, fstat, ftruncate, memfd_create};
use rustix::io::Errno;

const ALL: [Counter; 4] =
    [Counter::Produced, Counter::Consumed, Counter::TakerWaits, Counter::GiverWaits];

fn two() -> [SharedRing; 2] {
    let memory = SharedRing::create(4096).unwrap();
    [(); 2].map(|()| SharedRing::map(&memory).unwrap())
}

#[test]
fn two_mappings_see_the_same_counters() {
    let [one, other] = two();
    for (value, counter) in (5..).zip(ALL) {
        one.counter(counter).store(value, SeqCst);
    }
    for (value, counter) in (5..).zip(ALL) {
        assert_eq!(other.counter(counter).load(SeqCst), value, "{counter:?}");
    }
}

#[test]
fn bytes_go_where_they_were_put_and_nowhere_else() {
    let [one, other] = two();
    let pattern: Vec<u8> = (0..4096_u32).map(|index| (index % 251).to_le_bytes()[0]).collect();
    let mut all = vec![0; 4096];
    for at in [0, 1, 63, 2048, 4000, 4095, 4096, u32::MAX - 10, u32::MAX] {
        for len in (0..4096).step_by(37).chain([1, 4095, 4096]) {
            one.put(0, &[0xEE; 4096]);
            one.put(at, &pattern[..len]);
            other.take(at, &mut all);
            assert_eq!(all[..len], pattern[..len], "{len} bytes at {at}");
            assert!(all[len..].iter().all(|byte| *byte == 0xEE), "beyond {len} bytes at {at}");
        }
    }
    for counter in ALL {
        assert_eq!(other.counter(counter).load(SeqCst), 0, "{counter:?}");
    }
}

#[test]
fn a_mapping_ends_where_the_ring_ends() {
    let memory = SharedRing::create(8192).unwrap();
    assert_eq!(fstat(&memory).unwrap().st_size, 4096 + 8192);
    assert_eq!(SharedRing::map(&memory).unwrap().capacity(), 8192);
    // The memory stays mapped: nobody can shrink it.
    assert_eq!(ftruncate(&memory, 4096), Err(Errno::PERM));
}

#[test]
#[should_panic(expected = "in a ring of 4096")]
fn more_than_the_ring_holds_is_refused() {
    two()[0].put(0, &[0; 4097]);
}

#[test]
fn memory_of_another_kind_or_shape_is_refused() {
    let unsealed = memfd_create("x", MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&unsealed, 8192).unwrap();
    let file = tempfile::tempfile().unwrap();
    file.set_len(8192).unwrap();
    let (reader, _writer) = io::pipe().unwrap();
    let odd = SharedRing::create(5000).unwrap();
    let none = SharedRing::create(0).unwrap();
    for memory in [unsealed, file.into(), reader.into(), odd, none] {
        let error = SharedRing::map(&memory).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::INVAL.raw_os_error()), "{memory:?}");
    }
}
