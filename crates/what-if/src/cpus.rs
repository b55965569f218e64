//! Who gets a CPU when more stages want to run than there are CPUs: in turn, for a slice of time each.
//!
//! It matters that stages run in slices and not all at once at a lower speed: a pipe holds much less than a stage reads or
//! writes in a slice, so its neighbours soon wait for one that is off its CPU.

/// How long a stage runs before another one gets its CPU, in nanoseconds. Linux looks at a tick whether a thread has had its
/// slice; ticks are 4 ms apart in most kernels, slices are shorter (base_slice_ns).
const SLICE_NS: f64 = 4e6;

/// Which of two stages gets a CPU first if both began to wait for one at the same time.
///
/// With Linux that depends on the CPUs on which they ran last, which a record does not tell, and it decides which pipes
/// are full and which ones are empty afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// The one that comes first in the record, which is the one that writes.
    Writer,
    /// The one that comes last.
    Reader,
}

/// A stage's turn on the CPUs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    /// CPUs that it has now.
    pub(crate) cpus: f64,
    /// Rest of its slice.
    slice_ns: f64,
    /// Whether others wait for its CPUs.
    is_awaited: bool,
    /// How long it has waited for a CPU.
    waited_ns: f64,
}

impl Turn {
    pub(crate) fn is_on(&self) -> bool {
        self.cpus > 0.0
    }

    /// Time until another stage may get its CPUs.
    pub(crate) fn ends_in_ns(&self) -> f64 {
        if self.is_awaited { self.slice_ns.max(0.0) } else { f64::INFINITY }
    }

    /// Some time passes in which it wants a CPU.
    pub(crate) fn pass(&mut self, ns: f64) {
        if self.is_on() {
            self.slice_ns -= ns;
        } else {
            self.waited_ns += ns;
        }
    }
}

/// Gives the CPUs to those who want some: whether each wants to run, on how many CPUs, and its turn. 0 CPUs are as many as
/// anybody wants.
///
/// Who has a CPU keeps it to the end of its slice. Then who has waited longest comes first.
pub(crate) fn share(turns: &mut [(bool, f64, &mut Turn)], cpus: f64, first: First) {
    let wanted: f64 = turns.iter().filter(|(wants, ..)| *wants).map(|(_, width, _)| width).sum();
    let is_crowded = cpus > 0.0 && wanted > cpus;
    for (wants, width, turn) in turns.iter_mut() {
        turn.is_awaited = is_crowded;
        if !*wants {
            turn.cpus = 0.0;
        } else if !is_crowded {
            turn.give(*width);
        }
    }
    if is_crowded {
        in_turn(turns, cpus, first);
    }
}

fn in_turn(turns: &mut [(bool, f64, &mut Turn)], cpus: f64, first: First) {
    let mut order: Vec<usize> = (0..turns.len()).filter(|&place| turns[place].0).collect();
    if first == First::Reader {
        order.reverse();
    }
    order.sort_by(|&a, &b| {
        let (a, b) = (&*turns[a].2, &*turns[b].2);
        b.keeps().cmp(&a.keeps()).then(b.waited_ns.total_cmp(&a.waited_ns))
    });
    let mut free = cpus;
    for place in order {
        let (_, width, turn) = &mut turns[place];
        let part = width.min(free);
        free -= part;
        if turn.is_on() && !turn.keeps() {
            turn.cpus = 0.0;
        }
        turn.give(part);
    }
}

impl Turn {
    fn keeps(&self) -> bool {
        self.is_on() && self.slice_ns > 0.0
    }

    /// Gives it CPUs; a slice begins if it had none.
    fn give(&mut self, cpus: f64) {
        if !self.is_on() && cpus > 0.0 {
            (self.slice_ns, self.waited_ns) = (SLICE_NS, 0.0);
        }
        self.cpus = cpus;
    }
}
