//! Finds the end of an array or object, 64 bytes at a time; written once for all tiers.

/// Makes `skip` for a tier, whose CPU features are named; `Block` and `prefix_xor` of the tier must be in scope.
macro_rules! skip_blocks {
    ($tier:ty, $features:literal) => {
        /// Reads whole blocks of 64 bytes, up to the one in which the value ends. `at` is outside of strings. Returns where the next
        /// block would begin, and where the value ends if it does.
        pub(super) fn skip(
            _: $tier,
            inside: &mut Inside,
            text: &[u8],
            at: usize,
        ) -> (usize, Option<usize>) {
            // SAFETY: the first argument exists only where the CPU has the tier.
            unsafe { skip_blocks(inside, text, at) }
        }

        #[target_feature(enable = $features)]
        fn skip_blocks(inside: &mut Inside, text: &[u8], at: usize) -> (usize, Option<usize>) {
            let mut strings = crate::json::text::Text::default();
            let (blocks, _) = text[at..].as_chunks::<64>();
            let mut depth = inside.depth;
            let mut last_escapes = false;
            for (index, block) in blocks.iter().enumerate() {
                let bytes = Block::load(block, 0);
                let backslashes = bytes.equal(b'\\');
                let escaped = strings.escaped(backslashes);
                last_escapes = (backslashes & !escaped) >> 63 == 1;
                let in_string = strings.inside(prefix_xor(bytes.equal(b'"') & !escaped));
                let with_20 = bytes.or(0x20);
                let opening = with_20.equal(b'{') & !in_string;
                let closing = with_20.equal(b'}') & !in_string;
                if depth > closing.count_ones() as usize {
                    depth = depth + opening.count_ones() as usize - closing.count_ones() as usize;
                    continue;
                }
                let mut brackets = opening | closing;
                while brackets != 0 {
                    let bracket = brackets & brackets.wrapping_neg();
                    brackets ^= bracket;
                    if opening & bracket != 0 {
                        depth += 1;
                    } else {
                        depth -= 1;
                        if depth == 0 {
                            let end = at + index * 64 + bracket.trailing_zeros() as usize + 1;
                            return (end, Some(end));
                        }
                    }
                }
            }
            inside.depth = depth;
            inside.string = match (strings.is_in_string(), last_escapes) {
                (false, _) => Text::Outside,
                (true, false) => Text::Inside,
                (true, true) => Text::AfterBackslash,
            };
            (at + blocks.len() * 64, None)
        }
    };
}
pub(super) use skip_blocks;
