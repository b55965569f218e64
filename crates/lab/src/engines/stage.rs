//! The two sides of `overlap` as stages of a shell pipeline, and a consumer that does something real.

mod json;

use std::io::{stdin, stdout};
use std::os::fd::AsFd;

use fullbore_measure::Bytes;
use rustix::io::retry_on_intr;

use super::builtin::{size, wrong};
use super::overlap::{CONSUMER_SPECS, Consuming, PRODUCER_SPECS, Producing};
use super::peers::failed;
use super::spec::{self, Spec};
use crate::{EngineError, Parameter, Parameters};

const JSON_SPECS: &[Spec] =
    &[Spec::number("read", "bytes", (1, 1 << 30), 4096, "bytes asked for at once")];

/// Runs a stage between standard input and standard output, and returns what it has to say at the end.
///
/// - `produce [burst=1M] [producer_work=16] [total=128M]` writes bursts to standard output and says nothing;
/// - `consume [consumer_work=16] [call_work=0] [read=4K] [other_work=0] [non_blocking=true]` reads to the end and
///   says how many bytes there were and their digest;
/// - `consume-json [read=4K]` splits JSON into tokens and says how many there were; it does not judge the text.
///
/// Sizes may have units, as everywhere in fullbore; what they mean is in [`overlap`](super::overlap).
///
/// # Errors
/// No such stage, a wrong parameter, or what reading and writing say.
pub fn stage(words: &[String]) -> Result<String, EngineError> {
    let (name, words) = words.split_first().map_or(("", words), |(name, rest)| (name, rest));
    match name {
        "produce" => {
            let parameters = parse(name, PRODUCER_SPECS, words)?;
            Producing::new(&parameters)?.run(stdout().as_fd())?;
            Ok(String::new())
        }
        "consume" => {
            let parameters = parse(name, CONSUMER_SPECS, words)?;
            let mut consuming = Consuming::new(&parameters)?;
            consuming.run(stdin().as_fd())?;
            Ok(format!("{} bytes {}\n", consuming.bytes(), consuming.answer()))
        }
        "consume-json" => {
            let parameters = parse(name, JSON_SPECS, words)?;
            let counted = count_json(stdin().as_fd(), size(parameters.number("read")?)?)?;
            Ok(format!("{} bytes {} tokens\n", counted.bytes, counted.tokens))
        }
        _ => Err(wrong(format!("no stage {name}; there are produce, consume, consume-json"))),
    }
}

fn count_json(input: impl AsFd, read: usize) -> Result<json::Lexer, EngineError> {
    let mut block = vec![0; read];
    let mut lexer = json::Lexer::default();
    loop {
        let count = retry_on_intr(|| rustix::io::read(&input, &mut block));
        match count.map_err(|errno| failed("standard input", &errno.into()))? {
            0 => return Ok(lexer),
            count => lexer.take(&block[..count]),
        }
    }
}

/// Words of the form `name=value`.
fn parse(stage: &str, specs: &[Spec], words: &[String]) -> Result<Parameters, EngineError> {
    let mut given = Parameters::default();
    for word in words {
        let (name, value) = word
            .split_once('=')
            .ok_or_else(|| wrong(format!("{stage}: {word}: not of the form name=value")))?;
        let value = match (value, value.parse::<Bytes>()) {
            ("true" | "false", _) => Parameter::Flag(value == "true"),
            (_, Ok(bytes)) => Parameter::Number(bytes.0),
            _ => Parameter::Text(value.to_owned()),
        };
        given.0.insert(name.to_owned(), value);
    }
    spec::complete(stage, specs, &given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_parameters_with_defaults() {
        let words = ["burst=64K".to_owned(), "total=1M".to_owned()];
        let parameters = parse("produce", PRODUCER_SPECS, &words).unwrap();
        let number = |name| parameters.number(name).unwrap();
        assert_eq!(
            (number("burst"), number("total"), number("producer_work")),
            (65_536, 1 << 20, 16)
        );
    }

    #[test]
    fn wrong_words_are_named() {
        let cases: [(&[&str], &str); 4] = [
            (&["sing"], "no stage sing; there are produce, consume, consume-json"),
            (&["produce", "x"], "produce: x: not of the form name=value"),
            (&["produce", "x=1"], "produce: no parameter x; there are burst, producer_work, total"),
            (&["consume", "read=lots"], "consume: read = lots: must be bytes, 1 to 1073741824"),
        ];
        for (words, message) in cases {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(stage(&words).unwrap_err().to_string(), message);
        }
    }
}
