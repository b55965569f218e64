//! The passes of `batches`, written once for the tiers with a `Block` of 64 bytes, and what joins a tier to them.

/// Implements `Passes` for a tier by the functions `text`, `scalars`, `passed` and `tokens` that are in scope where it is called.
macro_rules! implement_passes {
    ($tier:ty) => {
        impl Passes for $tier {
            fn text<W: Watch>(
                self,
                state: &mut Text,
                blocks: &[[u8; 64]],
                first_bytes: &mut [u8; ROOM],
                scalars: &mut [u8; ROOM],
                watch: &mut W,
            ) -> Found {
                // SAFETY: the first argument exists only where the CPU has the tier.
                unsafe { text(state, blocks, first_bytes, scalars, watch) }
            }

            fn scalars(self, bytes: &mut [u8; ROOM], length: usize) -> u64 {
                // SAFETY: the first argument exists only where the CPU has the tier.
                unsafe { scalars(bytes, length) }
            }

            fn passed<W: Watch>(
                self,
                watch: &mut W,
                input: &[u8],
                valid: Range<usize>,
                depth: u32,
            ) -> bool {
                // SAFETY: the first argument exists only where the CPU has the tier.
                unsafe { passed(watch, input, valid, depth) }
            }

            fn tokens<W: Watch>(
                self,
                state: &mut Tokens,
                first_bytes: &[u8; ROOM],
                count: usize,
                watch: &mut W,
            ) -> u64 {
                // SAFETY: the first argument exists only where the CPU has the tier.
                unsafe { tokens(state, first_bytes, count, watch) }
            }
        }
    };
}
pub(super) use implement_passes;

