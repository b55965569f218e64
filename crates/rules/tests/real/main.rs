//! Asks the real programs: for every rule that promises something, the outputs of blocks are what the rule says.
//!
//! `cases.txt` lists commands that must be right, `differs.txt` commands that must be seen to differ. Both are run whole
//! and cut at every record. `FULLBORE_CI=1` turns a skipped program into a failure; `FULLBORE_CASE=sed` selects cases.

mod guess;
mod inputs;
mod merges;
mod run;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use fullbore_rules::{Dealt, Ends, Rule, rule};

use inputs::{Kind, inputs, records};
use run::{Outcome, is_installed, run};

/// A line of a list: what kind of input, and the words of the command.
struct Case {
    kind: Kind,
    words: Vec<String>,
    line: &'static str,
}

/// Reads a list. A line is `[kind] command`; comments do not count.
fn cases(list: &'static str) -> Vec<Case> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let case = |line: &'static str| {
        let (kind, command) = line.split_once(char::is_whitespace).expect(line);
        let words = shell_words::split(&command.replace('␤', "\n")).expect(line);
        Case { kind: Kind::named(kind), words, line }
    };
    lines.map(case).collect()
}

/// Leaves out cases of programs that are not installed, and says so.
fn possible(cases: Vec<Case>) -> Vec<Case> {
    let mut missing = BTreeSet::new();
    let selected = std::env::var("FULLBORE_CASE").unwrap_or_default();
    let possible = |case: &Case| {
        if !case.line.contains(&selected) {
            return false;
        }
        let inner = case.words.iter().find(|word| {
            ["dos2unix", "unix2dos", "mlr", "rg", "gojq", "original-awk", "gawk", "mawk"]
                .contains(&word.as_str())
        });
        let program = inner.unwrap_or(&case.words[0]);
        is_installed(program) || {
            missing.insert(program.clone());
            false
        }
    };
    let kept = cases.into_iter().filter(possible).collect();
    for program in missing {
        skipped(&program);
    }
    kept
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn skipped(program: &str) {
    let why = format!("{program} is not installed");
    assert!(
        std::env::var_os("FULLBORE_CI").is_none(),
        "skipped: {why} (FULLBORE_CI is set, so this is a failure)"
    );
    eprintln!("skipped: {why}");
}

/// The ways to cut so many records into blocks: at each place, and at all of them.
fn cuts(count: usize) -> Vec<Vec<usize>> {
    let mut ways: Vec<Vec<usize>> = (1..count).map(|place| vec![place]).collect();
    if count > 2 {
        ways.push((1..count).collect());
    }
    ways
}

/// Runs the command on every block, once per distinct block.
fn deal(
    case: &Case,
    locale: &str,
    blocks: &[Vec<u8>],
    seen: &mut Vec<(Vec<u8>, Outcome)>,
) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for block in blocks {
        let known =
            seen.iter().find(|(input, _)| input == block).map(|(_, outcome)| outcome.clone());
        let outcome = known.unwrap_or_else(|| {
            let outcome = run(&case.words, block, locale);
            seen.push((block.clone(), outcome.clone()));
            outcome
        });
        outcomes.push(outcome);
    }
    outcomes
}

/// The blocks of an input for one way to cut it.
fn blocks(records: &[&[u8]], cuts: &[usize], header: usize) -> Vec<Vec<u8>> {
    let body = &records[header.min(records.len())..];
    let ends = cuts.iter().copied().chain([body.len()]);
    let mut begin = 0;
    let block = |end: usize| {
        let block = [&records[..header.min(records.len())], &body[begin..end]].concat().concat();
        begin = end;
        block
    };
    ends.map(block).collect()
}

/// Compares one command on one input, for every cut; returns the first cut where it is not as the rule says.
fn first_difference(case: &Case, rule: &Rule, input: &[u8], locale: &str) -> Option<String> {
    let whole = run(&case.words, input, locale);
    let records = records(input, rule.input);
    let header = merges::header(&rule.dealt);
    let mut seen = Vec::new();
    for cuts in cuts(records.len().saturating_sub(header)) {
        let blocks = blocks(&records, &cuts, header);
        let outcomes = deal(case, locale, &blocks, &mut seen);
        let merged = merges::merge(rule, &case.words, &outcomes, locale);
        let expected = merges::comparable(rule, &case.words, &whole);
        if merged != expected {
            return Some(format!(
                "{} ({locale}) on {} cut at {cuts:?}:\n whole {expected:?}\n dealt {merged:?}",
                case.line,
                input[..input.len().min(200)].escape_ascii()
            ));
        }
        assert_whole_records(case, rule, &blocks, &outcomes);
    }
    None
}

/// The output for a block that ends with a record ends with one, if the rule says so.
fn assert_whole_records(case: &Case, rule: &Rule, blocks: &[Vec<u8>], outcomes: &[Outcome]) {
    if rule.output == Ends::Bytes || rule.dealt != Dealt::Records {
        return;
    }
    let end = |ends: Ends| if ends == Ends::Zeros { 0 } else { b'\n' };
    for (block, outcome) in
        blocks.iter().zip(outcomes).filter(|(block, _)| block.last() == Some(&end(rule.input)))
    {
        let whole = outcome.output.last().is_none_or(|byte| *byte == end(rule.output));
        assert!(
            whole,
            "{}: the output for {} ends within a record",
            case.line,
            block.escape_ascii()
        );
    }
}

/// Checks cases on both processors and in both locales; returns what is wrong.
fn check(cases: &[Case]) -> Vec<String> {
    let check_one = |case: &Case| {
        let rule = rule(&case.words);
        if matches!(rule.dealt, Dealt::Unknown | Dealt::Differs { .. }) {
            return Some(format!("{}: the rule is {:?}", case.line, rule.dealt));
        }
        let inputs = inputs(case.kind);
        // The two locales treat ASCII alike.
        let in_utf8 = inputs
            .iter()
            .filter(|input| !input.is_ascii() || case.kind == Kind::Utf8)
            .map(|input| (input, "C.UTF-8"));
        let in_c = inputs.iter().filter(|_| case.kind != Kind::Utf8).map(|input| (input, "C"));
        let places = in_c.chain(in_utf8);
        places.into_iter().find_map(|(input, locale)| first_difference(case, &rule, input, locale))
    };
    let next = AtomicUsize::new(0);
    let work = || {
        let turns = std::iter::from_fn(|| cases.get(next.fetch_add(1, Ordering::Relaxed)));
        turns.filter_map(check_one).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut wrong = work();
        wrong.extend(other.join().expect("the cases run"));
        wrong
    })
}

#[test]
fn what_the_rules_promise_is_what_the_programs_do() {
    let wrong = check(&possible(cases(include_str!("../cases.txt"))));
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_said_to_differ_differs() {
    let mut wrong = Vec::new();
    for case in possible(cases(include_str!("../differs.txt"))) {
        let rule = rule(&case.words);
        if !matches!(rule.dealt, Dealt::Differs { .. }) {
            wrong.push(format!("{}: the rule is {:?}", case.line, rule.dealt));
            continue;
        }
        // As if it treated records alike.
        let plain = Rule { dealt: Dealt::Records, input: Ends::Lines, output: Ends::Bytes, ..rule };
        let differs = |input: &Vec<u8>| first_difference(&case, &plain, input, "C").is_some();
        if !inputs(case.kind).iter().any(differs) {
            wrong.push(format!("{}: gives the same output everywhere", case.line));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}
