//! An executor that pretends: what a line says is how long it takes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fullbore_lab::record::{Effort, LabRun, Machine, SuiteRun};
use fullbore_lab::runner::{Onlooker, Plan, Progress, run};
use fullbore_lab::suite::{Need, read};
use fullbore_lab::{EngineError, Executor, Missing, Parameters, Program, Purpose, Sample, Trial};

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
}

impl Executor for Mock {
    fn missing(&mut self, need: &Need) -> Option<Missing> {
        let Need::Program { name, install } = need else { return None };
        let what = format!("{name} is not installed");
        (name == "absent").then(|| Missing { what, remedy: install.clone() })
    }

    fn prepare(&mut self, line: &str) -> Result<(), String> {
        self.prepared.push(line.to_owned());
        if line.contains("broken") { Err("no space".to_owned()) } else { Ok(()) }
    }

    fn run(&mut self, trial: &Trial) -> Result<Sample, EngineError> {
        let Program::Line(line) = &trial.program else { panic!("{trial:?}") };
        let mut words = line.split(' ');
        let name = words.next().unwrap().to_owned();
        let is_check = matches!(trial.purpose, Purpose::Check(_));
        self.log.push(if is_check { format!("({name})") } else { name.clone() });
        if self.interrupt_after == Some(self.log.len()) {
            self.stop.store(true, Ordering::Relaxed);
        }
        let count = self.counts.entry(name).or_default();
        let turn = *count;
        *count += usize::from(!is_check);
        let words: Vec<&str> = words.collect();
        if words.contains(&"fail") {
            return Err(EngineError::Failed("exit status 3".to_owned()));
        }
        let times: Vec<u64> =
            words.iter().filter_map(|word| word.strip_suffix("ms")?.parse().ok()).collect();
        let elapsed_ns = times[turn % times.len()] * 1_000_000;
        self.now_ns += elapsed_ns;
        let answer = words.iter().find_map(|word| word.strip_prefix("answer=")).map(str::to_owned);
        let bytes = trial.bytes;
        Ok(Sample { elapsed_ns, bytes, answer, operations: trial.operations, ..Sample::default() })
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

/// Runs the text of a suite.
pub(crate) fn run_text(text: &str, effort: Effort, mock: &mut Mock) -> (LabRun, Memory) {
    let suite = read("s", "s.toml", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let plan = Plan {
        suites: vec![suite],
        effort,
        places: Parameters::default(),
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
