//! `fullbore run`.

use std::fs::File;
use std::io::{IsTerminal, stderr};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::Result;
use fullbore_dash::{shows_keys, terminal_size};
use fullbore_pipeline::{
    Command, Error, Exact, Finished, Options, Tuning, die_of, run as run_pipeline,
};
use fullbore_record::{Job, Outcome, RunRecord};
use fullbore_report::text::{Style, summary};

use crate::args::{self, RunOptions};
use crate::commands::auto::Auto;
use crate::commands::what_if;
use crate::exit::Exit;
use crate::flame_file::FlameFile;
use crate::live::Live;
use crate::messages::{Failure, complain, plain, say};
use crate::report_file::ReportFile;
use crate::whole_file::are_one;

/// Runs the pipeline, shows a summary, writes the reports, and ends as the shell did.
pub(crate) fn run(options: RunOptions) -> Result<Exit> {
    let line = options.pipeline.as_ref().filter(|_| options.faster.auto || options.faster.explain);
    let auto = line.map(|line| Auto::new(&options.shell, line, options.faster.prove));
    if options.faster.explain {
        let text = auto.as_ref().map(Auto::explanation).unwrap_or_default();
        print_to_stdout(&text)?;
        return Ok(Exit::Done);
    }
    let samples = options.samples.as_deref().map(create).transpose()?;
    let reports = open_reports(&options)?;
    let flames = open_flames(&options.more.flame, &options.more.report)?;
    let command = command(&options, auto.as_ref());
    let tuning = match options.tune.pipe_size {
        Some(size) => Tuning::Fixed(size),
        None if options.tune.no_tune => Tuning::Off,
        None => Tuning::Auto,
    };
    let mut live = Live::start(
        if options.quiet { args::When::Never } else { options.live },
        is_silent(&command),
    );
    let mut watching = Options::default();
    watching.tuning = tuning;
    watching.keep_awake = options.tune.keep_awake;
    watching.remember_in = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    watching.exact = match options.exact {
        args::Exact::Auto => Exact::Auto,
        args::Exact::Always => Exact::Always,
        args::Exact::Never => Exact::Never,
    };
    watching.counters = options.more.counters;
    watching.profile = !flames.is_empty();
    watching.samples = samples;
    watching.job = job();
    let finished = run_pipeline(&command, watching, &mut live);
    live.clear();
    let mut finished = match finished {
        Ok(finished) => finished,
        Err(error) => {
            return Err(not_started(&error, &command).into());
        }
    };
    if let Some(auto) = auto {
        note_auto(auto, &options, &mut finished.record);
    }
    if finished.was_interrupted && !options.quiet && shows_keys(stderr()) {
        // The `^C` stays in a line of its own.
        say("\n");
    }
    show(&options, &reports, &mut finished.record);
    // The pipeline has ended: a report that cannot be written must not change its exit status.
    let unwritten = reports.into_iter().filter_map(|report| report.write(&finished.record).err());
    let mut unwritten: Vec<Failure> = unwritten.collect();
    unwritten.extend(write_flames(&flames, &finished, options.quiet));
    for failure in &unwritten {
        complain(&failure.message, &failure.hint);
    }
    if options.strict
        && (finished.was_refused || !finished.record.gaps.is_empty() || !unwritten.is_empty())
    {
        return Err(not_strict(&finished.record, &unwritten).into());
    }
    Ok(end(&finished))
}

/// Creates the file for recorded samples.
fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| Failure {
        message: format!("samples: {}: {}", path.display(), plain(&error)),
        hint: "nothing was run; give a path that you can write to".to_owned(),
        exit: Exit::NotDone,
    })
}

fn open_reports(options: &RunOptions) -> Result<Vec<ReportFile>, Failure> {
    options.more.report.iter().map(|path| ReportFile::open(path.clone())).collect()
}

/// Checks the files for towers; into none of them may a report go.
pub(crate) fn open_flames(
    paths: &[PathBuf],
    reports: &[PathBuf],
) -> Result<Vec<FlameFile>, Failure> {
    let is_report = |path: &&PathBuf| reports.iter().any(|report| are_one(path, report));
    if let Some(path) = paths.iter().find(is_report) {
        return Err(Failure {
            message: format!("flame: {}: --report writes this file, too", path.display()),
            hint: "nothing was run; give each a file of its own".to_owned(),
            exit: Exit::NotDone,
        });
    }
    paths.iter().cloned().map(FlameFile::open).collect()
}

/// Writes the towers of a run, and says what they lack; returns what failed.
pub(crate) fn write_flames(files: &[FlameFile], finished: &Finished, quiet: bool) -> Vec<Failure> {
    let Some(profile) = &finished.profile else { return Vec::new() };
    if !quiet {
        profile.notes.iter().for_each(|note| say(&format!("  flame: {note}\n")));
    }
    files.iter().filter_map(|file| file.write(profile).err()).collect()
}

/// The job that this process belongs to, as far as its environment tells.
pub(crate) fn job() -> Option<Job> {
    let variables = std::env::vars_os();
    let in_unicode = variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Job::of(in_unicode)
}

