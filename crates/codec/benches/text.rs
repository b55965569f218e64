//! Measures the text stages, memory to memory on one core, beside `ripmors` and plain copying.
//!
//! usage: `scripts/real-text && cargo bench -p fullbore-codec --bench text -- [--rounds N] [--only CONTESTANT] [NAME…]`
//!
//! The input is real text (`FULLBORE_TEXT`, by default the folder of `scripts/real-text`), read in blocks of 64 KiB
//! into an output buffer that every block reuses, as a stage of a pipeline does. Rounds go through all contestants in
//! turn; the median counts. A contestant's time counts only if its output is correct.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use fullbore_codec::fizzbuzz::FizzBuzz;
use fullbore_codec::generate::{JsonLines, Lines, Random, Source};
use fullbore_codec::morse::{Alphabet, Decoder, Encoder, OnError};
use fullbore_codec::utf8::{Repairer, Replacement, Validator};
use fullbore_codec::{Codec, Tier};

const BLOCK_BYTES: usize = 1 << 16;
const GENERATED_BYTES: usize = 64 << 20;

/// A contestant's work; it returns how many bytes came out.
type Job<'a> = Box<dyn FnMut() -> u64 + 'a>;

struct Contestant<'a> {
    name: String,
    job: Job<'a>,
    seconds: Vec<f64>,
    output_bytes: u64,
}

fn contestant<'a>(name: impl ToString, job: impl FnMut() -> u64 + 'a) -> Contestant<'a> {
    Contestant { name: name.to_string(), job: Box::new(job), seconds: Vec::new(), output_bytes: 0 }
}

/// Runs a stage over the blocks of `input`, and passes every block of output to `see`.
fn stage<C: Codec>(
    mut codec: C,
    input: &[u8],
    output: &mut [u8],
    mut see: impl FnMut(&[u8]),
) -> u64 {
    let mut bytes = 0;
    for block in input.chunks(BLOCK_BYTES) {
        let written = codec.push(block, output).unwrap_or_else(|fault| panic!("{}", fault.error));
        see(&output[..written]);
        bytes += written as u64;
    }
    bytes
}

fn whole<C: Codec>(codec: C, input: &[u8]) -> Vec<u8> {
    let mut output = vec![0; codec.output_bound(BLOCK_BYTES)];
    let mut all = Vec::new();
    stage(codec, input, &mut output, |block| all.extend_from_slice(block));
    all
}

/// Returns fullbore in all tiers.
fn ours<'a, C: Codec>(
    input: &'a [u8],
    make: impl Fn(Tier) -> C + Copy + 'a,
) -> Vec<Contestant<'a>> {
    let answer = whole(make(Tier::Portable), input);
    let mut tiers = Tier::all();
    tiers.reverse();
    let contestant = |tier: Tier| {
        assert!(whole(make(tier), input) == answer, "{tier} does not agree");
        let mut output = vec![0; make(tier).output_bound(BLOCK_BYTES)];
        contestant(tier, move || {
            stage(make(tier), input, &mut output, |block| {
                black_box(block);
            })
        })
    };
    tiers.into_iter().map(contestant).collect()
}

fn copying<'a>(input: &'a [u8]) -> Contestant<'a> {
    let mut output = vec![0; BLOCK_BYTES];
    contestant("copy", move || {
        for block in input.chunks(BLOCK_BYTES) {
            output[..block.len()].copy_from_slice(block);
            black_box(&output);
        }
        input.len() as u64
    })
}

fn peer<'a>(
    name: &str,
    input: &'a [u8],
    block_bytes: usize,
    run: fn(&[u8]) -> String,
) -> Contestant<'a> {
    contestant(format!("ripmors {name} {} KiB", block_bytes >> 10), move || {
        input.chunks(block_bytes).map(|block| black_box(run(block)).len() as u64).sum()
    })
}

fn peer_stream<'a>(
    name: &str,
    input: &'a [u8],
    run: fn(&[u8], &mut Counted) -> std::io::Result<()>,
) -> Contestant<'a> {
    contestant(format!("ripmors {name}"), move || {
        let mut output = Counted(0);
        run(input, &mut output).expect("nothing fails in memory");
        output.0
    })
}

/// Counts the bytes that it receives.
struct Counted(u64);

