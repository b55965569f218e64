//! Tests that sealed streams come back whole, or not at all.

use fullbore_codec::gost::Cipher;
use fullbore_codec::gost::stream::{ChunkKind, Chunks, Header, Open, Seal, StreamError};
use fullbore_codec::{Codec, Tier};
use proptest::prelude::*;

use crate::bare::run;
use crate::given;
use crate::tiers;

const CIPHERS: [Cipher; 2] = [Cipher::Kuznyechik, Cipher::Magma];

/// Size of chunks, small so that a stream has several.
const CHUNK_BYTES: usize = 100;

fn header(cipher: Cipher) -> Header {
    let salt = given::bytes(11, 32).try_into().unwrap();
    Header::new(cipher, salt).with_chunk_bytes(CHUNK_BYTES as u32).unwrap()
}

fn seal(header: &Header, data: &[u8]) -> Vec<u8> {
    run(&mut Seal::new(&given::key(12), header, Tier::best()), data, &[usize::MAX]).unwrap()
}

/// Returns what comes out before the error, and the error.
fn open(sealed: &[u8], cut: usize) -> (Vec<u8>, Result<(), StreamError>) {
    let (mut open, mut all) = (Open::new(&given::key(12), Tier::best()), Vec::new());
    let pieces = sealed.chunks(cut).map(Some).chain([None]);
    for piece in pieces {
        let mut output = vec![0; open.output_bound(piece.map_or(0, <[u8]>::len))];
        let result = match piece {
            Some(piece) => open.push(piece, &mut output),
            None => open.finish(&mut output),
        };
        match result {
            Ok(written) => all.extend_from_slice(&output[..written]),
            Err(fault) => {
                all.extend_from_slice(&output[..fault.written]);
                assert!(output[fault.written..].iter().all(|byte| *byte == 0), "more was written");
                return (all, Err(fault.error));
            }
        }
    }
    (all, Ok(()))
}

/// Asserts that a changed stream is refused, and that the output before it is the beginning of the data.
fn assert_refused(changed: &[u8], data: &[u8], what: &str) -> StreamError {
    let (released, result) = open(changed, 70);
    let Err(error) = result else { panic!("accepted: {what}") };
    assert!(data.starts_with(&released), "released something else: {what}");
    assert!(released.len().is_multiple_of(CHUNK_BYTES), "released part of a chunk: {what}");
    error
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_stream_comes_back_whole(length in 0_usize..1000, cuts in prop::collection::vec(1_usize..300, 1..5)) {
        let data = given::bytes(length as u64, length);
        for cipher in CIPHERS {
            let header = header(cipher);
            let sealed = seal(&header, &data);
            let chunks = length.div_ceil(CHUNK_BYTES).max(1);
            prop_assert_eq!(sealed.len(), Header::BYTES + length + chunks * header.tag_bytes());
            for tier in tiers::tested() {
                let key = given::key(12);
                prop_assert!(run(&mut Seal::new(&key, &header, tier), &data, &cuts).unwrap() == sealed);
                prop_assert!(run(&mut Open::new(&key, tier), &sealed, &cuts).unwrap() == data);
            }
        }
    }

    #[test]
    fn any_flipped_bit_is_noticed(length in 0_usize..450, place in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let data = given::bytes(length as u64, length);
        for cipher in CIPHERS {
            let mut sealed = seal(&header(cipher), &data);
            let place = place.index(sealed.len());
            sealed[place] ^= 1 << bit;
            assert_refused(&sealed, &data, "a flipped bit");
        }
    }
}

#[test]
fn lengths_around_a_chunk_come_back() {
    for cipher in CIPHERS {
        let header = Header::new(cipher, [1; 32]);
        let chunk = Header::CHUNK_BYTES;
        for length in [0, 1, chunk - 1, chunk, chunk + 1] {
            let data = given::bytes(7, length);
            let sealed = seal(&header, &data);
            assert!(open(&sealed, 65_536) == (data, Ok(())), "{cipher}: {length} bytes");
        }
    }
}

