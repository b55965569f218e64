//! fullbore's JSON kernels beside simdjson, sonic-rs and simd-json: in memory, on one core, in turn.
//!
//! Prints a line for each shape, question and contestant, with tabs between the fields: shape, question (`check`, or the name
//! of a member), tier of fullbore, contestant, bytes, answer, seconds of each round. Lines that begin with `#` say which
//! versions and kernels were used, and who accepted what is no JSON. Usage: `json-peers [ROUNDS]`.

mod contestants;
mod shapes;
mod simdjson;

use std::time::Instant;

use contestants::{Contestant, Input, checkers, finders};
use fullbore_codec::Tier;
use shapes::SHAPES;

/// Lines that are no JSON, each for another reason.
const INVALID: &[&[u8]] = &[
    b"{\"a\":01}",
    b"{\"a\":1.}",
    b"{\"a\":-}",
    b"{\"a\":1e}",
    b"{\"a\":tru}",
    b"{\"a\":nul1}",
    b"{\"a\":[1,]}",
    b"{\"a\":[1 2]}",
    b"{\"a\":[1}",
    b"{\"a\" 1}",
    b"{a:1}",
    b"{\"a\":1,}",
    b"{\"a\":\"\x01\"}",
    b"{\"a\":\"\\x\"}",
    b"{\"a\":\"\\u12g4\"}",
    b"{\"a\":\"\xff\"}",
    b"{\"a\":\"\\ud800\"}",
];

fn main() {
    let rounds =
        std::env::args().nth(1).map_or(11, |word| word.parse().expect("a number of rounds"));
    // Built for a lesser CPU than this one: everybody has to do with AVX2.
    let is_narrow = !cfg!(target_feature = "avx512f");
    let tier = if is_narrow { Tier::best().min(Tier::Avx2) } else { Tier::best() };
    if is_narrow {
        simdjson::narrow();
    }
    println!("# {}", simdjson::version());
    refusals(tier);
    for shape in SHAPES {
        let mut input = Input::new((shape.make)());
        contest(shape.name, "check", tier, rounds, &mut input, checkers(tier));
        for member in shape.members {
            contest(shape.name, member, tier, rounds, &mut input, finders(tier, member));
        }
    }
}

/// Says who accepts what is no JSON.
fn refusals(tier: Tier) {
    for mut contestant in checkers(tier) {
        for line in INVALID {
            let mut input = Input::new([b"[1]\n", *line, b"\n[2]\n"].concat());
            if (contestant.answer)(&mut input) != -1 {
                println!("# {} accepts {}", contestant.name, line.escape_ascii());
            }
        }
    }
}

/// Rounds in which each contestant answers once, after one round that does not count.
fn contest(
    shape: &str,
    question: &str,
    tier: Tier,
    rounds: usize,
    input: &mut Input,
    mut contestants: Vec<Contestant>,
) {
    let mut answers = vec![0; contestants.len()];
    let mut seconds = vec![Vec::new(); contestants.len()];
    for round in 0..=rounds {
        for (number, contestant) in contestants.iter_mut().enumerate() {
            input.restore();
            let begun = Instant::now();
            answers[number] = (contestant.answer)(input);
            if round > 0 {
                seconds[number].push(begun.elapsed().as_secs_f64());
            }
        }
    }
    let bytes = input.text().len();
    for ((contestant, answer), seconds) in contestants.iter().zip(answers).zip(seconds) {
        let seconds: Vec<_> = seconds.iter().map(|value| format!("{value:.6}")).collect();
        let name = contestant.name;
        let seconds = seconds.join(" ");
        println!("{shape}\t{question}\t{tier}\t{name}\t{bytes}\t{answer}\t{seconds}");
    }
}
