//! What fullbore must not change, and what it must say right.

use crate::Effort;
use crate::cases::mixes::{Deviation, Mix};
use crate::cases::verdicts::Judgement;
use crate::cases::{mixes, pipelines, verdicts as known};
use crate::table::{Outcome, Row};

const MOST_POINTS: f64 = 2.5;

/// Every pipeline of the table behaves as under the shell alone.
pub(crate) fn transparency(effort: Effort) -> Vec<Row> {
    let runs = effort.pick(1, 5);
    let (mut same, mut all) = (0, 0);
    let mut notes = Vec::new();
    for pipeline in effort.part_of(pipelines::all()) {
        if let Some(program) = pipeline.missing() {
            notes.push(format!("left out: {} ({program} is not installed)", pipeline.name));
            continue;
        }
        for _ in 0..runs {
            all += 1;
            match pipeline.compare() {
                Ok(()) => same += 1,
                Err(difference) => notes.push(difference.replace('\n', " ")),
            }
        }
    }
    vec![Row {
        claim: format!(
            "same output, stderr, files and exit status as under the shell alone: {} pipelines",
            pipelines::all().len()
        ),
        bar: "every run".to_owned(),
        measured: format!("{same} of {all} runs"),
        outcome: Outcome::met_if(same == all && all > 0),
        command: "sh -c PIPELINE; fullbore run -q PIPELINE   # crates/cli/tests/cases/pipelines.rs"
            .to_owned(),
        notes,
    }]
}

/// The first finding is right on pipelines whose answer is known.
pub(crate) fn verdicts(effort: Effort) -> Vec<Row> {
    let runs = effort.pick(1, 5);
    let (mut right, mut all, mut wrong_bottlenecks) = (0, 0, 0);
    let mut notes = Vec::new();
    for case in effort.part_of(known::all()) {
        if let Some(program) = case.missing() {
            notes.push(format!("left out: {} ({program} is not installed)", case.name));
            continue;
        }
        let mut right_here = 0;
        for _ in 0..runs {
            match case.judge() {
                Judgement::Right => right_here += 1,
                Judgement::Wrong(said) | Judgement::TooFewCpus(said) => {
                    notes.push(format!("{}: {said}", case.name));
                }
                Judgement::WrongBottleneck(said) => {
                    wrong_bottlenecks += 1;
                    notes.push(format!("{}: wrong bottleneck: {said}", case.name));
                }
            }
        }
        println!("   {}: {right_here} of {runs}", case.name);
        right += right_here;
        all += runs;
    }
    let percent = 100.0 * f64::from(right) / f64::from(all.max(1));
    vec![Row {
        claim: format!(
            "correct verdict where the cause is known: {} pipelines, {runs} runs each",
            known::all().len()
        ),
        bar: "≥ 98 % of runs, bottleneck never wrong".to_owned(),
        measured: format!(
            "{percent:.1} % ({right} of {all}), {wrong_bottlenecks} wrong bottlenecks"
        ),
        outcome: Outcome::met_if(percent >= 98.0 && wrong_bottlenecks == 0),
        command: "fullbore run --report x.json PIPELINE   # crates/cli/tests/cases/verdicts.rs"
            .to_owned(),
        notes,
    }]
}

/// The shares are those that the stages measured themselves.
pub(crate) fn shares(effort: Effort) -> Vec<Row> {
    let seconds = effort.pick(2.0, 10.0);
    let mut all = Vec::new();
    for mix in mixes::all() {
        let found = median_of_three(&mix, seconds);
        for deviation in &found {
            println!("   {}: {}", mix.name, deviation.text());
        }
        all.extend(found.into_iter().map(|deviation| (mix.name, deviation)));
    }
    all.sort_by(|(_, a), (_, b)| b.points().total_cmp(&a.points()));
    let worst = all.first().map_or(f64::INFINITY, |(_, deviation)| deviation.points());
    let mean = all.iter().map(|(_, deviation)| deviation.points()).sum::<f64>() / all.len() as f64;
    vec![Row {
        claim: format!("error of reported shares against ground truth: {} shares in {} pipelines, median of 3 runs of {seconds} s", all.len(), mixes::all().len()),
        bar: format!("≤ {MOST_POINTS} points"),
        measured: format!("at most {worst:.1} points off, {mean:.1} on average"),
        outcome: Outcome::met_if(worst <= MOST_POINTS),
        command: "fullbore run --no-tune --report x.json 'stage --truth a.truth … | stage --truth b.truth …'   # crates/cli/tests/cases/mixes.rs".to_owned(),
        notes: all.iter().take(3).map(|(mix, deviation)| format!("{mix}: {}", deviation.text())).collect(),
    }]
}

/// Every share of the mix: the run that is the middle one of three for this share.
fn median_of_three(mix: &Mix, seconds: f64) -> Vec<Deviation> {
    let mut runs = [0; 3].map(|_| mix.measure(seconds).into_iter());
    let mut shares = Vec::new();
    while let [Some(one), Some(two), Some(three)] = runs.each_mut().map(Iterator::next) {
        let mut same = [one, two, three];
        same.sort_by(|a, b| a.signed_points().total_cmp(&b.signed_points()));
        let [_, median, _] = same;
        shares.push(median);
    }
    shares
}
