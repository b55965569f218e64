//! Which stage holds the others back, and whether its input, its output or itself is to blame.

use fullbore_record::{Cause, FindingKind};

use super::confidence;
use super::flow::{Doing, Flow, StageFlow};

/// A stage whose own time is a smaller share of the run than this proves nothing.
const MIN_OWN_SHARE: f64 = 0.05;

/// A stage that has this share of the run as its own time is the limit, whatever the pipes and the other stages do.
pub(crate) const HOLDS_BACK: f64 = 0.85;

/// Stages this close to each other are named together.
const ABOUT_EQUAL: f64 = 0.9;

/// A stage that neighbours wait for during less than this share of its waits may be idle on the side.
const IDLE_WAITED_FOR: f64 = 0.05;

/// Stages end at the same time when this share of the run lies between.
const MOMENT: f64 = 0.05;

/// Two stages that live at the same time for this share of a life are there side by side.
const BESIDE: f64 = 0.5;

/// An idle stage on the side lives as long, and has as much own time, as one that works.
const IDLE_RIVAL: f64 = 0.8;

/// Output below this share of the input is a summary, not what a stage waits to write.
const SUMMARY_SHARE: f64 = 0.01;

/// A wait for a device is what holds a stage back when it takes this share of its own time …
const PREVAILING_WAIT: f64 = 0.4;
/// … and about as long as it runs: asking a device costs CPU time, too.
const NEARLY_RUNNING: f64 = 0.8;

/// One direction is the stage's trade when it moves this many times the bytes of the other.
const MOSTLY_ONE_WAY: f64 = 2.0;

/// What a stage waits for that is neither of the pipeline nor a file.
const OUTSIDE: [Cause; 4] = [Cause::Network, Cause::LocalSocket, Cause::Event, Cause::Terminal];

/// An end of the pipeline that waits for the world this share of the run sets the pace; so does any stage that sleeps so
/// much.
const SETS_THE_PACE: f64 = 0.5;

/// Below this, the stage that comes nearest is named, too.
const SURE_PERCENT: f64 = 80.0;

/// The stage that waits least for others, and one that is about equal to it.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub(super) top: usize,
    pub(super) equal: Option<usize>,
    /// It is equal as far as the samples tell, though it has less time of its own.
    pub(super) is_unsure: bool,
    /// How sure it is that no other stage than these has more time of its own; `None` without another.
    pub(super) confidence_percent: Option<f64>,
}

/// The stage with the most time of its own; among nearly equal ones the one that needs the most with CPUs to spare.
pub(super) fn choose(flow: &Flow<'_>) -> Option<Choice> {
    let working: Vec<usize> =
        (0..flow.stages.len()).filter(|&i| !is_idle_on_the_side(flow, i)).collect();
    let own_ns = |i: usize| flow.stages[i].own_ns();
    let most_ns = working.iter().map(|&i| own_ns(i)).fold(0.0, f64::max);
    if flow.span_ns <= 0.0 || most_ns < MIN_OWN_SHARE * flow.span_ns {
        return None;
    }
    let is_contender = |i: usize| own_ns(i) >= ABOUT_EQUAL * most_ns;
    let mut contenders: Vec<usize> = working.iter().copied().filter(|&i| is_contender(i)).collect();
    contenders.sort_by(|&a, &b| flow.stages[b].needed_ns().total_cmp(&flow.stages[a].needed_ns()));
    let top = *contenders.first()?;
    let enough_ns = ABOUT_EQUAL * flow.stages[top].needed_ns();
    let equal = contenders.get(1).copied().filter(|&i| flow.stages[i].needed_ns() >= enough_ns);
    // How sure it is that the top beats a rival, each rival by the measure that decided.
    let needed_ns = |i: usize| flow.stages[i].needed_ns();
    let measure = |i: usize| {
        if is_contender(i) { (needed_ns(top), needed_ns(i)) } else { (own_ns(top), own_ns(i)) }
    };
    let mut rivals: Vec<(usize, f64)> = working
        .into_iter()
        .filter(|&i| i != top)
        .map(|i| (i, confidence::percent(flow, measure(i), (top, i))))
        .collect();
    rivals.sort_by(|a, b| a.1.total_cmp(&b.1));
    let nearest = rivals.first().filter(|(_, percent)| *percent < SURE_PERCENT).map(|(i, _)| *i);
    let is_unsure = equal.is_none() && nearest.is_some();
    let equal = equal.or(nearest);
    let mut others = rivals.iter().filter(|(i, _)| Some(*i) != equal);
    let confidence_percent = others.next().map(|(_, percent)| *percent);
    Some(Choice { top, equal, is_unsure, confidence_percent })
}

