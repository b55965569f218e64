//! Tests modes as stages: the output does not depend on where blocks end, and padded data comes back.

use fullbore_codec::gost::modes::{Bare, Direction, Mode, Padding};
use fullbore_codec::gost::{Cipher, ModeError};
use fullbore_codec::{Codec, Fault, Tier};
use proptest::prelude::*;

use crate::given;
use crate::tiers;

const MODES: [Mode; 6] =
    [Mode::Ecb, Mode::Cbc, Mode::Ctr, Mode::Cfb, Mode::Ofb, Mode::CtrAcpkm { section_bytes: 48 }];

/// Runs `codec` over `input` in pieces of the lengths in `cuts`, repeated.
pub(crate) fn run<C: Codec>(
    codec: &mut C,
    input: &[u8],
    cuts: &[usize],
) -> Result<Vec<u8>, Fault<C::Error>> {
    let (mut all, mut rest) = (Vec::new(), input);
    let mut step = |codec: &mut C, piece: Option<&[u8]>| {
        let mut output = vec![0; codec.output_bound(piece.map_or(0, <[u8]>::len))];
        let written = match piece {
            Some(piece) => codec.push(piece, &mut output)?,
            None => codec.finish(&mut output)?,
        };
        all.extend_from_slice(&output[..written]);
        Ok(())
    };
    for cut in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, others) = rest.split_at((*cut).min(rest.len()));
        step(codec, Some(piece))?;
        rest = others;
    }
    step(codec, None)?;
    Ok(all)
}

fn bare(cipher: Cipher, mode: Mode, direction: Direction, padding: Padding, tier: Tier) -> Bare {
    let block = cipher.block_bytes();
    let iv = match mode {
        Mode::Ecb => vec![],
        Mode::Cbc | Mode::Cfb | Mode::Ofb => given::bytes(3, 2 * block),
        _ => given::bytes(3, block / 2),
    };
    Bare::new(cipher, mode, direction, &given::key(4), &iv, padding, tier).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_output_does_not_depend_on_where_blocks_end(
        length in 0_usize..40_000,
        cuts in prop::collection::vec(1_usize..5000, 1..6),
    ) {
        let plain = given::bytes(length as u64, length);
        for (cipher, mode) in pairs() {
            let padding = Padding::OneAndZeros;
            let whole = run(
                &mut bare(cipher, mode, Direction::Encrypt, padding, Tier::Portable),
                &plain,
                &[usize::MAX],
            ).unwrap();
            for tier in tiers::tested() {
                let mut codec = bare(cipher, mode, Direction::Encrypt, padding, tier);
                prop_assert!(run(&mut codec, &plain, &cuts).unwrap() == whole, "{} {:?} {}", cipher, mode, tier);
                let mut codec = bare(cipher, mode, Direction::Decrypt, padding, tier);
                prop_assert!(run(&mut codec, &whole, &cuts).unwrap() == plain, "{} {:?} {}", cipher, mode, tier);
            }
        }
    }
}

fn pairs() -> impl Iterator<Item = (Cipher, Mode)> {
    [Cipher::Kuznyechik, Cipher::Magma]
        .into_iter()
        .flat_map(|cipher| MODES.map(|mode| (cipher, mode)))
}

#[test]
fn messages_around_a_block_are_padded_as_the_standard_says() {
    for (cipher, mode) in pairs().filter(|(_, mode)| matches!(mode, Mode::Ecb | Mode::Cbc)) {
        let block = cipher.block_bytes();
        for length in [0, 1, block - 1, block, block + 1, 3 * block] {
            let plain = given::bytes(2, length);
            let sealed = |padding| {
                let mut codec = bare(cipher, mode, Direction::Encrypt, padding, Tier::best());
                run(&mut codec, &plain, &[5])
            };
            assert_eq!(sealed(Padding::OneAndZeros).unwrap().len(), (length / block + 1) * block);
            let zeros = sealed(Padding::Zeros).unwrap();
            assert_eq!(zeros.len(), length.next_multiple_of(block));
            let mut codec = bare(cipher, mode, Direction::Decrypt, Padding::Zeros, Tier::best());
            let opened = run(&mut codec, &zeros, &[5]).unwrap();
            assert_eq!(
                (&opened[..length], opened[length..].iter().max().unwrap_or(&0)),
                (&plain[..], &0)
            );
            let bytes = length % block;
            let wanted =
                if bytes == 0 { Ok(length) } else { Err(ModeError::NotWholeBlocks { bytes }) };
            assert_eq!(
                sealed(Padding::None).map(|all| all.len()).map_err(|fault| fault.error),
                wanted
            );
        }
    }
}

#[test]
fn a_last_block_without_padding_is_refused() {
    for (cipher, mode) in pairs().filter(|(_, mode)| matches!(mode, Mode::Ecb | Mode::Cbc)) {
        let block = cipher.block_bytes();
        for (ending, wanted) in
            [(vec![0; block], ModeError::Padding), (vec![0x40; block], ModeError::Padding)]
        {
            let mut codec = bare(cipher, mode, Direction::Encrypt, Padding::None, Tier::best());
            let sealed = run(&mut codec, &ending, &[64]).unwrap();
            let mut codec =
                bare(cipher, mode, Direction::Decrypt, Padding::OneAndZeros, Tier::best());
            assert_eq!(run(&mut codec, &sealed, &[64]).unwrap_err().error, wanted);
            let mut codec =
                bare(cipher, mode, Direction::Decrypt, Padding::OneAndZeros, Tier::best());
            let cut = run(&mut codec, &sealed[1..], &[64]).unwrap_err().error;
            assert_eq!(cut, ModeError::NotWholeBlocks { bytes: block - 1 });
        }
    }
}

#[test]
fn a_vector_of_the_wrong_length_is_refused() {
    for (cipher, mode) in pairs() {
        for length in [1, 3, 5, 17, 33] {
            let iv = given::bytes(1, length);
            let key = given::key(1);
            let made = Bare::new(
                cipher,
                mode,
                Direction::Encrypt,
                &key,
                &iv,
                Padding::None,
                Tier::Portable,
            );
            let error =
                made.err().unwrap_or_else(|| panic!("{cipher} {mode:?} took {length} bytes"));
            assert!(
                matches!(error, ModeError::IvLength { bytes, .. } if bytes == length),
                "{error}"
            );
        }
    }
}
