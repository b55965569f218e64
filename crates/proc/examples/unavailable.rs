//! Says what this Linux does not let you know about a process, and why: `unavailable PID`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example that prints what it found"
)]

use std::process::ExitCode;

use fullbore_proc::Root;

fn main() -> ExitCode {
    let Some(pid) = std::env::args().nth(1).and_then(|pid| pid.parse().ok()) else {
        eprintln!("usage: unavailable PID");
        return ExitCode::from(2);
    };
    let root = Root::system();
    println!("found {:?}", root.unavailable(pid));
    let stat = root.hot_file(pid, "stat");
    println!("stat {:?}", stat.try_read(&mut [0; 4096]).map(|_| ()));
    ExitCode::SUCCESS
}
