//! How often a test of the engine's judgement is right at its first try: on an idle machine, and beside a stranger.
//!
//! Neither is part of a document. `make bench CLAIMS=first-try` judges each verdict 20 times (`FULLBORE_REPEAT` says
//! how often), `CLAIMS=first-try-stranger` does so while one other process computes without a pause, and
//! `CLAIMS=shares-spread` shows how far one try of the test of shares is off.

use std::process::{Child, Command, Stdio};

use crate::Effort;
use crate::cases::verdicts::Judgement;
use crate::cases::{mixes, verdicts};
use crate::table::{Outcome, Row};

/// Every verdict, again and again, with nothing beside.
pub(crate) fn idle(effort: Effort) -> Vec<Row> {
    vec![verdicts_at_first_try(effort, "an otherwise idle machine", 99.0, false)]
}

/// Every verdict beside a process that computes; to name too few CPUs is right there.
pub(crate) fn beside_a_stranger(effort: Effort) -> Vec<Row> {
    let _stranger = Stranger::start();
    vec![verdicts_at_first_try(effort, "a machine with one CPU-bound stranger", 95.0, true)]
}

/// A process that computes until it is dropped.
pub(crate) struct Stranger(Child);

impl Stranger {
    pub(crate) fn start() -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
        Self(shell.spawn().unwrap())
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn repetitions(effort: Effort) -> usize {
    let wanted = std::env::var("FULLBORE_REPEAT").ok().and_then(|text| text.parse().ok());
    wanted.unwrap_or(effort.times(3, 20))
}

fn verdicts_at_first_try(effort: Effort, place: &str, bar_percent: f64, crowded: bool) -> Row {
    let times = repetitions(effort);
    let (mut right, mut too_few, mut all) = (0_usize, 0_usize, 0_usize);
    let mut notes = Vec::new();
    for case in effort.part_of(verdicts::all()) {
        if let Some(program) = case.missing() {
            notes.push(format!("left out: {} ({program} is not installed)", case.name));
            continue;
        }
        let judged: Vec<_> = (0..times).map(|_| case.judge()).collect();
        let right_here = judged.iter().filter(|judgement| **judgement == Judgement::Right).count();
        let is_too_few = |judgement: &&Judgement| matches!(judgement, Judgement::TooFewCpus(_));
        let too_few_here = judged.iter().filter(is_too_few).count();
        let others = judged.iter().filter_map(|judgement| match judgement {
            Judgement::Right => None,
            Judgement::Wrong(said)
            | Judgement::WrongBottleneck(said)
            | Judgement::TooFewCpus(said) => Some(said),
        });
        println!(
            "   {}: {right_here} of {times} right, {too_few_here} name too few CPUs",
            case.name
        );
        notes.extend(others.map(|said| format!("{}: {said}", case.name)));
        (right, too_few, all) = (right + right_here, too_few + too_few_here, all + times);
    }
    let counted = if crowded { right + too_few } else { right };
    let percent = 100.0 * counted as f64 / all.max(1) as f64;
    Row {
        claim: format!(
            "right at the first try on {place}: {} verdicts, {times} tries each",
            verdicts::all().len()
        ),
        bar: format!(
            "≥ {bar_percent:.0} %{}",
            if crowded { ", too few CPUs counted as right" } else { "" }
        ),
        measured: format!("{percent:.1} %: {right} of {all} right, {too_few} name too few CPUs"),
        outcome: Outcome::met_if(percent >= bar_percent),
        command: "fullbore run --report x.json PIPELINE   # crates/cli/tests/cases/verdicts.rs"
            .to_owned(),
        notes,
    }
}

/// How far the worst share of each mix is off in one try of the test, and what the CPUs did for others meanwhile.
pub(crate) fn spread_of_shares(effort: Effort) -> Vec<Row> {
    let times = repetitions(effort);
    let row = |mix: mixes::Mix| {
        let mut tries: Vec<_> = (0..times).map(|_| mix.one_try()).collect();
        tries.sort_by(|a, b| a.excess_points().total_cmp(&b.excess_points()));
        let within = tries.iter().filter(|one| one.excess_points() <= 0.0).count();
        let worst = tries.last().map_or_else(String::new, mixes::Try::text);
        Row {
            claim: format!(
                "{}: one try of the test of shares within its bound, {times} tries",
                mix.name
            ),
            bar: "every try".to_owned(),
            measured: format!("{within} of {times}; worst: {worst}"),
            outcome: Outcome::met_if(within == times),
            command: "crates/cli/tests/shares.rs".to_owned(),
            notes: tries.iter().rev().take(3).map(mixes::Try::text).collect(),
        }
    };
    effort.part_of(mixes::all()).into_iter().map(row).collect()
}
