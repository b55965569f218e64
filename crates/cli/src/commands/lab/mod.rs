//! `fullbore lab`.

mod disk;
mod output;
mod progress;
mod records;
mod reports;
mod select;

use std::io::stdout;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow};
use fullbore_lab::record::{Effort, LabRun};
use fullbore_lab::runner::{Plan, run as run_plan};
use fullbore_lab::{Job, Parameter, Parameters, Real, compare, engines, machine, versions};
use fullbore_pipeline::die_of;
use fullbore_report::lab::{markdown, text};
use rustix::thread::{CpuSet, sched_setaffinity};
use signal_hook::consts::signal::{SIGINT, SIGTERM};

use self::output::{print, unix_ns};
use self::progress::Shown;
use self::reports::{Reports, read};
use crate::args::lab::{Cpus, LabEngineOptions, LabOptions, LabStageOptions, LabTask, ShowOptions};
use crate::commands::run::style_of;
use crate::commands::stage::tier;
use crate::exit::Exit;
use crate::messages::{Failure, complain};

/// Runs suites, or lists, shows or compares.
pub(crate) fn run(options: &LabOptions) -> Result<Exit> {
    match &options.task {
        None => measure(options),
        Some(LabTask::List { suites }) => print(&select::listing(suites)?),
        Some(LabTask::Show(options)) if records::is_of_disk(&options.file) => {
            records::show(options)
        }
        Some(LabTask::Show(options)) => show(options),
        Some(LabTask::Disk(options)) => disk::run(options),
        Some(LabTask::Import(options)) => records::import(options),
        Some(LabTask::Compare { before, after, fail_below, all, report }) => match after {
            Some(after) if records::is_of_disk(before) || records::is_of_disk(after) => {
                records::compare(before, after, *fail_below, report)
            }
            None if records::is_of_disk(before) => Err(records::second_is_missing(before).into()),
            _ if !report.is_empty() => Err(only_disks().into()),
            _ => compare_files(before, after.as_deref(), *fail_below, *all),
        },
    }
}

/// Runs one trial and prints the result for the process that started it.
pub(crate) fn engine(options: &LabEngineOptions) -> Result<Exit> {
    let job: Job = serde_json::from_str(&options.job).context("lab-engine: reading the job")?;
    let found = engines::run(&job);
    print(&serde_json::to_string(&found).context("lab-engine: writing the result")?)
}

/// Runs one of the two processes of a trial, if this program was started as one.
pub(crate) fn side() -> Option<Exit> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != engines::SIDE || words.next().is_some() {
        return None;
    }
    Some(match engines::side() {
        Ok(()) => Exit::Done,
        Err(error) => {
            complain(&format!("{}: {error}", engines::SIDE), "fullbore lab starts it");
            Exit::NotDone
        }
    })
}

/// Runs one side of the experiments on overlap between standard input and standard output.
pub(crate) fn stage(options: &LabStageOptions) -> Result<Exit> {
    let said = engines::stage(&options.words).map_err(|error| anyhow!("lab-stage: {error}"))?;
    print(&said)
}

