//! `fullbore par --auto`: deals out what is certain to give the same bytes, and otherwise becomes the command.

use std::ffi::OsString;
use std::fs::File;
use std::io::{IsTerminal, stderr, stdin, stdout};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::thread;

use anyhow::{Result, anyhow};
use fullbore_auto::{Plan, WORTH_DEALING, fusion_of_line};
use fullbore_feed::par::{
    Assumption, BlockSize, Caution, Command, Ended, Event, Jobs, Merge, Options, Records, Source,
    StatusRule, Stop, par,
};
use fullbore_measure::Bytes;
use fullbore_pipeline::die_of;
use fullbore_process::{
    hand_on_closed_descriptors, hand_on_ignored_signals, sigpipe_was_ignored, stdin_was_closed,
    stdout_was_closed,
};
use fullbore_rules::{Check, Merge as Wanted, Status};
use rustix::fs::{FileType, fstat};
use rustix::process::{Resource, getrlimit};

use super::{both_ways, fused, setup};
use crate::args::par::ParOptions;
use crate::args::prove::Prove;
use crate::commands::auto::{Done, collates_bytes, tell};
use crate::commands::par::failure::failure;
use crate::commands::stage::tier;
use crate::exit::Exit;
use crate::messages::plain;

/// So much is proved of what is added up.
const PROVED_SUMS: Bytes = Bytes(4 << 20);

/// Several copies need so many descriptors.
const LEAST_FILES: u64 = 64;

/// Runs the command, or a line that is one question.
pub(super) fn run(options: &ParOptions) -> Result<Exit> {
    let command = setup::command(options)?;
    if let Some(line) = &options.line {
        let done = match fusion_of_line(&line.to_string_lossy(), collates_bytes()) {
            Some(fusion) if fusion.file.is_some() && can_write() => {
                fused::run_on_file(options, &fusion)?
            }
            Some(fusion) if fusion.file.is_none() && can_stand_between() => {
                Some(fused::run(options, &command, &fusion)?)
            }
            _ => None,
        };
        return match done {
            Some(exit) => Ok(exit),
            None => become_command(options, &command),
        };
    }
    match Plan::of(&options.command) {
        Ok(plan) if can_stand_between() && !messages_are_output() && is_worth_it() => {
            deal(options, &command.unnumbered(), &plan)
        }
        _ => become_command(options, &command),
    }
}

/// Whether characters are bytes here.
fn has_bytes_for_characters() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    locale.is_none_or(|locale| locale == "C" || locale == "POSIX")
}

/// Whether input and output are there, nobody types the input, there are descriptors for pipes, and whose reader leaves is
/// ended by a signal, not told.
fn can_stand_between() -> bool {
    can_write() && !stdin_was_closed() && !stdin().is_terminal()
}

/// The same as far as the output is concerned.
fn can_write() -> bool {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    !stdout_was_closed() && files >= LEAST_FILES && !sigpipe_was_ignored()
}

/// Whether messages go into the file or pipe of the output, as for a line with `2>&1` behind it. Then each has a place in the
/// output that only the command knows. On a terminal, nothing depends on it.
fn messages_are_output() -> bool {
    let place = |fd: BorrowedFd<'_>| fstat(fd).ok().map(|stat| (stat.st_dev, stat.st_ino));
    !stdout().is_terminal()
        && place(stdout().as_fd()).is_some_and(|output| place(stderr().as_fd()) == Some(output))
}

/// Whether there are CPUs for several copies and enough input, as far as is known.
fn is_worth_it() -> bool {
    let is_long = || {
        let Ok(stat) = fstat(stdin()) else { return false };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => u64::try_from(stat.st_size).is_ok_and(|b| b >= WORTH_DEALING),
            FileType::Fifo | FileType::Socket => true,
            _ => false,
        }
    };
    thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1) && is_long()
}

/// Executes the command in the place of this process.
fn become_command(options: &ParOptions, command: &Command) -> Result<Exit> {
    tell(options.tell.as_deref(), Done::AsItIs);
    let mut process = command.as_it_is();
    hand_on_ignored_signals(&mut process);
    hand_on_closed_descriptors();
    let error = process.exec();
    let name = options.command.first().cloned().unwrap_or_else(|| OsString::from("sh"));
    Err(anyhow!("par: {}: {}", name.to_string_lossy(), plain(&error)))
}

