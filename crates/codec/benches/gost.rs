//! Measures the GOST ciphers on one core, beside RustCrypto and OpenSSL's gost engine, in one run.
//!
//! `RUSTFLAGS="-C target-cpu=native" cargo bench -p fullbore-codec --bench gost [-- [--quick] [NAME]]` prints the
//! tables of docs/gost-speed.md. In each round every contender runs once, for a few milliseconds, so that disturbances
//! of the machine affect all of them; the tables show the medians. A contender's time counts only if its output is
//! correct.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]
#![expect(clippy::unwrap_used, reason = "a benchmark may fail")]

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use fullbore_codec::Tier;
use fullbore_codec::gost::modes::{CbcDecryption, CbcEncryption, Ctr, Mgm};
use fullbore_codec::gost::stream::{ChunkKind, Chunks, Header};
use fullbore_codec::gost::{BlockCipher, Cipher, Key, Kuznyechik, Magma};

/// Bytes of a pass; they stay in the second-level cache.
const DATA_BYTES: usize = 256 << 10;

/// How long a contender runs in one round.
const TURN: Duration = Duration::from_millis(3);

const KEY: [u8; 32] = [7; 32];

type Run = Box<dyn FnMut(&mut [u8])>;

/// A contender: its name, and what it does with the data.
struct Contender {
    name: String,
    run: Run,
    data: Vec<u8>,
    seconds: Vec<f64>,
}

impl Contender {
    fn new(name: String, bytes: usize, run: impl FnMut(&mut [u8]) + 'static) -> Self {
        Self { name, run: Box::new(run), data: vec![1; bytes], seconds: Vec::new() }
    }

    fn turn(&mut self) {
        let (start, mut passes) = (Instant::now(), 0_u32);
        while passes == 0 || start.elapsed() < TURN {
            (self.run)(black_box(&mut self.data));
            passes += 1;
        }
        self.seconds.push(start.elapsed().as_secs_f64() / f64::from(passes));
    }