/// Puts what `--auto` did into the record, with the line as the user wrote it.
fn note_auto(auto: Auto, options: &RunOptions, record: &mut RunRecord) {
    if let Some(line) = &options.pipeline {
        record.command = line.to_string_lossy().into_owned();
    }
    if let Some(why) = auto.rewritten.untouched {
        record.gaps.push(format!("--auto changed nothing of the line, because {why}"));
    }
    let stages: Vec<(u32, i32)> =
        record.stages.iter().map(|stage| (stage.stage, stage.pid)).collect();
    record.auto = auto.end(&stages);
}

/// Shows the summary with what belongs to it.
fn show(options: &RunOptions, reports: &[ReportFile], record: &mut RunRecord) {
    let unpredicted = foresee(options, reports, record);
    if !options.quiet {
        say(&summary(record, style_of(&stderr())));
    }
    if let (false, false, Some(line)) = (options.quiet, options.faster.auto, &options.pipeline)
        && let Some(hint) = super::auto_hint::hint(record, &options.shell, line)
    {
        say(&hint);
    }
    if options.faster.what_if {
        what_if::show(record, unpredicted.as_ref());
    }
}

/// Puts predictions into the record, once for everything that shows them; says why not.
fn foresee(
    options: &RunOptions,
    reports: &[ReportFile],
    record: &mut RunRecord,
) -> Option<fullbore_what_if::Error> {
    let reported = !options.quiet && !reports.is_empty() || reports.iter().any(ReportFile::is_page);
    if options.faster.what_if || (reported && what_if::is_affordable(record)) {
        match what_if::predict(record) {
            Ok(found) => record.what_if = Some(found),
            Err(error) => return Some(error),
        }
    } else if !options.quiet {
        record.what_if = what_if::predict_for_summary(record);
    }
    None
}

fn print_to_stdout(text: &str) -> Result<()> {
    use std::io::Write as _;
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

fn command(options: &RunOptions, auto: Option<&Auto>) -> Command {
    match (&options.pipeline, options.command.split_first()) {
        (_, Some((program, arguments))) => {
            Command::Words { program: program.clone(), arguments: arguments.to_vec() }
        }
        (pipeline, None) => Command::Line {
            shell: options.shell.clone(),
            line: match auto.filter(|auto| auto.rewritten.untouched.is_none()) {
                Some(auto) => auto.rewritten.line.clone().into(),
                None => pipeline.clone().unwrap_or_default(),
            },
        },
    }
}

/// Whether the pipeline certainly prints nothing on its standard output.
fn is_silent(command: &Command) -> bool {
    match command {
        Command::Line { line, .. } => line.to_str().is_some_and(fullbore_shell::prints_nothing),
        _ => false,
    }
}

fn not_started(error: &Error, command: &Command) -> Failure {
    let kind = match error {
        Error::Start { source, .. } => Some(source.kind()),
        _ => None,
    };
    let hint = match (kind, command) {
        _ if matches!(error, Error::Exact(_)) => {
            "nothing was run; --exact auto takes samples instead"
        }
        (None, _) => "",
        (Some(_), Command::Line { .. } | Command::Shell { .. }) => {
            "--shell takes a program that understands -c, such as sh, bash or zsh"
        }
        (Some(_), Command::Words { .. }) => {
            "to run a pipeline or a shell command, leave out -- and use quotes: fullbore run 'a | b'"
        }
    };
    let exit = match kind {
        Some(std::io::ErrorKind::NotFound) => Exit::NotFound,
        Some(_) => Exit::CannotExecute,
        None => Exit::RunFailed,
    };
    Failure { message: format!("run: {error}"), hint: hint.to_owned(), exit }
}

/// Names the first thing that could not be observed, changed or written.
fn not_strict(record: &RunRecord, unwritten: &[Failure]) -> Failure {
    let gaps = record.gaps.iter().cloned();
    let refused = record.tuning.iter().filter(|change| change.outcome == Outcome::Refused);
    let refused = refused.map(|change| format!("pipe {}: {}", change.pipe, change.reason));
    let unwritten = unwritten.iter().map(|failure| failure.message.clone());
    let mut all = gaps.chain(refused).chain(unwritten);
    let first = all.next().unwrap_or_else(|| "a pipe could not be changed".to_owned());
    let more = match all.count() {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    let status = record.exit_status.map_or("an unknown status".to_owned(), |s| s.to_string());
    Failure {
        message: format!("run: --strict: {first}{more} (the pipeline returned {status})"),
        hint: "a report (--report FILE) names everything; without --strict, fullbore ignores it"
            .to_owned(),
        exit: Exit::RunFailed,
    }
}

/// The style of text for this stream: colours and columns.
pub(crate) fn style_of(stream: &(impl IsTerminal + AsFd)) -> Style {
    let columns = terminal_size(stream).map_or(80, |size| usize::from(size.columns));
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if stream.is_terminal() && !is_set("NO_COLOR") && !is_dumb {
        Style::colored(columns)
    } else {
        Style::plain(columns)
    }
}

/// Ends as the shell did: by the same signal, or with its status.
pub(crate) fn end(finished: &Finished) -> Exit {
    if let Some(signal) = finished.signal {
        die_of(signal);
    }
    let status = finished.record.exit_status.and_then(|status| u8::try_from(status).ok());
    Exit::Child(status.unwrap_or(u8::MAX))
}
