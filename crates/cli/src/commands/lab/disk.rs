//! `fullbore lab disk`.

mod shown;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result};
use fullbore_lab::disk::job::{Ground, jobs, removal, steady};
use fullbore_lab::disk::record::{DiskRun, Target};
use fullbore_lab::disk::runner::{DiskPlan, Tester, run as run_plan};
use fullbore_lab::disk::{
    DiskSuite, Fio, Place, PlaceError, Threads, device, directory, lay_out, suite,
};
use fullbore_lab::machine;
use fullbore_lab::record::Effort;
use fullbore_measure::Bytes;
use fullbore_pipeline::die_of;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};

use self::shown::Shown;
use super::output::{print, unix_ns};
use super::reports::Reports;
use crate::args::lab::disk::DiskOptions;
use crate::commands::stage::tier;
use crate::exit::Exit;
use crate::messages::{Failure, complain};
use crate::nearest::nearest;

/// How to get fio.
const GET_FIO: &str =
    "install fio (apt install fio, dnf install fio) for numbers that others can compare with";

/// Bytes of the file where a profile gives a percentage.
const USUAL_BYTES: u64 = 4 << 30;

/// What file is measured on other hosts.
const FILE_OF_HOSTS: &str = "fullbore-disk.data";

/// Measures a disk.
pub(super) fn run(options: &DiskOptions) -> Result<Exit> {
    let effort = match options.runs {
        _ if options.quick => Effort::Quick,
        Some(passes) => Effort::Runs(passes),
        None => Effort::Usual,
    };
    let suite = chosen(options, effort)?;
    if let Some(warning) = &suite.warning {
        complain(&format!("lab disk: profile {}: {warning}", suite.profile), "");
    }
    if options.show_jobs {
        return print(&shown_jobs(options, &suite));
    }
    let reports = Reports::open(&options.report)?;
    let place = place(options, &suite)?;
    measure(options, suite, effort, &place, &reports)
}

/// The suite with the wanted workloads and passes.
fn chosen(options: &DiskOptions, effort: Effort) -> Result<DiskSuite, Failure> {
    let mut suite = suite(effort, options.profile.as_deref()).map_err(|error| Failure {
        message: format!("lab disk: --profile: {error}"),
        hint: "without --profile, fullbore uses its own parameters".to_owned(),
        exit: Exit::NotDone,
    })?;
    suite.timing.passes = options.runs.unwrap_or(suite.timing.passes);
    let known: Vec<String> = suite.workloads.iter().map(|workload| workload.name.clone()).collect();
    if let Some(unknown) = options.workload.iter().find(|name| !known.contains(name)) {
        return Err(Failure {
            message: format!(
                "lab disk: --workload: no workload '{unknown}'; the workloads are {}",
                known.join(", ")
            ),
            hint: nearest(unknown, known.iter().map(String::as_str))
                .map_or_else(String::new, |near| format!("did you mean '{near}'?")),
            exit: Exit::NotDone,
        });
    }
    suite.workloads.retain(|workload| {
        options.workload.is_empty() || options.workload.contains(&workload.name)
    });
    Ok(suite)
}

fn measure(
    options: &DiskOptions,
    suite: DiskSuite,
    effort: Effort,
    place: &Place,
    reports: &Reports,
) -> Result<Exit> {
    let signal = Signals::listen()?;
    let folder = tempfile::Builder::new().prefix("fullbore-disk-").tempdir();
    let folder = folder.context("lab disk: making a scratch folder")?;
    let mut shown = Shown::new(options.quiet, reports);
    let hosts = &options.place.hosts;
    let Some(mut tester) = tester(folder.path(), hosts, &signal.stop) else {
        return Err(Failure {
            message: "lab disk: --hosts: fio: not found".to_owned(),
            hint: GET_FIO.to_owned(),
            exit: Exit::NotDone,
        }
        .into());
    };
    let size = place.target.size_bytes.unwrap_or(USUAL_BYTES);
    let laid = if hosts.is_empty() {
        let laid = lay_out(place, size, &signal.stop, &mut |part| shown.laying_out(part));
        shown.finish();
        if let Some(caught) = signal.caught() {
            drop((laid, folder));
            complain("lab disk: ended before anything was measured", "");
            die_of(caught);
            return Ok(Exit::NotDone);
        }
        Some(laid.map_err(failure)?)
    } else {
        None
    };
    let is_direct = laid.as_ref().is_none_or(|laid| laid.is_direct);
    let filename = place.filename.display().to_string();
    let size_bytes = suite.timing.size_bytes().is_some().then_some(size);
    let ground = Ground { filename, size_bytes, is_direct };
    let jobs = jobs(&suite, &ground);
    let plan = DiskPlan {
        steady: steady(&suite, &jobs),
        jobs,
        command: command(options),
        label: options.label.clone(),
        effort,
        started_unix_ns: unix_ns(),
        machine: machine(tier()?, &[]),
        target: Target { is_direct, ..place.target.clone() },
        hosts: hosts.clone(),
        fullbore_version: env!("CARGO_PKG_VERSION").to_owned(),
        notes: notes(is_direct, tester.as_ref()),
        suite,
    };
    let record = run_plan(&plan, tester.as_mut(), &mut shown, &signal.stop);
    shown.finish();
    if !hosts.is_empty() && signal.caught().is_none() {
        removed(tester.as_mut(), &ground);
    }
    // Before a signal ends the process: files of ours must not stay.
    drop((laid, folder));
    shown.end(&record)?;
    if let Some(caught) = signal.caught() {
        complain("lab disk: ended early", "the table and the reports contain the results so far");
        die_of(caught);
    }
    Ok(end(&record))
}

