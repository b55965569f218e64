//! Plays a run: every stage reads, computes, waits and writes piece by piece, over bounded pipes and shared CPUs.
//!
//! Moving bytes takes no time of its own; it is part of the CPU time that was recorded.

use crate::cpus::{self, Turn};
use crate::model::{Model, Start, Work};
use crate::pieces::{Pieces, scale};

/// Less time than this is over, in nanoseconds.
const NOTHING_NS: f64 = 1e-3;

/// A pipe that holds more was meant to hold a burst as it is: it does not grow with the pieces of a long run.
const LARGE_BYTES: u64 = 16 << 20;

/// What a replay shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replayed {
    /// When the last stage ended.
    pub(crate) elapsed_ns: f64,
    /// Time that was lost because more CPUs were wanted than there are.
    pub(crate) starved_ns: f64,
    /// The same, added up over the stages that wanted one.
    pub(crate) runnable_ns: f64,
    /// For each pipe, how long its sides waited for each other.
    pub(crate) pipes: Vec<Waits>,
    /// For each stage of the model, when it ended and when it waited for another one.
    pub(crate) stages: Vec<Life>,
}

/// How long the sides of a pipe waited at it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Waits {
    pub(crate) writer_ns: f64,
    pub(crate) reader_ns: f64,
}

/// A stage in a replay.
#[derive(Clone, Debug, Default)]
pub(crate) struct Life {
    pub(crate) start_ns: f64,
    pub(crate) end_ns: f64,
    pub(crate) blocks: Vec<Block>,
}

/// The end of a time in which a stage waited for another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) to_ns: f64,
    pub(crate) pipe: usize,
    /// The stage that ended the wait.
    pub(crate) by: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unborn,
    Reading,
    Working,
    Writing,
    Done,
}

/// A stage at a moment of the replay.
struct Actor {
    state: State,
    pieces: Pieces,
    piece: usize,
    /// Bytes of this piece that each end has yet to move.
    left: Vec<u64>,
    work: Work,
    /// Since when it waits at a pipe.
    blocked: Option<(f64, usize)>,
    turn: Turn,
}

/// A pipe at a moment of the replay.
struct Fill {
    bytes: u64,
    capacity_bytes: u64,
    writers: usize,
    readers: usize,
    last_writer: usize,
    last_reader: usize,
}

/// Plays the run of a model from its start to the end of its last stage.
pub(crate) fn replay(model: &Model) -> Replayed {
    let mut play = Play::new(model);
    loop {
        play.settle();
        play.share_cpus();
        let Some(wait_ns) = play.until_something_happens() else {
            if play.force() {
                continue;
            }
            return play.end();
        };
        play.pass(wait_ns);
    }
}

struct Play<'a> {
    model: &'a Model,
    scale: u64,
    now_ns: f64,
    actors: Vec<Actor>,
    fills: Vec<Fill>,
    seen: Replayed,
}

impl<'a> Play<'a> {
    fn new(model: &'a Model) -> Self {
        let scale = scale(model);
        let actor = |stage: &crate::model::Stage| Actor {
            state: State::Unborn,
            pieces: Pieces::of(stage, stage.batch_bytes.saturating_mul(scale)),
            piece: 0,
            left: vec![0; stage.inputs.len() + stage.outputs.len()],
            work: Work::default(),
            blocked: None,
            turn: Turn::default(),
        };
        let mut fills: Vec<Fill> = (model.pipes.iter())
            .map(|_| Fill {
                bytes: 0,
                capacity_bytes: 0,
                writers: 0,
                readers: 0,
                last_writer: 0,
                last_reader: 0,
            })
            .collect();
        for stage in &model.stages {
            stage.outputs.iter().for_each(|port| fills[port.pipe].writers += 1);
            stage.inputs.iter().for_each(|port| fills[port.pipe].readers += 1);
        }
        let mut seen = Replayed::default();
        seen.pipes.resize(model.pipes.len(), Waits::default());
        seen.stages.resize(model.stages.len(), Life::default());
        let actors = model.stages.iter().map(actor).collect();
        Self { model, scale, now_ns: 0.0, actors, fills, seen }
    }

    /// Lets every stage go on until it computes, waits or is blocked.
    fn settle(&mut self) {
        for (fill, pipe) in self.fills.iter_mut().zip(&self.model.pipes) {
            let now = pipe.capacity.iter().rev().find(|(from_ns, _)| *from_ns <= self.now_ns);
            let bytes = now.map_or(crate::model::PIPE_BYTES, |(_, bytes)| *bytes);
            let grown = bytes.saturating_mul(self.scale);
            fill.capacity_bytes = if bytes >= LARGE_BYTES {
                bytes.max(crate::model::PIPE_BYTES.saturating_mul(self.scale))
            } else {
                grown
            };
        }
        let mut moved = true;
        while moved {
            moved = (0..self.actors.len()).filter(|&stage| self.go_on(stage)).count() > 0;
        }
    }