#[test]
fn every_bit_of_a_short_stream_counts() {
    let data = given::bytes(1, 110);
    for cipher in CIPHERS {
        let sealed = seal(&header(cipher), &data);
        for bit in 0..8 * sealed.len() {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_refused(&changed, &data, &format!("bit {bit}"));
        }
    }
}

#[test]
fn a_stream_cut_short_anywhere_is_noticed() {
    let data = given::bytes(2, 3 * CHUNK_BYTES);
    for cipher in CIPHERS {
        let sealed = seal(&header(cipher), &data);
        for length in 0..sealed.len() {
            let error = assert_refused(&sealed[..length], &data, &format!("cut at {length}"));
            if length < Header::BYTES {
                assert_eq!(error, StreamError::HeaderEnds { bytes: length });
            }
        }
    }
}

/// Builds streams of other chunks than the sealed ones, in other positions, in every way.
#[test]
fn chunks_cannot_be_left_out_repeated_swapped_or_added() {
    let data = given::bytes(3, 4 * CHUNK_BYTES - 10);
    for cipher in CIPHERS {
        let header = header(cipher);
        let sealed = seal(&header, &data);
        let (front, body) = sealed.split_at(Header::BYTES);
        let chunks: Vec<&[u8]> = body.chunks(header.sealed_chunk_bytes()).collect();
        let refused = |order: &[usize]| {
            let mut changed = front.to_vec();
            order.iter().for_each(|chunk| changed.extend_from_slice(chunks[*chunk]));
            assert_refused(&changed, &data, &format!("{cipher}: chunks {order:?}"))
        };
        for first in 0..4 {
            refused(&(0..4).filter(|chunk| *chunk != first).collect::<Vec<_>>());
            refused(
                &(0..4)
                    .flat_map(|chunk| vec![chunk; 1 + usize::from(chunk == first)])
                    .collect::<Vec<_>>(),
            );
            for second in 0..first {
                let mut order = [0, 1, 2, 3];
                order.swap(first, second);
                refused(&order);
            }
        }
        refused(&[0, 1, 2]);
        refused(&[]);
        let error = refused(&[0, 2, 1, 3]);
        let offset = (Header::BYTES + header.sealed_chunk_bytes()) as u64;
        assert_eq!(error, StreamError::Authentication { chunk: 1, offset });
        assert_eq!(
            error.to_string(),
            format!("authentication failed in chunk 1 at offset {offset}")
        );
    }
}

#[test]
fn bytes_appended_or_inserted_anywhere_are_noticed() {
    let data = given::bytes(4, 2 * CHUNK_BYTES);
    for cipher in CIPHERS {
        let header = header(cipher);
        let sealed = seal(&header, &data);
        let ends = [0, 1, Header::BYTES, Header::BYTES + 1, Header::BYTES + CHUNK_BYTES];
        let ends = ends.into_iter().chain([
            sealed.len() - header.tag_bytes(),
            sealed.len() - 1,
            sealed.len(),
        ]);
        for place in ends {
            for extra in [1, header.tag_bytes(), header.sealed_chunk_bytes(), Header::BYTES] {
                let mut changed = sealed.clone();
                changed.splice(place..place, given::bytes(5, extra));
                assert_refused(&changed, &data, &format!("{extra} bytes at {place}"));
            }
        }
    }
}

#[test]
fn another_key_or_the_chunks_of_another_stream_are_refused() {
    let data = given::bytes(6, 2 * CHUNK_BYTES);
    for cipher in CIPHERS {
        let header = header(cipher);
        let sealed = seal(&header, &data);
        let mut other = Open::new(&given::key(13), Tier::best());
        let error = run(&mut other, &sealed, &[64]).unwrap_err().error;
        assert_eq!(error, StreamError::Authentication { chunk: 0, offset: Header::BYTES as u64 });

        let salted = Header::new(cipher, [9; 32]).with_chunk_bytes(CHUNK_BYTES as u32).unwrap();
        let mut spliced = sealed[..Header::BYTES + header.sealed_chunk_bytes()].to_vec();
        spliced.extend_from_slice(&seal(&salted, &data)[spliced.len()..]);
        assert_refused(&spliced, &data, "the second chunk of another stream");
    }
}

