//! The work of a stage cut into pieces: read, compute, wait, write; then the next one.

use crate::model::{Model, Stage, Work};

/// Pieces of all stages together, about. With more, a replay takes long and its answer stays the same.
const PIECES: u64 = 40_000;

/// Everything that a stage does, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces {
    work: Vec<Work>,
    /// For each piece, the bytes at each of its ends: first those of inputs, then those of outputs.
    moves: Vec<u64>,
    ports: usize,
}

impl Pieces {
    /// Cuts the work of a stage; a piece moves at most `batch_bytes` through each end.
    pub(crate) fn of(stage: &Stage, batch_bytes: u64) -> Self {
        let ports: Vec<&[u64]> =
            stage.inputs.iter().chain(&stage.outputs).map(|port| port.bytes.as_slice()).collect();
        let mut pieces = Self { ports: ports.len(), ..Self::default() };
        let mut open = Open { work: Work::default(), moves: vec![0; ports.len()], most: 0 };
        for (step, work) in stage.steps.iter().enumerate() {
            let bytes: Vec<u64> =
                ports.iter().map(|port| port.get(step).copied().unwrap_or(0)).collect();
            let most = bytes.iter().copied().max().unwrap_or(0);
            if most == 0 {
                // Nothing moves meanwhile: a piece of its own.
                pieces.close(&mut open);
                open.work = *work;
                pieces.close(&mut open);
            }
            let mut given = 0;
            while given < most {
                let until = most.min(given + batch_bytes.max(1) - open.most);
                let share = (until - given) as f64 / most as f64;
                for (sum, bytes) in open.moves.iter_mut().zip(&bytes) {
                    *sum += part(*bytes, until, most) - part(*bytes, given, most);
                }
                open.work.cpu_ns += work.cpu_ns * share;
                open.work.wait_ns += work.wait_ns * share;
                open.most += until - given;
                given = until;
                if open.most >= batch_bytes {
                    pieces.close(&mut open);
                }
            }
        }
        pieces.close(&mut open);
        pieces
    }

    pub(crate) fn len(&self) -> usize {
        self.work.len()
    }

    pub(crate) fn work(&self, piece: usize) -> Work {
        self.work[piece]
    }

    pub(crate) fn moves(&self, piece: usize) -> &[u64] {
        &self.moves[piece * self.ports..(piece + 1) * self.ports]
    }

    fn close(&mut self, open: &mut Open) {
        let does_something = open.most > 0 || open.work != Work::default();
        if does_something {
            self.work.push(open.work);
            self.moves.extend(&open.moves);
        }
        open.work = Work::default();
        open.moves.fill(0);
        open.most = 0;
    }
}

/// A piece to which more may be added.
struct Open {
    work: Work,
    moves: Vec<u64>,
    most: u64,
}

/// The first `count` of `of` parts of some bytes, in whole bytes.
fn part(bytes: u64, count: u64, of: u64) -> u64 {
    let part = u128::from(bytes) * u128::from(count) / u128::from(of);
    u64::try_from(part).unwrap_or(bytes)
}

/// By how much batches and pipes are enlarged together so that the replay of a long run has a bounded number of pieces.
/// The ratio of both is what matters to how stages wait for each other.
pub(crate) fn scale(model: &Model) -> u64 {
    let pieces = |stage: &Stage| {
        let bytes = stage.inputs.iter().chain(&stage.outputs).map(|port| port.bytes.iter().sum());
        bytes.max().unwrap_or(0_u64) / stage.batch_bytes.max(1)
    };
    model.stages.iter().map(pieces).sum::<u64>().div_ceil(PIECES).max(1)
}
