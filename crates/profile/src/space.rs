//! What code a process has mapped where.

/// Code that is mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Its first address.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// Its file, or `[vdso]`; empty for memory without a file.
    pub path: String,
}

/// The code of one process, in the order of addresses; no two overlap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space(Vec<Mapped>);

impl Space {
    /// Maps something, in place of whatever was there.
    pub(crate) fn map(&mut self, mapped: Mapped) {
        if mapped.start >= mapped.end || self.0.contains(&mapped) {
            return;
        }
        let mut kept = Vec::with_capacity(self.0.len() + 2);
        for old in self.0.drain(..) {
            if old.end <= mapped.start || old.start >= mapped.end {
                kept.push(old);
                continue;
            }
            if old.end > mapped.end {
                let offset = old.offset + (mapped.end - old.start);
                kept.push(Mapped { start: mapped.end, offset, ..old.clone() });
            }
            if old.start < mapped.start {
                kept.push(Mapped { end: mapped.start, ..old });
            }
        }
        kept.push(mapped);
        kept.sort_by_key(|mapped| mapped.start);
        self.0 = kept;
    }

    pub(crate) fn find(&self, address: u64) -> Option<&Mapped> {
        let after = self.0.partition_point(|mapped| mapped.start <= address);
        self.0.get(after.checked_sub(1)?).filter(|mapped| address < mapped.end)
    }

    pub(crate) fn all(&self) -> &[Mapped] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mapped(start: u64, end: u64, path: &str) -> Mapped {
        Mapped { start, end, offset: start, path: path.to_owned() }
    }

    #[test]
    fn what_is_mapped_later_replaces_what_was_there() {
        let mut space = Space::default();
        space.map(mapped(10, 50, "a"));
        space.map(mapped(20, 30, "b"));
        let found = |address| space.find(address).map(|found| found.path.as_str());
        assert_eq!(
            [found(9), found(10), found(19), found(20)],
            [None, Some("a"), Some("a"), Some("b")]
        );
        assert_eq!(
            [found(29), found(30), found(49), found(50)],
            [Some("b"), Some("a"), Some("a"), None]
        );
        assert_eq!(space.find(30).unwrap().offset, 30, "the rest begins later in the file");
    }

    proptest! {
        #[test]
        fn the_last_to_map_an_address_has_it(maps in prop::collection::vec((0_u64..40, 1_u64..20), 1..12)) {
            let mut space = Space::default();
            let mut expected = [None; 64];
            for (number, (start, length)) in maps.iter().enumerate() {
                space.map(Mapped { start: *start, end: start + length, offset: *start, path: number.to_string() });
                let index = |address: u64| usize::try_from(address).unwrap();
                expected[index(*start)..index(start + length)].fill(Some(number));
            }
            for (address, owner) in expected.iter().enumerate() {
                let found = space.find(address as u64);
                prop_assert_eq!(found.map(|found| found.path.clone()), owner.map(|owner| owner.to_string()));
                // Every piece still knows its place in its file.
                prop_assert!(found.is_none_or(|found| found.offset == found.start));
            }
        }
    }
}