impl std::io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += black_box(bytes).len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns nanoseconds per cycle, by a chain of multiplications, each of which waits three cycles for the one before on
/// every x86 of the last ten years.
fn cycle_ns() -> f64 {
    const LENGTH: u32 = 20_000_000;
    let one = || {
        let begin = Instant::now();
        let mut product = black_box(3u64);
        for _ in 0..LENGTH {
            product = product.wrapping_mul(product);
        }
        black_box(product);
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(3 * LENGTH)
    };
    (0..5).map(|_| one()).fold(f64::INFINITY, f64::min)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Times the contestants in turn, and prints their table.
fn race(title: &str, input_bytes: usize, rounds: &Rounds, mut contestants: Vec<Contestant<'_>>) {
    contestants.retain(|contestant| contestant.name.contains(&rounds.only));
    for _ in 0..rounds.count {
        for contestant in &mut contestants {
            let begin = Instant::now();
            contestant.output_bytes = (contestant.job)();
            contestant.seconds.push(begin.elapsed().as_secs_f64());
        }
    }
    let cycle_ns = cycle_ns();
    let bytes = input_bytes as f64;
    let gb = |contestant: &Contestant<'_>| bytes / median(&contestant.seconds) / 1e9;
    let is =
        |part: &'static str| move |contestant: &&Contestant<'_>| contestant.name.starts_with(part);
    let copy = contestants.iter().find(is("copy")).map(gb);
    let peer = contestants.iter().filter(is("ripmors")).map(gb).reduce(f64::max);
    println!("\n### {title}\n");
    println!("{:.1} MB, {} rounds, {:.2} GHz\n", bytes / 1e6, rounds.count, 1.0 / cycle_ns);
    println!(
        "| contestant | GB/s in | GB/s out | spread | cycles/byte in | share of copy | ÷ ripmors |"
    );
    println!("|---|---|---|---|---|---|---|");
    for contestant in &contestants {
        let speed = gb(contestant);
        let ratio = |other: Option<f64>, scale: f64, unit: &str| {
            other.map_or("".to_owned(), |other| format!("{:.2}{unit}", speed / other * scale))
        };
        let (least, most) = contestant
            .seconds
            .iter()
            .fold((f64::INFINITY, 0f64), |(a, b), s| (a.min(*s), b.max(*s)));
        println!(
            "| {} | {speed:.2} | {:.2} | {:.0} % | {:.3} | {} | {} |",
            contestant.name,
            speed * contestant.output_bytes as f64 / bytes,
            (most - least) / median(&contestant.seconds) * 100.0,
            1.0 / speed / cycle_ns,
            ratio(copy, 100.0, " %"),
            ratio(peer, 1.0, ""),
        );
    }
}

fn read(name: &str) -> Vec<u8> {
    let folder = std::env::var_os("FULLBORE_TEXT").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/fullbore/text"),
        PathBuf::from,
    );
    let path = folder.join(name);
    let bytes = std::fs::read(&path);
    let bytes = bytes.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned().into_bytes()
}

/// Encodes English text: as it is, with characters without a code dropped; or plain, with only characters whose code is
/// one sign, where an error would stop it, as a user gets by default.
fn encode_ascii(title: &str, dropped: &[u8], mode: OnError, rounds: &Rounds) {
    // The release of ripmors has another sign for `!`.
    let mut text = read("english.txt");
    let is_text =
        |byte: u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    text.retain(|byte| *byte != b'!' && !dropped.contains(byte) && is_text(*byte));
    let ours_whole = whole(Encoder::new(Tier::Portable, mode), &text);
    assert!(
        ours_whole == ripmors::encode_string_ascii(&text).as_bytes(),
        "the peer does not agree"
    );
    let mut contestants = ours(&text, |tier| Encoder::new(tier, mode));
    for kib in [16, 64, 256] {
        contestants.push(peer(
            "encode_string_ascii",
            &text,
            kib << 10,
            ripmors::encode_string_ascii,
        ));
    }
    contestants.push(peer_stream("encode_stream_ascii", &text, |mut text, output| {
        ripmors::encode_stream_ascii(&mut text, output);
        Ok(())
    }));
    contestants.push(copying(&text));
    race(title, text.len(), rounds, contestants);
}

fn encode_unicode(title: &str, name: &str, rounds: &Rounds) {
    let text = read(name);
    let mut contestants = ours(&text, |tier| Encoder::new(tier, OnError::Skip));
    contestants.push(peer_stream("encode_stream", &text, |mut text, output| {
        ripmors::encode_stream(&mut text, output);
        Ok(())
    }));
    let whole = std::str::from_utf8(&text).expect("made so by read");
    contestants.push(contestant("ripmors encode_string", move || {
        let mut rest = whole;
        let mut bytes = 0;
        while !rest.is_empty() {
            let (block, next) = rest.split_at(whole_characters(rest));
            bytes += black_box(ripmors::encode_string(block)).len() as u64;
            rest = next;
        }
        bytes
    }));
    contestants.push(copying(&text));
    race(title, text.len(), rounds, contestants);
}

