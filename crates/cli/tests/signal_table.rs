//! Every signal that people send, from every side, to shells that expect it or not, with and without the live view: what
//! comes of it must be what comes of it under the plain shell.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::gate::Pass;
use crate::sandbox::{Sandbox, eventually, fullbore, status_text};
use crate::terminal::Terminal;

const SIGNALS: [(&str, Signal); 5] = [
    ("TERM", Signal::TERM),
    ("HUP", Signal::HUP),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
    ("INT", Signal::INT),
];

/// Who sends the signal, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    /// A process of another session, to one process.
    StrangerToOne,
    /// A process of another session, to the group.
    StrangerToAll,
    /// The script that started it, of the same group, to one process.
    Script,
}

/// What the shell does with the signal.
#[derive(Clone, Copy, Debug)]
enum Handling {
    Default,
    Trap,
    Ignore,
}

impl Handling {
    fn line(self, signal: &str) -> String {
        match self {
            Self::Default => "echo ready; sleep 5 | cat; echo end; exit 7".to_owned(),
            Self::Trap => {
                format!(
                    "trap 'echo told; exit 4' {signal}; echo ready; while :; do sleep 0.05; done"
                )
            }
            Self::Ignore => {
                format!("trap '' {signal}; echo ready; sleep 0.3 | cat; echo end; exit 7")
            }
        }
    }
}

/// How it ended, and what it wrote.
fn outcome(
    program: &str,
    (name, signal): (&str, Signal),
    sender: Sender,
    handling: Handling,
) -> (String, String) {
    let place = Sandbox::new();
    let command = format!("{program} {} >out", shell_words::quote(&handling.line(name)));
    let script = match sender {
        Sender::StrangerToOne | Sender::StrangerToAll => format!("exec {command}"),
        Sender::Script => format!(
            "{command} & p=$!; until test -s out; do sleep 0.01; done; kill -{name} $p; wait $p; exit $?"
        ),
    };
    let mut terminal = Terminal::start(&place, 100, 30, &["sh", "-c", &script], &[]);
    let said = || std::fs::read_to_string(place.path("out")).unwrap_or_default();
    let pid = Pid::from_raw(terminal.pid().cast_signed()).unwrap();
    if sender != Sender::Script {
        eventually(|| said().contains("ready").then_some(())).expect("it has begun");
        match sender {
            Sender::StrangerToAll => kill_process_group(pid, signal).unwrap(),
            _ => kill_process(pid, signal).unwrap(),
        }
    }
    let (status, _) = terminal.wait_for_end();
    (status_text(status), said())
}

#[test]
fn a_signal_does_what_it_does_under_the_plain_shell() {
    let _pass = Pass::side_by_side();
    let ours = fullbore().to_str().unwrap().to_owned();
    let programs = ["-q", "--live always"]
        .map(|options| (options, format!("'{ours}' run --shell sh {options}")));
    let (mut cases, mut wrong) = (0, Vec::new());
    for signal in SIGNALS {
        for sender in [Sender::StrangerToOne, Sender::StrangerToAll, Sender::Script] {
            // A shell lets what it starts in the background ignore SIGINT, and no trap can change that.
            if signal.0 == "INT" && sender == Sender::Script {
                continue;
            }
            for handling in [Handling::Default, Handling::Trap, Handling::Ignore] {
                let expected = outcome("sh -c", signal, sender, handling);
                for (options, program) in &programs {
                    cases += 1;
                    let got = outcome(program, signal, sender, handling);
                    if got != expected {
                        let name = signal.0;
                        wrong.push(format!(
                            "{name}, {sender:?}, {handling:?}, {options}: {got:?}, not {expected:?}"
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases >= 60, "only {cases}");
}
