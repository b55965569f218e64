//! Opening releases nothing that was not sealed: not of arbitrary bytes, nor of a sealed stream that was changed.
//!
//! The first bytes choose the cipher, the cut and the length of the data; what is left is the stream as it is, or, by
//! pieces of four bytes, changes to a valid one: what to do, where (two bytes), and with what.
#![no_main]

use fullbore_codec::Tier;
use fullbore_codec::gost::stream::{Header, Open, Seal};
use fullbore_codec::gost::{Cipher, Key};
use fullbore_fuzz::run;
use libfuzzer_sys::fuzz_target;

const CHUNK_BYTES: usize = 64;

fuzz_target!(|input: &[u8]| {
    let [choice, cut, length, rest @ ..] = input else { return };
    let key = Key::new([7; 32]);
    let cipher = if choice & 1 == 0 { Cipher::Kuznyechik } else { Cipher::Magma };
    let header = Header::new(cipher, [3; 32]).with_chunk_bytes(CHUNK_BYTES as u32).unwrap();
    let data: Vec<u8> = (0..*length).collect();
    let (sealed, error) = run(&mut Seal::new(&key, &header, Tier::best()), &[&data]);
    assert_eq!(error, None);
    let stream = match choice >> 1 & 3 {
        0 => rest.to_vec(),
        // A genuine header before arbitrary chunks.
        1 => [&sealed[..Header::BYTES], rest].concat(),
        _ => changed(&sealed, rest),
    };
    let (a, b) = stream.split_at(stream.len() * usize::from(*cut) / 255);
    let mut results = Tier::all().into_iter().map(|tier| run(&mut Open::new(&key, tier), &[a, b]));
    let (released, error) = results.next().unwrap();
    assert!(results.all(|result| result == (released.clone(), error.clone())), "kernels differ");
    if stream == sealed {
        assert_eq!((released, error), (data, None));
    } else {
        assert!(error.is_some(), "a changed stream was opened");
        assert!(data.starts_with(&released), "something else was released");
        assert!(released.len() % CHUNK_BYTES == 0, "a part of a chunk was released");
        // A chunk comes out only where it was sealed, behind all that was sealed before it.
        let genuine = sealed.iter().zip(&stream).take_while(|(one, other)| one == other).count();
        let chunks = released.len() / CHUNK_BYTES;
        let end = Header::BYTES + chunks * header.sealed_chunk_bytes();
        assert!(chunks == 0 || end <= genuine, "{chunks} chunks were released, {genuine} bytes are genuine");
    }
});

fn changed(sealed: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut stream = sealed.to_vec();
    for change in changes.chunks_exact(4).take(8) {
        let at = usize::from(u16::from_le_bytes([change[1], change[2]])) % (stream.len() + 1);
        match change[0] % 6 {
            0 => stream.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= change[3]),
            1 => stream.truncate(at),
            2 => stream.insert(at, change[3]),
            3 => drop(stream.drain(at..stream.len().min(at + usize::from(change[3])))),
            4 => stream.extend_from_slice(&sealed[at.min(sealed.len())..]),
            _ => stream.rotate_left(at),
        }
        if stream.is_empty() {
            break;
        }
    }
    stream
}
