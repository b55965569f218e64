//! Values at given ranks: exactly up to a number of values, then from counts of small ranges.

use super::short::Short;
use super::sketch::Sketch;

/// Most values of a group that are kept.
pub const MOST_EXACT_VALUES: usize = 1_000_000;

/// The numbers of one group.
#[derive(Clone, Debug, Default)]
struct Numbers {
    /// Those that are integers of at most 18 digits.
    integers: Vec<i64>,
    /// The nearest numbers of 64 bits of all others.
    others: Vec<f64>,
    /// Takes all numbers as soon as there are too many.
    sketch: Option<Box<Sketch>>,
}

/// A number at a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ranked {
    Integer(i64),
    Other(f64),
}

impl Numbers {
    fn bytes(&self) -> usize {
        let kept = self.integers.capacity() + self.others.capacity();
        kept * size_of::<f64>() + self.sketch.as_ref().map_or(0, |sketch| sketch.bytes())
    }

    fn limit(&mut self, most: usize) {
        if self.sketch.is_some() || self.integers.len() + self.others.len() > most {
            let sketch = self.sketch.get_or_insert_default();
            self.integers.drain(..).for_each(|integer| sketch.add(nearest(integer)));
            self.others.drain(..).for_each(|number| sketch.add(number));
            (self.integers, self.others) = (Vec::new(), Vec::new());
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "the nearest number is wanted")]
fn nearest(integer: i64) -> f64 {
    integer as f64
}

/// The numbers of each group.
#[derive(Clone, Debug)]
pub(super) struct Quantiles {
    cells: Vec<Option<Box<Numbers>>>,
    most: usize,
    kept_bytes: usize,
}

impl Quantiles {
    /// Keeps at most so many values of a group exactly.
    pub(super) fn new(most: usize) -> Self {
        Self { cells: Vec::new(), most, kept_bytes: 0 }
    }

    pub(super) fn grow(&mut self, groups: usize) {
        self.cells.resize_with(groups, || None);
    }

    /// Takes in a number; returns whether it is small enough for 64 bits.
    #[inline]
    pub(super) fn add(
        &mut self,
        group: u32,
        short: Option<Short>,
        number: impl FnOnce() -> f64,
    ) -> bool {
        let most = self.most;
        let cell = &mut self.cells[group as usize];
        let cell = cell.get_or_insert_with(|| {
            self.kept_bytes += size_of::<Numbers>();
            Box::default()
        });
        if let Some(sketch) = &mut cell.sketch {
            let number = number();
            let before = sketch.bytes();
            if number.is_finite() {
                sketch.add(number);
            }
            self.kept_bytes += sketch.bytes() - before;
            return number.is_finite();
        }
        let (before, capacity) = (cell.integers.capacity() + cell.others.capacity(), cell.bytes());
        if let Some(integer) = short.and_then(Short::integer) {
            cell.integers.push(integer);
        } else {
            let number = number();
            if !number.is_finite() {
                return false;
            }
            cell.others.push(number);
        }
        let is_full = cell.integers.len() + cell.others.len() > most;
        if is_full {
            cell.limit(most);
        }
        if is_full || cell.integers.capacity() + cell.others.capacity() != before {
            self.kept_bytes = self.kept_bytes + cell.bytes() - capacity;
        }
        true
    }

    /// Takes in what `other` has for group `from`.
    pub(super) fn absorb(&mut self, to: u32, other: &mut Self, from: u32) {
        let Some(mut more) = other.cells[from as usize].take() else { return };
        other.kept_bytes -= more.bytes() + size_of::<Numbers>();
        let cell = &mut self.cells[to as usize];
        let Some(kept) = cell else {
            self.kept_bytes += more.bytes() + size_of::<Numbers>();
            *cell = Some(more);
            return;
        };
        let before = kept.bytes();
        kept.integers.append(&mut more.integers);
        kept.others.append(&mut more.others);
        if let Some(sketch) = more.sketch {
            kept.sketch.get_or_insert_default().absorb(&sketch);
        }
        kept.limit(self.most);
        self.kept_bytes = self.kept_bytes + kept.bytes() - before;
    }

    pub(super) fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<usize>() + self.kept_bytes
    }

    /// Sorts the numbers, so that [`at`](Self::at) can find ranks.
    pub(super) fn sort(&mut self) {
        for cell in self.cells.iter_mut().flatten() {
            cell.integers.sort_unstable();
            cell.others.sort_unstable_by(f64::total_cmp);
        }
    }

    /// Returns the smallest number such that at least this part of the numbers (in millionths of a percent) is not greater.
    pub(super) fn at(&self, group: u32, level: Level) -> Option<Ranked> {
        let cell = self.cells[group as usize].as_deref()?;
        if let Some(sketch) = &cell.sketch {
            return sketch.at(level.rank(sketch.count())).map(Ranked::Other);
        }
        let count = cell.integers.len() + cell.others.len();
        let rank = usize::try_from(level.rank(count as u64)).ok()?;
        (count > 0).then(|| nth(&cell.integers, &cell.others, rank))
    }

    /// Returns whether the numbers of a group were too many to keep.
    pub(super) fn is_estimated(&self, group: u32) -> bool {
        self.cells[group as usize].as_ref().is_some_and(|cell| cell.sketch.is_some())
    }
}

/// Returns the number with this rank, from 1, of two sorted lists.
fn nth(integers: &[i64], others: &[f64], rank: usize) -> Ranked {
    // How many integers are among the first `rank` numbers: the least number of them such that the next integer is not less
    // than the last of the other numbers that are then among them.
    let (mut low, mut high) = (rank.saturating_sub(others.len()), rank.min(integers.len()));
    while low < high {
        let taken = low + (high - low) / 2;
        let is_enough = others.get(rank - taken - 1).is_none_or(|o| is_less(*o, integers[taken]));
        if is_enough { high = taken } else { low = taken + 1 }
    }
    let integer = low.checked_sub(1).map(|at| integers[at]);
    let other = (rank - low).checked_sub(1).and_then(|at| others.get(at)).copied();
    match (integer, other) {
        (Some(integer), Some(other)) if is_less(other, integer) => Ranked::Integer(integer),
        (Some(integer), None) => Ranked::Integer(integer),
        (_, Some(other)) => Ranked::Other(other),
        (None, None) => Ranked::Integer(0),
    }
}

/// Returns whether a number is less than an integer of at most 18 digits, exactly.
#[expect(clippy::cast_possible_truncation, reason = "the number is in range")]
fn is_less(number: f64, integer: i64) -> bool {
    const BOUND: f64 = 1e18;
    if number.abs() > BOUND { number < 0.0 } else { (number.floor() as i64) < integer }
}

/// Which part of the values is not greater, in millionths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(pub u32);

impl Level {
    /// All values.
    pub const ALL: Self = Self(100_000_000);

    /// Returns the rank of a list of so many values, from 1.
    fn rank(self, count: u64) -> u64 {
        let rank = (u128::from(count) * u128::from(self.0)).div_ceil(u128::from(Self::ALL.0));
        u64::try_from(rank).unwrap_or(count).clamp(1, count.max(1))
    }
}