/// Deals out beside the command, from the beginning and for a comparison only.
fn deal_beside(options: &ParOptions, command: &Command, plan: &Plan) -> Result<Exit> {
    let dealing = dealing(options, plan)?;
    let dealing = Options { jobs: Jobs::Exactly(dealing.jobs.most()), ..dealing };
    let input = File::from(stdin().as_fd().try_clone_to_owned()?);
    let deal = |input, out| {
        let (stop, errors) = (Stop::new()?, File::options().write(true).open("/dev/null")?);
        let source = Source::Stream(input);
        match par(command, source, out, errors, dealing, &stop, |_| {}) {
            Ok(Ended::Done(status) | Ended::Halted(status)) => Ok(Some(status)),
            Ok(_) => Ok(None),
            Err(error) => Err(anyhow!("{error}")),
        }
    };
    both_ways::run(options, command, input, deal)
}

fn deal(options: &ParOptions, command: &Command, plan: &Plan) -> Result<Exit> {
    if options.prove == Some(Prove::All) {
        return deal_beside(options, command, plan);
    }
    let dealing = dealing(options, plan)?;
    let window = dealing.window;
    let source = setup::source(options)?;
    let stop = Stop::new()?;
    setup::listen(stop.clone())?;
    let mut seen = Seen { done: Done::Alone, proved_bytes: None };
    let note = |event| seen.note(&event);
    let ended = par(command, source, stdout(), stderr(), dealing, &stop, note);
    tell(options.tell.as_deref(), seen.done);
    match ended {
        Ok(Ended::Done(status) | Ended::Halted(status)) if status > 128 => {
            die_of(i32::from(status - 128));
            Ok(Exit::Child(status))
        }
        Ok(Ended::Done(status) | Ended::Halted(status)) => Ok(Exit::Child(status)),
        Ok(Ended::Stopped(signal)) => {
            die_of(signal);
            Ok(Exit::NotDone)
        }
        Ok(_) => Ok(Exit::ReaderLeft),
        Err(error) => Err(failure(&error, options, window).into()),
    }
}

/// What has become of the command so far.
struct Seen {
    done: Done,
    proved_bytes: Option<u64>,
}

impl Seen {
    fn note(&mut self, event: &Event) {
        match event {
            // It comes before anything is dealt out.
            Event::Proved(bytes) => self.proved_bytes = Some(*bytes),
            Event::Dealing => self.done = Done::Dealt { proved_bytes: self.proved_bytes },
            Event::Differs(_) => self.done = Done::Differs,
            _ => {}
        }
    }
}

fn dealing(options: &ParOptions, plan: &Plan) -> Result<Options> {
    let usual = setup::plan(options)?;
    let assumes = match plan.check {
        None => Assumption::Nothing,
        Some(Check::Text) if has_bytes_for_characters() => Assumption::NoZeros,
        Some(Check::Text) => Assumption::Text,
        Some(Check::Values) => Assumption::Values(tier()?),
    };
    let BlockSize::Fitting(most) = usual.block else {
        return Err(anyhow!("par: --auto: blocks have a fixed size"));
    };
    let is_added_up = plan.merge.is_some() && options.prove.is_none();
    Ok(Options {
        records: Records::EndByte(if plan.has_zeros { 0 } else { b'\n' }),
        block: BlockSize::Fitting(most),
        jobs: Jobs::UpTo(usual.jobs.most()),
        proved: usual.proved.or(is_added_up.then_some(PROVED_SUMS)),
        merge: plan.merge.as_ref().map(merge).transpose()?,
        status: match plan.status {
            Status::All => StatusRule::All,
            Status::Any => StatusRule::Any,
            Status::Max => StatusRule::Max,
            Status::Last => StatusRule::Last,
        },
        caution: Some(Caution { assumes, failed_from: plan.failed_from }),
        ..usual
    })
}

fn merge(wanted: &Wanted) -> Result<Merge> {
    match wanted {
        Wanted::Sum => Ok(Merge::Sum),
        Wanted::Greatest => Ok(Merge::Greatest),
        Wanted::Squeeze(byte) => Ok(Merge::Squeeze(*byte)),
        _ => Err(anyhow!("par: --auto: no such merge")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_counts_for_what_is_dealt_out_after_it() {
        let after = |events: &[Event]| {
            let mut seen = Seen { done: Done::Alone, proved_bytes: None };
            events.iter().for_each(|event| seen.note(event));
            seen.done
        };
        assert_eq!(after(&[]), Done::Alone);
        assert_eq!(after(&[Event::Dealing]), Done::Dealt { proved_bytes: None });
        let proved = [Event::Proved(7), Event::Dealing];
        assert_eq!(after(&proved), Done::Dealt { proved_bytes: Some(7) });
        // The input ended before a copy more was needed.
        assert_eq!(after(&proved[..1]), Done::Alone);
        assert_eq!(after(&[Event::Differs(0)]), Done::Differs);
    }
}