    /// Lets one stage go on; says whether anything changed.
    fn go_on(&mut self, stage: usize) -> bool {
        let mut changed = false;
        loop {
            let (is_ready, moved) = match self.actors[stage].state {
                State::Unborn => (self.start_ns(stage).is_some_and(|at| at <= self.now_ns), false),
                State::Reading => self.take(stage),
                State::Working => {
                    let work = self.actors[stage].work;
                    (work.cpu_ns <= NOTHING_NS && work.wait_ns <= NOTHING_NS, false)
                }
                State::Writing => self.put(stage),
                State::Done => return changed,
            };
            changed |= is_ready || moved;
            if !is_ready {
                return changed;
            }
            self.next_state(stage);
        }
    }

    fn next_state(&mut self, stage: usize) {
        let next = match self.actors[stage].state {
            State::Unborn => {
                self.seen.stages[stage].start_ns = self.now_ns;
                self.load(stage)
            }
            State::Reading => State::Working,
            State::Working => State::Writing,
            State::Writing => {
                self.actors[stage].piece += 1;
                self.load(stage)
            }
            State::Done => State::Done,
        };
        self.actors[stage].state = next;
    }

    /// Begins the next piece, or ends the stage when there is none.
    fn load(&mut self, stage: usize) -> State {
        let actor = &mut self.actors[stage];
        if actor.piece < actor.pieces.len() {
            actor.work = actor.pieces.work(actor.piece);
            actor.left.copy_from_slice(actor.pieces.moves(actor.piece));
            return State::Reading;
        }
        self.seen.stages[stage].end_ns = self.now_ns;
        for port in &self.model.stages[stage].outputs {
            self.fills[port.pipe].writers -= 1;
            self.fills[port.pipe].last_writer = stage;
        }
        for port in &self.model.stages[stage].inputs {
            self.fills[port.pipe].readers -= 1;
            self.fills[port.pipe].last_reader = stage;
        }
        State::Done
    }

    /// Reads what is there: whether all of the piece was read, and whether any of it was.
    fn take(&mut self, stage: usize) -> (bool, bool) {
        let (mut missing, mut moved) = (None, false);
        for (place, port) in self.model.stages[stage].inputs.iter().enumerate() {
            let (left, fill) = (&mut self.actors[stage].left[place], &mut self.fills[port.pipe]);
            let bytes = (*left).min(fill.bytes);
            if bytes > 0 {
                *left -= bytes;
                fill.bytes -= bytes;
                fill.last_reader = stage;
                moved = true;
            }
            if *left > 0 && fill.writers == 0 {
                *left = 0;
            }
            if *left > 0 {
                missing = missing.or(Some(port.pipe));
            }
        }
        self.block(stage, missing);
        (missing.is_none(), moved)
    }

    /// Writes what there is room for: whether all of the piece was written, and whether any of it was.
    fn put(&mut self, stage: usize) -> (bool, bool) {
        let (mut full, mut moved) = (None, false);
        let inputs = self.model.stages[stage].inputs.len();
        for (place, port) in self.model.stages[stage].outputs.iter().enumerate() {
            let left = &mut self.actors[stage].left[inputs + place];
            let fill = &mut self.fills[port.pipe];
            if fill.readers == 0 {
                *left = 0;
            }
            let bytes = (*left).min(fill.capacity_bytes.saturating_sub(fill.bytes));
            if bytes > 0 {
                *left -= bytes;
                fill.bytes += bytes;
                fill.last_writer = stage;
                moved = true;
            }
            if *left > 0 {
                full = full.or(Some(port.pipe));
            }
        }
        self.block(stage, full);
        (full.is_none(), moved)
    }

    /// Notes that a stage waits at a pipe, or that it no longer does.
    fn block(&mut self, stage: usize, at: Option<usize>) {
        let reads = self.actors[stage].state == State::Reading;
        match (self.actors[stage].blocked, at) {
            (None, Some(pipe)) => self.actors[stage].blocked = Some((self.now_ns, pipe)),
            (Some((from_ns, pipe)), None) => {
                self.actors[stage].blocked = None;
                let waited_ns = self.now_ns - from_ns;
                if waited_ns <= 0.0 {
                    return;
                }
                let (waits, fill) = (&mut self.seen.pipes[pipe], &self.fills[pipe]);
                let by = if reads { fill.last_writer } else { fill.last_reader };
                let sum = if reads { &mut waits.reader_ns } else { &mut waits.writer_ns };
                *sum += waited_ns;
                let block = Block { to_ns: self.now_ns, pipe, by };
                self.seen.stages[stage].blocks.push(block);
            }
            _ => {}
        }
    }

