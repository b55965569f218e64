//! Who gets a CPU when more stages want to run than there are CPUs: in turn, for a slice of time each.
//!
//! It matters that stages run in slices and not all at once at a lower speed: a pipe holds much less than a stage reads or
//! writes in a slice, so its neighbours soon wait for one that is off its CPU.

/// How long a stage runs before another one gets its CPU, in nanoseconds. Linux looks at a tick whether a thread has had its
/// slice; ticks are 4 ms apart in most kernels, slices are shorter (base_slice_ns).
const SLICE_NS: f64 = 4e6;

/// A stage's turn on the CPUs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    /// CPUs that it has now.
    pub(crate) cpus: f64,
    /// Rest of its slice.
    slice_ns: f64,
    /// Whether others wait for its CPUs.
    is_awaited: bool,
    /// CPU time that it had so far, for each CPU that it wants.
    had_ns: f64,
    wanted: bool,
}

impl Turn {
    pub(crate) fn is_on(&self) -> bool {
        self.cpus > 0.0
    }

    /// Time until another stage may get its CPUs.
    pub(crate) fn ends_in_ns(&self) -> f64 {
        if self.is_awaited { self.slice_ns.max(0.0) } else { f64::INFINITY }
    }

    /// Some time passes in which it wants `width` CPUs.
    pub(crate) fn pass(&mut self, ns: f64, width: f64) {
        if self.is_on() {
            self.slice_ns -= ns;
            self.had_ns += ns * self.cpus / width;
        }
    }
}

/// Gives the CPUs to those who want some: whether each wants to run, on how many CPUs, and its turn. 0 CPUs are as many as
/// anybody wants.
///
/// Who has a CPU keeps it to the end of its slice. Then who had least comes first.
pub(crate) fn share(turns: &mut [(bool, f64, &mut Turn)], cpus: f64) {
    let wanting = turns.iter().filter(|(wants, ..)| *wants);
    let wanted: f64 = wanting.clone().map(|(_, width, _)| width).sum();
    let is_crowded = cpus > 0.0 && wanted > cpus;
    let least_ns = wanting.map(|(.., turn)| turn.had_ns).fold(f64::INFINITY, f64::min);
    for (wants, width, turn) in turns.iter_mut() {
        if *wants && !turn.wanted {
            // Who waited for data gains no right to run long afterwards.
            turn.had_ns = turn.had_ns.max(least_ns - SLICE_NS);
        }
        turn.wanted = *wants;
        turn.is_awaited = is_crowded;
        if !*wants {
            turn.cpus = 0.0;
        } else if !is_crowded {
            if !turn.is_on() {
                turn.slice_ns = SLICE_NS;
            }
            turn.cpus = *width;
        }
    }
    if is_crowded {
        in_turn(turns, cpus);
    }
}

fn in_turn(turns: &mut [(bool, f64, &mut Turn)], cpus: f64) {
    let mut order: Vec<usize> = (0..turns.len()).filter(|&place| turns[place].0).collect();
    let keeps = |turn: &Turn| turn.is_on() && turn.slice_ns > 0.0;
    order.sort_by(|&a, &b| {
        let (a, b) = (&*turns[a].2, &*turns[b].2);
        keeps(b).cmp(&keeps(a)).then(a.had_ns.total_cmp(&b.had_ns))
    });
    let mut free = cpus;
    for place in order {
        let (_, width, turn) = &mut turns[place];
        let keeps = keeps(turn);
        turn.cpus = width.min(free);
        free -= turn.cpus;
        if turn.is_on() && !keeps {
            turn.slice_ns = SLICE_NS;
        }
    }
}
