//! What is known about programs: options that make them slow, and faster programs in their place.

use crate::record::{Cause, FindingKind};

use super::names::Command;

/// Starting so many processes is work of its own.
pub(super) const MANY_PROCESSES: u32 = 100;

/// Which way the small calls go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

/// Programs that pass on what they are given, piece by piece: the size of their calls is the writer's choice.
const PASS_ON: [&str; 4] = ["cat", "tee", "pv", "ts"];

/// Whether the size of its calls is decided by whoever writes to it.
pub(super) fn passes_on(command: &Command) -> bool {
    PASS_ON.contains(&command.program.as_str())
}

/// How to make the calls of a program larger.
pub(super) fn for_small_calls(command: &Command, direction: Direction) -> String {
    option_to_drop(command)
        .or_else(|| own_buffer_option(command))
        .unwrap_or_else(|| stdbuf(command, direction))
}

/// An option, or a call in its script, that switches buffering off.
fn option_to_drop(command: &Command) -> Option<String> {
    let drop = |what: &str| Some(format!("Drop `{what}` of {}.", command.program));
    for (index, word) in command.before.iter().enumerate() {
        let is_stdbuf = word.rsplit('/').next() == Some("stdbuf");
        let unbuffers = |w: &&String| ["-oL", "-o0", "-iL", "-i0"].contains(&w.as_str());
        if let Some(option) = command.before[index..].iter().find(unbuffers).filter(|_| is_stdbuf) {
            return Some(format!("Drop `stdbuf {option}`."));
        }
        if word.starts_with("PYTHONUNBUFFERED=") {
            return Some("Drop `PYTHONUNBUFFERED`.".to_owned());
        }
    }
    match command.program.as_str() {
        "grep" | "egrep" | "fgrep" | "rg" if command.has(&["--line-buffered"]) => {
            drop("--line-buffered")
        }
        "sed" if command.has(&["--unbuffered"]) => drop("--unbuffered"),
        "sed" if command.has_short('u') => drop("-u"),
        "jq" if command.has(&["--unbuffered"]) => drop("--unbuffered"),
        "jq" if command.has(&["--stream"]) => drop("--stream"),
        "mawk" | "awk" if command.mentions("interactive") => drop("-W interactive"),
        "awk" | "gawk" | "mawk" if command.mentions("fflush(") => drop("fflush()"),
        "tcpdump" if command.has_short('l') => drop("-l"),
        "tcpdump" if command.has_short('U') => drop("-U"),
        "perl" if command.mentions("$|") => drop("$|"),
        name if name.starts_with("python") && command.has_short('u') => drop("-u"),
        _ => None,
    }
}

/// Programs that have their own way of saying how large their calls are.
fn own_buffer_option(command: &Command) -> Option<String> {
    let name = command.program.as_str();
    match name {
        "dd" => {
            let count = if command.mentions("count=") { ", with `count=` made smaller to match" } else { "" };
            Some(format!("Give dd larger blocks: `dd bs=64K`{count}."))
        }
        "socat" => Some("Give socat larger blocks: `socat -b 65536`.".to_owned()),
        "perl" => Some("Read and write larger pieces in the script, and leave `$|` alone.".to_owned()),
        _ if name.starts_with("python") => {
            Some("Read and write larger pieces in the script: no `flush=True`, no `-u`, no `os.read` of a few bytes.".to_owned())
        }
        _ if command.is_shell() => Some(
            "A shell reads a pipe byte by byte and writes line by line: let `awk` do the loop, or read all lines at once with bash's `mapfile -t lines`."
                .to_owned(),
        ),
        _ if passes_on(command) => {
            Some(format!("{name} passes on what it is given: enlarge the writes of the program before it."))
        }
        _ => None,
    }
}

fn stdbuf(command: &Command, direction: Direction) -> String {
    let option = if direction == Direction::Reads { "-i64K" } else { "-o64K" };
    format!(
        "Give it larger buffers: `stdbuf {option} {} …` (works for programs that use C's stdio).",
        command.program
    )
}

/// What makes a CPU-bound program faster; `threads_help`: it uses one CPU and there are more;
/// `lines_can_be_shared`: what is more, its input can be dealt out to several of it.
pub(super) fn for_cpu(
    command: &Command,
    name: &str,
    threads_help: bool,
    lines_can_be_shared: bool,
) -> String {
    let known = match command.program.as_str() {
        "gzip" if threads_help && !command.has_short('d') => {
            Some("`pigz` in place of gzip uses all CPUs, and `zstd` is faster still")
        }
        "gunzip" | "zcat" | "gzip" => {
            Some("`zstd` in place of gzip packs and unpacks several times faster")
        }
        "bzip2" | "bzcat" | "bunzip2" if threads_help => {
            Some("`lbzip2` in place of bzip2 uses all CPUs")
        }
        "xz" if threads_help => Some("`xz -T0` uses all CPUs"),
        "zstd" if threads_help => Some("`zstd -T0` uses all CPUs when it compresses"),
        "sort" => Some("`LC_ALL=C sort -S 50%` is faster, if the order of bytes will do"),
        "jq" => Some("`jaq` runs most jq programs, and faster"),
        "grep" => Some("`LC_ALL=C grep`, with `-F` for fixed strings, is faster"),
        "awk" | "gawk" => Some("`LC_ALL=C mawk` is often several times faster"),
        _ => None,
    };
    let lines = lines_can_be_shared && !command.is_shell() && !is_about_all_input(&command.program);
    match known {
        Some(known) if lines => format!("{known}; or run {}.", several_at_once(command)),
        Some(known) => format!("{known}."),
        None if command.is_shell() => {
            format!("A faster program in place of what {name} runs would.")
        }
        None if lines => {
            format!("A faster program in place of {name} would, or {}.", several_at_once(command))
        }
        None => format!("A faster program in place of {name} would."),
    }
}

