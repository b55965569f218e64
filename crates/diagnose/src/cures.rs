//! What is known about programs: options that make them slow, and faster programs in their place.

use fullbore_record::{Cause, FindingKind};

use super::dealing::Line;
use super::disks;
use super::flow::StageFlow;
use super::names::Command;
use super::pace;
use super::parts::{Advice, joined, only, paste};

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
pub(super) fn passes_on(runs: &Command) -> bool {
    PASS_ON.contains(&runs.program.as_str())
}

/// How to make the calls of a program larger; empty when there is no known way.
///
/// A program that leaves buffering to C's stdio moves 4 KiB at a time through a pipe, which is not small: what moves less has
/// switched that off or has never used it, so stdbuf(1) cannot change it.
pub(super) fn for_small_calls(runs: &Command, direction: Direction) -> Advice {
    option_to_drop(runs, direction)
        .or_else(|| own_buffer_option(runs, direction))
        .unwrap_or_default()
}

/// An option, or a call in its script, that switches buffering off.
fn option_to_drop(runs: &Command, direction: Direction) -> Option<Advice> {
    let drop = |what: &str| Some(only(format!("Drop {what} of {}.", runs.program)));
    for (index, word) in runs.before.iter().enumerate() {
        let is_stdbuf = word.rsplit('/').next() == Some("stdbuf");
        let unbuffers = |w: &&String| ["-oL", "-o0", "-iL", "-i0"].contains(&w.as_str());
        if let Some(option) = runs.before[index..].iter().find(unbuffers).filter(|_| is_stdbuf) {
            return Some(only(format!("Drop stdbuf {option}.")));
        }
        if word.starts_with("PYTHONUNBUFFERED=") {
            return Some(only("Drop PYTHONUNBUFFERED."));
        }
    }
    if let Some(cure) = variable_to_drop(runs, direction) {
        return Some(cure);
    }
    match runs.program.as_str() {
        "grep" | "egrep" | "fgrep" | "rg" if runs.has(&["--line-buffered"]) => {
            drop("--line-buffered")
        }
        "sed" if runs.has(&["--unbuffered"]) => drop("--unbuffered"),
        "sed" if runs.has_short('u') => drop("-u"),
        "jq" if runs.has(&["--unbuffered"]) => drop("--unbuffered"),
        "jq" if runs.has(&["--stream"]) => drop("--stream"),
        "mawk" | "awk" if runs.mentions("interactive") => drop("-W interactive"),
        "awk" | "gawk" | "mawk" if runs.mentions("fflush(") => drop("fflush()"),
        "tcpdump" if runs.has_short('l') => drop("-l"),
        "tcpdump" if runs.has_short('U') => drop("-U"),
        "perl" if runs.mentions("$|") => drop("$|"),
        name if name.starts_with("python") && runs.has_short('u') => drop("-u"),
        _ => None,
    }
}

/// A variable of its environment that switches buffering off. stdbuf(1) becomes the program that it starts, so nothing
/// but its variables shows that it was there.
fn variable_to_drop(runs: &Command, direction: Direction) -> Option<Advice> {
    let is_python = runs.program.starts_with("python");
    if is_python && runs.buffering.contains_key("PYTHONUNBUFFERED") {
        let also = if runs.has_short('u') {
            format!(" and -u of {}", runs.program)
        } else {
            String::new()
        };
        return Some(only(format!("Drop PYTHONUNBUFFERED{also}.")));
    }
    // These do not use the buffers of C's stdio, which stdbuf changes.
    if is_python || passes_on(runs) || runs.is_shell() || runs.program == "dd" {
        return None;
    }
    let (variable, option) = match direction {
        Direction::Reads => ("_STDBUF_I", "-i"),
        Direction::Writes => ("_STDBUF_O", "-o"),
    };
    let value =
        runs.buffering.get(variable).filter(|value| ["0", "L"].contains(&value.as_str()))?;
    Some(only(format!("Drop stdbuf {option}{value}.")))
}