/// fio, or where it is missing our own engine; nothing where only fio can do it.
fn tester(folder: &Path, hosts: &[String], stop: &Arc<AtomicBool>) -> Option<Box<dyn Tester>> {
    if let Some(fio) = Fio::find(folder, hosts, Arc::clone(stop)) {
        return Some(Box::new(fio));
    }
    if !hosts.is_empty() {
        return None;
    }
    complain(
        "lab disk: fio: not found; measuring with threads of our own that read and write",
        GET_FIO,
    );
    Some(Box::new(Threads::new(Arc::clone(stop))))
}

/// Removes the file of ours on other hosts.
fn removed(tester: &mut dyn Tester, ground: &Ground) {
    if let Err(why) = tester.pass(&removal(ground), &mut |_| {}) {
        let message = format!("lab disk: --hosts: {}: removing the file: {why}", ground.filename);
        complain(&message, "remove it yourself on each host");
    }
}

fn notes(is_direct: bool, tester: &dyn Tester) -> Vec<String> {
    let mut notes = Vec::new();
    if !is_direct {
        notes.push("the file system takes no direct I/O: requests go through the page cache, so these are not numbers of a disk alone".to_owned());
    }
    if !tester.version().starts_with("fio") {
        notes.push("fio was not found: these numbers are those of fullbore's own engine, which takes more CPU time, and are not compared with those of fio".to_owned());
    }
    notes
}

fn place(options: &DiskOptions, suite: &DiskSuite) -> Result<Place, Failure> {
    let wanted = options.size.map(|size| size.0);
    let usual = suite.timing.size_bytes().unwrap_or(USUAL_BYTES);
    let place = &options.place;
    if let (Some(path), Some(typed)) = (&place.device, &place.erase_everything_on) {
        return device(path, typed, wanted).map_err(failure);
    }
    let dir = place.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    if place.hosts.is_empty() {
        return directory(&dir, wanted.unwrap_or(usual), place.anyway).map_err(failure);
    }
    // What is on other hosts is theirs to check: fio says what is wrong.
    let target = Target {
        path: dir.display().to_string(),
        size_bytes: Some(wanted.unwrap_or(usual)),
        is_direct: true,
        ..Target::default()
    };
    Ok(Place { target, filename: dir.join(FILE_OF_HOSTS) })
}

fn failure(error: PlaceError) -> Failure {
    Failure { message: format!("lab disk: {}", error.what), hint: error.hint, exit: Exit::NotDone }
}

/// The job file with all workloads, one after the other.
fn shown_jobs(options: &DiskOptions, suite: &DiskSuite) -> String {
    let place = &options.place;
    let filename = match (&place.device, &place.dir) {
        (Some(device), _) => device.clone(),
        (None, dir) => {
            dir.clone().unwrap_or_else(|| PathBuf::from("/path/on/the/disk")).join(FILE_OF_HOSTS)
        }
    };
    let usual = suite.timing.size_bytes();
    let size_bytes = usual.map(|usual| options.size.map_or(usual, |Bytes(size)| size));
    let ground = Ground { filename: filename.display().to_string(), size_bytes, is_direct: true };
    let mut text = format!(
        "; fio --output-format=json+ FILE   ({} by fullbore lab disk)\n",
        suite.about.trim_end_matches('.')
    );
    for job in jobs(suite, &ground) {
        text.push_str(&format!("\n{}", job.shown()));
    }
    text
}

/// The command that repeats a run, without reports.
fn command(options: &DiskOptions) -> String {
    let mut words = vec!["fullbore".to_owned(), "lab".to_owned(), "disk".to_owned()];
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.push(name.to_owned());
            words.push(value);
        }
    };
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let place = &options.place;
    add("--dir", path(&place.dir));
    add("--device", path(&place.device));
    add("--erase-everything-on", place.erase_everything_on.clone());
    add("--hosts", (!place.hosts.is_empty()).then(|| place.hosts.join(",")));
    add("--size", options.size.map(|Bytes(size)| size.to_string()));
    add("--profile", options.profile.clone());
    options.workload.iter().for_each(|name| add("--workload", Some(name.clone())));
    add("--runs", options.runs.map(|runs| runs.to_string()));
    for (name, is_on) in [("--quick", options.quick), ("--anyway", place.anyway)] {
        if is_on {
            words.push(name.to_owned());
        }
    }
    shell_words::join(words)
}

fn end(record: &DiskRun) -> Exit {
    if !record.has_trouble() {
        return Exit::Done;
    }
    let failed = record
        .workloads
        .iter()
        .filter_map(|workload| Some((&workload.name, workload.trouble.as_ref()?)));
    for (name, why) in failed {
        complain(&format!("lab disk: {name}: {why}"), "");
    }
    complain(
        "lab disk: not everything was measured",
        "what was measured before is in the table and in the reports",
    );
    Exit::NotDone
}

/// Signals that end a run, which still tells what it found.
struct Signals {
    stop: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
}

impl Signals {
    fn listen() -> Result<Self> {
        let (stop, number) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let mark = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(&number), mark)?;
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
        }
        Ok(Self { stop, number })
    }

    fn caught(&self) -> Option<i32> {
        i32::try_from(self.number.load(Ordering::Relaxed)).ok().filter(|number| *number != 0)
    }
}
