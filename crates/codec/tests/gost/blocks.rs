//! Tests the block ciphers with the standard's examples, and compares the kernels with the naive version and with
//! RustCrypto.

use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use fullbore_codec::gost::{BlockCipher, Counter, Key, Kuznyechik, Magma, Turn, naive};

use crate::given;
use crate::tiers;

/// The naive version's function for each block.
type Oracle = fn(&[u8; 32], &mut [u8]);

fn naive_kuznyechik(key: &[u8; 32], blocks: &mut [u8]) {
    let oracle = naive::kuznyechik::Naive::new(key);
    for block in blocks.as_chunks_mut().0 {
        let plain = *block;
        *block = oracle.encrypt(plain);
        assert_eq!(oracle.decrypt(*block), plain, "the oracle does not come back");
    }
}

fn naive_magma(key: &[u8; 32], blocks: &mut [u8]) {
    let oracle = naive::magma::Naive::new(key);
    for block in blocks.as_chunks_mut().0 {
        let plain = *block;
        *block = oracle.encrypt(plain);
        assert_eq!(oracle.decrypt(*block), plain, "the oracle does not come back");
    }
}

#[test]
fn every_kernel_gives_the_example_of_the_standard() {
    // GOST R 34.12-2015, A.1 and A.2
    for tier in tiers::tested() {
        let cipher = Kuznyechik::new(&given::standard_kuznyechik_key(), tier);
        let mut block = given::hex("1122334455667700ffeeddccbbaa9988");
        cipher.encrypt_blocks(&mut block);
        assert_eq!(block, given::hex("7f679d90bebc24305a468d42b9d4edcd"), "{tier}");
        cipher.decrypt_blocks(&mut block);
        assert_eq!(block, given::hex("1122334455667700ffeeddccbbaa9988"), "{tier}");

        let cipher = Magma::new(&given::standard_magma_key(), tier);
        let mut block = given::hex("fedcba9876543210");
        cipher.encrypt_blocks(&mut block);
        assert_eq!(block, given::hex("4ee901e5c2d8ca3d"), "{tier}");
        cipher.decrypt_blocks(&mut block);
        assert_eq!(block, given::hex("fedcba9876543210"), "{tier}");
    }
}

fn agrees<C: BlockCipher>(oracle: Oracle) {
    let key = given::key(5);
    for tier in tiers::tested() {
        let cipher = C::new(&key, tier);
        for blocks in (0..=140).chain([255, 256, 257, 300]) {
            let plain = given::bytes(blocks as u64, blocks * C::BLOCK_BYTES);
            let mut wanted = plain.clone();
            oracle(key.bytes(), &mut wanted);
            let mut found = plain.clone();
            cipher.encrypt_blocks(&mut found);
            assert!(found == wanted, "{tier}: encryption of {blocks} blocks");
            cipher.decrypt_blocks(&mut found);
            assert!(found == plain, "{tier}: decryption of {blocks} blocks");
        }
    }
}

#[test]
fn every_kernel_agrees_with_naive_on_every_number_of_blocks() {
    agrees::<Kuznyechik>(naive_kuznyechik);
    agrees::<Magma>(naive_magma);
}

fn agrees_at_every_alignment<C: BlockCipher>(oracle: Oracle) {
    let key = given::key(6);
    let length = 130 * C::BLOCK_BYTES;
    for tier in tiers::tested() {
        let cipher = C::new(&key, tier);
        for alignment in 0..64 {
            let memory = given::bytes(alignment as u64, length + 128);
            let mut wanted = memory.clone();
            oracle(key.bytes(), &mut wanted[alignment..alignment + length]);
            let mut found = memory.clone();
            cipher.encrypt_blocks(&mut found[alignment..alignment + length]);
            assert!(found == wanted, "{tier}: encryption at {alignment}, or what is around it");
            cipher.decrypt_blocks(&mut found[alignment..alignment + length]);
            assert!(found == memory, "{tier}: decryption at {alignment}, or what is around it");
        }
    }
}

#[test]
fn every_kernel_agrees_with_naive_at_every_alignment() {
    agrees_at_every_alignment::<Kuznyechik>(naive_kuznyechik);
    agrees_at_every_alignment::<Magma>(naive_magma);
}

