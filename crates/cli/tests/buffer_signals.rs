//! `fullbore buffer`: what it shows, and what signals do.

use std::fs;
use std::io::Read;

use rustix::process::Signal;
use serde_json::Value;

use crate::buffer::{Held, line, numbers};
use crate::processes::{Process, running};
use crate::sandbox::{Sandbox, eventually, fullbore, relay_ends, status_text};
use crate::terminal::Terminal;

fn queue(place: &Sandbox, options: &[&str], count: usize) -> Held {
    let mut held = Held::start(place, options);
    held.write(&numbers(count));
    held.wait_for(place, "all taken", |state| state["read_bytes"] == count);
    held
}

#[test]
fn sigusr1_prints_the_state_once_and_it_goes_on() {
    let place = Sandbox::new();
    let mut command = place.command("bash");
    command.args(["-c", "$fullbore buffer -m 1M -N this <fifo 2>said | cat"]);
    command.env("fullbore", fullbore());
    rustix::fs::mkfifoat(rustix::fs::CWD, place.path("fifo"), rustix::fs::Mode::RWXU).unwrap();
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = fs::File::options().write(true).open(place.path("fifo")).unwrap();
    std::io::Write::write_all(&mut input, b"seen\n").unwrap();
    let mut got = [0; 5];
    child.stdout.as_mut().unwrap().read_exact(&mut got).unwrap();
    let name = format!("{} buffer", fullbore().display());
    let ours = eventually(|| running(place.mark(), &name)).expect("the buffer runs");
    // What went by is counted a moment after it went: asked again until it is.
    let mut asked = 0;
    let said = eventually(|| {
        ours.send(Signal::USR1);
        asked += 1;
        let text = eventually(|| {
            let text = fs::read_to_string(place.path("said")).unwrap();
            (text.ends_with('\n') && text.lines().count() >= asked).then_some(text)
        });
        text.filter(|text| text.contains("producer is the bottleneck: buffer 0 % full"))
    });
    let said = said.expect("it says what it does");
    assert!(said.lines().last().unwrap().starts_with("this: 5 B  "), "{said}");
    assert_eq!(said.lines().count(), asked, "{said}");
    std::io::Write::write_all(&mut input, b"more\n").unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut got).unwrap();
    drop(input);
    assert!(crate::sandbox::wait_or_kill(&mut child, "after SIGUSR1").success());
}

#[test]
fn ctrl_c_drops_what_waits_and_kills_as_it_kills_cat() {
    let place = Sandbox::new();
    let mut held = queue(&place, &["-m", "16M"], 9 << 20);
    Process(held.child.id()).send(Signal::INT);
    assert_eq!(held.end(), "signal 2");
    assert!(held.read_to_end().len() <= 1 << 20, "more than the pipe held came out");
}

#[test]
fn ctrl_c_hands_on_what_waits_when_asked_to() {
    let place = Sandbox::new();
    let mut held = queue(&place, &["-m", "16M", "--on-interrupt", "drain"], 9 << 20);
    Process(held.child.id()).send(Signal::INT);
    // The input stays open: it ends all the same.
    assert!(held.read_to_end() == numbers(9 << 20));
    assert_eq!(held.end(), "signal 2");
}

#[test]
fn nothing_is_lost_of_what_comes_while_ctrl_c_is_handled() {
    let expected = numbers(8 << 20);
    for round in 0..60 {
        let place = Sandbox::new();
        let mut held = Held::start(&place, &["-m", "16M", "--on-interrupt", "drain"]);
        let mut begin = [0; 4096];
        held.write(&expected[..4096]);
        held.output.as_mut().unwrap().read_exact(&mut begin).unwrap();
        let (mut input, mut unread) = (held.input.take().unwrap(), held.unread.take().unwrap());
        rustix::fs::fcntl_setfl(&input, rustix::fs::OFlags::NONBLOCK).unwrap();
        let ours = Process(held.child.id());
        let expected = &expected;
        let (sent, input, got) = std::thread::scope(|scope| {
            let producer = scope.spawn(move || {
                let mut sent = 4096;
                // Nobody takes anything in the end: a full pipe is no reason to wait.
                let write = |input: &mut std::io::PipeWriter, sent: usize| {
                    let piece = &expected[sent..sent + 4096];
                    sent + std::io::Write::write(input, piece).unwrap_or(0)
                };
                while sent < 4096 * (2 + round) {
                    sent = write(&mut input, sent);
                }
                ours.send(Signal::INT);
                for _ in 0..1000 {
                    sent = write(&mut input, sent);
                }
                (sent, input) // it stays open: only the signal ends the buffer
            });
            let (sent, input) = producer.join().unwrap();
            (sent, input, held.read_to_end())
        });
        assert_eq!(held.end(), "signal 2");
        drop(input);
        let mut left = Vec::new();
        unread.read_to_end(&mut left).unwrap();
        let found = [&begin[..], &got, &left].concat();
        assert_eq!(found.len(), sent, "round {round}: {} + {}", got.len(), left.len());
        assert!(found == expected[..sent], "round {round}");
    }
}