    /// Returns the median in bytes per nanosecond.
    fn rate(&self) -> f64 {
        self.data.len() as f64 / median(self.seconds.clone()) / 1e9
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Measures gigahertz by a chain of multiplications, each of which waits three cycles for the one before (Zen, Intel
/// since 2008).
fn gigahertz() -> f64 {
    const LINKS: u32 = 3_000_000;
    let (start, mut value) = (Instant::now(), black_box(3_u64));
    for _ in 0..LINKS {
        value = value.wrapping_mul(value);
    }
    black_box(value);
    3.0 * f64::from(LINKS) / start.elapsed().as_secs_f64() / 1e9
}

/// Returns the engine's megabytes per second in counter mode, the median of three runs of a second; `None` without the
/// engine.
fn engine(cipher: &str) -> Option<f64> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gost-engine-speed.cnf");
    let configuration = "openssl_conf = all\n[all]\nengines = engines\n[engines]\ngost = gost\n\
                         [gost]\nengine_id = gost\ndefault_algorithms = ALL\n";
    std::fs::write(&file, configuration).ok()?;
    let mode = format!("{cipher}-ctr");
    let once = || {
        let output = Command::new("openssl")
            .args(["speed", "-seconds", "1", "-bytes", "65536", "-evp", &mode])
            .env("OPENSSL_CONF", &file)
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let rate =
            text.lines().last()?.split_whitespace().last()?.strip_suffix('k')?.parse::<f64>();
        rate.ok().map(|kilobytes| kilobytes / 1e3)
    };
    Some(median(vec![once()?, once()?, once()?]))
}

/// Returns the contenders for a cipher by name.
fn contenders<C, R>(cipher: Cipher, tiers: &[Tier]) -> Vec<Contender>
where
    C: BlockCipher + 'static,
    R: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + 'static,
{
    let key = Key::new(KEY);
    agree::<C, R>(&key, tiers);
    let theirs = || R::new_from_slice(&KEY).unwrap();
    let mut all = Vec::new();
    for tier in tiers.iter().rev() {
        let ours = C::new(&key, *tier);
        let block = C::BLOCK_BYTES;
        let mut ctr = Ctr::new(ours.clone(), &[0; 16][..block / 2]).unwrap();
        all.push(Contender::new(format!("ctr {tier}"), DATA_BYTES, move |data| ctr.apply(data)));
        let mut cbc = CbcEncryption::new(ours.clone(), &[0; 16][..block]).unwrap();
        let name = format!("cbc encryption {tier}");
        all.push(Contender::new(name, DATA_BYTES / 8, move |data| cbc.apply(data)));
        let mut cbc = CbcDecryption::new(ours, &[0; 16][..block]).unwrap();
        let name = format!("cbc decryption {tier}");
        all.push(Contender::new(name, DATA_BYTES, move |data| cbc.apply(data)));
        let mgm = Mgm::<C>::new(&key, *tier);
        all.push(Contender::new(format!("mgm seal {tier}"), DATA_BYTES, move |data| {
            mgm.seal(&[1; 16][..block], &[], data, &mut [0; 16][..block]).unwrap();
        }));
        let header = Header::new(cipher, [3; 32]);
        let chunks = Chunks::new(&key, &header, *tier);
        let bytes = header.chunk_bytes();
        let mut sealed = vec![0; header.sealed_chunk_bytes()];
        all.push(Contender::new(format!("sealed stream {tier}"), bytes, move |data| {
            chunks.seal(1, ChunkKind::Middle, data, &mut sealed).unwrap();
        }));
    }
    let parallel = theirs();
    all.push(Contender::new("RustCrypto, parallel".to_owned(), DATA_BYTES, move |data| {
        parallel.encrypt_blocks(cipher::Array::slice_as_chunks_mut(data).0);
    }));
    let parallel = theirs();
    all.push(Contender::new(
        "RustCrypto, parallel decryption".to_owned(),
        DATA_BYTES,
        move |data| {
            parallel.decrypt_blocks(cipher::Array::slice_as_chunks_mut(data).0);
        },
    ));
    let serial = theirs();
    all.push(Contender::new("RustCrypto, chained".to_owned(), DATA_BYTES / 8, move |data| {
        chain(&serial, data);
    }));
    all
}

fn chain<R: BlockCipherEncrypt>(cipher: &R, data: &mut [u8]) {
    let mut last = cipher::Block::<R>::default();
    for block in cipher::Array::slice_as_chunks_mut(data).0 {
        block.iter_mut().zip(&last).for_each(|(byte, last)| *byte ^= last);
        cipher.encrypt_block(block);
        last.clone_from(block);
    }
}

/// Checks before timing that all contenders give the same output.
fn agree<C: BlockCipher, R: KeyInit + BlockCipherEncrypt>(key: &Key, tiers: &[Tier]) {
    let theirs = R::new_from_slice(key.bytes()).unwrap();
    let mut wanted = vec![5; 1 << 14];
    chain(&theirs, &mut wanted);
    for tier in tiers {
        let mut found = vec![5; 1 << 14];
        let iv = &[0; 16][..C::BLOCK_BYTES];
        CbcEncryption::new(C::new(key, *tier), iv).unwrap().apply(&mut found);
        assert!(found == wanted, "{tier} does not agree with RustCrypto");
    }
}

/// Runs all contenders in turn and prints their table.
fn table(cipher: Cipher, contenders: &mut [Contender], turns: usize, engine: Option<f64>) -> f64 {
    let mut clock = Vec::new();
    for _ in 0..turns {
        clock.push(gigahertz());
        contenders.iter_mut().for_each(Contender::turn);
    }
    let clock = median(clock);
    let rate =
        |name: &str| contenders.iter().find(|c| c.name == name).map_or(f64::NAN, Contender::rate);
    println!("\n## {cipher} (at {clock:.2} GHz)\n");
    println!("| | GB/s | cycles per byte | ÷ RustCrypto | ÷ gost engine |\n|---|---|---|---|---|");
    for contender in contenders.iter() {
        let own = contender.rate();
        let reference = match &contender.name {
            name if name.contains("cbc encryption") => rate("RustCrypto, chained"),
            name if name.contains("decryption") => rate("RustCrypto, parallel decryption"),
            _ => rate("RustCrypto, parallel"),
        };
        let is_counter = contender.name.starts_with("ctr");
        let engine = engine.filter(|_| is_counter).map(|rate| format!("{:.1}", own / rate * 1e3));
        let (cycles, engine) = (clock / own, engine.unwrap_or_default());
        println!(
            "| {} | {own:.3} | {cycles:.2} | {:.2} | {engine} |",
            contender.name,
            own / reference
        );
    }
    if let Some(rate) = engine {
        println!("| gost engine, ctr | {:.3} | {:.2} | | 1.0 |", rate / 1e3, clock / rate * 1e3);
    }
    for tier in Tier::all().iter().rev() {
        let share = rate(&format!("mgm seal {tier}")) / rate(&format!("ctr {tier}"));
        println!("\nMGM ÷ counter mode, {tier}: {share:.2}");
    }
    clock
}

/// Keeps the contenders whose name contains `part`, and the reference.
fn filtered(mut all: Vec<Contender>, part: Option<&str>) -> Vec<Contender> {
    all.retain(|c| part.is_none_or(|part| c.name.contains(part) || c.name.contains("parallel")));
    all
}

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|name| name != "--bench").collect();
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let part = arguments.iter().find(|argument| !argument.starts_with('-')).map(String::as_str);
    let turns = if is_quick { 15 } else { 101 };
    let tiers = Tier::all();
    let engines = [Cipher::Kuznyechik, Cipher::Magma]
        .map(|cipher| if is_quick { None } else { engine(&cipher.to_string()) });
    let all = contenders::<Kuznyechik, kuznyechik::Kuznyechik>(Cipher::Kuznyechik, &tiers);
    let mut all = filtered(all, part);
    table(Cipher::Kuznyechik, &mut all, turns, engines[0]);
    let all = contenders::<Magma, magma::Magma>(Cipher::Magma, &tiers);
    let mut all = filtered(all, part);
    table(Cipher::Magma, &mut all, turns, engines[1]);
}
