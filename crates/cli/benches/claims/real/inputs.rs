//! Files that real pipelines read: made once, always the same, and kept for the next run.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

const MIB: usize = 1 << 20;

/// A folder with the files, made where they are missing.
pub(crate) fn folder() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("real-inputs-1");
    fs::create_dir_all(&place).unwrap();
    make(&place, "text", |out, random| lines(out, random, 200 * MIB, text_line));
    make(&place, "words", |out, random| {
        lines(out, random, 60 * MIB, |out, random| {
            out.extend_from_slice(word(random));
        })
    });
    make(&place, "json", |out, random| lines(out, random, 100 * MIB, json_line));
    make(&place, "csv", |out, random| {
        out.write_all(b"id,name,city,amount,date\n").unwrap();
        lines(out, random, 100 * MIB, csv_line);
    });
    make(&place, "log", |out, random| lines(out, random, 120 * MIB, log_line));
    make(&place, "fasta", |out, random| fasta(out, random, 80 * MIB));
    make(&place, "bin", |out, random| binary(out, random, 200 * MIB));
    make(&place, "nums", |out, random| {
        for _ in 0..5_000_000 {
            writeln!(out, "{}", random.below(1_000_000_000)).unwrap();
        }
    });
    by_shell(&place, "small", "head -c 5M text");
    by_shell(&place, "text.gz", "gzip -c text");
    by_shell(&place, "text.zst", "zstd -q -c text");
    by_shell(&place, "text.xz", "head -c 40M text | xz -1 -T2 -c");
    tree(&place);
    place
}

/// Gives a run its own names for these files.
pub(crate) fn link(files: &[String], into: &Path) {
    let place = folder();
    for name in files {
        let name = name.trim_end_matches('/');
        link_all(&place.join(name), &into.join(name));
    }
    // busybox is a shell under this name.
    if let Some(busybox) = which("busybox") {
        std::os::unix::fs::symlink(busybox, into.join("ash")).unwrap();
    }
}

/// Programs treat a symbolic link in another way than a file.
fn link_all(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop)).unwrap();
        return;
    }
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        link_all(&entry.path(), &to.join(entry.file_name()));
    }
}

fn which(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.exists())
}

fn make(place: &Path, name: &str, write: impl FnOnce(&mut BufWriter<File>, &mut Random)) {
    let path = place.join(name);
    if path.exists() {
        return;
    }
    let unfinished = path.with_extension("new");
    let mut out = BufWriter::with_capacity(MIB, File::create(&unfinished).unwrap());
    write(&mut out, &mut Random(name.len() as u64 + 1));
    out.flush().unwrap();
    fs::rename(unfinished, path).unwrap();
}

fn by_shell(place: &Path, name: &str, line: &str) {
    let path = place.join(name);
    if path.exists() {
        return;
    }
    let unfinished = path.with_extension("new");
    let file = File::create(&unfinished).unwrap();
    let status = Command::new("sh").args(["-c", line]).current_dir(place).stdout(file).status();
    assert!(status.unwrap().success(), "{line}");
    fs::rename(unfinished, path).unwrap();
}

/// 5000 small files in 100 folders.
fn tree(place: &Path) {
    let root = place.join("tree");
    if root.exists() {
        return;
    }
    let unfinished = place.join("tree.new");
    let mut random = Random(99);
    for folder in 0..100 {
        let path = unfinished.join(format!("d{folder:02}"));
        fs::create_dir_all(&path).unwrap();
        for file in 0..50 {
            let mut text = Vec::new();
            for _ in 0..10 + random.below(60) {
                text_line(&mut text, &mut random);
                text.push(b'\n');
            }
            fs::write(path.join(format!("f{file:02}.txt")), text).unwrap();
        }
    }
    fs::rename(unfinished, root).unwrap();
}

fn lines(
    out: &mut impl Write,
    random: &mut Random,
    bytes: usize,
    line: impl Fn(&mut Vec<u8>, &mut Random),
) {
    let mut buffer = Vec::new();
    let mut written = 0;
    while written < bytes {
        buffer.clear();
        line(&mut buffer, random);
        buffer.push(b'\n');
        out.write_all(&buffer).unwrap();
        written += buffer.len();
    }
}