/// Makes these functions for a tier with the CPU features that are named, and implements `Passes` by them. `Block` and `prefix_xor` of
/// the tier, `compress` and `nth_bit` must be in scope where it is called.
macro_rules! passes {
    ($tier:ty, $features:literal) => {
        $crate::json::passes::implement_passes!($tier);

        #[inline]
        #[target_feature(enable = $features)]
        fn spaces(bytes: Block) -> u64 {
            const SPACES: [u8; 16] =
                [b' ', 0, 0, 0, 0, 0, 0, 0, 0, b'\t', b'\n', 0, 0, b'\r', 0, 0];
            bytes.same_as(bytes.look_up_lower(&SPACES))
        }

        /// Returns brackets, colons and commas.
        #[inline]
        #[target_feature(enable = $features)]
        fn operators(bytes: Block) -> u64 {
            const OPERATORS: [u8; 16] =
                [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b':', b'{', b',', b'}', 0, 0];
            bytes.or(0x20).same_as(bytes.look_up_lower(&OPERATORS)) & !bytes.at_most(0x1F)
        }

        /// Returns the quotes that may end a name, given bits of bytes by their lower and upper four bits.
        #[inline]
        #[target_feature(enable = $features)]
        fn name_candidates(bytes: Block, quotes: u64, lower: &[u8; 16], upper: &[u8; 16]) -> u64 {
            let both = bytes.lower_halves().look_up(lower).and(bytes.upper_halves().look_up(upper));
            candidates(quotes, both.has::<5>(), both.has::<6>(), both.has::<7>())
        }

        /// Returns the characters that a backslash may precede, except u.
        #[inline]
        #[target_feature(enable = $features)]
        fn one_character_escapes(bytes: Block) -> u64 {
            // A bit for each upper half in which a character with this lower half is escaped: 1 for 2, 2 for 5, 4 for 6, 8 for 7.
            const LOWER: [u8; 16] = [0, 0, 13, 0, 8, 0, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1];
            const UPPER: [u8; 16] = [0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0];
            bytes.upper_halves().look_up(&UPPER).meets(bytes.look_up_lower(&LOWER))
        }

        #[target_feature(enable = $features)]
        fn text<W: Watch>(
            text: &mut Text,
            blocks: &[[u8; 64]],
            first_bytes: &mut [u8; ROOM],
            scalar_bytes: &mut [u8; ROOM],
            watch: &mut W,
        ) -> Found {
            let mut found = Found { tokens: 0, scalars: 0, wrong: 0, has_high: false };
            // A copy, which the compiler keeps in registers.
            let mut state = *text;
            let mut high = 0;
            let names = watch.filter().map(|filter| (filter.lower, filter.upper));
            let has_escaped = watch.filter().is_some_and(|filter| filter.has_escaped);
            for (index, block) in blocks.iter().enumerate() {
                let bytes = Block::load(block, 0);
                high |= bytes.high_mark();
                let escaped = state.escaped(bytes.equal(b'\\'));
                let mut noted = if has_escaped { escaped } else { 0 };
                if escaped != 0 || state.is_escape_pending() {
                    let unusual = escaped & !one_character_escapes(bytes);
                    noted |= unusual;
                    if unusual != 0 || state.is_escape_pending() {
                        found.wrong |= state.check_unicode(&Escapes::of(block), unusual);
                    }
                }
                let quotes = bytes.equal(b'"') & !escaped;
                let controls = bytes.at_most(0x1F);
                if quotes == 0 && state.is_in_string() {
                    found.wrong |= controls;
                    if names.is_some() {
                        let tokens = found.tokens;
                        watch.note(index, Mark { escaped: noted, tokens, ..Mark::default() });
                    }
                    continue;
                }
                let inside = state.inside(prefix_xor(quotes));
                found.wrong |= controls & inside;
                let outside = !(inside | quotes);
                let operators = operators(bytes) & outside;
                let scalar = outside & !(spaces(bytes) | operators);
                let after_scalar = state.after_scalar(scalar);
                let begins = operators | quotes & inside | scalar & !after_scalar;
                if let Some((lower, upper)) = &names {
                    let candidates = name_candidates(bytes, quotes & !inside, lower, upper);
                    let tokens = found.tokens;
                    watch.note(index, Mark { begins, candidates, escaped: noted, tokens });
                }
                found.tokens = compress(block, begins, first_bytes, found.tokens);
                found.scalars = compress(block, scalar | after_scalar, scalar_bytes, found.scalars);
            }
            *text = state;
            found.has_high = high != 0;
            found
        }

        #[target_feature(enable = $features)]
        fn scalars(bytes: &mut [u8; ROOM], length: usize) -> u64 {
            bytes[length..length + 128].fill(b' ');
            let mut numbers = Numbers::default();
            let mut wrong = 0;
            for at in (0..length).step_by(64) {
                let chunk = Block::load(bytes, at);
                wrong |= chunk.high_bits();
                let ends = spaces(chunk) | operators(chunk) | chunk.equal(b'"');
                let scalars = Scalars {
                    inside: !ends,
                    digits: chunk.minus(b'0').at_most(9),
                    zeros: chunk.equal(b'0'),
                    points: chunk.equal(b'.'),
                    minuses: chunk.equal(b'-'),
                    pluses: chunk.equal(b'+'),
                    letters_e: chunk.or(0x20).equal(b'e'),
                };
                wrong |= numbers.check(&scalars, |starts| literals(bytes, at, starts));
            }
            wrong
        }

        /// Calls the method, which is inlined here and so compiled for the tier.
        #[target_feature(enable = $features)]
        fn passed<W: Watch>(watch: &mut W, input: &[u8], valid: Range<usize>, depth: u32) -> bool {
            watch.passed(input, valid, depth, |bits, below| nth_bit(bits, below))
        }

        #[target_feature(enable = $features)]
        fn tokens<W: Watch>(
            tokens: &mut Tokens,
            first_bytes: &[u8; ROOM],
            count: usize,
            watch: &mut W,
        ) -> u64 {
            let mut wrong = 0;
            for at in (0..count).step_by(64) {
                let length = (count - at).min(64);
                let bytes = Block::load(first_bytes, at);
                let with_20 = bytes.or(0x20);
                let (curly_open, curly_close) = (bytes.equal(b'{'), bytes.equal(b'}'));
                let closing = with_20.equal(b'}');
                let valid = u64::MAX >> (64 - length);
                let all = (with_20.equal(b'{') | closing) & valid;
                let brackets = Brackets { all, closing, of_objects: curly_open | curly_close };
                let kinds = Kinds {
                    strings: bytes.equal(b'"'),
                    colons: bytes.equal(b':'),
                    commas: bytes.equal(b','),
                    brackets,
                };
                let depth = depth_of(tokens.stack);
                let around = tokens.around(brackets);
                if watch.filter().is_some() {
                    let (opening, closing) = brackets.sides();
                    watch.note_tokens(Word {
                        opening,
                        closing,
                        ends: around.nothing & valid,
                        depth,
                    });
                }
                wrong |= tokens.pairs(&first_bytes[at..at + length], &kinds, around);
            }
            wrong
        }

        /// Finds the literals among `starts`.
        #[target_feature(enable = $features)]
        fn literals(bytes: &[u8; ROOM], at: usize, starts: u64) -> Literals {
            let word = |letters: &[u8]| {
                letters.iter().enumerate().fold(starts, |found, (index, letter)| {
                    found & Block::load(bytes, at + index).equal(*letter)
                })
            };
            Literals { of_four: word(b"true") | word(b"null"), of_five: word(b"false") }
        }
    };
}
pub(super) use passes;
