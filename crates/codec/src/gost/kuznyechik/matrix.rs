//! Linear maps of bytes as GFNI has them.

/// Returns the matrix of the linear map whose value for bit i of a byte is `images[i]`.
pub(super) const fn matrix(images: [u8; 8]) -> i64 {
    let (mut rows, mut bit) = (0_i64, 0);
    while bit < 8 {
        let mut column = 0;
        while column < 8 {
            // The row of the highest bit is the lowest byte.
            rows |= ((images[column] >> bit & 1) as i64) << (8 * (7 - bit) + column);
            column += 1;
        }
        bit += 1;
    }
    rows
}
