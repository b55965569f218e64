//! Shares as whole cells.

use fullbore_measure::Share;

/// The whole number of cells closest to `share` of `width`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float that is not between 0 and usize::MAX saturates; NaN is 0"
)]
pub(crate) fn cells_of(share: Share, width: usize) -> usize {
    ((share.0 * width as f64).round() as usize).min(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_never_exceed_the_width() {
        for (share, cells) in [
            (-1.0, 0),
            (0.0, 0),
            (0.5, 5),
            (1.0, 10),
            (9.0, 10),
            (f64::NAN, 0),
            (f64::INFINITY, 10),
        ] {
            assert_eq!(cells_of(Share(share), 10), cells, "{share}");
        }
    }
}
