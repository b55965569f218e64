//! An executor that pretends: what a line says is how long it takes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fullbore_lab::record::{Effort, LabRun, Machine, SuiteRun};
use fullbore_lab::runner::{Onlooker, Plan, Progress, run};
use fullbore_lab::suite::{Need, Suite, read};
use fullbore_lab::{
    EngineError, Executor, Missing, Parameter, Parameters, Program, Purpose, Trial, TrialResult,
};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Runs lines such as `NAME 20ms`, `NAME 20ms 30ms` (in turn), `NAME 20ms answer=x`, `NAME fail` and `NAME absent`.
#[derive(Debug, Default)]
pub(crate) struct Mock {
    pub(crate) now_ns: u64,
    pub(crate) counts: BTreeMap<String, usize>,
    /// What ran, one word a trial: `A` when timed, `(A)` when checked.
    pub(crate) log: Vec<String>,
    /// Lines of setup that ran.
    pub(crate) prepared: Vec<String>,
    /// After how many trials somebody presses Ctrl-C.
    pub(crate) interrupt_after: Option<usize>,
    pub(crate) stop: Arc<AtomicBool>,
    /// The trial, counted from 1, from which on all fail.
    pub(crate) fails_from: Option<usize>,
    /// What makes times differ from what lines say.
    pub(crate) noise: Option<Noise>,
    /// A name whose trials take so many times as long as its line says.
    pub(crate) slow: Option<(&'static str, f64)>,
}

/// Times that vary by `spread` from trial to trial, and by `drift` each time that a line of setup has run.
#[derive(Debug)]
pub(crate) struct Noise {
    random: SplitMix64,
    drift: f64,
    spread: f64,
    offsets: BTreeMap<String, f64>,
}

impl Noise {
    /// Both are standard deviations of logarithms: 0.05 is about 5 %.
    pub(crate) fn new(seed: u64, drift: f64, spread: f64) -> Self {
        Self { random: SplitMix64::seed_from_u64(seed), drift, spread, offsets: BTreeMap::new() }
    }

    /// What the next time of an engine is multiplied by.
    fn factor(&mut self, name: &str) -> f64 {
        if !self.offsets.contains_key(name) {
            let offset = self.drift * self.normal();
            self.offsets.insert(name.to_owned(), offset);
        }
        (self.offsets[name] + self.spread * self.normal()).exp()
    }

    /// The sum of twelve uniform numbers less six: nearly normal.
    fn normal(&mut self) -> f64 {
        let mut uniform = || (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }
}

impl Executor for Mock {
    fn missing(&mut self, need: &Need) -> Option<Missing> {
        let Need::Program { name, install } = need else { return None };
        let what = format!("{name} is not installed");
        (name == "absent").then(|| Missing { what, remedy: install.clone() })
    }

    fn prepare(&mut self, line: &str) -> Result<(), String> {
        self.prepared.push(line.to_owned());
        if let Some(noise) = &mut self.noise {
            noise.offsets.clear();
        }
        if line.contains("broken") { Err("no space".to_owned()) } else { Ok(()) }
    }

    fn run(&mut self, trial: &Trial) -> Result<TrialResult, EngineError> {
        let Program::Line(line) = &trial.program else { panic!("{trial:?}") };
        let mut words = line.split(' ');
        let name = words.next().unwrap().to_owned();
        let is_check = matches!(trial.purpose, Purpose::Check(_));
        self.log.push(if is_check { format!("({name})") } else { name.clone() });
        if self.interrupt_after == Some(self.log.len()) {
            self.stop.store(true, Ordering::Relaxed);
        }
        let factor = self.noise.as_mut().map_or(1.0, |noise| noise.factor(&name));
        let slow = self.slow.filter(|(slow, _)| *slow == name).map_or(1.0, |(_, times)| times);
        let factor = factor * slow;
        let count = self.counts.entry(name).or_default();
        let turn = *count;
        *count += usize::from(!is_check);
        let words: Vec<&str> = words.collect();
        if words.contains(&"fail") || self.fails_from.is_some_and(|first| self.log.len() >= first) {
            return Err(EngineError::Failed("exit status 3".to_owned()));
        }
        let times: Vec<u64> =
            words.iter().filter_map(|word| word.strip_suffix("ms")?.parse().ok()).collect();
        let elapsed_ns = times[turn % times.len()] * 1_000_000;
        let elapsed = Duration::from_nanos(elapsed_ns).mul_f64(factor);
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap();
        self.now_ns += elapsed_ns;
        let answer = words.iter().find_map(|word| word.strip_prefix("answer=")).map(str::to_owned);
        let bytes = trial.bytes;
        Ok(TrialResult {
            elapsed_ns,
            bytes,
            answer,
            operations: trial.operations,
            ..TrialResult::default()
        })
    }

    fn now_ns(&mut self) -> u64 {
        self.now_ns
    }
}

/// Remembers what it was told.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) cases: Vec<usize>,
    pub(crate) suites: Vec<SuiteRun>,
    pub(crate) left_ns: Vec<u64>,
}

impl Onlooker for Memory {
    fn progress(&mut self, progress: &Progress<'_>) {
        self.left_ns.push(progress.left_ns);
    }

    fn case_done(&mut self, run: &LabRun) {
        assert!(!run.is_complete, "a record that is written while it grows must say so");
        self.cases.push(run.suites.iter().map(|suite| suite.cases.len()).sum());
    }

    fn suite_done(&mut self, suite: &SuiteRun) {
        self.suites.push(suite.clone());
    }
}

/// A suite with one case of these engines: name and line.
pub(crate) fn suite(case: &str, engines: &[(&str, &str)]) -> String {
    let mut text = format!("about = \"x\"\n[[case]]\nname = \"c\"\ntitle = \"C\"\n{case}\n");
    for (name, line) in engines {
        text.push_str(&format!("[[case.engine]]\nname = \"{name}\"\nshell = \"{line}\"\n"));
    }
    text
}

fn suite_of(text: &str) -> Suite {
    read("s", "s.toml", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs the text of a suite.
pub(crate) fn run_text(text: &str, effort: Effort, mock: &mut Mock) -> (LabRun, Memory) {
    run_suite(suite_of(text), effort, mock)
}

/// Runs what of a suite runs fullbore, by the names `OLD` and `NEW`.
pub(crate) fn run_builds(text: &str, effort: Effort, mock: &mut Mock) -> LabRun {
    let mut suite = suite_of(text);
    suite.pair_builds();
    run_suite(suite, effort, mock).0
}

fn run_suite(suite: Suite, effort: Effort, mock: &mut Mock) -> (LabRun, Memory) {
    let builds = [("fullbore", "NEW"), ("fullbore_before", "OLD")];
    let builds = builds.map(|(name, build)| (name.to_owned(), Parameter::Text(build.to_owned())));
    let plan = Plan {
        suites: vec![suite],
        effort,
        places: Parameters(builds.into()),
        command: "fullbore lab".to_owned(),
        started_unix_ns: 0,
        machine: Machine::default(),
        fullbore_version: "0".to_owned(),
    };
    let mut memory = Memory::default();
    let stop = Arc::clone(&mock.stop);
    let record = run(&plan, BTreeMap::new(), mock, &mut memory, &stop);
    (record, memory)
}
