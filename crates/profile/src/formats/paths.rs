//! What every format writes: the stacks of a tower with time of their own.

use crate::tower::Node;

/// A stage as a line of text names it.
pub(super) fn stage_name(stage: u32, root: &Node) -> String {
    format!("{stage} {}", root.name)
}

/// Every node of a tower with time of its own, and those above it from the stage on.
pub(super) fn own_times(root: &Node) -> Vec<(Vec<&Node>, f64)> {
    let mut found = Vec::new();
    root.walk(&mut |above, node| {
        let own_ns = node.own_ns();
        // What is left over by rounding is no time of its own.
        if own_ns > root.ns * 1e-9 {
            let path = above.iter().copied().chain([node]).collect();
            found.push((path, own_ns));
        }
    });
    found
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a time is positive and far below 2^63 ns"
)]
pub(super) fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::sample::sample;

    #[test]
    fn own_times_of_a_tower_are_its_height() {
        for tower in sample().towers {
            let sum: f64 = own_times(&tower.root).iter().map(|(_, ns)| ns).sum();
            assert!((sum - tower.root.ns).abs() < 1.0, "{sum}");
        }
    }
}
