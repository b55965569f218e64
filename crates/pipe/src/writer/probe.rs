//! Tests what this kernel lets a stage do with its pages, instead of assuming it.

use std::fmt;
use std::io::Read;
use std::os::fd::AsFd;

use rustix::param::page_size;
use rustix::pipe::{SpliceFlags, splice};

use crate::pages::{Faults, HUGE_BYTES, PAGE_BYTES, Pages, Turn, minor_faults, turn};

/// The fastest safe way to write into a pipe here.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Probe {
    /// Pages can be lent, and Linux copies those that someone holds before they change.
    Ring,
    /// Pages can be lent, but only once.
    Fresh {
        /// Why they cannot be lent again.
        reason: String,
    },
    /// Everything is copied.
    Copy {
        /// Why nothing can be lent.
        reason: String,
    },
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ring => write!(f, "ring"),
            Self::Fresh { reason } => write!(f, "fresh ({reason})"),
            Self::Copy { reason } => write!(f, "copy ({reason})"),
        }
    }
}

/// Tests which way is safe and fast here. It lends pages to a pipe of its own, moves them on to another, makes them
/// copy-on-write, overwrites them, and checks what comes out. That takes about half a millisecond, 2 MiB of memory,
/// four descriptors for a moment, and one child process that exits at once. Every call tests anew.
///
/// Linux before 5.19 gives a huge page back to its process although a pipe holds it, except while a child of that process
/// lives. A process that other code forks at that moment would hide this, so there pages must be seen to be safe three times.
#[must_use]
pub fn probe() -> Probe {
    let turn = turn();
    let times = if is_older_than_5_19() { 3 } else { 1 };
    let mut found = Probe::Ring;
    for _ in 0..times {
        found = probe_once(&turn);
        if found != Probe::Ring {
            break;
        }
    }
    found
}

fn is_older_than_5_19() -> bool {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    (numbers.next(), numbers.next()) < (Some(5), Some(19))
}

fn probe_once(turn: &Turn) -> Probe {
    let copy =
        |what: &str, error: &dyn fmt::Display| Probe::Copy { reason: format!("{what}: {error}") };
    let mut pages = match Pages::map(HUGE_BYTES) {
        Ok(pages) => pages,
        Err(error) => return copy("no memory", &error),
    };
    if !is_huge(&mut pages) {
        let size = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
        return Probe::Copy { reason: without_huge_pages(size.ok().as_deref()) };
    }
    match lend_and_overwrite(&mut pages, |pages| pages.share_in_turn(turn)) {
        Ok(Seen::Unchanged) => Probe::Ring,
        Ok(Seen::Changed) => {
            Probe::Fresh { reason: "this kernel does not copy pages that a pipe holds".to_owned() }
        }
        Err(Obstacle::Fork(error)) => Probe::Fresh { reason: format!("no child process: {error}") },
        Err(Obstacle::Lend(error)) => copy("vmsplice", &error),
        Err(Obstacle::Other(error)) => copy("pipes", &error),
    }
}

/// Why no huge page was given, from the size that Linux says they have (Documentation/admin-guide/mm/transhuge.rst): 32 MiB
/// where a small page has 16 KiB, and 512 MiB where it has 64 KiB.
fn without_huge_pages(size: Option<&str>) -> String {
    match size.and_then(|size| size.trim().parse::<usize>().ok()) {
        Some(bytes) if bytes > HUGE_BYTES => {
            format!(
                "huge pages have {} MiB here; pages are lent only where they have 2",
                bytes >> 20
            )
        }
        _ => "no huge pages: see /sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
    }
}

/// What a reader found in pages that were overwritten after being lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// The bytes that were lent.
    Unchanged,
    /// The bytes that were written afterwards.
    Changed,
}

#[derive(Debug)]
enum Obstacle {
    Lend(std::io::Error),
    Fork(std::io::Error),
    Other(std::io::Error),
}

