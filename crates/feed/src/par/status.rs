//! One exit status from those of all copies.

/// Which exit status follows from those of the copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatusRule {
    /// 0 if all copies gave 0, otherwise the status of the first block whose copy did not. A copy that a signal killed
    /// wins.
    All,
    /// As grep: a status of 2 or more wins (the largest); otherwise 0 if any copy gave 0; otherwise 1.
    Any,
    /// The largest.
    Max,
    /// That of the last block, unless a signal killed a copy.
    Last,
}

/// Statuses from here on are those of copies that a signal killed.
const KILLED: u8 = 128;

/// The statuses seen so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Statuses {
    /// The first in the order of blocks that is not 0, and its block.
    first: Option<(u64, u8)>,
    last: Option<(u64, u8)>,
    largest: u8,
    is_any_0: bool,
}

impl Statuses {
    pub(super) fn add(&mut self, block: u64, status: u8) {
        self.is_any_0 |= status == 0;
        self.largest = self.largest.max(status);
        if self.last.is_none_or(|(number, _)| block > number) {
            self.last = Some((block, status));
        }
        if status != 0 && self.first.is_none_or(|(number, _)| block < number) {
            self.first = Some((block, status));
        }
    }

    pub(super) fn under(self, rule: StatusRule) -> u8 {
        match rule {
            StatusRule::All | StatusRule::Last if self.largest >= KILLED => self.largest,
            StatusRule::Last => self.last.map_or(0, |(_, status)| status),
            StatusRule::All => self.first.map_or(0, |(_, status)| status),
            StatusRule::Any if self.largest < 2 => u8::from(!self.is_any_0),
            StatusRule::Any | StatusRule::Max => self.largest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(statuses: &[u8], rule: StatusRule) -> u8 {
        let mut all = Statuses::default();
        for (number, status) in statuses.iter().enumerate().rev() {
            all.add(number as u64 + 1, *status);
        }
        all.under(rule)
    }

    #[test]
    fn each_rule_makes_one_status_of_many() {
        let rows = [
            (vec![0, 0], [0, 0, 0, 0]),
            (vec![0, 1], [1, 0, 1, 1]),
            (vec![1, 0], [1, 0, 1, 0]),
            (vec![1, 1], [1, 1, 1, 1]),
            (vec![0, 3, 2], [3, 3, 3, 2]),
            (vec![0, 139, 2], [139, 139, 139, 139]),
        ];
        for (statuses, expected) in rows {
            let rules = [StatusRule::All, StatusRule::Any, StatusRule::Max, StatusRule::Last];
            assert_eq!(rules.map(|rule| of(&statuses, rule)), expected, "{statuses:?}");
        }
    }
}