fn counts_over<C: BlockCipher>(oracle: Oracle) {
    let key = given::key(7);
    let half = C::BLOCK_BYTES / 2;
    // Start where each byte, each half and the whole block overflow within the gamma.
    let starts = [
        [0xff; 16],
        [0; 16],
        std::array::from_fn(|index| if index % half == half - 1 { 200 } else { 255 }),
    ];
    for turn in [Turn::Whole, Turn::Right, Turn::Left] {
        for start in &starts {
            for blocks in [1, 2, 63, 64, 65, 127, 128, 129, 300] {
                let first = Counter::new(&start[..C::BLOCK_BYTES], turn);
                let mut wanted = counters(&start[..C::BLOCK_BYTES], turn, blocks);
                oracle(key.bytes(), &mut wanted);
                for tier in tiers::tested() {
                    let mut counter = first.clone();
                    let mut gamma = given::bytes(1, wanted.len());
                    C::new(&key, tier).gamma(&mut counter, &mut gamma);
                    assert!(gamma == wanted, "{tier}: {turn:?} from {start:x?}, {blocks} blocks");
                    let mut after = first.clone();
                    after.advance(blocks as u64);
                    assert_eq!(counter, after, "{tier}: {turn:?} from {start:x?}");
                }
            }
        }
    }
}

/// Computes counters by adding with carry in the bytes that count, as one would on paper.
fn counters(start: &[u8], turn: Turn, blocks: usize) -> Vec<u8> {
    let (half, mut block, mut all) = (start.len() / 2, start.to_vec(), Vec::new());
    let counting = match turn {
        Turn::Whole => 0..2 * half,
        Turn::Right => half..2 * half,
        Turn::Left => 0..half,
    };
    for _ in 0..blocks {
        all.extend_from_slice(&block);
        for byte in block[counting.clone()].iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }
    all
}

#[test]
fn counters_turn_over_in_every_kernel_as_they_do_on_paper() {
    counts_over::<Kuznyechik>(naive_kuznyechik);
    counts_over::<Magma>(naive_magma);
}

fn chains<C: BlockCipher>(oracle: Oracle) {
    let (key, first) = (given::key(8), given::bytes(9, C::BLOCK_BYTES));
    for blocks in [0, 1, 2, 3, 70] {
        let plain = given::bytes(10, blocks * C::BLOCK_BYTES);
        let (mut wanted, mut last) = (plain.clone(), first.clone());
        for block in wanted.chunks_mut(C::BLOCK_BYTES) {
            block.iter_mut().zip(&last).for_each(|(byte, last)| *byte ^= last);
            oracle(key.bytes(), block);
            last.copy_from_slice(block);
        }
        for tier in tiers::tested() {
            let mut found = plain.clone();
            C::new(&key, tier).chain_blocks(&first, &mut found);
            assert!(found == wanted, "{tier}: a chain of {blocks} blocks");
        }
    }
}

#[test]
fn every_kernel_chains_as_naive_does() {
    chains::<Kuznyechik>(naive_kuznyechik);
    chains::<Magma>(naive_magma);
}

fn rustcrypto_agrees<C: BlockCipher, R: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt>() {
    for seed in 0..40 {
        let key: Key = given::key(seed);
        let theirs = R::new_from_slice(key.bytes()).unwrap();
        let plain = given::bytes(seed + 100, 200 * C::BLOCK_BYTES);
        let mut wanted = plain.clone();
        for block in wanted.chunks_mut(C::BLOCK_BYTES) {
            theirs.encrypt_block(block.try_into().unwrap());
        }
        for tier in tiers::tested() {
            let mut found = plain.clone();
            C::new(&key, tier).encrypt_blocks(&mut found);
            assert!(found == wanted, "{tier}: seed {seed}");
        }
    }
}

#[test]
fn every_kernel_agrees_with_rustcrypto() {
    rustcrypto_agrees::<Kuznyechik, kuznyechik::Kuznyechik>();
    rustcrypto_agrees::<Magma, magma::Magma>();
}