/// Programs that have their own way of saying how large their calls are.
fn own_buffer_option(runs: &Command, direction: Direction) -> Option<Advice> {
    let name = runs.program.as_str();
    let advice = match name {
        "dd" if has_large_blocks(runs) => return None,
        "dd" if runs.mentions("count=") => {
            "Give dd larger blocks: bs=64K iflag=fullblock, with count= made smaller to match."
                .to_owned()
        }
        "dd" => "Give dd larger blocks: bs=64K.".to_owned(),
        "socat" => "Give socat larger blocks: -b 65536.".to_owned(),
        "perl" => "Read and write larger pieces in the script, and leave $| alone.".to_owned(),
        _ if name.starts_with("python") => {
            "Read and write larger pieces in the script: no flush=True, no -u, no PYTHONUNBUFFERED, no os.read of a few bytes."
                .to_owned()
        }
        _ if runs.is_shell() && direction == Direction::Reads => {
            "A shell reads a pipe byte by byte: let awk do the loop, or read all lines at once with bash's mapfile -t lines."
                .to_owned()
        }
        _ if runs.is_shell() => {
            "A shell writes each line by itself: let awk do the loop.".to_owned()
        }
        _ if passes_on(runs) => {
            format!("{name} passes on what it is given: enlarge the writes of the program before it.")
        }
        _ => return None,
    };
    Some(only(advice))
}

/// What it reads in small pieces comes in small pieces.
fn has_large_blocks(runs: &Command) -> bool {
    let size = runs.arguments.iter().find_map(|word| word.strip_prefix("bs="));
    size.is_some_and(|size| {
        let (number, unit) =
            size.split_at(size.find(|c: char| !c.is_ascii_digit()).unwrap_or(size.len()));
        let number: u64 = number.parse().unwrap_or(0);
        let is_kilo = unit.to_ascii_uppercase().starts_with('K');
        number
            >= if is_kilo {
                64
            } else if unit.is_empty() {
                65_536
            } else {
                1
            }
    })
}

/// What makes a CPU-bound program faster; `threads_help`: it uses one CPU and there are more; `dealing`: the line that deals
/// its input out to several of it. `idle_cpus` says that CPUs were left over, when they were.
///
/// Where neither a faster program nor such a fact is known, there is nothing to say: that a faster program would be faster
/// helps nobody.
pub(super) fn for_cpu(
    runs: &Command,
    threads_help: bool,
    dealing: Option<Line>,
    idle_cpus: Option<String>,
) -> Advice {
    let known = known_to_be_faster(runs, threads_help);
    if let Some(line) = dealing {
        let opening = if known.is_some() { "Or run" } else { "Run" };
        return joined([known.unwrap_or_default(), line.advice(opening)]);
    }
    known.unwrap_or_else(|| only(idle_cpus.unwrap_or_default()))
}

/// A faster program, or an option that makes this one faster.
fn known_to_be_faster(runs: &Command, threads_help: bool) -> Option<Advice> {
    let line = |before: &str, program: &str| {
        let line = runs.typed_arguments(program).unwrap_or_else(|| program.to_owned());
        Some(paste(before, line))
    };
    match runs.program.as_str() {
        "gzip" if threads_help && !unpacks(runs) => {
            let pigz = line("pigz compresses with all CPUs: ", "pigz")?;
            Some(joined([pigz, only("zstd is faster still.")]))
        }
        "gunzip" | "zcat" | "gzip" => {
            Some(only("zstd in place of gzip packs and unpacks several times faster."))
        }
        "bzip2" if threads_help => line("lbzip2 uses all CPUs: ", "lbzip2"),
        "bunzip2" if threads_help => line("lbzip2 uses all CPUs: ", "lbzip2 -d"),
        "bzcat" if threads_help => line("lbzip2 uses all CPUs: ", "lbzip2 -dc"),
        // Unpacking uses one CPU whatever -T says, but for xz and only with files of several blocks.
        "xz" if threads_help && packs_with_threads(runs) => {
            line("All CPUs work with -T0 (other bytes, which unpack to the same): ", "xz -T0")
        }
        "zstd" if threads_help && packs_with_threads(runs) => {
            line("All CPUs compress with -T0: ", "zstd -T0")
        }
        // More memory (-S 50%) is no cure: in the C locale, 211 MiB through a pipe took 3.6 s with it and 3.2 s without,
        // 844 MiB 25 s and 17 s (medians of 5 and 4 runs in turn of `cat FILE | LC_ALL=C sort >/dev/null`).
        "sort" if runs.orders_by_bytes() => None,
        "sort" if compares_numbers(runs) => None,
        "sort" => line("Faster, if the order of bytes will do: ", "LC_ALL=C sort"),
        "jq" => Some(only("jaq runs most jq programs, and faster.")),
        "grep" if runs.takes_bytes() || !looks_at_characters(runs) => None,
        "grep" => line("Faster, if characters may be compared byte by byte: ", "LC_ALL=C grep"),
        // mawk took twice as long for `!seen[$0]++` over a million lines.
        "awk" | "gawk" if runs.mentions("[$0]") => None,
        "gawk" => line("Often several times faster: ", "mawk"),
        "awk" => Some(only("If awk is not mawk here, mawk is often several times faster.")),
        _ => None,
    }
}

