//! Tests io_uring on pipes.

use std::io::{self, Read, Write};
use std::thread;

use fullbore_apparatus::passing::Uring;
use rustix::io::Errno;

use crate::skip::skipped;

fn ring() -> Option<Uring> {
    match Uring::new() {
        Ok(ring) => Some(ring),
        Err(error) => {
            skipped(&format!("io_uring: {error}"));
            None
        }
    }
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}

#[test]
fn a_transfer_moves_what_fits_and_reports_the_end() {
    let Some(mut ring) = ring() else { return };
    let (mut out, into) = io::pipe().unwrap();
    assert_eq!(ring.write(&into, &[7; 100_000]).unwrap(), 65536, "a new pipe holds 64 KiB");
    out.read_exact(&mut [0; 65536]).unwrap();
    assert_eq!(ring.write(&into, b"hello").unwrap(), 5);
    let mut got = [0; 8];
    assert_eq!(ring.read(&out, &mut got).unwrap(), 5);
    assert_eq!(&got, b"hello\0\0\0");
    drop(into);
    assert_eq!(ring.read(&out, &mut got).unwrap(), 0);
}

#[test]
fn a_read_that_has_to_wait_returns_with_its_bytes_in_place() {
    let Some(mut ring) = ring() else { return };
    let (out, mut into) = io::pipe().unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let waiting = thread::spawn(move || {
        tell.send(rustix::thread::gettid()).unwrap();
        let mut got = [0; 4];
        let count = ring.read(&out, &mut got).unwrap();
        (count, got)
    });
    let thread = told.recv().unwrap();
    // 426 is io_uring_enter, on every architecture.
    let call = format!("/proc/self/task/{}/syscall", thread.as_raw_nonzero());
    while !std::fs::read_to_string(&call).unwrap().starts_with("426 ") {
        thread::yield_now();
    }
    into.write_all(b"late").unwrap();
    assert_eq!(waiting.join().unwrap(), (4, *b"late"));
}

#[test]
fn a_failed_operation_returns_its_error_and_the_ring_still_works() {
    let Some(mut ring) = ring() else { return };
    let (out, into) = io::pipe().unwrap();
    assert!(is(&ring.read(&into, &mut [0; 4]).unwrap_err(), Errno::BADF));
    assert!(is(&ring.write(&out, b"back").unwrap_err(), Errno::BADF));
    assert_eq!(ring.write(&into, b"again").unwrap(), 5);
    assert_eq!(ring.read(&out, &mut [0; 5]).unwrap(), 5);
}
