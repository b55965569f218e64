//! Every command of the rules' list of cases, through `fullbore par`: the bytes and the status of the command alone.
//!
//! A case is run with 7 sizes of blocks and 3 kinds of records. Here it meets each size and each kind, but not each pair;
//! `FULLBORE_ALL=1` runs all pairs, in minutes. `FULLBORE_CASE=sed` selects cases.

#[allow(dead_code, reason = "the tests of the rules cut inputs themselves")]
#[path = "../../rules/tests/real/inputs.rs"]
mod inputs;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use fullbore_rules::{Dealt, Ends, Rule, Status, rule};

use crate::par::fed;
use crate::sandbox::{Ended, Sandbox, finish, fullbore, is_installed, status_text};
use inputs::{Kind, inputs};

/// Sizes of blocks, in bytes: from a copy for each record to one for everything.
const SIZES: [usize; 7] = [1, 7, 64, 1 << 10, 4 << 10, 64 << 10, 8 << 20];

/// What the records are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Lines,
    /// Ended by a zero byte.
    Zeros,
    /// Some empty, one longer than a block, the last without an end.
    Hard,
}

const SHAPES: [Shape; 3] = [Shape::Lines, Shape::Zeros, Shape::Hard];

/// A row of the list: what it can be given, and its words.
struct Case {
    kind: Kind,
    words: Vec<String>,
}

fn cases() -> Vec<Case> {
    let list = include_str!("../../rules/tests/cases.txt");
    let selected = std::env::var("FULLBORE_CASE").unwrap_or_default();
    let mut missing = BTreeSet::new();
    let rows = list.lines().filter(|row| !row.is_empty() && !row.starts_with('#'));
    let mut cases: Vec<Case> = rows
        .filter(|row| row.contains(&selected))
        .map(|row| {
            let (kind, command) = row.split_once(' ').expect(row);
            let words = shell_words::split(&command.replace('␤', "\n")).expect(row);
            // They give up at a control character.
            let kind = if words[0].contains("2") && kind == "text" { "lines" } else { kind };
            Case { kind: Kind::named(kind), words }
        })
        .collect();
    cases.retain(|case| {
        let installed = is_installed(&case.words[0]);
        if !installed {
            missing.insert(case.words[0].clone());
        }
        installed
    });
    for program in missing {
        crate::require::skipped(&format!("{program} is not installed"));
    }
    cases
}

/// The words for records of this shape, where the command has any: many have an option of their own for zero bytes.
fn words_for(case: &Case, shape: Shape) -> Option<Vec<String>> {
    let own = rule(&case.words);
    if own.input == Ends::Bytes || (shape == Shape::Zeros) == (own.input == Ends::Zeros) {
        return Some(case.words.clone());
    }
    if shape != Shape::Zeros {
        // Only zero bytes end its records: those can be hard, too.
        return (shape == Shape::Hard).then(|| case.words.clone());
    }
    ["-z", "-0"].into_iter().find_map(|option| {
        let mut words = case.words.clone();
        words.insert(1, option.to_owned());
        let same = same_promise(&rule(&words).dealt, &own.dealt);
        (rule(&words).input == Ends::Zeros && same).then_some(words)
    })
}

fn same_promise(one: &Dealt, other: &Dealt) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Whether records end with zero bytes.
fn ends_in_zeros(rule: &Rule, shape: Shape) -> bool {
    rule.input == Ends::Zeros || (rule.input == Ends::Bytes && shape == Shape::Zeros)
}

/// Whether the command works long on each record: a process for each word, or a loop over each letter.
fn is_slow(case: &Case) -> bool {
    case.words.iter().any(|word| word == "xargs" || word.starts_with(":a"))
}

/// A record that is longer than the block, as far as the command can take one.
fn long(case: &Case, size: usize) -> String {
    let fill = size.clamp(30, if is_slow(case) { 500 } else { 90 << 10 });
    match case.kind {
        Kind::Json => format!("{{\"a\":7,\"b\":\"{}\"}}", "y".repeat(fill)),
        Kind::Numbers | Kind::Dates => " ".repeat(fill.min(200)) + "1970",
        _ => format!("a foo {} b", "y ".repeat(fill / 2)),
    }
}

/// An input of this shape: a short one for small blocks, else one of several blocks.
fn input(case: &Case, zeros: bool, shape: Shape, size: usize, turn: usize) -> Vec<u8> {
    let kind = case.kind;
    let of_text = !matches!(kind, Kind::Json | Kind::Numbers | Kind::Dates | Kind::Csv);
    let mut pieces = inputs(if zeros && of_text { Kind::Zeros } else { kind });
    let end = if zeros { 0 } else { b'\n' };
    let slow = is_slow(case);
    if slow || size < 64 << 10 {
        pieces.retain(|piece| !piece.is_empty() && piece.len() < 2000);
    }
    if size <= 64 {
        pieces = vec![pieces.swap_remove(turn % pieces.len())];
    }
    // Programs that work long on each record get few of them.
    let many = !slow && matches!(kind, Kind::Any | Kind::Text | Kind::Json);
    let enough = if many { (size * 5 / 2).min(200 << 10) } else { 0 };
    let mut all = Vec::new();
    if shape == Shape::Hard {
        all.extend([end; 3]);
        all.extend(long(case, size).bytes());
        all.push(end);
    }
    loop {
        for piece in &pieces {
            all.extend(piece.iter().map(|byte| match byte {
                b'\n' if zeros && !of_text => 0,
                byte => *byte,
            }));
            if all.last().is_some_and(|byte| *byte != end) {
                all.push(end);
            }
        }
        if all.len() >= enough {
            break;
        }
    }
    if shape == Shape::Hard && all.last() == Some(&end) {
        all.pop();
    }
    all
}