fn unpacks(runs: &Command) -> bool {
    has_letter(runs, &['d']) || runs.has(&["--decompress", "--uncompress"])
}

/// It compresses, rather than unpacks, tests or lists, and nobody has said with how many threads.
fn packs_with_threads(runs: &Command) -> bool {
    let other = ["--test", "--list", "--single-thread", "--train"];
    let says = |word: &String| word.starts_with("--threads") || other.contains(&word.as_str());
    !unpacks(runs) && !has_letter(runs, &['t', 'l', 'T']) && !runs.arguments.iter().any(says)
}

/// A group of short options before `--` has one of the letters, wherever it stands.
fn has_letter(runs: &Command, letters: &[char]) -> bool {
    let mut options = runs.arguments.iter().take_while(|word| *word != "--");
    options.any(|word| {
        word.strip_prefix('-')
            .is_some_and(|group| !group.starts_with('-') && group.contains(letters))
    })
}

/// It orders whole lines by the number they begin with, which takes as long in any locale.
fn compares_numbers(runs: &Command) -> bool {
    ['n', 'g', 'h'].iter().any(|letter| runs.has_short(*letter)) && !runs.has_short('k')
}

/// The pattern has classes other than that of the digits, or asks where words end. Without either GNU grep compares bytes in
/// any locale: `grep -c '[0-9]7'` took 1.08 times as long with LC_ALL=C as without.
fn looks_at_characters(runs: &Command) -> bool {
    let has_class = |word: &String| word.replace("[0-9]", "").contains('[');
    runs.has_short('w') || runs.has(&["--word-regexp"]) || runs.arguments.iter().any(has_class)
}

/// How a program looks that keeps to a rate which its words set.
const IS_OF_A_LIMIT: [Cause; 6] =
    [Cause::Sleep, Cause::Network, Cause::LocalSocket, Cause::Event, Cause::Lock, Cause::Unknown];

/// What helps against a wait that is neither for a stage nor for a CPU.
pub(super) fn for_cause(cause: Cause, kind: FindingKind, stage: &StageFlow<'_>) -> Advice {
    let (name, pid) = (&stage.name, stage.stage.pid);
    let own_limit = pace::own_limit(stage.stage).filter(|_| IS_OF_A_LIMIT.contains(&cause));
    if let Some(limit) = own_limit {
        return only(format!("No pipe setting helps: {limit} sets the pace."));
    }
    let reads_there = pace::for_the_user(stage.stage).filter(|_| cause == Cause::Terminal);
    if let Some(reads_there) = reads_there {
        return only(reads_there);
    }
    if cause == Cause::Disk {
        return joined([only(for_disk(kind, name)), disks::measured_by(kind, stage)]);
    }
    let advice = match (cause, kind) {
        (Cause::Network, _) => for_network(stage).to_owned(),
        (Cause::Terminal, FindingKind::SinkBound) => {
            "Write to a file instead of the terminal: end the line with > FILE.".to_owned()
        }
        (Cause::Terminal, _) => "It waits for someone to type.".to_owned(),
        (Cause::Sleep, _) => format!(
            "No pipe setting helps: {name} asked to sleep (a rate limit, a poll interval, a retry)."
        ),
        (Cause::Lock, _) => {
            return paste("No pipe setting helps. See who holds the lock: ", "lslocks");
        }
        (Cause::Child, _) => format!(
            "No pipe setting helps: look at what {name} starts; one long-lived process is cheaper than many short ones."
        ),
        (Cause::LocalSocket, _) => {
            let before = "No pipe setting helps. See who is at the other end of the socket: ";
            return paste(before, "ss -xp");
        }
        (Cause::Event, _) => format!(
            "No pipe setting helps: {name} waits for something elsewhere (a file that changes, a timer, another program)."
        ),
        (Cause::FifoPeer, _) => {
            "Start the program that opens the other side of the FIFO.".to_owned()
        }
        (Cause::Stopped, _) => {
            return paste(format!("Let {name} continue: "), format!("kill -CONT {pid}"));
        }
        _ => String::new(),
    };
    only(advice)
}

