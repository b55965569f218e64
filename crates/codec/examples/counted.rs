//! Runs one stage over a fixed text so many times, for a program that counts instructions.
//!
//! usage: `counted STAGE ENGINE TIMES`; ENGINE is a tier, or `peer`. `scripts/count-instructions` runs it under QEMU, and divides
//! the difference of two runs by the bytes that it prints: those of one time.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints and may fail")]

use std::hint::black_box;

use cipher::{BlockCipherEncrypt, KeyInit};
use fullbore_codec::fizzbuzz::FizzBuzz;
use fullbore_codec::generate::{JsonLines, Source};
use fullbore_codec::gost::{BlockCipher, Key, Kuznyechik, Magma};
use fullbore_codec::group::Groups;
use fullbore_codec::json::Validator as JsonValidator;
use fullbore_codec::morse::{Alphabet, Decoder, Encoder, OnError};
use fullbore_codec::utf8::{self, Validator};
use fullbore_codec::{Codec, Tier};

const BYTES: usize = 256 << 10;
/// A stage reads blocks of this size.
const BLOCK_BYTES: usize = 64 << 10;

const ENGLISH: &str = "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in \
    want of a wife.\nHowever little known the feelings or views of such a man may be on his first entering a neighbourhood, \
    this truth is so well fixed in the minds of the surrounding families, that he is considered the rightful property of \
    some one or other of their daughters.\n";
const RUSSIAN: &str = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.\nВсе \
    смешалось в доме Облонских. Жена узнала, что муж был в связи с бывшею в их доме француженкою-гувернанткой, и объявила \
    мужу, что не может жить с ним в одном доме.\n";
const JAPANESE: &str = "吾輩は猫である。名前はまだ無い。\nどこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは\
    記憶している。\n";

fn text(sample: &str) -> Vec<u8> {
    sample.repeat(BYTES / sample.len()).into_bytes()
}

/// Runs a stage over blocks; returns its input's length.
fn stage<C: Codec>(make: impl Fn() -> C, input: &[u8], times: usize) -> usize {
    let mut output = vec![0; make().output_bound(BLOCK_BYTES)];
    for _ in 0..times {
        let mut codec = make();
        for block in input.chunks(BLOCK_BYTES) {
            let written = codec.push(block, &mut output).unwrap_or_else(|f| panic!("{}", f.error));
            black_box(&output[..written]);
        }
    }
    input.len()
}

/// Fills a block again and again; returns how much one time makes.
fn source<S: Source>(make: impl Fn() -> S, times: usize) -> usize {
    let mut output = vec![0; BLOCK_BYTES];
    for _ in 0..times {
        let mut source = make();
        for _ in 0..BYTES / BLOCK_BYTES {
            assert_eq!(source.fill(&mut output), BLOCK_BYTES);
            black_box(&output);
        }
    }
    BYTES
}

/// A text at once; fullbore's kernel is that of the best tier.
fn text_alone(sample: &str, tier: Option<Tier>, times: usize) -> usize {
    let input = text(sample);
    for _ in 0..times {
        match tier {
            Some(_) => utf8::validate(black_box(&input)).unwrap(),
            None => drop(black_box(simdutf8::basic::from_utf8(black_box(&input)).unwrap())),
        }
    }
    input.len()
}

/// A stream in blocks, whose lines are counted.
fn text_stream(sample: &str, tier: Tier, times: usize) -> usize {
    let input = text(sample);
    for _ in 0..times {
        let mut validator = Validator::of_tier(tier);
        for block in input.chunks(BLOCK_BYTES) {
            validator.push(black_box(block)).unwrap();
        }
    }
    input.len()
}

fn json(tier: Option<Tier>, times: usize) -> usize {
    let mut input = vec![0; BYTES];
    let length = JsonLines::new(1, None).fill(&mut input);
    let end = input[..length].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let input = &input[..end];
    for _ in 0..times {
        match tier {
            Some(tier) => JsonValidator::new(tier).push(black_box(input)).unwrap(),
            None => serde_json::Deserializer::from_slice(black_box(input))
                .into_iter::<serde::de::IgnoredAny>()
                .for_each(|document| assert!(document.is_ok())),
        }
    }
    input.len()
}

