//! Runs one trial of a built-in engine: a job as JSON on standard input, the sample as JSON on standard output.
//!
//! `echo '{"engine": "memory", "parameters": {}}' | engine`; `engine stage produce total=1G | engine stage consume`
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for tests")]

use std::io::stdin;
use std::process::ExitCode;

use fullbore_lab::engines::{self, SIDE};
use fullbore_lab::{EngineError, Job};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("engine: {error}");
            ExitCode::from(if matches!(error, EngineError::Unavailable { .. }) { 3 } else { 2 })
        }
    }
}

fn run(words: &[String]) -> Result<String, EngineError> {
    let failed = |error: serde_json::Error| EngineError::Failed(error.to_string());
    match words {
        [word] if word == SIDE => engines::side().map(|()| String::new()),
        [word, rest @ ..] if word == "stage" => engines::stage(rest),
        _ => {
            let job: Job = serde_json::from_reader(stdin()).map_err(failed)?;
            let sample = engines::run(&job)?;
            serde_json::to_string_pretty(&sample).map(|text| text + "\n").map_err(failed)
        }
    }
}
