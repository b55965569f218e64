//! Tests FizzBuzz: every line is right, for numbers of every length and requests of any size.

use fullbore_codec::fizzbuzz::{FizzBuzz, naive};
use fullbore_codec::generate::{Skip, Source};

use crate::support::Numbers;
use crate::tiers;

/// Returns everything left in a source, requested in pieces of these sizes, over and over.
fn all(mut source: FizzBuzz, sizes: &[usize]) -> Vec<u8> {
    let mut whole = Vec::new();
    for size in sizes.iter().cycle() {
        let mut buffer = vec![0; *size];
        let filled = source.fill(&mut buffer);
        whole.extend_from_slice(&buffer[..filled]);
        if filled < *size {
            return whole;
        }
    }
    whole
}

fn assert_same(ours: &[u8], expected: &[u8], what: &str) {
    if let Some(at) = (0..expected.len()).find(|at| ours.get(*at) != expected.get(*at)) {
        let around = |text: &[u8]| {
            let end = text.len().min(at + 20);
            String::from_utf8_lossy(&text[at.saturating_sub(20).min(end)..end]).into_owned()
        };
        panic!("{what}: byte {at}: {:?}, not {:?}", around(ours), around(expected));
    }
    assert_eq!(ours.len(), expected.len(), "{what}");
}

#[test]
fn the_first_million_lines_are_right() {
    let expected = naive::lines(1, 1_000_000);
    for tier in tiers::tested() {
        for sizes in [&[65_536][..], &[1 << 21], &[100, 5_000, 1, 64]] {
            let source = FizzBuzz::with_lines(tier, Some(1_000_000));
            assert_same(&all(source, sizes), &expected, &format!("{tier} {sizes:?}"));
        }
    }
}

#[test]
fn a_limit_is_kept_to_the_line() {
    for tier in tiers::tested() {
        for lines in (0..1_000).chain(9_990..10_010) {
            let source = FizzBuzz::with_lines(tier, Some(lines));
            let expected = naive::lines(1, lines.into());
            assert_same(&all(source, &[70_000]), &expected, &format!("{tier} {lines}"));
        }
    }
}

#[test]
fn the_bytes_do_not_depend_on_the_sizes_asked_for() {
    let expected = naive::lines(1, 40_000);
    for tier in tiers::tested() {
        let mut numbers = Numbers(1);
        for most in [1, 7, 300, 3_000, 10_000] {
            let sizes: Vec<usize> = (0..1000).map(|_| 1 + numbers.below(most)).collect();
            let source = FizzBuzz::with_lines(tier, Some(40_000));
            assert_same(&all(source, &sizes), &expected, &format!("{tier} {most}"));
        }
    }
}

/// Checks the beginning and the end of every length up to 34 digits, as far as the naive version can count.
#[test]
fn every_power_of_ten_is_passed() {
    for tier in tiers::tested() {
        for zeros in 2..33 {
            let power = 10u128.pow(zeros);
            let mut source = FizzBuzz::from_power_of_ten(tier, zeros as usize);
            let mut text = vec![0; 200_000];
            assert_eq!(source.fill(&mut text), text.len());
            let expected = naive::lines(power, power + 60_000);
            assert_same(&text, &expected[..text.len()], &format!("{tier} from 10^{zeros}"));

            let (blocks, end) = if zeros == 2 { (3, 1_000) } else { (30, power * 10) };
            let mut source =
                FizzBuzz::from_power_of_ten(tier, zeros as usize).near_the_end_of_length(blocks);
            let begin = end - 300 * u128::from(blocks);
            assert_eq!(source.fill(&mut text), text.len());
            let expected = naive::lines(begin, begin + 60_000);
            assert_same(&text, &expected[..text.len()], &format!("{tier} to 10^{}", zeros + 1));
        }
    }
}

#[test]
fn numbers_may_have_a_hundred_digits() {
    for tier in tiers::tested() {
        let mut source = FizzBuzz::from_power_of_ten(tier, 99);
        let mut text = vec![0; 60_000];
        source.fill(&mut text);
        let zeros = "0".repeat(96);
        let begin = format!("Buzz\n1{zeros}001\nFizz\n1{zeros}003\n1{zeros}004\nFizzBuzz\n");
        assert!(text.starts_with(begin.as_bytes()), "{tier}");
    }
}

#[test]
fn a_skip_continues_where_reading_as_much_would() {
    let lines = 130_000;
    let expected = naive::lines(1, lines.into());
    for tier in tiers::tested() {
        for step in [1, 7, 4096, 10_000, 123_457, 600_000] {
            let mut source = FizzBuzz::with_lines(tier, Some(lines));
            let mut at = 0;
            while at < expected.len() {
                let skipped = usize::try_from(source.skip(step)).unwrap();
                assert_eq!(skipped, expected[at..].len().min(usize::try_from(step).unwrap()));
                at += skipped;
                let mut buffer = vec![0; 3_000];
                let filled = source.fill(&mut buffer);
                let end = expected.len().min(at + 3_000);
                assert_same(&buffer[..filled], &expected[at..end], &format!("{tier} {step} {at}"));
                at = end;
                if step == 1 && at > 100_000 {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_skip_may_cross_the_end_of_the_numbers_of_any_length() {
    for tier in tiers::tested() {
        for (zeros, most) in [(2, 3), (3, 29), (17, 29), (18, 29), (19, 29), (20, 29), (40, 29)] {
            for blocks in [1, 2, most] {
                let near =
                    || FizzBuzz::from_power_of_ten(tier, zeros).near_the_end_of_length(blocks);
                let mut whole = vec![0; 200_000];
                near().fill(&mut whole);
                for skipped in [1, 2_000, 9_999, 60_000, 150_000] {
                    let mut source = near();
                    assert_eq!(source.skip(skipped), skipped);
                    let mut rest = vec![0; 50_000];
                    source.fill(&mut rest);
                    let from = usize::try_from(skipped).unwrap();
                    let what = format!("{tier}, {zeros} zeros, {blocks} blocks, {skipped}");
                    assert_same(&rest, &whole[from..from + 50_000], &what);
                }
            }
        }
    }
}
