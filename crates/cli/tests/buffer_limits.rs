//! `fullbore buffer`: memory, disk, rate and watermarks stay within what was asked for.

use std::fs;
use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::buffer::{Held, assert_output, numbers};
use crate::gate::Pass;
use crate::sandbox::{Sandbox, eventually, fullbore, relay_ends, status_text, wait_or_kill};

fn states(place: &Sandbox) -> Vec<Value> {
    let text = fs::read_to_string(place.path("stderr")).unwrap();
    let whole = &text[..text.rfind('\n').unwrap_or(0)];
    let read = |line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"));
    whole.lines().map(read).collect()
}

#[test]
fn what_waits_never_exceeds_the_limit() {
    for options in [&["-m", "1M"][..], &["-m", "100K"], &["-m", "3M", "--hash", "xxh3"]] {
        let place = Sandbox::new();
        let mut held = Held::start(&place, options);
        let expected = numbers(30 << 20);
        std::thread::scope(|scope| {
            let mut input = held.input.take().unwrap();
            let expected = &expected;
            scope.spawn(move || std::io::Write::write_all(&mut input, expected).unwrap());
            held.wait_for(&place, "waiting for room", |state| {
                state["waits_percent"]["room"] == 100.0
            });
            assert!(held.read_to_end() == *expected);
        });
        assert_eq!(held.end(), "exit 0");
        let states = states(&place);
        let limit = states[0]["limit_bytes"].as_u64().unwrap();
        for state in &states {
            let memory = state["memory_bytes"].as_u64().unwrap();
            let queued = state["queued_bytes"].as_u64().unwrap();
            assert!(queued <= memory && memory <= limit, "{options:?}: {state}");
        }
        let most = states.iter().map(|state| state["queued_bytes"].as_u64().unwrap()).max();
        assert!(most.unwrap() * 2 > limit, "{options:?}: hardly anything was queued: {most:?}");
    }
}

#[test]
fn a_producer_is_not_held_up_below_the_limit() {
    let place = Sandbox::new();
    let mut held = Held::start(&place, &["-m", "64M"]);
    let expected = numbers(60 << 20);
    held.write(&expected); // nobody reads: this returns because all of it fits
    held.input = None;
    assert!(held.read_to_end() == expected);
    assert_eq!(held.end(), "exit 0");
}

#[test]
fn the_process_takes_little_memory_besides_what_waits() {
    const MIB: u64 = 1 << 20;
    let place = Sandbox::new();
    let mut held = Held::start(&place, &["-m", "512M"]);
    let (theirs, ours) = (held.input.take().unwrap(), held.child.id());
    let mut command = place.command(relay_ends());
    let mut producer = command.args(["produce", "500M"]).stdout(theirs).spawn().unwrap();
    drop(command); // it holds the input
    assert!(wait_or_kill(&mut producer, "the producer").success());
    held.wait_for(&place, "all taken", |state| state["read_bytes"] == 500 * MIB);
    let status = fs::read_to_string(format!("/proc/{ours}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kib: u64 = peak.trim().strip_suffix(" kB").unwrap().parse().unwrap();
    assert!(peak_kib >> 10 <= 512 + 24, "{peak_kib} KiB");
    assert!(peak_kib >> 10 >= 490, "{peak_kib} KiB: what waits is elsewhere");
    let mut check = place.command(relay_ends());
    let output = held.output.take().unwrap();
    let checked = check.args(["consume", "check"]).stdin(output).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&checked.stdout), format!("{}\n", 500 * MIB));
    assert_eq!(held.end(), "exit 0");
}

#[test]
fn what_is_over_the_limit_waits_on_disk_and_leaves_nothing_there() {
    let place = Sandbox::new();
    fs::create_dir(place.path("spill")).unwrap();
    let mut held = Held::start(&place, &["-m", "1M", "--spill", "spill"]);
    let expected = numbers(50 << 20);
    held.write(&expected); // nobody reads: this returns because the rest goes to the disk
    held.wait_for(&place, "on disk", |state| {
        state["spilled_bytes"].as_u64() > Some(40 << 20) && state["verdict"] == "consumer"
    });
    assert_eq!(fs::read_dir(place.path("spill")).unwrap().count(), 0, "the file has a name");
    let mut first = vec![0; 30 << 20];
    held.output.as_mut().unwrap().read_exact(&mut first).unwrap();
    held.write(&expected); // again while some waits on disk
    held.input = None;
    let rest = held.read_to_end();
    assert!(first == expected[..30 << 20]);
    assert!(rest[..20 << 20] == expected[30 << 20..] && rest[20 << 20..] == expected);
    assert_eq!(held.end(), "exit 0");
    let over = states(&place)
        .into_iter()
        .find(|state| state["memory_bytes"].as_u64() > state["limit_bytes"].as_u64());
    assert!(over.is_none(), "{over:?}");
}

#[test]
fn the_room_on_disk_is_given_back_while_it_goes_on() {
    let place = Sandbox::new();
    let mut held = Held::start(&place, &["-m", "1M", "--spill", "."]);
    let expected = numbers(40 << 20);
    held.write(&expected);
    let file = eventually(|| {
        let files = crate::processes::Process(held.child.id()).open_files();
        let spill = files.into_iter().find(|(_, target)| target.contains("(deleted)"));
        spill.map(|(fd, _)| format!("/proc/{}/fd/{fd}", held.child.id()))
    });
    let allocated = || {
        let metadata = fs::metadata(file.as_ref().unwrap()).unwrap();
        std::os::unix::fs::MetadataExt::blocks(&metadata) * 512
    };
    held.wait_for(&place, "on disk", |state| state["read_bytes"] == 40 << 20);
    let before = allocated();
    assert!(before > 30 << 20, "{before}");
    let mut most = vec![0; 30 << 20];
    held.output.as_mut().unwrap().read_exact(&mut most).unwrap();
    assert!(eventually(|| (allocated() < before / 2).then_some(())).is_some(), "{}", allocated());
    held.input = None;
    most.extend(held.read_to_end());
    assert!(most == expected);
}