const WORDS: &[&str] = &[
    "the",
    "of",
    "and",
    "to",
    "a",
    "in",
    "that",
    "it",
    "is",
    "was",
    "for",
    "on",
    "are",
    "as",
    "with",
    "his",
    "they",
    "at",
    "be",
    "this",
    "have",
    "from",
    "or",
    "one",
    "had",
    "by",
    "word",
    "but",
    "not",
    "what",
    "all",
    "were",
    "we",
    "when",
    "your",
    "can",
    "said",
    "there",
    "use",
    "an",
    "each",
    "which",
    "she",
    "do",
    "how",
    "their",
    "if",
    "will",
    "up",
    "other",
    "about",
    "out",
    "many",
    "then",
    "them",
    "these",
    "so",
    "some",
    "her",
    "would",
    "make",
    "like",
    "him",
    "into",
    "time",
    "has",
    "look",
    "two",
    "more",
    "write",
    "go",
    "see",
    "number",
    "no",
    "way",
    "could",
    "people",
    "my",
    "than",
    "first",
    "water",
    "been",
    "call",
    "who",
    "oil",
    "its",
    "now",
    "find",
    "long",
    "down",
    "day",
    "did",
    "get",
    "come",
    "made",
    "may",
    "part",
    "river",
    "mountain",
    "pipeline",
    "bottleneck",
    "measure",
    "window",
    "storage",
    "engine",
    "quarter",
    "freight",
    "copper",
    "lantern",
    "harbour",
    "signal",
    "thunder",
    "velocity",
    "whisper",
    "orchard",
    "paragraph",
    "quantum",
    "resonance",
    "silhouette",
    "tangent",
];

/// A word, common ones more often.
fn word(random: &mut Random) -> &'static [u8] {
    let (one, two) = (random.below(WORDS.len() as u64), random.below(WORDS.len() as u64));
    WORDS[usize::try_from(one.min(two)).unwrap()].as_bytes()
}

fn text_line(out: &mut Vec<u8>, random: &mut Random) {
    let start = out.len();
    while out.len() - start < 62 {
        if out.len() > start {
            out.push(b' ');
        }
        out.extend_from_slice(word(random));
        if random.below(40) == 0 {
            out.extend_from_slice(random.below(10_000).to_string().as_bytes());
        }
    }
    out.push(b'.');
}

const LEVELS: [&str; 4] = ["debug", "info", "warn", "error"];
const PATHS: [&str; 6] =
    ["/", "/index.html", "/api/items", "/api/users", "/static/app.js", "/login"];

fn json_line(out: &mut Vec<u8>, random: &mut Random) {
    let (level, path) = (LEVELS[random.index(4)], PATHS[random.index(6)]);
    let status = [200, 200, 200, 301, 404, 500][random.index(6)];
    write!(
        out,
        r#"{{"id":{},"time":"2026-03-{:02}T{:02}:{:02}:{:02}Z","level":"{level}","path":"{path}","status":{status},"ms":{}.{},"user":{{"id":{},"name":"{}"}}}}"#,
        random.below(1 << 40),
        1 + random.below(28),
        random.below(24),
        random.below(60),
        random.below(60),
        random.below(2000),
        random.below(1000),
        random.below(50_000),
        String::from_utf8_lossy(word(random)),
    )
    .unwrap();
}

fn csv_line(out: &mut Vec<u8>, random: &mut Random) {
    let city = ["Berlin", "Kazan", "Lyon", "Osaka", "Porto", "Quito", "Tunis"][random.index(7)];
    write!(
        out,
        "{},{} {},{city},{}.{:02},2026-{:02}-{:02}",
        random.below(10_000_000),
        String::from_utf8_lossy(word(random)),
        String::from_utf8_lossy(word(random)),
        random.below(100_000),
        random.below(100),
        1 + random.below(12),
        1 + random.below(28),
    )
    .unwrap();
}

fn log_line(out: &mut Vec<u8>, random: &mut Random) {
    let status = [200, 200, 200, 304, 404, 500][random.index(6)];
    write!(
        out,
        r#"{}.{}.{}.{} - - [{:02}/Mar/2026:{:02}:{:02}:{:02} +0000] "GET {}?q={} HTTP/1.1" {status} {} "-" "Mozilla/5.0 ({})""#,
        random.below(223) + 1,
        random.below(256),
        random.below(256),
        random.below(256),
        1 + random.below(28),
        random.below(24),
        random.below(60),
        random.below(60),
        PATHS[random.index(6)],
        random.below(100_000),
        random.below(60_000),
        String::from_utf8_lossy(word(random)),
    )
    .unwrap();
}

fn fasta(out: &mut impl Write, random: &mut Random, bytes: usize) {
    let mut written = 0;
    let mut number = 0;
    while written < bytes {
        number += 1;
        let mut record = format!(">seq{number} sample {}\n", random.below(100)).into_bytes();
        for _ in 0..10 + random.below(30) {
            record.extend((0..70).map(|_| b"ACGT"[random.index(4)]));
            record.push(b'\n');
        }
        out.write_all(&record).unwrap();
        written += record.len();
    }
}

fn binary(out: &mut impl Write, random: &mut Random, bytes: usize) {
    for _ in 0..bytes / 8 {
        out.write_all(&random.next().to_le_bytes()).unwrap();
    }
}

/// SplitMix64, Steele and others 2014.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn index(&mut self, length: u64) -> usize {
        usize::try_from(self.below(length)).unwrap()
    }
}
