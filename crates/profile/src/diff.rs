//! Two profiles compared, stack by stack.

use serde::Serialize;

/// A function in two profiles, with everything that it called.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Time in it and in what it called, before, in the unit of the stacks.
    pub before: f64,
    /// … and after.
    pub after: f64,
    /// What it called, the longest first.
    pub children: Vec<Change>,
}

/// The difference of two profiles.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// Everything; its name is empty.
    pub root: Change,
}

impl Diff {
    /// Compares stacks, each outermost first, with their times.
    ///
    /// The first name of a stack of fullbore is its stage, whose words may differ between the two: stages of the same number
    /// are compared, under the name of the later.
    #[must_use]
    pub fn of(before: &[(Vec<String>, f64)], after: &[(Vec<String>, f64)]) -> Self {
        let mut diff = Self::default();
        for (stack, time) in after {
            diff.add(stack, |change| change.after += time);
        }
        for (stack, time) in before {
            diff.add(stack, |change| change.before += time);
        }
        diff.root.sort();
        diff
    }

    fn add(&mut self, stack: &[String], add: impl Fn(&mut Change)) {
        let mut change = &mut self.root;
        add(change);
        for (depth, name) in stack.iter().enumerate() {
            let same = |known: &Change| {
                known.name == *name
                    || depth == 0
                        && stage_of(name).is_some_and(|stage| stage_of(&known.name) == Some(stage))
            };
            let place = change.children.iter().position(same).unwrap_or_else(|| {
                change.children.push(Change { name: name.clone(), ..Change::default() });
                change.children.len() - 1
            });
            change = &mut change.children[place];
            add(change);
        }
    }
}

/// The number of a stage at the beginning of its name.
fn stage_of(name: &str) -> Option<u32> {
    name.split_once(' ')?.0.parse().ok()
}

impl Change {
    /// By how much it took longer.
    #[must_use]
    pub fn longer(&self) -> f64 {
        self.after - self.before
    }

    fn sort(&mut self) {
        let largest = |change: &Change| change.before.max(change.after);
        self.children.sort_by(|one, two| largest(two).total_cmp(&largest(one)));
        self.children.iter_mut().for_each(Self::sort);
    }

    /// The functions whose own time changed most, the largest change first: name and how much longer it takes itself.
    #[must_use]
    pub fn largest(&self, count: usize) -> Vec<(String, f64)> {
        let mut own: std::collections::BTreeMap<&str, f64> = std::collections::BTreeMap::new();
        fn go<'c>(change: &'c Change, own: &mut std::collections::BTreeMap<&'c str, f64>) {
            let below: f64 = change.children.iter().map(Change::longer).sum();
            *own.entry(&change.name).or_default() += change.longer() - below;
            change.children.iter().for_each(|child| go(child, own));
        }
        self.children.iter().for_each(|child| go(child, &mut own));
        let mut list: Vec<(String, f64)> =
            own.into_iter().map(|(name, by)| (name.to_owned(), by)).collect();
        list.retain(|(_, by)| by.abs() > 0.0);
        list.sort_by(|one, two| two.1.abs().total_cmp(&one.1.abs()));
        list.truncate(count);
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(list: &[(&str, f64)]) -> Vec<(Vec<String>, f64)> {
        let stack =
            |(text, time): &(&str, f64)| (text.split(';').map(str::to_owned).collect(), *time);
        list.iter().map(stack).collect()
    }

    #[test]
    fn every_function_has_its_time_before_and_after() {
        let before = stacks(&[("1 sort;main;compare", 6.0), ("1 sort;main;read", 2.0)]);
        let after = stacks(&[
            ("1 sort -n;main;compare", 3.0),
            ("1 sort -n;main;number", 1.0),
            ("1 sort -n;main;read", 2.0),
        ]);
        let diff = Diff::of(&before, &after);
        assert_eq!((diff.root.before, diff.root.after), (8.0, 6.0));
        let sort = &diff.root.children[0];
        assert_eq!((diff.root.children.len(), sort.name.as_str()), (1, "1 sort -n"));
        let main: Vec<(&str, f64, f64)> = sort.children[0]
            .children
            .iter()
            .map(|child| (child.name.as_str(), child.before, child.after))
            .collect();
        assert_eq!(main, [("compare", 6.0, 3.0), ("read", 2.0, 2.0), ("number", 0.0, 1.0)]);
        assert_eq!(
            diff.root.largest(5),
            [("compare".to_owned(), -3.0), ("number".to_owned(), 1.0)]
        );
    }

    #[test]
    fn the_same_against_itself_has_no_change() {
        let stacks = stacks(&[("1 a;b", 1.0), ("2 c", 2.0)]);
        assert_eq!(Diff::of(&stacks, &stacks).root.largest(9), []);
        assert_eq!(Diff::of(&[], &[]).root, Change::default());
    }
}
