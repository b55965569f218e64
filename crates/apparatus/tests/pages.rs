//! Tests memory for experiments: bytes lent without a promise may change, and nothing else may.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use fullbore_apparatus::{PageSize, TrialPages, Wait};
use rustix::io::Errno;
use rustix::pipe::{SpliceFlags, splice};

const PAGE_BYTES: usize = 4096;
const HUGE_BYTES: usize = 2 << 20;

#[test]
fn memory_is_aligned_zero_and_writable_to_its_ends() {
    for len in [0, 1, 4096, HUGE_BYTES, HUGE_BYTES + 1] {
        let mut pages = TrialPages::map(len, PageSize::Base).unwrap();
        assert!((pages.bytes().as_ptr() as usize).is_multiple_of(HUGE_BYTES));
        assert!(pages.bytes().iter().all(|byte| *byte == 0));
        pages.bytes_mut().fill(7);
        assert_eq!(pages.bytes(), vec![7; len]);
    }
}

/// Returns how many KiB of the mapping with these bytes are on huge pages. Linux may have merged the mapping with its
/// neighbours.
fn huge_kib(bytes: &[u8]) -> u64 {
    let text = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let has_them = |line: &str| {
        let (start, end) = line.split_whitespace().next()?.split_once('-')?;
        let place = |hex| usize::from_str_radix(hex, 16).ok();
        Some((place(start)?..place(end)?).contains(&(bytes.as_ptr() as usize)))
    };
    let lines = text.lines().skip_while(|line| has_them(line) != Some(true));
    let line = lines.skip(1).find_map(|line| line.strip_prefix("AnonHugePages:")).unwrap();
    line.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

/// Returns how many pages of the bytes are in memory. Source: proc_pid_pagemap(5), bit 63.
fn pages_present(bytes: &[u8]) -> usize {
    let map = std::fs::File::open("/proc/self/pagemap").unwrap();
    let mut entries = vec![0; bytes.len().div_ceil(PAGE_BYTES) * 8];
    let first = bytes.as_ptr() as usize / PAGE_BYTES;
    map.read_exact_at(&mut entries, 8 * first as u64).unwrap();
    let entries = entries.as_chunks::<8>().0.iter();
    entries.filter(|entry| u64::from_le_bytes(**entry) >> 63 == 1).count()
}

#[test]
fn every_page_is_there_and_no_base_page_is_huge() {
    for size in [PageSize::Base, PageSize::Huge] {
        let pages = TrialPages::map(2 * HUGE_BYTES - 5000, size).unwrap();
        assert_eq!(pages_present(pages.bytes()), 1023, "{size:?}");
    }
    let mut pages = TrialPages::map(2 * HUGE_BYTES, PageSize::Base).unwrap();
    pages.bytes_mut().fill(1);
    assert_eq!(huge_kib(pages.bytes()), 0);
    let setting = "/sys/kernel/mm/transparent_hugepage/enabled";
    if std::fs::read_to_string(setting).is_ok_and(|text| !text.contains("[never]")) {
        let pages = TrialPages::map(2 * HUGE_BYTES, PageSize::Huge).unwrap();
        assert!(huge_kib(pages.bytes()) >= 2048, "there are huge pages, and they are not used");
    }
}

#[test]
fn more_memory_than_there_can_be_is_refused() {
    for len in [usize::MAX, usize::MAX / 2] {
        let error = TrialPages::map(len, PageSize::Huge).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory, "{error}");
    }
}

/// Moves pages into a second pipe, as a relay would, and returns that pipe's read end.
fn held_elsewhere(pages: &TrialPages, len: usize) -> std::io::PipeReader {
    let (near_end, near) = std::io::pipe().unwrap();
    let (far_end, far) = std::io::pipe().unwrap();
    assert_eq!(pages.lend_without_promise(&near, 0..len, Wait::ForRoom), Ok(len));
    assert_eq!(splice(&near_end, None, &far, None, len, SpliceFlags::empty()), Ok(len));
    far_end
}

#[test]
fn readers_that_hold_pages_see_them_change_and_never_change_them() {
    let mut pages = TrialPages::map(2 * PAGE_BYTES, PageSize::Base).unwrap();
    pages.bytes_mut().fill(b'a');
    let mut far_end = held_elsewhere(&pages, PAGE_BYTES);
    pages.bytes_mut()[..PAGE_BYTES].fill(b'b');
    let mut got = Vec::new();
    far_end.read_to_end(&mut got).unwrap();
    assert_eq!(got, [b'b'; PAGE_BYTES], "a promise that was not made was kept");
    assert_eq!(pages.bytes()[..PAGE_BYTES], [b'b'; PAGE_BYTES]);
    assert_eq!(pages.bytes()[PAGE_BYTES..], [b'a'; PAGE_BYTES], "beyond what was written");
}

#[test]
fn pages_outlive_the_value_with_its_bytes_and_no_others() {
    let len = 2 * PAGE_BYTES;
    let mut pages = TrialPages::map(len, PageSize::Base).unwrap();
    pages.bytes_mut().fill(b'a');
    let mut far_end = held_elsewhere(&pages, len);
    drop(pages);
    // Map other memory in their place.
    let mut next = TrialPages::map(len, PageSize::Base).unwrap();
    next.bytes_mut().fill(b'c');
    let mut got = Vec::new();
    far_end.read_to_end(&mut got).unwrap();
    assert!(got == [b'a'; 2 * PAGE_BYTES], "{:?}", &got[..8]);
}

#[test]
fn bytes_written_to_the_pipe_afterwards_do_not_get_into_the_page() {
    // Linux appends small writes to the last page of a pipe, but never to one that was lent.
    let mut pages = TrialPages::map(PAGE_BYTES, PageSize::Base).unwrap();
    pages.bytes_mut().fill(b'a');
    let (mut reader, pipe) = std::io::pipe().unwrap();
    assert_eq!(pages.lend_without_promise(&pipe, 0..100, Wait::ForRoom), Ok(100));
    rustix::io::write(&pipe, b"written").unwrap();
    assert_eq!(pages.bytes(), [b'a'; PAGE_BYTES]);
    drop(pipe);
    let mut got = String::new();
    reader.read_to_string(&mut got).unwrap();
    assert_eq!(got, "a".repeat(100) + "written");
}

#[test]
fn lending_without_waiting_fails_at_once_on_a_full_pipe() {
    let pages = TrialPages::map(1 << 20, PageSize::Base).unwrap();
    let (_reader, pipe) = std::io::pipe().unwrap();
    let lent = pages.lend_without_promise(&pipe, 0..1 << 20, Wait::Never).unwrap();
    assert!((1..1 << 20).contains(&lent), "{lent} bytes in a new pipe");
    let more = pages.lend_without_promise(&pipe, 0..4096, Wait::Never);
    assert_eq!(more, Err(Errno::AGAIN));
}

#[test]
#[should_panic(expected = "for slice of length 5000")]
fn bytes_beyond_the_memory_are_never_lent() {
    let pages = TrialPages::map(5000, PageSize::Base).unwrap();
    let (_reader, pipe) = std::io::pipe().unwrap();
    let _ = pages.lend_without_promise(pipe, 4096..5001, Wait::ForRoom);
}
