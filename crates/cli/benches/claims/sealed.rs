//! Sealed streams: what several CPUs make of one core's rate in memory.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use fullbore_codec::Tier;
use fullbore_codec::gost::stream::{ChunkKind, Chunks, Header};
use fullbore_codec::gost::{Cipher, Key};
use fullbore_measure::Summary;

use crate::Effort;
use crate::pairs::{plain, seconds_of};
use crate::sandbox::{Sandbox, finish, with_fixture};
use crate::stages::without_folders;
use crate::table::{Outcome, Row};

const KEY: [u8; 32] = [7; 32];
const BAR: f64 = 1.5;

/// Seconds that one core takes for `bytes` in memory: one chunk, again and again.
fn in_memory(is_sealing: bool, bytes: u64) -> f64 {
    let header = Header::new(Cipher::Kuznyechik, [3; 32]);
    let chunks = Chunks::new(&Key::new(KEY), &header, Tier::best());
    let mut data = vec![1; header.chunk_bytes()];
    let mut sealed = vec![0; header.sealed_chunk_bytes()];
    chunks.seal(1, ChunkKind::Middle, &data, &mut sealed).unwrap();
    let begin = Instant::now();
    for _ in 0..bytes / header.chunk_bytes() as u64 {
        if is_sealing {
            chunks.seal(1, ChunkKind::Middle, black_box(&data), &mut sealed).unwrap();
        } else {
            chunks.open(1, ChunkKind::Middle, black_box(&sealed), &mut data).unwrap();
        }
    }
    begin.elapsed().as_secs_f64()
}

/// Seconds of a line of the shell, with what it reads in the page cache.
fn in_a_pipeline(place: &Sandbox, line: &str, file: &Path) -> f64 {
    std::io::copy(&mut fs::File::open(file).unwrap(), &mut std::io::sink()).unwrap();
    seconds_of(plain(place, line))
}

/// `seal` and `open` from a file in the page cache into a reader that splices to /dev/null.
pub(crate) fn rates(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let bytes: u64 = effort.pick(512 << 20, 1 << 30);
    let file = |name: &str| place.path(name);
    fs::write(file("key"), KEY).unwrap();
    let make = |line: &str| {
        let mut command = place.command("sh");
        command.args(["-c", &with_fixture(line)]);
        let ended = finish(command);
        assert!(ended.status.success(), "{}", ended.stderr);
    };
    make(&format!("chmod 600 key; {{fullbore}} gen random --bytes {bytes} > data"));
    make(
        "{fullbore} gost seal --key-file key data > sealed; {fullbore} gost open --key-file key sealed | cmp - data",
    );
    let mut rows = Vec::new();
    for (verb, input, is_sealing) in [("seal", "data", true), ("open", "sealed", false)] {
        let input = file(input);
        let line = format!(
            "{{fullbore}} gost {verb} --key-file {} {} | {{sequence}} splice",
            file("key").display(),
            input.display()
        );
        in_a_pipeline(&place, &line, &input);
        let (mut ratios, mut seconds) = (Vec::new(), Vec::new());
        for _ in 0..effort.times(5, 15) {
            let core = in_memory(is_sealing, bytes);
            seconds.push(in_a_pipeline(&place, &line, &input));
            ratios.push(core / seconds[seconds.len() - 1]);
        }
        let ratio = Summary::of(&ratios).unwrap();
        let rate = bytes as f64 / fullbore_measure::median(&seconds).unwrap() / 1e9;
        rows.push(Row {
            claim: format!(
                "file → `gost {verb}` → pipe → splicing reader, 2 CPUs: throughput ÷ throughput of one core in memory"
            ),
            bar: format!("≥ {BAR}"),
            measured: format!("{:.2} ± {:.2}", ratio.median, ratio.mad),
            outcome: Outcome::met_if(ratio.median >= BAR),
            command: without_folders(&line)
                .replace("{fullbore}", "fullbore")
                .replace("{sequence}", "sequence"),
            notes: vec![format!(
                "the pipeline moves {rate:.2} GB/s; in memory: `Chunks::{verb}` on one chunk of 1 MiB, \
                 repeated for {} before each pipeline; ratios from {:.2} to {:.2}",
                fullbore_measure::Bytes(bytes),
                ratio.min,
                ratio.max
            )],
        });
    }
    rows
}