/// Its output depends on all of its input, or its input has no lines: several of it give something else.
fn is_about_all_input(program: &str) -> bool {
    const PROGRAMS: [&str; 34] = [
        "sort", "uniq", "wc", "head", "tail", "tac", "shuf", "comm", "join", "paste", "nl",
        "split", "dd", "cat", "tee", "pv", "tar", "cpio", "gzip", "gunzip", "zcat", "bzip2",
        "bunzip2", "bzcat", "xz", "xzcat", "zstd", "zstdcat", "lz4", "openssl", "gpg", "base64",
        "ffmpeg", "less",
    ];
    program.ends_with("sum") || PROGRAMS.contains(&program)
}

fn several_at_once(command: &Command) -> String {
    format!(
        "several at once, if its lines are independent: `parallel --pipe -k --block 10M {} …`",
        command.program
    )
}

/// What helps against a wait that is neither for a stage nor for a CPU.
pub(super) fn for_cause(cause: Cause, kind: FindingKind, name: &str, pid: i32) -> String {
    let text = match (cause, kind) {
        (Cause::Disk, FindingKind::SourceBound) => {
            "Read from a faster disk, or store the file compressed (`zstd`) so that less has to be read."
        }
        (Cause::Disk, FindingKind::SinkBound) => {
            "Write to a faster disk, or compress before writing (`| zstd -T0 > FILE.zst`)."
        }
        (Cause::Disk, _) => {
            return format!(
                "Put the files that {name} uses on a faster disk, or in memory (/dev/shm)."
            );
        }
        (Cause::Network, _) => {
            "Compress what crosses the network (`ssh -C`, `curl --compressed`, `| zstd |`)."
        }
        (Cause::Terminal, FindingKind::SinkBound) => {
            "Write to a file instead of the terminal: `> FILE`."
        }
        (Cause::Terminal, _) => "It waits for someone to type.",
        (Cause::Sleep, _) => {
            return format!(
                "No pipe setting helps: {name} asked to sleep (a rate limit, a poll interval, a retry)."
            );
        }
        (Cause::Lock, _) => {
            return format!(
                "No pipe setting helps: see who holds the lock with `lslocks`, and give {name} more threads or fewer rivals."
            );
        }
        (Cause::Child, _) => {
            return format!(
                "No pipe setting helps: look at what {name} starts; one long-lived process is cheaper than many short ones."
            );
        }
        (Cause::Stopped, _) => return format!("Let {name} continue: `kill -CONT {pid}`."),
        (Cause::FifoPeer | Cause::Unknown, _) => return String::new(),
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_switch_buffering_off_are_told_which_option_does_it() {
        for (command, cure) in [
            ("grep --line-buffered x", "Drop `--line-buffered` of grep."),
            ("sed -nu s/a/b/", "Drop `-u` of sed."),
            ("sed s/-u/b/", "stdbuf -o64K sed"),
            ("stdbuf -oL cut -f1", "Drop `stdbuf -oL`."),
            ("PYTHONUNBUFFERED=1 python3 x.py", "Drop `PYTHONUNBUFFERED`."),
            ("python3.12 -u x.py", "Drop `-u` of python3.12."),
            ("python3 x.py -u", "flush=True"),
            ("gawk '{print; fflush()}'", "Drop `fflush()` of gawk."),
            ("mawk -W interactive '{print}'", "Drop `-W interactive` of mawk."),
            ("jq --unbuffered .id", "Drop `--unbuffered` of jq."),
            ("tcpdump -nl", "Drop `-l` of tcpdump."),
            ("perl -pe '$|=1;s/a/b/'", "Drop `$|` of perl."),
            ("dd bs=512", "`dd bs=64K`."),
            ("dd bs=512 count=9", "`count=` made smaller"),
            ("while read -r l; do echo $l; done", "let `awk` do the loop"),
            ("tr a b", "`stdbuf -o64K tr …`"),
        ] {
            let text = for_small_calls(&Command::parse(command), Direction::Writes);
            assert!(text.contains(cure), "{command}: {text}");
        }
    }
}