/// A place with the files that some cases name.
fn place() -> Sandbox {
    let place = Sandbox::new();
    fs::write(place.path("patterns"), "foo\na\n").unwrap();
    fs::write(place.path("other"), "a\nb\nfoo\n").unwrap();
    place
}

/// Runs `par` on the input: from a pipe, from a file that is its standard input, or from a file by its name.
fn dealt(place: &Sandbox, options: &[String], words: &[String], how: &How, input: &[u8]) -> Ended {
    let mut command = place.command(fullbore());
    command.arg("par").args(options).env("LC_ALL", how.locale).env("TZ", "UTC");
    if how.turn.is_multiple_of(3) {
        command.args(words);
        return fed(command, input);
    }
    fs::write(place.path("input"), input).unwrap();
    if how.turn % 3 == 1 {
        command.args(words).stdin(Stdio::from(File::open(place.path("input")).unwrap()));
    } else {
        command.args(["-a", "input"]).args(words);
    }
    finish(command)
}

/// How a case is run: the rest follows from it.
struct How {
    size: usize,
    shape: Shape,
    locale: &'static str,
    turn: usize,
}

/// What is wrong with a case in one size and shape.
fn difference(place: &Sandbox, case: &Case, how: &How) -> Option<String> {
    // Hard records instead of such as the command does not know.
    let words = words_for(case, how.shape);
    let shape = if words.is_some() { how.shape } else { Shape::Hard };
    let words = words.unwrap_or_else(|| case.words.clone());
    let rule = rule(&words);
    let zeros = ends_in_zeros(&rule, shape);
    let input = input(case, zeros, shape, how.size, how.turn);
    let jobs = [1, 2, 3, 5][how.turn % 4];
    let mut options = vec![format!("--block={}", how.size), format!("-j{jobs}")];
    if zeros {
        options.push("-0".to_owned());
    }
    if matches!(rule.dealt, Dealt::Merge(_)) {
        options.extend(["--merge", "auto"].map(str::to_owned));
    }
    let alone = || {
        let mut alone = place.command(&words[0]);
        alone.args(&words[1..]).env("LC_ALL", how.locale).env("TZ", "UTC");
        fed(alone, &input)
    };
    let alone = alone();
    let dealt = dealt(place, &options, &words, how, &input);
    let (mut expected, mut got) = (alone.stdout, dealt.stdout);
    if matches!(rule.dealt, Dealt::Equivalent { .. }) {
        (expected, got) = (input, unpacked(place, &words[0], &got));
    }
    let same = if alone.status.success() || rule.status == Status::Any {
        expected == got && alone.status == dealt.status
    } else {
        // A command that gives up at one record: the copies that got those behind it do not.
        got.starts_with(&expected) && !dealt.status.success()
    };
    let quiet = !dealt.stderr.contains("fullbore: par:");
    (!same || !quiet).then(|| {
        let at = expected.iter().zip(&got).take_while(|(one, other)| one == other).count();
        let shown = |bytes: &[u8]| bytes[at.saturating_sub(30)..].escape_ascii().to_string();
        let shown = |bytes: &[u8]| shown(bytes).chars().take(120).collect::<String>();
        format!(
            "par {options:?} {words:?} ({shape:?}, {}, turn {}): from byte {at}:\n  {} {}\n  {} {}\n  {}",
            how.locale,
            how.turn,
            status_text(alone.status),
            shown(&expected),
            status_text(dealt.status),
            shown(&got),
            dealt.stderr.lines().next().unwrap_or_default(),
        )
    })
}

fn unpacked(place: &Sandbox, program: &str, bytes: &[u8]) -> Vec<u8> {
    let mut command = place.command(program);
    command.arg("-dc");
    fed(command, bytes).stdout
}

fn locale(kind: Kind, turn: usize) -> &'static str {
    if kind == Kind::Utf8 || turn % 2 == 1 { "C.UTF-8" } else { "C" }
}

/// Runs the cases with these sizes and shapes (each by the numbers of the case and of the run) and reports all differences.
fn check(runs: usize, choose: impl Fn(usize, usize) -> (usize, Shape) + Sync) {
    let cases = cases();
    let next = AtomicUsize::new(0);
    let work = || {
        let place = place();
        let mut wrong = Vec::new();
        while let Some((number, case)) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            cases.get(number).map(|case| (number, case))
        } {
            for run in 0..runs {
                let (size, shape) = choose(number, run);
                let turn = number + run;
                let how = How { size, shape, locale: locale(case.kind, turn / 3), turn };
                wrong.extend(difference(&place, case, &how));
            }
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} runs differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_case_meets_every_size_of_blocks_and_every_kind_of_records() {
    if std::env::var_os("FULLBORE_ALL").is_some() {
        let pairs = SIZES.len() * SHAPES.len();
        check(pairs, |_, run| (SIZES[run % SIZES.len()], SHAPES[run / SIZES.len()]));
        return;
    }
    // 7 runs of each case: every size once, every shape at least twice.
    check(SIZES.len(), |case, run| (SIZES[run], SHAPES[(case + run) % SHAPES.len()]));
}