#[test]
fn a_second_ctrl_c_drops_what_is_left() {
    let place = Sandbox::new();
    let mut held = queue(&place, &["-m", "16M", "--on-interrupt", "drain"], 9 << 20);
    Process(held.child.id()).send(Signal::INT);
    // Two at once may become one: the second is sent until it has worked.
    let ended = eventually(|| {
        let _ = rustix::process::kill_process(
            rustix::process::Pid::from_child(&held.child),
            Signal::INT,
        );
        held.child.try_wait().unwrap()
    });
    assert_eq!(ended.map(status_text).as_deref(), Some("signal 2"));
}

#[test]
fn an_interrupt_that_was_ignored_stays_ignored() {
    let place = Sandbox::new();
    for options in ["--on-interrupt drain", ""] {
        let ended = line(
            &place,
            &format!(
                "trap '' INT; {{ echo one; read x <go; echo two; }} | $fullbore buffer -q {options} >out & \
                 until [ \"$(cat out 2>/dev/null)\" = one ]; do :; done; pkill -INT -g 0 fullbore; echo >go; wait %1"
            )
            .replace("trap", "rm -f out go; mkfifo go; trap"),
        );
        assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
        assert_eq!(fs::read(place.path("out")).unwrap(), b"one\ntwo\n", "{options}");
    }
}

#[test]
fn json_has_a_line_each_interval_and_one_at_the_end() {
    let place = Sandbox::new();
    let mut held = queue(&place, &["-m", "2M", "-N", "x", "-s", "4M"], 1 << 20);
    held.input = None;
    assert_eq!(held.read_to_end().len(), 1 << 20);
    assert_eq!(held.end(), "exit 0");
    let text = fs::read_to_string(place.path("stderr")).unwrap();
    let states: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = states.last().unwrap();
    assert_eq!(states.iter().filter(|state| state["ended"] == true).count(), 1);
    for (key, value) in [
        ("schema", Value::from("fullbore.buffer/1")),
        ("name", Value::from("x")),
        ("ended", Value::from(true)),
        ("read_bytes", Value::from(1 << 20)),
        ("written_bytes", Value::from(1 << 20)),
        ("queued_bytes", Value::from(0)),
        ("memory_bytes", Value::from(0)),
        ("spilled_bytes", Value::from(0)),
        ("limit_bytes", Value::from(2 << 20)),
        ("size_bytes", Value::from(4 << 20)),
    ] {
        assert_eq!(last[key], value, "{key} in {last}");
    }
    assert!(last["elapsed_ns"].as_u64().unwrap() > 0);
}

#[test]
fn without_a_terminal_nothing_is_shown() {
    let ended = line(&Sandbox::new(), "seq 9 | $fullbore buffer | tail -1");
    assert_eq!((&ended.stdout[..], ended.stderr.as_str()), (&b"9\n"[..], ""));
}

#[test]
fn a_terminal_shows_how_far_it_is_and_who_is_waited_for() {
    let place = Sandbox::new();
    let script = format!(
        "{{ '{ends}' produce 3M; read x; }} | '{ours}' buffer -N name -i 0.1 >out; echo status $?",
        ends = relay_ends(),
        ours = fullbore().display()
    );
    let mut terminal = Terminal::start(&place, 120, 30, &["bash", "-c", &script], &[]);
    terminal.wait_for("name: 3 MiB");
    terminal.wait_for("producer is the bottleneck: buffer 0 % full");
    terminal.press("go\n");
    terminal.wait_for("status 0");
    terminal.wait_for_end();
    terminal.assert_settings_unchanged();
    assert!(fs::read(place.path("out")).unwrap() == numbers(3 << 20));
}

#[test]
fn a_file_on_standard_input_gets_a_bar() {
    let place = Sandbox::new();
    fs::write(place.path("in"), numbers(3 << 20)).unwrap();
    let script =
        format!("'{}' buffer -m 1M -L 3M -i 0.1 <in >out; echo status $?", fullbore().display());
    let mut terminal = Terminal::start(&place, 120, 30, &["bash", "-c", &script], &[]);
    terminal.wait_for("=>");
    terminal.wait_for("% ");
    terminal.wait_for("left");
    terminal.wait_for("waits for rate limit"); // the short form: the bar takes its room
    terminal.wait_for("100 %");
    terminal.wait_for("status 0");
    terminal.wait_for_end();
    assert!(fs::read(place.path("out")).unwrap() == numbers(3 << 20));
}

#[test]
fn quiet_is_quiet_on_a_terminal() {
    let place = Sandbox::new();
    let script = format!("seq 9 | '{}' buffer -q >out; echo status $?", fullbore().display());
    let mut terminal = Terminal::start(&place, 120, 30, &["bash", "-c", &script], &[]);
    let (_, shown) = terminal.wait_for_end();
    assert_eq!(shown.trim(), "status 0");
}
