//! How often each stack was met, for each key.

use std::collections::{BTreeMap, HashMap};

use crate::frame::Frame;

/// A stack, as a [`Tally`] numbers them.
pub(crate) type StackId = u32;

/// Stacks with their weights: a tree, so that what many have in common is there once.
#[derive(Debug)]
pub struct Tally<K> {
    /// The caller of each, and the frame itself; the first is the empty stack.
    nodes: Vec<(StackId, Frame)>,
    known: HashMap<(StackId, Frame), StackId>,
    weights: BTreeMap<K, HashMap<StackId, f64>>,
}

impl<K> Default for Tally<K> {
    fn default() -> Self {
        Self { nodes: vec![(0, Frame::Cut)], known: HashMap::new(), weights: BTreeMap::new() }
    }
}

/// The stacks of one or several keys.
#[derive(Clone, Debug, Default)]
pub struct Stacks(HashMap<StackId, f64>);

impl Stacks {
    /// Joins them with those of another key.
    pub fn join(&mut self, other: &Stacks) {
        for (stack, weight) in &other.0 {
            *self.0.entry(*stack).or_default() += weight;
        }
    }

    /// The weight of all of them.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.0.values().sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (StackId, f64)> {
        // Ordered, so that the same run gives the same file.
        let ordered: BTreeMap<StackId, f64> =
            self.0.iter().map(|(id, weight)| (*id, *weight)).collect();
        ordered.into_iter()
    }
}

impl<K: Ord + Clone> Tally<K> {
    /// Adds a stack, its frames innermost first.
    pub fn add(&mut self, key: K, innermost_first: &[Frame], weight: f64) {
        let mut stack = 0;
        for frame in innermost_first.iter().rev() {
            let next = StackId::try_from(self.nodes.len()).unwrap_or(StackId::MAX);
            let found = *self.known.entry((stack, *frame)).or_insert(next);
            if found == next {
                self.nodes.push((stack, *frame));
            }
            stack = found;
        }
        *self.weights.entry(key).or_default().entry(stack).or_default() += weight;
    }

    /// Every key with its stacks.
    pub fn all(&self) -> impl Iterator<Item = (&K, Stacks)> {
        self.weights.iter().map(|(key, stacks)| (key, Stacks(stacks.clone())))
    }

    pub(crate) fn frames(&self) -> impl Iterator<Item = Frame> {
        self.nodes.iter().skip(1).map(|(_, frame)| *frame)
    }

    /// The frames of a stack, outermost first.
    pub(crate) fn stack(&self, mut stack: StackId) -> Vec<Frame> {
        let mut frames = Vec::new();
        while stack != 0 {
            let (caller, frame) = self.nodes[stack as usize];
            frames.push(frame);
            stack = caller;
        }
        frames.reverse();
        frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_come_back_as_they_were_and_weights_add_up() {
        let mut tally = Tally::default();
        let (a, b, c) = (Frame::Kernel(1), Frame::Kernel(2), Frame::Kernel(3));
        tally.add("x", &[c, b, a], 1.0);
        tally.add("x", &[c, b, a], 2.0);
        tally.add("x", &[b, a], 4.0);
        tally.add("y", &[], 8.0);
        let all: Vec<_> = tally.all().collect();
        let of = |index: usize| -> Vec<(Vec<Frame>, f64)> {
            let stacks = &all[index].1;
            stacks.iter().map(|(stack, weight)| (tally.stack(stack), weight)).collect()
        };
        assert_eq!(of(0), [(vec![a, b], 4.0), (vec![a, b, c], 3.0)]);
        assert_eq!(of(1), [(vec![], 8.0)]);
        assert_eq!(all[0].1.weight(), 7.0);
        let mut joined = Stacks::default();
        all.iter().for_each(|(_, stacks)| joined.join(stacks));
        assert_eq!(joined.weight(), 15.0);
    }
}