/// It sleeps or waits by itself, nobody waits for it, and another stage worked all the while.
fn is_idle_on_the_side(flow: &Flow<'_>, index: usize) -> bool {
    let stage = &flow.stages[index];
    let waiting_ns = stage.needed_ns() - stage.running_ns;
    if stage.neighbours().next().is_none() {
        return waiting_ns > stage.own_ns() / 2.0 && is_outlived(flow, index);
    }
    waiting_ns > stage.own_ns() / 2.0
        && stage.waited_for_ns() < IDLE_WAITED_FOR * waiting_ns
        && flow.stages.iter().enumerate().any(|(other, rival)| {
            other != index
                && rival.life_ns >= IDLE_RIVAL * stage.life_ns
                && rival.own_ns() >= IDLE_RIVAL * stage.own_ns()
                && rival.running_ns > rival.own_ns() / 2.0
        })
}

/// A stage that pipes join worked beside this one, which no pipe joins to any, and went on as long: `sleep 9 & a | b`. One that
/// began when this one had ended was held up by it: `sleep 9; a | b`.
fn is_outlived(flow: &Flow<'_>, index: usize) -> bool {
    let own = &flow.stages[index];
    flow.stages.iter().any(|other| {
        other.neighbours().next().is_some()
            && other.end_ns() >= own.end_ns() - MOMENT * flow.span_ns
            && own.together_ns(other).min(other.own_ns()) >= BESIDE * own.life_ns
    })
}

/// Whether the chosen stage is held back by its input, its output, or itself.
pub(super) fn kind_of(flow: &Flow<'_>, top: usize) -> FindingKind {
    let stage = &flow.stages[top];
    let sum = |wanted: &[Doing]| {
        stage.own.iter().filter(|(d, _)| wanted.contains(d)).map(|(_, ns)| ns).sum::<f64>()
    };
    let half_ns = stage.own_ns() / 2.0;
    let disk_ns = sum(&[Doing::Waiting(Cause::Disk)]);
    let (is_head, is_tail) = (stage.upstream.is_empty(), stage.downstream.is_empty());
    let mut device_ns = disk_ns + sum(&OUTSIDE.map(Doing::Waiting));
    if is_head != is_tail {
        // One that sleeps at an end of the pipeline gives or takes at a rate of its own: `pv -L`, `tail -f`, a poll.
        device_ns += sum(&[Doing::Waiting(Cause::Sleep)]);
    }
    let moves = Moves::of(stage);
    let writes_out = if disk_ns > device_ns / 2.0 { moves.writes_matter } else { true };
    let (mut inward_ns, mut outward_ns) =
        (sum(&[Doing::ReadingOutside]), sum(&[Doing::WritingOutside]));
    match (is_head, is_tail) {
        (true, false) => inward_ns += device_ns,
        (false, true) if writes_out => outward_ns += device_ns,
        (true, true) if moves.mostly_reads => inward_ns += device_ns,
        (true, true) if moves.mostly_writes => outward_ns += device_ns,
        _ => {}
    }
    let prevails = |waiting_ns: f64| {
        waiting_ns > half_ns
            || (waiting_ns > PREVAILING_WAIT * stage.own_ns()
                && waiting_ns > NEARLY_RUNNING * stage.running_ns)
    };
    if prevails(inward_ns) && inward_ns >= outward_ns {
        FindingKind::SourceBound
    } else if prevails(outward_ns) {
        FindingKind::SinkBound
    } else {
        FindingKind::Bottleneck
    }
}

/// Whether the chosen stage gives or takes at a rate of its own, so that no pipe and no CPU makes it faster.
pub(super) fn sets_the_pace(flow: &Flow<'_>, top: usize) -> bool {
    let stage = &flow.stages[top];
    let is_end = matches!(kind_of(flow, top), FindingKind::SourceBound | FindingKind::SinkBound);
    let waits_ns = stage.needed_ns() - stage.running_ns;
    let sleeps = |(doing, _): &&(Doing, f64)| *doing == Doing::Waiting(Cause::Sleep);
    let sleeps_ns: f64 = stage.own.iter().filter(sleeps).map(|(_, ns)| ns).sum();
    (is_end && waits_ns >= SETS_THE_PACE * flow.span_ns)
        || sleeps_ns >= SETS_THE_PACE * flow.span_ns
}

/// Which way the bytes of a stage go.
struct Moves {
    mostly_reads: bool,
    mostly_writes: bool,
    writes_matter: bool,
}

impl Moves {
    fn of(stage: &StageFlow<'_>) -> Self {
        let (Some(read), Some(written)) = (stage.stage.read_bytes, stage.stage.written_bytes)
        else {
            return Self { mostly_reads: false, mostly_writes: false, writes_matter: true };
        };
        let (read, written) = (read as f64, written as f64);
        Self {
            mostly_reads: read > 0.0 && read >= MOSTLY_ONE_WAY * written,
            mostly_writes: written > 0.0 && written >= MOSTLY_ONE_WAY * read,
            writes_matter: written > SUMMARY_SHARE * read,
        }
    }
}