    /// When a stage begins, if that is known yet.
    fn start_ns(&self, stage: usize) -> Option<f64> {
        match self.model.stages[stage].start {
            Start::At(at_ns) => Some(at_ns),
            Start::After(other, ns) => {
                let is_over = self.actors[other].state == State::Done;
                is_over.then(|| self.seen.stages[other].end_ns + ns)
            }
        }
    }

    /// Gives the CPUs to the stages that want to run.
    fn share_cpus(&mut self) {
        let model = self.model;
        let wants = |actor: &Actor| actor.state == State::Working && actor.work.cpu_ns > NOTHING_NS;
        let actors = self.actors.iter_mut().zip(&model.stages);
        let mut turns: Vec<(bool, f64, &mut Turn)> =
            actors.map(|(actor, stage)| (wants(actor), stage.width, &mut actor.turn)).collect();
        cpus::share(&mut turns, model.cpus, model.first);
    }

    /// Time until a stage ends computing or waiting, begins, loses its CPU, or a pipe grows.
    fn until_something_happens(&self) -> Option<f64> {
        let left = 1.0 - self.model.lost_to_others;
        let stages = (0..self.actors.len()).filter_map(|stage| {
            let actor = &self.actors[stage];
            match actor.state {
                State::Unborn => Some(self.start_ns(stage)? - self.now_ns),
                State::Working if actor.work.cpu_ns > NOTHING_NS => {
                    let end_ns = actor.work.cpu_ns / (actor.turn.cpus * left);
                    actor.turn.is_on().then(|| end_ns.min(actor.turn.ends_in_ns()))
                }
                State::Working => Some(actor.work.wait_ns),
                _ => None,
            }
        });
        let first = stages.min_by(f64::total_cmp)?;
        let grows = self.model.pipes.iter().flat_map(|pipe| &pipe.capacity);
        let grows = grows.map(|(at_ns, _)| at_ns - self.now_ns).filter(|wait_ns| *wait_ns > 0.0);
        Some(grows.fold(first, f64::min).max(0.0))
    }

    fn pass(&mut self, wait_ns: f64) {
        let left = 1.0 - self.model.lost_to_others;
        let (mut wanted, mut granted) = (0.0, 0.0);
        for (actor, stage) in self.actors.iter_mut().zip(&self.model.stages) {
            if actor.state != State::Working {
                continue;
            }
            if actor.work.cpu_ns > NOTHING_NS {
                let got = actor.turn.cpus * left;
                actor.work.cpu_ns -= wait_ns * got;
                actor.turn.pass(wait_ns);
                self.seen.runnable_ns += wait_ns * (1.0 - got / stage.width);
                wanted += stage.width;
                granted += got;
            } else {
                actor.work.wait_ns -= wait_ns;
            }
        }
        if wanted > 0.0 {
            self.seen.starved_ns += wait_ns * (1.0 - granted / wanted);
        }
        self.now_ns += wait_ns;
        // Adding a time to a much larger one may round it away.
        for stage in 0..self.actors.len() {
            if let Some(at_ns) = self.start_ns(stage)
                && self.actors[stage].state == State::Unborn
                && at_ns - self.now_ns <= NOTHING_NS
            {
                self.now_ns = self.now_ns.max(at_ns);
            }
        }
    }

    /// Where stages wait for each other in a circle, the first one goes on all the same; `false` when all have ended.
    fn force(&mut self) -> bool {
        let find = |state: State| self.actors.iter().position(|actor| actor.state == state);
        if let Some(stage) = find(State::Writing) {
            let inputs = self.model.stages[stage].inputs.len();
            for (place, port) in self.model.stages[stage].outputs.iter().enumerate() {
                let left = std::mem::take(&mut self.actors[stage].left[inputs + place]);
                self.fills[port.pipe].bytes += left;
                self.fills[port.pipe].last_writer = stage;
            }
            return true;
        }
        if let Some(stage) = find(State::Reading) {
            self.actors[stage].left[..self.model.stages[stage].inputs.len()].fill(0);
            return true;
        }
        false
    }

    fn end(mut self) -> Replayed {
        let own = self.model.stages.iter().zip(&self.seen.stages);
        let ends = own.filter(|(stage, _)| stage.number.is_some()).map(|(_, life)| life.end_ns);
        self.seen.elapsed_ns = ends.fold(0.0, f64::max);
        self.seen
    }
}
