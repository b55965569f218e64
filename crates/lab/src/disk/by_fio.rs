//! Runs fio: one job file, one process group, a folder of its own for what it writes.

mod watch;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::job::{Job, LOGS};
use super::log::Logs;
use super::record::PassRun;
use super::runner::Tester;
use super::{fio, import, logs, prepare};
use crate::real::{is_installed, said_version};

/// What a job may take beyond its own time before it is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// fio, as a program on this machine or as `--client` of others.
#[derive(Debug)]
pub struct Fio {
    program: String,
    version: String,
    folder: PathBuf,
    hosts: Vec<String>,
    stop: Arc<AtomicBool>,
    passes: u32,
    made: Instant,
}

impl Fio {
    /// Finds fio in $PATH; `None` when it is not there. What it writes goes to `folder`.
    #[must_use]
    pub fn find(folder: &Path, hosts: &[String], stop: Arc<AtomicBool>) -> Option<Self> {
        let program = "fio".to_owned();
        if !is_installed(&program) {
            return None;
        }
        let version = said_version(&program, "--version").unwrap_or_else(|| "fio".to_owned());
        Some(Self {
            program,
            version,
            folder: folder.to_owned(),
            hosts: hosts.to_owned(),
            stop,
            passes: 0,
            made: Instant::now(),
        })
    }

    fn command(&self, folder: &Path) -> Result<Command, String> {
        let said = File::create(folder.join("said"))
            .map_err(|error| format!("making a file for fio: {error}"))?;
        let errors = said.try_clone().map_err(|error| error.to_string())?;
        let mut command = Command::new(&self.program);
        command.args(["--output-format=json+", "--output=result.json", "--eta=never"]);
        for host in &self.hosts {
            command.arg(format!("--client={host}")).arg("job.fio");
        }
        if self.hosts.is_empty() {
            command.arg("job.fio");
        }
        command.current_dir(folder).stdin(Stdio::null()).stdout(said).stderr(errors);
        Ok(command)
    }
}

impl Tester for Fio {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn pass(&mut self, job: &Job, tick: &mut dyn FnMut(u64)) -> Result<PassRun, String> {
        self.passes += 1;
        let folder = self.folder.join(format!("pass-{}", self.passes));
        let made =
            fs::create_dir(&folder).and_then(|()| fs::write(folder.join("job.fio"), job.text()));
        made.map_err(|error| format!("making a folder for fio: {error}"))?;
        if job.options.get("direct") == Some("0")
            && let Some(file) = job.options.get("filename")
        {
            prepare::drop_cache(Path::new(file));
        }
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = ["runtime", "ramp_time"].map(|name| {
            job.options.get(name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0)
        });
        let limit = Duration::from_secs(seconds[0] + seconds[1]) + PATIENCE;
        let ended = watch::watch(&mut self.command(&folder)?, limit, &self.stop, tick)
            .map_err(|error| format!("starting fio: {error}"))?;
        let found = self.result(job, &folder, &ended);
        // Logs of hours are large; all that counts is in the record.
        let _ = fs::remove_dir_all(&folder);
        let mut pass = found?;
        pass.started_unix_ns = u64::try_from(started.as_nanos()).unwrap_or(0);
        pass.peak_memory_bytes =
            ended.load.memory_bytes.iter().copied().max().filter(|bytes| *bytes > 0);
        pass.load = ended.load;
        Ok(pass)
    }
}

impl Fio {
    fn result(&self, job: &Job, folder: &Path, ended: &watch::Ended) -> Result<PassRun, String> {
        let text = fs::read(folder.join("result.json")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let said = fs::read_to_string(folder.join("said")).unwrap_or_default();
        if let Some(how) = &ended.trouble {
            return Err(format!("fio {how}{}", last_words(&said, &text)));
        }
        let output = fio::read(&text).map_err(|error| {
            format!("the output of fio cannot be read: {error}{}", last_words(&said, &text))
        })?;
        if let Some(failed) = output.jobs.iter().find(|job| job.error != 0) {
            return Err(format!(
                "fio ended with error {}{}",
                failed.error,
                last_words(&said, &text)
            ));
        }
        let logs =
            if self.hosts.is_empty() { logs::in_folder(folder, LOGS) } else { Logs::default() };
        let mut jobs = output.jobs.clone();
        // fio does not repeat all options of a job to a client.
        jobs.iter_mut().for_each(|found| found.options = job.options.clone());
        let jobs: Vec<&fio::FioJob> = jobs.iter().collect();
        Ok(import::pass(&jobs, &logs, &output))
    }
}

/// The last line in which fio says why.
fn last_words(said: &str, output: &str) -> String {
    // With --output, some versions write messages into the file.
    let lines = said.lines().chain(output.lines().take_while(|line| !line.starts_with('{')));
    let lines: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    let telling = lines.iter().rev().find(|line| line.starts_with("fio:")).or(lines.last());
    telling.map_or_else(String::new, |line| {
        format!(": {}", line.chars().take(300).collect::<String>())
    })
}