fn for_disk(kind: FindingKind, name: &str) -> String {
    match kind {
        FindingKind::SourceBound => {
            "Read from a faster disk, or store the file compressed with zstd so that less has to be read."
                .to_owned()
        }
        FindingKind::SinkBound => {
            "Write to a faster disk, or compress before writing: end the pipeline with zstd -T0."
                .to_owned()
        }
        _ => format!("Put the files that {name} uses on a faster disk, or in memory (/dev/shm)."),
    }
}

/// Below this rate, in bytes a second, a server that is slow itself is as likely as a slow network.
const SLOW_NETWORK: f64 = 20e6;

fn for_network(stage: &StageFlow<'_>) -> &'static str {
    let bytes = stage.stage.read_bytes.max(stage.stage.written_bytes);
    let is_slow = |bytes: u64| (bytes as f64) < SLOW_NETWORK * stage.life_ns / 1e9;
    if pace::is_on_this_machine(stage.stage) {
        "No pipe setting helps: look at the program at the other end of the connection, on this machine."
    } else if bytes.is_some_and(is_slow) {
        "See which is slow, the network or the program at its other end: compression (ssh -C, curl --compressed) helps only a slow network."
    } else {
        "Compress what crosses the network: ssh -C, curl --compressed, or zstd on both sides."
    }
}

#[cfg(test)]
mod tests {
    use fullbore_record::{CommandIs, StageRecord, advice_text};

    use super::*;

    #[test]
    fn programs_that_switch_buffering_off_are_told_which_option_does_it() {
        for (words, cure) in [
            (&["grep", "--line-buffered", "x"][..], "Drop --line-buffered of grep."),
            (&["sed", "-nu", "s/a/b/"], "Drop -u of sed."),
            (&["stdbuf", "-oL", "cut", "-f1"], "Drop stdbuf -oL."),
            (&["env", "PYTHONUNBUFFERED=1", "python3", "x.py"], "Drop PYTHONUNBUFFERED."),
            (&["python3.12", "-u", "x.py"], "Drop -u of python3.12."),
            (&["env", "PYTHONUNBUFFERED=1", "python3", "-u", "x.py"], "Drop PYTHONUNBUFFERED."),
            (&["python3", "x.py", "-u"], "flush=True"),
            (&["gawk", "{print; fflush()}"], "Drop fflush() of gawk."),
            (&["mawk", "-W", "interactive", "{print}"], "Drop -W interactive of mawk."),
            (&["jq", "--unbuffered", ".id"], "Drop --unbuffered of jq."),
            (&["tcpdump", "-nl"], "Drop -l of tcpdump."),
            (&["perl", "-pe", "$|=1;s/a/b/"], "Drop $| of perl."),
            (&["dd", "bs=512"], "bs=64K."),
            (&["dd", "bs=512", "count=9"], "bs=64K iflag=fullblock, with count= made smaller"),
            (&["bash", "loop.sh"], "let awk do the loop"),
            (&["tr", "a b", "c"], ""),
            (&["sed", "s/-u/b/"], ""),
            (&["dd", "bs=1M"], ""),
            (&["dd", "bs=64K"], ""),
        ] {
            let mut stage = StageRecord::default();
            stage.words = words.iter().map(|word| (*word).to_owned()).collect();
            let runs = Command::of(&stage);
            let text = advice_text(&for_small_calls(&runs, Direction::Writes));
            assert!(text.contains(cure) && text.is_empty() == cure.is_empty(), "{runs:?}: {text}");
        }
    }

    #[test]
    fn variables_that_switch_buffering_off_are_told_where_the_program_heeds_them() {
        for (program, variable, value, cure) in [
            ("python3", "PYTHONUNBUFFERED", "1", "Drop PYTHONUNBUFFERED."),
            ("uniq", "PYTHONUNBUFFERED", "1", ""),
            ("uniq", "_STDBUF_O", "L", "Drop stdbuf -oL."),
            ("uniq", "_STDBUF_O", "0", "Drop stdbuf -o0."),
            ("uniq", "_STDBUF_O", "65536", ""),
            ("uniq", "_STDBUF_I", "0", ""),
            ("cat", "_STDBUF_O", "L", "cat passes on what it is given"),
        ] {
            let mut stage = StageRecord::default();
            stage.words = vec![program.to_owned()];
            stage.buffering.insert(variable.to_owned(), value.to_owned());
            let text = advice_text(&for_small_calls(&Command::of(&stage), Direction::Writes));
            assert!(
                text.contains(cure) && text.is_empty() == cure.is_empty(),
                "{program}, {variable}: {text}"
            );
        }
    }

    #[test]
    fn a_hint_does_not_repeat_what_the_environment_says_already() {
        for (program, locale, is_told) in [
            ("sort", "C", false),
            ("sort", "C.UTF-8", false),
            ("sort", "de_DE.UTF-8", true),
            ("sort", "LC_CTYPE=de_DE.UTF-8;LC_COLLATE=C", false),
            ("sort", "LC_CTYPE=C;LC_COLLATE=de_DE.UTF-8", true),
            ("grep", "POSIX", false),
            ("grep", "LC_CTYPE=C;LC_COLLATE=de_DE.UTF-8", false),
            ("grep", "LC_CTYPE=de_DE.UTF-8;LC_COLLATE=C", true),
        ] {
            let mut stage = StageRecord::default();
            stage.words = vec![program.to_owned(), "[x]".to_owned()];
            stage.locale = Some(locale.to_owned());
            let text = advice_text(&for_cpu(&Command::of(&stage), true, None, None));
            assert_eq!(text.contains("LC_ALL=C"), is_told, "{program}, {locale}: {text}");
            // In `sh -c 'LC_ALL=C sort'`, too, the locale is that of the program which did the work.
            stage.main_words = std::mem::replace(&mut stage.words, vec!["sh".to_owned()]);
            let text = advice_text(&for_cpu(&Command::of(&stage), true, None, None));
            assert_eq!(text.contains("LC_ALL=C"), is_told, "{program} in sh, {locale}: {text}");
        }
    }

    #[test]
    fn a_hint_does_not_repeat_what_the_command_does_already() {
        for words in [
            &["env", "LC_ALL=C", "sort", "-k2"][..],
            &["env", "LC_COLLATE=C", "sort"],
            &["env", "LC_ALL=C.UTF-8", "sort"],
            &["sort", "-n"],
            &["grep", "-c", "[0-9]7"],
            &["gawk", "!seen[$0]++"],
        ] {
            let mut stage = StageRecord::default();
            stage.words = words.iter().map(|word| (*word).to_owned()).collect();
            let text = advice_text(&for_cpu(&Command::of(&stage), true, None, None));
            assert!(!text.contains("LC_ALL=C") && !text.contains("mawk"), "{text}");
        }
    }

    #[test]
    fn a_loop_of_the_shell_is_told_to_become_one_program() {
        let mut stage = StageRecord::default();
        stage.command_is = CommandIs::ShellText;
        let runs = Command::of(&stage);
        let text = advice_text(&for_small_calls(&runs, Direction::Reads));
        assert!(text.contains("let awk do the loop"), "{text}");
    }
}
