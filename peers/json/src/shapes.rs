//! The four shapes of data, the same in every run.

use fullbore_codec::generate::{JsonLines, Source as _};

/// Bytes of each shape, about.
const BYTES: usize = 16 << 20;

/// One shape of data.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) make: fn() -> Vec<u8>,
    /// Members to ask for: some at the beginning of an object, some at the end.
    pub(crate) members: &'static [&'static str],
}

pub(crate) const SHAPES: &[Shape] = &[
    Shape { name: "events", make: events, members: &["id", "status", "message"] },
    Shape { name: "posts", make: posts, members: &["id", "lang"] },
    Shape { name: "coordinates", make: coordinates, members: &["id", "count"] },
    Shape { name: "wide", make: wide, members: &["field_0", "field_50", "field_99"] },
];

/// Numbers that look random (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A number with up to `digits` digits.
    fn digits(&mut self, digits: u32) -> u64 {
        let limit = 10u64.pow(1 + self.below(u64::from(digits)) as u32);
        self.below(limit)
    }

    /// Between `-limit` and `limit`.
    fn real(&mut self, limit: f64) -> f64 {
        (self.next() as f64 / u64::MAX as f64 * 2.0 - 1.0) * limit
    }
}

/// What `fullbore gen jsonl` prints: records of some 270 bytes.
fn events() -> Vec<u8> {
    let mut text = vec![0; BYTES];
    let count = JsonLines::new(0, None).fill(&mut text);
    text.truncate(count);
    text.truncate(1 + text.iter().rposition(|byte| *byte == b'\n').expect("there are lines"));
    text
}

const WORDS: &str = "the of and to in is you that it he was for on are as with his they I at be this have from or one had by \
    word but not what all were we when your can said there use an each which she do how their if will up other about out many \
    then them these so some her would make like him into time has look two more write go see number no way could people my \
    than first water been call who oil its now find long down day did get come made may part";
const RUSSIAN: &str = "и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой год мочь человек \
    такой тот сказать";

/// Long strings: texts of 200 to 2500 bytes, a fifth of them in Russian, with a few quotes, line ends, links and emoji.
fn posts() -> Vec<u8> {
    let mut numbers = Numbers(1);
    let lists = [WORDS, RUSSIAN].map(|list| list.split_whitespace().collect::<Vec<_>>());
    let mut text = String::new();
    while text.len() < BYTES {
        let id = 10u64.pow(17) + numbers.below(10u64.pow(16));
        let user = numbers.below(1_000_000);
        text += &format!("{{\"id\":{id},\"user\":\"user{user}\",\"text\":\"");
        let end = text.len() + 200 + numbers.below(2300) as usize;
        let words = &lists[usize::from(numbers.below(5) == 0)];
        while text.len() < end {
            text += words[numbers.below(words.len() as u64) as usize];
            match numbers.below(100) {
                0 => text += " \\\"quoted\\\"",
                1 => text += " 😀",
                2 | 3 => text += "\\n",
                4 | 5 => text += &format!(" https://t.co/Ab{}", numbers.below(100_000_000)),
                _ => {}
            }
            text.push(' ');
        }
        text += "\",\"lang\":\"en\"}\n";
    }
    text.into_bytes()
}

/// Only numbers: lines of points with six decimals.
fn coordinates() -> Vec<u8> {
    let mut numbers = Numbers(2);
    let mut text = String::new();
    let mut id = 0;
    while text.len() < BYTES {
        id += 1;
        text += &format!("{{\"id\":{id},\"points\":[");
        let (mut x, mut y) = (numbers.real(180.0), numbers.real(90.0));
        let count = 10 + numbers.below(190);
        for number in 0..count {
            x += numbers.real(0.01);
            y += numbers.real(0.01);
            let comma = if number == 0 { "" } else { "," };
            text += &format!("{comma}[{x:.6},{y:.6}]");
        }
        text += &format!("],\"count\":{count}}}\n");
    }
    text.into_bytes()
}

/// 100 members of all kinds in each object.
fn wide() -> Vec<u8> {
    let mut numbers = Numbers(3);
    let kinds: Vec<u64> = (0..100).map(|_| numbers.below(7)).collect();
    let mut text = String::new();
    while text.len() < BYTES {
        for (field, kind) in kinds.iter().enumerate() {
            text += if field == 0 { "{" } else { "," };
            let value = match kind {
                0 | 1 => numbers.digits(7).to_string(),
                2 | 3 => format!("{:.3}", numbers.real(100.0)),
                4 => format!("\"v{}\"", numbers.digits(7)),
                5 => (numbers.below(2) == 0).to_string(),
                _ => "null".to_owned(),
            };
            text += &format!("\"field_{field}\":{value}");
        }
        text += "}\n";
    }
    text.into_bytes()
}