#[test]
fn a_full_disk_stops_the_spilling_and_loses_nothing() {
    require_programs!("unshare");
    let place = Sandbox::new();
    fs::create_dir(place.path("small")).unwrap();
    let script = "mount -t tmpfs -o size=3M none small || { echo no mount; exit 77; }; \
        $ends produce 60M | $fullbore buffer -q -m 1M --spill small | { sleep 0.5; $ends consume check; }";
    let mut command = place.command("unshare");
    command.args(["-m", "bash", "-c", script]);
    command.env("ends", relay_ends()).env("fullbore", fullbore());
    let ended = crate::sandbox::finish(command);
    require!(!ended.stdout.starts_with(b"no mount"), "mounting is not allowed here");
    assert_output(&ended, "62914560\n");
    assert_eq!(
        ended.stderr.matches("buffer: writing the spill file: No space left on device").count(),
        1,
        "{}",
        ended.stderr
    );
}

/// What a pacer makes up for: a stall up to this long costs no time in the end.
const CREDIT: Duration = Duration::from_millis(100);

#[test]
fn the_rate_is_kept() {
    for (rate, rate_bytes) in [("300K", 300 << 10), ("1M", 1 << 20), ("20M", 20 << 20)] {
        let place = Sandbox::new();
        let total = 2 * rate_bytes; // two seconds of it
        let started = Instant::now();
        let mut held = Held::start(&place, &["-m", "64M", "-L", rate]);
        held.write(&numbers(total));
        let arrivals = arrivals(&mut held, started, total);
        held.input = None;
        assert_eq!(held.end(), "exit 0");
        let seconds = |bytes: usize| bytes as f64 / rate_bytes as f64;
        // Nothing excuses being faster: at no time did more come than was allowed since the start, and one piece.
        let mut bytes = 0;
        for (time, count) in &arrivals {
            bytes += count;
            assert!(seconds(bytes) <= time.as_secs_f64() + 0.011, "{rate}: {bytes} after {time:?}");
        }
        // Being slower is excused by stalls beyond what is made up for, and each of them shows as a gap.
        let (first, last) = (arrivals[0].0, arrivals[arrivals.len() - 1].0);
        let gaps = arrivals.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let stalls: Duration = gaps.map(|gap| gap.saturating_sub(CREDIT)).sum();
        let took = (last - first).as_secs_f64();
        let allowed = 1.02 * seconds(total) + (CREDIT + stalls).as_secs_f64();
        assert!(took <= allowed, "{rate}: {took} s, of which stalls {stalls:?}");
    }
}

#[test]
fn a_rate_limit_is_smooth() {
    let place = Sandbox::new();
    let started = Instant::now();
    let mut held = Held::start(&place, &["-m", "8M", "-L", "1M"]);
    held.write(&numbers(1 << 20));
    let arrivals = arrivals(&mut held, started, 1 << 20);
    // Most of it came in pieces that the rate allows in a tenth of a second; a busy machine can only join some of them.
    let small = arrivals.iter().map(|(_, count)| count).filter(|count| **count <= 105_000);
    let small: usize = small.sum();
    assert!(small > 1 << 19, "only {small} bytes came in small pieces: {arrivals:?}");
}

/// How much came how long after `started`, up to so many bytes.
fn arrivals(held: &mut Held, started: Instant, bytes: usize) -> Vec<(Duration, usize)> {
    let mut arrivals = Vec::new();
    let mut room = vec![0; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let count = held.output.as_mut().unwrap().read(&mut room).unwrap();
        assert!(count > 0, "it ended {left} bytes before the end");
        arrivals.push((started.elapsed(), count));
        left -= count;
    }
    arrivals
}

#[test]
fn nothing_goes_out_before_the_start_watermark() {
    let place = Sandbox::new();
    let mut held = Held::start(&place, &["-m", "4M", "--start", "80%", "--stop", "30%"]);
    let expected = numbers(8 << 20);
    let (early, later) = expected.split_at(2 << 20);
    held.write(early);
    held.wait_for(&place, "waiting for the mark", |state| {
        state["queued_bytes"] == 2 << 20 && state["verdict"] == "watermark"
    });
    assert_eq!(states(&place).last().unwrap()["written_bytes"], 0);
    std::thread::scope(|scope| {
        let mut input = held.input.take().unwrap();
        scope.spawn(move || std::io::Write::write_all(&mut input, later).unwrap());
        assert!(held.read_to_end() == expected);
    });
    assert_eq!(held.end(), "exit 0");
}

#[test]
fn the_end_of_the_input_releases_what_waits_for_the_watermark() {
    let place = Sandbox::new();
    let mut held = Held::start(&place, &["-m", "4M", "--start", "80%"]);
    held.write(b"short");
    held.wait_for(&place, "queued", |state| state["queued_bytes"] == 5);
    held.input = None;
    assert_eq!(held.read_to_end(), b"short");
    assert_eq!(held.end(), "exit 0");
}

#[test]
fn it_starts_fast() {
    let _alone = Pass::alone();
    let place = Sandbox::new();
    let mut times: Vec<Duration> = (0..30)
        .map(|_| {
            let started = Instant::now();
            let ended = place.run(&["buffer", "-q"]);
            assert_eq!(status_text(ended.status), "exit 0");
            started.elapsed()
        })
        .collect();
    times.sort();
    // Starting any process from here takes a millisecond or two; 2 ms of our own would show.
    assert!(times[15] < Duration::from_millis(20), "{:?}", times[15]);
}