fn decode(title: &str, name: &str, alphabet: Alphabet, letter: fn(u8) -> char, rounds: &Rounds) {
    let mut text = read(name);
    text.truncate(20_000_000);
    // Use only what the alphabet has: a first pass drops the rest.
    let code = whole(Encoder::new(Tier::Portable, OnError::Skip), &text);
    let letters = whole(Decoder::new(Tier::Portable, alphabet, OnError::Skip), &code);
    let code = whole(Encoder::new(Tier::Portable, OnError::Skip), &letters);
    let code = code.as_slice();
    let mut contestants = ours(code, |tier| Decoder::new(tier, alphabet, OnError::Skip));
    contestants.push(contestant("ripmors decode_string", move || {
        code.chunks(BLOCK_BYTES)
            .map(|block| black_box(ripmors::decode_string(block, letter)).len() as u64)
            .sum()
    }));
    contestants.push(contestant("ripmors decode_stream", move || {
        let (mut input, mut output) = (code, Counted(0));
        ripmors::decode_stream(&mut input, &mut output, letter);
        output.0
    }));
    contestants.push(copying(code));
    race(title, code.len(), rounds, contestants);
}

/// Fills a buffer of the size again and again.
fn generating<'a, S: Source + 'a>(
    name: impl ToString,
    size: usize,
    make: impl Fn() -> S + 'a,
) -> Contestant<'a> {
    let mut output = vec![0; size];
    contestant(name, move || {
        let mut source = make();
        let mut bytes = 0;
        while bytes < GENERATED_BYTES {
            bytes += source.fill(&mut output);
            black_box(&output);
        }
        bytes as u64
    })
}

fn generate(rounds: &Rounds) {
    let zeros = vec![0; GENERATED_BYTES];
    for (title, size) in [("buffers of 64 KiB", 1 << 16), ("buffers of 2 MiB", 2 << 20)] {
        let mut contestants: Vec<Contestant<'_>> = Tier::all()
            .into_iter()
            .map(|tier| {
                generating(format!("fizzbuzz {tier}"), size, move || {
                    FizzBuzz::from_power_of_ten(tier, 9)
                })
            })
            .collect();
        contestants.push(generating("random", size, || Random::new(1)));
        contestants.push(generating("lines 80", size, || Lines::new(80)));
        contestants.push(generating("jsonl", size, || JsonLines::new(1, None)));
        contestants.push(copying(&zeros));
        race(&format!("Generate: {title}"), GENERATED_BYTES, rounds, contestants);
    }
}

fn utf8(rounds: &Rounds) {
    for name in ["english.txt", "russian.txt", "japanese.txt"] {
        let text = read(name);
        let check = || {
            let mut validator = Validator::new();
            text.chunks(BLOCK_BYTES)
                .for_each(|block| validator.push(block).expect("made so by read"));
            text.len() as u64
        };
        let mut output = vec![0; 3 * BLOCK_BYTES + 4];
        let repair = || {
            stage(Repairer::new(Replacement::Character), &text, &mut output, |block| {
                black_box(block);
            })
        };
        let contestants =
            vec![contestant("check", check), contestant("repair", repair), copying(&text)];
        race(&format!("UTF-8: {name}"), text.len(), rounds, contestants);
    }
}

/// How many rounds to run, for which contestants.
struct Rounds {
    count: usize,
    /// Part of a contestant's name.
    only: String,
}

/// A benchmark by its name.
type Named = (&'static str, fn(&Rounds));

const BENCHMARKS: &[Named] = &[
    ("encode-english", |rounds| {
        encode_ascii(
            "Encode: English (ASCII), skipping characters without a code",
            b"",
            OnError::Skip,
            rounds,
        );
    }),
    ("encode-plain", |rounds| {
        let title = "Encode: English (ASCII), without # ~ ^ % &, failing on errors";
        encode_ascii(title, b"#~^%&", OnError::Fail, rounds);
    }),
    ("encode-russian", |rounds| encode_unicode("Encode: Russian", "russian.txt", rounds)),
    ("encode-japanese", |rounds| encode_unicode("Encode: Japanese", "japanese.txt", rounds)),
    ("decode-english", |rounds| {
        decode("Decode: English", "english.txt", Alphabet::Latin, ripmors::to_standard, rounds);
    }),
    ("decode-russian", |rounds| {
        decode("Decode: Russian", "russian.txt", Alphabet::Russian, ripmors::to_russian, rounds);
    }),
    ("decode-japanese", |rounds| {
        decode(
            "Decode: Japanese",
            "japanese.txt",
            Alphabet::Japanese,
            ripmors::to_japanese,
            rounds,
        );
    }),
    ("utf8", utf8),
    ("generate", generate),
];

fn main() {
    let mut arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let mut option = |name: &str| {
        let at = arguments.iter().position(|word| word == name)?;
        arguments.drain(at..at + 2).nth(1)
    };
    let count = option("--rounds").and_then(|count| count.parse().ok()).unwrap_or(9);
    let rounds = Rounds { count, only: option("--only").unwrap_or_default() };
    for (name, benchmark) in BENCHMARKS {
        if arguments.is_empty() || arguments.iter().any(|wanted| name.contains(wanted.as_str())) {
            benchmark(&rounds);
        }
    }
}

/// Returns the length of the longest prefix that ends between characters.
fn whole_characters(text: &str) -> usize {
    let most = text.len().min(BLOCK_BYTES);
    (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0)
}