fn measure(options: &LabOptions) -> Result<Exit> {
    let mut suites = select::suites(&options.suites, options.ladder)?;
    if let Some(before) = &options.against {
        select::pair_builds(&mut suites, before)?;
    }
    let mut reports = Reports::open(&options.report)?;
    let folder = tempfile::Builder::new().prefix("fullbore-lab-").tempdir();
    let folder = folder.context("lab: making a scratch folder")?;
    let program = std::env::current_exe().context("lab: finding this program")?;
    if let Some(cpus) = &options.pin {
        pin(cpus)?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let signal = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    for number in [SIGINT, SIGTERM] {
        let mark = usize::try_from(number).unwrap_or_default();
        signal_hook::flag::register_usize(number, Arc::clone(&signal), mark)?;
        signal_hook::flag::register(number, Arc::clone(&stop))?;
    }
    let plan = Plan {
        effort: effort(options),
        places: places(&program, options.against.as_deref(), folder.path()),
        command: command(options),
        started_unix_ns: unix_ns(),
        machine: machine(tier()?, options.pin.as_ref().map_or(&[], |cpus| &cpus.0)),
        fullbore_version: env!("CARGO_PKG_VERSION").to_owned(),
        suites,
    };
    let programs = versions(plan.programs());
    let mut real = Real::new(&program, folder.path(), Arc::clone(&stop));
    let mut shown = Shown::new(options.quiet, &mut reports);
    let record = run_plan(&plan, programs, &mut real, &mut shown, &stop);
    shown.finish();
    drop(folder);
    let unwritten = reports.write(&record);
    let summary =
        if options.quiet { String::new() } else { text::summary(&record, style_of(&stdout())) };
    let shown = print(&summary);
    let exit = end(&record);
    let caught = i32::try_from(signal.load(Ordering::Relaxed)).unwrap_or_default();
    if caught != 0 {
        complain(
            "lab: ended early",
            "the reports contain the results so far, marked as incomplete",
        );
        die_of(caught);
    }
    unwritten?;
    shown?;
    Ok(exit)
}

/// Reads the record before a report may overwrite it, and writes reports before tables, because the reader of tables may leave.
fn show(options: &ShowOptions) -> Result<Exit> {
    let record = read(&options.file)?;
    Reports::open(&options.report)?.write(&record)?;
    match (options.quiet, options.markdown) {
        (true, _) => Ok(Exit::Done),
        (false, true) => print(&markdown::document(&record)),
        (false, false) => print(&text::whole(&record, style_of(&stdout()))),
    }
}

fn effort(options: &LabOptions) -> Effort {
    match options.runs {
        Some(runs) => Effort::Runs(runs),
        None if options.quick => Effort::Quick,
        None => Effort::Usual,
    }
}

/// The command that repeats a run, without suites and reports.
fn command(options: &LabOptions) -> String {
    let mut command = "fullbore lab".to_owned();
    match effort(options) {
        Effort::Quick => command.push_str(" --quick"),
        Effort::Usual => {}
        Effort::Runs(runs) => command.push_str(&format!(" --runs {runs}")),
    }
    if let Some(before) = &options.against {
        command.push_str(&format!(" --against {}", before.display()));
    }
    if let Some(Cpus(cpus)) = &options.pin {
        let cpus: Vec<_> = cpus.iter().map(u32::to_string).collect();
        command.push_str(&format!(" --pin {}", cpus.join(",")));
    }
    command
}

fn places(program: &Path, before: Option<&Path>, folder: &Path) -> Parameters {
    let text = |path: &Path| Parameter::Text(path.display().to_string());
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let places =
        [("fullbore", text(program)), ("dir", text(folder)), ("cpus", Parameter::Number(cpus))];
    // Everything starts in the scratch folder.
    let before = before.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    let before = before.map(|path| ("fullbore_before", text(&path)));
    Parameters(
        places.into_iter().chain(before).map(|(name, place)| (name.to_owned(), place)).collect(),
    )
}

/// Binds this process, and so all it starts, to some CPUs.
fn pin(cpus: &Cpus) -> Result<(), Failure> {
    let mut set = CpuSet::new();
    for cpu in &cpus.0 {
        if let Ok(cpu) = usize::try_from(*cpu)
            && cpu < CpuSet::MAX_CPU
        {
            set.set(cpu);
        }
    }
    sched_setaffinity(None, &set).map_err(|errno| Failure {
        message: format!("lab: --pin: {:?}: {}", cpus.0, crate::messages::plain(&errno.into())),
        hint: "nproc shows how many CPUs you may use; they count from 0".to_owned(),
        exit: Exit::NotDone,
    })
}

/// The exit status: wrong output counts as an answer, a failure does not.
fn end(record: &LabRun) -> Exit {
    if record.has_wrong_answer() {
        complain(
            "lab: the output of an engine is wrong or in dispute, so its times do not count",
            "the table names the engine; the other results are valid",
        );
        return Exit::No;
    }
    if record.has_failure() {
        complain(
            "lab: an engine failed",
            "the table names the engine; the other results are valid",
        );
        return Exit::NotDone;
    }
    Exit::Done
}

fn compare_files(before: &Path, after: Option<&Path>, fail_below: f64, all: bool) -> Result<Exit> {
    let first = read(before)?;
    let comparison = match after {
        Some(after) => compare::compare(&first, &read(after)?),
        None => compare::compare_builds(&first),
    };
    if comparison.rows.is_empty() {
        return Err(nothing_to_compare(before, after).into());
    }
    let rows = if all { text::Rows::All } else { text::Rows::Told };
    print(&text::comparison(&comparison, fail_below, rows, style_of(&stdout())))?;
    let has_regression = comparison.regressions(fail_below).next().is_some();
    Ok(if has_regression { Exit::No } else { Exit::Done })
}

fn only_disks() -> Failure {
    Failure {
        message: "lab compare: --report: it needs two records of a disk".to_owned(),
        hint: "without --report, fullbore compares the other suites as text".to_owned(),
        exit: Exit::NotDone,
    }
}

fn nothing_to_compare(before: &Path, after: Option<&Path>) -> Failure {
    let (message, hint) = match after {
        Some(after) => (
            format!(
                "lab compare: {}, {}: no engine was measured in both",
                before.display(),
                after.display()
            ),
            "compare two records of the same suites",
        ),
        None => (
            format!("lab compare: {}: it contains only one build of fullbore", before.display()),
            "give a second record, or measure with --against PROGRAM",
        ),
    };
    Failure { message, hint: hint.to_owned(), exit: Exit::NotDone }
}
