//! Every signal that people send, from every side, to shells that expect it or not, with and without the live view: what
//! comes of it must be what comes of it under the plain shell.

use crate::gate::Pass;
use crate::sandbox::{Sandbox, eventually, finish, fullbore, status_text};
use crate::terminal::Terminal;

/// Names as kill(1) and trap know them in every shell: real-time signals have numbers only (37 is SIGRTMIN+3, 64 is SIGRTMAX).
const SIGNALS: [&str; 10] =
    ["TERM", "HUP", "USR1", "USR2", "INT", "ABRT", "XCPU", "WINCH", "37", "64"];

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
            Self::Default => "ulimit -c 0; echo ready; sleep 5 | cat; echo end; exit 7".to_owned(),
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
fn outcome(program: &str, signal: &str, sender: Sender, handling: Handling) -> (String, String) {
    let place = Sandbox::new();
    let command = format!("{program} {} >out", shell_words::quote(&handling.line(signal)));
    let script = match sender {
        Sender::StrangerToOne | Sender::StrangerToAll => format!("exec {command}"),
        Sender::Script => format!(
            "{command} & p=$!; until test -s out; do sleep 0.01; done; kill -{signal} $p; wait $p; exit $?"
        ),
    };
    let mut terminal = Terminal::start(&place, 100, 30, &["sh", "-c", &script], &[]);
    let said = || std::fs::read_to_string(place.path("out")).unwrap_or_default();
    if sender != Sender::Script {
        eventually(|| said().contains("ready").then_some(())).expect("it has begun");
        let (group, pid) = (if sender == Sender::StrangerToAll { "-" } else { "" }, terminal.pid());
        let mut kill = place.command("sh");
        kill.args(["-c", &format!("kill -{signal} {group}{pid}")]);
        assert_eq!(status_text(finish(kill).status), "exit 0", "kill -{signal}");
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
    // Most of the time passes in sleep(1): some signals beside the others.
    let outcomes: Vec<Outcomes> = std::thread::scope(|scope| {
        let some = SIGNALS.chunks(3).map(|signals| scope.spawn(|| outcomes(signals, &programs)));
        some.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let cases: usize = outcomes.iter().map(|some| some.cases).sum();
    let wrong: Vec<String> = outcomes.into_iter().flat_map(|some| some.wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases >= 160, "only {cases}");
}

#[derive(Default)]
struct Outcomes {
    cases: usize,
    wrong: Vec<String>,
}

/// What comes of signals under programs (their options, and how they are called), against the plain shell.
fn outcomes(signals: &[&str], programs: &[(&str, String)]) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for &signal in signals {
        for sender in [Sender::StrangerToOne, Sender::StrangerToAll, Sender::Script] {
            // A shell lets what it starts in the background ignore SIGINT, and no trap can change that.
            if signal == "INT" && sender == Sender::Script {
                continue;
            }
            for handling in [Handling::Default, Handling::Trap, Handling::Ignore] {
                // By default it does nothing, as where it is ignored.
                if signal == "WINCH" && matches!(handling, Handling::Default) {
                    continue;
                }
                let expected = outcome("sh -c", signal, sender, handling);
                for (options, program) in programs {
                    outcomes.cases += 1;
                    let got = outcome(program, signal, sender, handling);
                    if got != expected {
                        outcomes.wrong.push(format!(
                            "{signal}, {sender:?}, {handling:?}, {options}: {got:?}, not {expected:?}"
                        ));
                    }
                }
            }
        }
    }
    outcomes
}