fn lines(tier: Tier, times: usize) -> usize {
    let input = text(&"GET\nPOST\nHEAD\nGET /index\n".repeat(8));
    for _ in 0..times {
        let mut groups = Groups::<u64>::new(1);
        groups.add_lines(black_box(&input), b'\n', 0, tier).unwrap();
        black_box(&groups);
    }
    input.len()
}

fn ours<B: BlockCipher>(tier: Tier, times: usize) -> usize {
    let cipher = B::new(&Key::new([7; 32]), tier);
    let mut data = vec![1; BYTES];
    for _ in 0..times {
        cipher.encrypt_blocks(black_box(&mut data));
    }
    BYTES
}

fn theirs<B: BlockCipherEncrypt + KeyInit>(times: usize) -> usize {
    let cipher = B::new_from_slice(&[7; 32]).unwrap();
    let mut data = vec![1; BYTES];
    for _ in 0..times {
        let blocks = cipher::Array::slice_as_chunks_mut(black_box(&mut data)).0;
        cipher.encrypt_blocks(blocks);
    }
    BYTES
}

fn morse(sample: &str, tier: Option<Tier>, times: usize) -> usize {
    let input = text(&sample.replace(['-', ';', '!'], ""));
    let Some(tier) = tier else {
        for _ in 0..times {
            for block in input.chunks(BLOCK_BYTES) {
                black_box(if sample.is_ascii() {
                    ripmors::encode_string_ascii(black_box(block))
                } else {
                    ripmors::encode_string(&String::from_utf8_lossy(black_box(block)))
                });
            }
        }
        return input.len();
    };
    stage(|| Encoder::new(tier, OnError::Skip), &input, times)
}

fn decode(tier: Option<Tier>, times: usize) -> usize {
    let english = text(ENGLISH);
    let mut code = vec![0; 20 * BYTES];
    let written = Encoder::new(Tier::Portable, OnError::Skip).push(&english, &mut code).unwrap();
    let code = &code[..written.min(BYTES)];
    let Some(tier) = tier else {
        for _ in 0..times {
            for block in code.chunks(BLOCK_BYTES) {
                black_box(ripmors::decode_string(black_box(block), ripmors::to_standard));
            }
        }
        return code.len();
    };
    stage(|| Decoder::new(tier, Alphabet::Latin, OnError::Skip), code, times)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, engine, times] = &arguments[..] else { panic!("usage: counted STAGE ENGINE TIMES") };
    let times: usize = times.parse().unwrap();
    let tier = (engine != "peer").then(|| Tier::named(engine).unwrap_or_else(|e| panic!("{e}")));
    let own = || tier.expect("this stage has no peer");
    let bytes = match name.as_str() {
        "utf8-english" => text_alone(ENGLISH, tier, times),
        "utf8-russian" => text_alone(RUSSIAN, tier, times),
        "utf8-japanese" => text_alone(JAPANESE, tier, times),
        "utf8-lines-english" => text_stream(ENGLISH, own(), times),
        "utf8-lines-russian" => text_stream(RUSSIAN, own(), times),
        "utf8-lines-japanese" => text_stream(JAPANESE, own(), times),
        "morse-english" => morse(ENGLISH, tier, times),
        "morse-russian" => morse(RUSSIAN, tier, times),
        "morse-decode" => decode(tier, times),
        "json" => json(tier, times),
        "count" => lines(own(), times),
        "fizzbuzz" => source(|| FizzBuzz::new(own()), times),
        "kuznyechik" => match tier {
            Some(tier) => ours::<Kuznyechik>(tier, times),
            None => theirs::<kuznyechik::Kuznyechik>(times),
        },
        "magma" => match tier {
            Some(tier) => ours::<Magma>(tier, times),
            None => theirs::<magma::Magma>(times),
        },
        other => panic!("{other}: no such stage"),
    };
    println!("bytes {bytes}");
}