/// Tells whether 2 MiB lie on a huge page: touching them then costs one page fault (two where a huge page has 1 MiB), and
/// otherwise one for each small page: 512, or 32 where a small page has 64 KiB.
pub(crate) fn is_huge(pages: &mut Pages) -> bool {
    let before = minor_faults(Faults::OfThread);
    for page in pages.bytes(0..HUGE_BYTES).chunks_exact_mut(PAGE_BYTES) {
        page[0] = 1;
    }
    minor_faults(Faults::OfThread) - before < (HUGE_BYTES / page_size() / 2) as u64
}

/// Lends two pages, moves them to a second pipe as a relay would, overwrites them, and reads them.
fn lend_and_overwrite(
    pages: &mut Pages,
    make_safe: impl Fn(&mut Pages) -> std::io::Result<()>,
) -> Result<Seen, Obstacle> {
    const LENT: usize = 2 * PAGE_BYTES;
    let (near_end, near) = std::io::pipe().map_err(Obstacle::Other)?;
    let (mut far_end, far) = std::io::pipe().map_err(Obstacle::Other)?;
    pages.bytes(0..LENT).fill(b'a');
    // Nobody relies on what comes out, except the check below.
    let lent = pages.lend_without_promise(near.as_fd(), 0..LENT);
    let lent = lent.map_err(|e| Obstacle::Lend(e.into()))?;
    let moved = splice(&near_end, None, &far, None, lent, SpliceFlags::NONBLOCK)
        .map_err(|e| Obstacle::Other(e.into()))?;
    make_safe(pages).map_err(Obstacle::Fork)?;
    pages.bytes(0..LENT).fill(b'b');
    let mut seen = vec![0; moved];
    far_end.read_exact(&mut seen).map_err(Obstacle::Other)?;
    Ok(if moved > 0 && seen.iter().all(|byte| *byte == b'a') {
        Seen::Unchanged
    } else {
        Seen::Changed
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{alone, can_share, skipped};

    #[test]
    fn why_there_are_no_huge_pages_depends_on_their_size() {
        let of = |size| without_huge_pages(size);
        assert!(of(Some("33554432\n")).starts_with("huge pages have 32 MiB here"));
        for size in [Some("2097152\n"), Some("odd"), None] {
            assert!(of(size).starts_with("no huge pages: see /sys/"), "{size:?}");
        }
    }

    #[test]
    fn the_probe_tells_pages_that_are_copied_from_pages_that_are_not() {
        let _turn = alone();
        if !can_share() {
            return;
        }
        let mut pages = Pages::map(HUGE_BYTES).unwrap();
        assert_eq!(lend_and_overwrite(&mut pages, |_| Ok(())).unwrap(), Seen::Changed);
        let mut pages = Pages::map(HUGE_BYTES).unwrap();
        if lend_and_overwrite(&mut pages, Pages::share).unwrap() == Seen::Changed {
            // Up to Linux 5.18, a process could get a page back to itself that a pipe still held (docs/ports.md).
            skipped("this kernel does not copy pages that a pipe holds");
        }
    }

    /// On Linux before 5.19, the child of one probe made pages look safe to another. This shows there alone: scripts/boot-kernel.
    #[test]
    fn others_that_probe_at_once_do_not_make_a_kernel_look_safe() {
        let _turn = alone();
        let is_unsafe = matches!(probe(), Probe::Fresh { .. });
        let safe = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let is_safe = probe() == Probe::Ring;
                        safe.fetch_add(usize::from(is_safe), std::sync::atomic::Ordering::Relaxed);
                    }
                });
            }
        });
        assert!(!is_unsafe || safe.into_inner() == 0);
    }

    #[test]
    fn a_refused_child_leaves_the_fresh_way() {
        let _turn = alone();
        let mut pages = Pages::map(HUGE_BYTES).unwrap();
        let refused = |_: &mut Pages| Err(std::io::ErrorKind::WouldBlock.into());
        assert!(matches!(lend_and_overwrite(&mut pages, refused), Err(Obstacle::Fork(_))));
    }
}
