//! Treats 300 lines as a pattern.
//!
//! 300 is a multiple of 15 and of 100, and so are the 9·10ᵈ⁻¹ numbers of d ≥ 4 digits (d = 3: 900). So the numbers of a
//! length form whole blocks of 300 lines that look alike: the same words in the same positions, the same last two
//! digits. Only the digits before those two change. They have three values in a block, one for each hundred, and grow
//! by 3 from block to block.

/// Lines in a block.
pub(super) const LINES: usize = 300;
/// Least digits of a number in a block; shorter numbers form no blocks.
pub(super) const FEWEST_DIGITS: usize = 3;
/// Lines for which the digits before the last two are the same.
const LINES_A_VALUE: usize = 100;

/// The text of a block of numbers of one length, and where its changing digits are.
#[derive(Clone)]
pub(super) struct Block {
    /// The text of the first block of its length: 100, 101, Fizz, …; or 1000, and so on.
    pub(super) text: Vec<u8>,
    /// Where the digits of each of the three values begin.
    pub(super) starts: [Vec<usize>; 3],
    /// Number of digits before the last two.
    pub(super) upper_digits: usize,
}

impl Block {
    pub(super) fn new(digits: usize) -> Self {
        let upper_digits = digits - 2;
        let mut block = Self { text: Vec::new(), starts: Default::default(), upper_digits };
        let mut uppers = first_uppers(upper_digits);
        uppers.iter_mut().for_each(|upper| upper.truncate(upper_digits));
        for line in 0..LINES {
            // The first number of a length is 10 more than a multiple of 15.
            let number = line + 10;
            let value = line / LINES_A_VALUE;
            if number % 3 == 0 || number % 5 == 0 {
                block.text.extend_from_slice(match (number % 3, number % 5) {
                    (0, 0) => b"FizzBuzz\n",
                    (0, _) => b"Fizz\n",
                    _ => b"Buzz\n",
                });
            } else {
                block.starts[value].push(block.text.len());
                block.text.extend_from_slice(&uppers[value]);
                let low = line % LINES_A_VALUE;
                let digit = |digit: usize| b'0' + digit.to_le_bytes()[0];
                block.text.extend_from_slice(&[digit(low / 10), digit(low % 10), b'\n']);
            }
        }
        block
    }
}

/// Returns the three values in the first block of a length: 1, 2, 3; or 10, 11, 12; or 100, and so on.
pub(super) fn first_uppers(upper_digits: usize) -> [Vec<u8>; 3] {
    std::array::from_fn(|value| {
        let mut upper = vec![b'0'; upper_digits];
        upper[0] = b'1';
        (0..value).for_each(|_| add_one(&mut upper));
        upper
    })
}

fn add_one(digits: &mut [u8]) {
    add(digits, 1);
}

/// Adds 1 to 9 to a number in decimal digits, and returns how many of its digits changed, counted from the last. The
/// number keeps its length: on overflow all its digits become zero.
pub(super) fn add(digits: &mut [u8], number: u8) -> usize {
    let mut carry = number;
    let mut changed = 0;
    for digit in digits.iter_mut().rev() {
        changed += 1;
        *digit += carry;
        if *digit <= b'9' {
            return changed;
        }
        *digit -= 10;
        carry = 1;
    }
    changed
}

/// Number of digits that fit into 64 bits with room to spare.
const LARGE_DIGITS: usize = 18;

/// Adds a number of at most 64 bits to one in decimal digits. The number keeps its length: on overflow all its digits
/// become zero.
pub(super) fn add_large(digits: &mut [u8], number: u64) {
    let mut carry = number;
    for digit in digits.iter_mut().rev() {
        if carry == 0 {
            return;
        }
        let sum = u64::from(*digit - b'0') + carry % 10;
        *digit = b'0' + (sum % 10).to_le_bytes()[0];
        carry = carry / 10 + sum / 10;
    }
}

/// Returns how often 3 can be added before a number becomes longer. For large numbers that are far from that, the
/// result is smaller.
pub(super) fn steps_left(digits: &[u8]) -> u64 {
    let (high, low) = digits.split_at(digits.len().saturating_sub(LARGE_DIGITS));
    let end = 10_u64.pow(u32::try_from(low.len()).unwrap_or(0));
    if high.iter().any(|digit| *digit < b'9') {
        return end / 3;
    }
    let low = low.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
    (end - low) / 3
}