#[test]
fn a_failed_stream_stays_failed() {
    let sealed = seal(&header(Cipher::Kuznyechik), &given::bytes(7, 50));
    let mut open = Open::new(&given::key(12), Tier::best());
    let mut output = [0; 1000];
    let first = open.push(&[0; 48], &mut output).unwrap_err();
    assert_eq!(first.error, StreamError::NotSealed);
    assert_eq!(open.push(&sealed, &mut output).unwrap_err().error, StreamError::NotSealed);
    assert_eq!(open.finish(&mut output).unwrap_err().error, StreamError::NotSealed);
}

#[test]
fn chunks_open_in_any_order() {
    let data = given::bytes(8, 3 * CHUNK_BYTES);
    for cipher in CIPHERS {
        let header = header(cipher);
        let sealed = seal(&header, &data);
        let chunks = Chunks::new(&given::key(12), &header, Tier::best());
        for (index, place) in [(2, ChunkKind::Last), (0, ChunkKind::Middle), (1, ChunkKind::Middle)]
        {
            let start = Header::BYTES + index * header.sealed_chunk_bytes();
            let chunk = &sealed[start..start + header.sealed_chunk_bytes()];
            let mut opened = vec![0; CHUNK_BYTES];
            let bytes = chunks.open(index as u64, place, chunk, &mut opened).unwrap();
            assert_eq!(&opened[..bytes], &data[index * CHUNK_BYTES..][..CHUNK_BYTES]);
        }
    }
}

#[test]
fn a_stream_longer_than_a_key_may_serve_is_refused() {
    for cipher in CIPHERS {
        let chunks = Chunks::new(&given::key(1), &header(cipher), Tier::best());
        let (data, mut sealed) = ([0; CHUNK_BYTES], [0; CHUNK_BYTES + 16]);
        let wanted = StreamError::TooLong { cipher, chunks: chunks.limit() };
        let mut seal = |index| chunks.seal(index, ChunkKind::Last, &data, &mut sealed);
        assert_eq!(seal(chunks.limit()), Err(wanted));
        assert_eq!(seal(chunks.limit() - 1), Ok(CHUNK_BYTES + cipher.block_bytes()));
    }
}

#[test]
fn sealing_reproduces_the_test_vector_of_the_document() {
    // docs/gost.md, "Test vector"
    let key = given::hex_key("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    let salt = std::array::from_fn(|index| 0x20 + index as u8);
    for (cipher, wanted) in [(Cipher::Kuznyechik, KUZNYECHIK_STREAM), (Cipher::Magma, MAGMA_STREAM)]
    {
        let mut codec = Seal::new(&key, &Header::new(cipher, salt), Tier::best());
        let sealed = run(&mut codec, b"full bore", &[4]).unwrap();
        let text: String = sealed.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(text, wanted.replace([' ', '\n'], ""), "{cipher}");
    }
}

/// Header: magic bytes, version, cipher, zeros, chunk size, salt; then the data, and the tag.
const KUZNYECHIK_STREAM: &str = "66756c6c626f7265 01 01 0000 00100000
    202122232425262728292a2b2c2d2e2f 303132333435363738393a3b3c3d3e3f
    1811c40f71ea97a82f b4413c5b2d4cb3cd57d586db50c6a49a";
const MAGMA_STREAM: &str = "66756c6c626f7265 01 02 0000 00100000
    202122232425262728292a2b2c2d2e2f 303132333435363738393a3b3c3d3e3f
    3d7c082e1fa4f57d82 63aad8bfda630598";
