//! What stands before and behind a relay in tests and benchmarks: a producer of a known sequence, consumers that
//! check or discard it, and a ping-pong of lines.
//!
//! `produce BYTES [CHUNK]` · `consume read|splice|check` · `latency LINES COMMAND…` · `hold PIPES`
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program of the tests stops at the first surprise"
)]

use std::io::{self, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use fullbore_measure::{Bytes, median};
use fullbore_pipe::{OwnPipe, widen};
use rustix::pipe::{SpliceFlags, splice};

const PIPE: Bytes = Bytes(1 << 20);
const CHUNK: Bytes = Bytes(256 << 10);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["produce", total] => produce(total.parse().unwrap(), CHUNK),
        ["produce", total, chunk] => produce(total.parse().unwrap(), chunk.parse().unwrap()),
        ["consume", "read"] => discard(),
        ["consume", "splice"] => splice_away(),
        ["consume", "check"] => check(),
        ["hold", pipes] => hold(pipes.parse().unwrap()),
        ["latency", lines, command @ ..] => latency(lines.parse().unwrap(), command),
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}

/// Writes the numbers 0, 1, 2 … as 64-bit words, new ones in every chunk, with write(2).
fn produce(total: Bytes, chunk: Bytes) {
    let _ = widen(io::stdout(), PIPE);
    let mut room = vec![0; usize::try_from(chunk.0).unwrap()];
    let (mut number, mut left) = (0_u64, usize::try_from(total.0).unwrap());
    let (words, _) = room.as_chunks_mut::<8>();
    assert!(!words.is_empty() && chunk.0.is_multiple_of(8), "chunks are made of words");
    while left > 0 {
        let (words, _) = room.as_chunks_mut::<8>();
        for word in words {
            *word = number.to_le_bytes();
            number += 1;
        }
        let count = left.min(room.len());
        let mut rest = &room[..count];
        while !rest.is_empty() {
            let written = rustix::io::write(io::stdout(), rest).unwrap();
            rest = &rest[written..];
        }
        left -= count;
    }
}

fn discard() {
    let mut room = vec![0; usize::try_from(CHUNK.0).unwrap()];
    let mut total = 0;
    loop {
        match rustix::io::read(io::stdin(), &mut room).unwrap() {
            0 => break,
            count => total += count,
        }
    }
    println!("{total}");
}

fn splice_away() {
    let null = std::fs::File::options().write(true).open("/dev/null").unwrap();
    let mut total = 0;
    loop {
        match splice(io::stdin(), None, &null, None, 1 << 20, SpliceFlags::empty()).unwrap() {
            0 => break,
            count => total += count,
        }
    }
    println!("{total}");
}

/// Stops at the first word that is not the next number.
fn check() {
    let mut input = io::stdin().lock();
    let (mut number, mut total) = (0_u64, 0);
    let mut room = vec![0; 1 << 16];
    loop {
        let mut filled = 0;
        while filled < room.len() {
            match input.read(&mut room[filled..]).unwrap() {
                0 => break,
                count => filled += count,
            }
        }
        for word in room[..filled].chunks(8) {
            assert_eq!(word, &number.to_le_bytes()[..word.len()], "at byte {}", number * 8);
            number += 1;
        }
        total += filled;
        if filled < room.len() {
            break;
        }
    }
    println!("{total}");
}

/// Prints the median time in microseconds that a line takes through the command and back, with pauses in which
/// everything goes to sleep.
fn latency(lines: usize, command: &[&str]) {
    const PAUSE: Duration = Duration::from_micros(500);
    let mut child = Command::new(command[0]);
    child.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let (mut there, mut back) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut times = Vec::new();
    for _ in 0..lines {
        let mut line = [0; 64];
        let started = Instant::now();
        there.write_all(&line).unwrap();
        back.read_exact(&mut line).unwrap();
        times.push(started.elapsed().as_secs_f64() * 1e6);
        std::thread::sleep(PAUSE); // the pipeline is to be idle
    }
    drop(there);
    assert!(child.wait().unwrap().success());
    println!("{:.1}", median(&times).unwrap());
}

/// Holds this many pipes of 1 MiB until standard input ends; prints how many it got.
fn hold(pipes: usize) {
    let held: Vec<_> = (0..pipes).map_while(|_| OwnPipe::new(PIPE).ok()).collect();
    println!("{}", held.iter().filter(|pipe| pipe.capacity() == PIPE).count());
    io::copy(&mut io::stdin(), &mut io::sink()).unwrap();
}
