//! Checks numbers and literals, 64 bytes of them at a time, as bits of a word.

/// Which bytes of 64 are what. Between two numbers or literals there is one byte that ends the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalars {
    /// Part of a number or literal.
    pub(super) inside: u64,
    pub(super) digits: u64,
    pub(super) zeros: u64,
    pub(super) points: u64,
    pub(super) minuses: u64,
    pub(super) pluses: u64,
    /// e and E.
    pub(super) letters_e: u64,
}

/// Whole literals in 64 bytes: where those of four letters and `false` begin, only at the beginning of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Literals {
    pub(super) of_four: u64,
    pub(super) of_five: u64,
}

/// What 64 bytes leave for the next: bits that move in at the bottom.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    inside: u64,
    digit: u64,
    must_be_digit: u64,
    first_minus: u64,
    first_zero: u64,
    in_fraction: u64,
    after_e: u64,
    after_e_sign: u64,
    in_exponent: u64,
    /// Bytes of a literal, and the byte that must end it.
    literal: u64,
    literal_end: u64,
}

/// Returns the bit after each run of `bits` that contains a bit of `from` or is entered from below, and whether the last
/// run goes on.
fn run_ends(from: u64, bits: u64, entered: u64) -> (u64, u64) {
    let (sum, over) = from.overflowing_add(bits);
    let (sum, over_entered) = sum.overflowing_add(entered);
    (sum & !bits, u64::from(over | over_entered))
}

impl Numbers {
    /// Checks 64 bytes; returns bits, of which one is 1 when something is wrong. `literals` is called, with the beginnings of
    /// all numbers and literals, when some byte is no digit, point or minus.
    #[inline]
    pub(super) fn check(&mut self, of: &Scalars, literals: impl FnOnce(u64) -> Literals) -> u64 {
        let inside = of.inside;
        let starts = inside & !(inside << 1 | self.inside);
        let mut wrong = self.literal_end & inside;
        let mut other = inside & !(of.digits | of.points | of.minuses | self.literal);
        (self.literal, self.literal_end) = (0, 0);
        let mut may_minus = starts;
        let mut pluses = 0;
        if other != 0 || self.after_e | self.after_e_sign | self.in_exponent != 0 {
            let (covered, wrong_ends) = self.literals(literals(starts), inside);
            other &= !covered;
            wrong |= wrong_ends;
            pluses = other & of.pluses;
            may_minus |= self.exponents(of, other, &mut wrong);
        }
        wrong |= of.minuses & !may_minus;
        let must_be_digit = of.minuses | of.points | pluses;
        wrong |= (must_be_digit << 1 | self.must_be_digit) & !of.digits;
        wrong |= of.points & !(of.digits << 1 | self.digit);
        let first_minuses = of.minuses & starts;
        let first_zeros = of.zeros & (starts | first_minuses << 1 | self.first_minus);
        wrong |= (first_zeros << 1 | self.first_zero) & of.digits;
        // After the digits of a fraction, no second point.
        let (ends, in_fraction) = run_ends(of.points << 1, of.digits, self.in_fraction);
        wrong |= ends & of.points;
        self.inside = inside >> 63;
        self.digit = of.digits >> 63;
        self.must_be_digit = must_be_digit >> 63;
        self.first_minus = first_minuses >> 63;
        self.first_zero = first_zeros >> 63;
        self.in_fraction = in_fraction | of.points >> 63;
        wrong
    }

    /// Returns the bytes of literals, and those after literals that do not end them.
    fn literals(&mut self, begin: Literals, inside: u64) -> (u64, u64) {
        let (four, five) = (begin.of_four, begin.of_five);
        let any = four | five;
        self.literal = any >> 63 | any >> 62 | any >> 61 | five >> 60;
        self.literal_end = four >> 60 | five >> 59;
        let covered = any | any << 1 | any << 2 | any << 3 | five << 4;
        (covered, (four << 4 | five << 5) & inside)
    }

    /// Checks exponents, and returns where a minus may stand in them; `other` bytes belong to no literal.
    fn exponents(&mut self, of: &Scalars, other: u64, wrong: &mut u64) -> u64 {
        let letters = other & of.letters_e;
        let pluses = other & of.pluses;
        let after_e = letters << 1 | self.after_e;
        let signs = after_e & (pluses | of.minuses);
        *wrong |= other & !(letters | pluses);
        *wrong |= letters & !(of.digits << 1 | self.digit);
        *wrong |= after_e & !(of.digits | signs);
        *wrong |= pluses & !after_e;
        // After the digits of an exponent, neither a point nor another exponent.
        let first_digits = after_e & of.digits | signs << 1 | self.after_e_sign;
        let (ends, in_exponent) = run_ends(first_digits & of.digits, of.digits, self.in_exponent);
        *wrong |= ends & (of.points | letters);
        self.after_e = letters >> 63;
        self.after_e_sign = signs >> 63;
        self.in_exponent = in_exponent;
        after_e
    }
}
