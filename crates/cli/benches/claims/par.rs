//! `fullbore par` beside the command alone and beside GNU parallel.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Effort;
use crate::pairs::{Pairs, plain};
use crate::sandbox::{Sandbox, fullbore, is_installed};
use crate::stages::compare;
use crate::table::{Outcome, Row};

/// Events, one JSON object a line.
fn events(place: &Sandbox, effort: Effort) -> PathBuf {
    let path = place.path("events.jsonl");
    let rows = effort.pick("20000", "1500000");
    let file = fs::File::create(&path).unwrap();
    let mut made = Command::new(fullbore());
    made.args(["gen", "jsonl", "--rows", rows]).stdout(Stdio::from(file));
    assert!(made.status().unwrap().success());
    path
}

/// Source code of the crates that fullbore is built from, repeated to `megabytes`.
pub(crate) fn code(place: &Sandbox, name: &str, megabytes: usize) -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".cargo"),
        PathBuf::from,
    );
    let mut found = Command::new("sh");
    found.args([
        "-c",
        "find \"$1\" -name '*.rs' | LC_ALL=C sort | head -n 4000 | tr '\\n' '\\0' | xargs -0 cat",
        "sh",
    ]);
    let mut once = found.arg(home.join("registry/src")).output().unwrap().stdout;
    if once.is_empty() {
        once = b"fn main() { println!(\"no source code here\"); }\n".repeat(1000);
    }
    let path = place.path(name);
    let mut file = fs::File::create(&path).unwrap();
    let mut left = megabytes << 20;
    while left > 0 {
        let count = left.min(once.len());
        file.write_all(&once[..count]).unwrap();
        left -= count;
    }
    path
}

/// Commands on two CPUs instead of one.
pub(crate) fn gains(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let runs = effort.times(3, 7);
    let events = events(&place, effort).display().to_string();
    let code = code(&place, "code.rs", effort.pick(4, 150)).display().to_string();
    // Some seconds of work for each: starting and ending take as long whatever there is to do.
    let commands = [
        ("jq -c .user", &events, effort.pick(1, 200), Some(1.8)),
        ("sed -E 's/([a-z]+) ([a-z]+)/\\2 \\1/g'", &code, effort.pick(1, 100), Some(1.8)),
        ("awk '{ gsub(/[0-9]+/, \"N\"); print }'", &events, effort.pick(1, 400), Some(1.8)),
        // Nearly twice as fast as the commands that the bar is for.
        ("awk '{ print $1, $NF }'", &events, effort.pick(1, 1600), None),
        ("zstd -9 -q", &code, effort.pick(1, 300), Some(1.8)),
        ("gzip -6", &code, effort.pick(1, 150), Some(1.8)),
    ];
    let row = |(command, input, megabytes, bar): (&str, &String, u64, Option<f64>)| {
        let place = Sandbox::new();
        let [all, half] =
            [megabytes << 20, megabytes << 19].map(|bytes| part(&place, input, bytes));
        let alone = format!("cat {all} | {command} | cat > /dev/null");
        let mut row = compare(
            &format!("`{command}`: time alone ÷ time with `par`"),
            bar,
            runs,
            [&alone, &format!("cat {all} | {{fullbore}} par {command} | cat > /dev/null")],
        );
        row.notes.push(side_by_side(&alone, command, &half, effort));
        row
    };
    let needed = |(command, ..): &(&str, &String, u64, Option<f64>)| {
        is_installed(command.split(' ').next().unwrap_or_default())
    };
    let mut rows: Vec<Row> = commands.into_iter().filter(needed).map(row).collect();
    rows.extend(greps(&place, effort, runs));
    rows
}

/// The first bytes of a file, which is repeated if it is too short.
fn part(place: &Sandbox, input: &str, bytes: u64) -> String {
    let path = place.path(&format!("{}M", bytes >> 20)).display().to_string();
    let line = format!("while cat {input}; do :; done 2>/dev/null | head -c {bytes} > {path}");
    assert!(Command::new("sh").args(["-c", &line]).status().unwrap().success());
    path
}

/// What two copies that nobody deals out to gain over a line: each has half of the input in a file. Two CPUs of a virtual
/// machine may be one core, and programs share its caches and memory. Each writes into a pipe of its own: grep would stop
/// at the first match if it saw that nobody reads.
fn side_by_side(line: &str, command: &str, half: &str, effort: Effort) -> String {
    let one = format!("{command} < {half} | cat > /dev/null");
    let both = format!("({one}) & ({one}) & wait");
    let pairs =
        Pairs::measure(effort.times(1, 3), |place| plain(place, line), |place| plain(place, &both));
    format!(
        "two copies side by side, each with half of the input in a file: {:.2}",
        pairs.first_to_second().median
    )
}

/// A command that is about as fast as a pipe.
fn greps(place: &Sandbox, effort: Effort, runs: usize) -> Vec<Row> {
    let file = code(place, "large.rs", effort.pick(8, 1500)).display().to_string();
    let word = "grep -E '(un|in)safe +[a-z]+ +fn'";
    let alone = format!("cat {file} | {word} | cat > /dev/null");
    vec![
        compare(
            &format!("`{word}`: time alone ÷ time with `par`, from a pipe"),
            Some(1.4),
            runs,
            [&alone, &format!("cat {file} | {{fullbore}} par {word} | cat > /dev/null")],
        ),
        compare(
            &format!("`{word}`: time alone ÷ time with `par -a FILE`"),
            Some(1.6),
            runs,
            [
                &format!("{word} {file} | cat > /dev/null"),
                &format!("{{fullbore}} par -a {file} {word} | cat > /dev/null"),
            ],
        ),
        compare(
            "`cat`: time alone ÷ time with `par`, between pipes",
            Some(0.6),
            runs,
            [
                &format!("cat {file} | cat | cat > /dev/null"),
                &format!("cat {file} | {{fullbore}} par cat | cat > /dev/null"),
            ],
        ),
    ]
}

/// The same work by GNU parallel.
pub(crate) fn peers(effort: Effort) -> Vec<Row> {
    if !is_installed("parallel") {
        return Vec::new();
    }
    let place = Sandbox::new();
    let events = events(&place, effort).display().to_string();
    let file = code(&place, "large.rs", effort.pick(8, 600)).display().to_string();
    let row = |command: &str, input: &str, bar| {
        let quoted = shell_words::quote(command).into_owned();
        let theirs =
            format!("cat {input} | parallel --pipe -k --block 8M {quoted} | cat > /dev/null");
        let mut row = compare(
            &format!(
                "`{command}`: time of `parallel --pipe -k --block 8M` ÷ time of `par --block 8M`"
            ),
            Some(bar),
            effort.times(3, 5),
            [
                &theirs,
                &format!("cat {input} | {{fullbore}} par --block 8M {command} | cat > /dev/null"),
            ],
        );
        let bytes = fs::metadata(input).map_or(0, |file| file.len());
        let half = Sandbox::new();
        row.notes.push(side_by_side(&theirs, command, &part(&half, input, bytes / 2), effort));
        row
    };
    let mut rows = vec![row("grep unsafe", &file, 5.0), row("jq -c .user", &events, 1.5)];
    rows.extend(forkrun(&place, effort, [("grep unsafe", &file), ("jq -c .user", &events)]));
    rows
}

/// The same work by forkrun, whose `frun.bash` FULLBORE_FORKRUN names. It deals out batches of lines; pieces of a number of bytes
/// would cut lines.
fn forkrun(place: &Sandbox, effort: Effort, commands: [(&str, &String); 2]) -> Vec<Row> {
    let Some(script) = std::env::var_os("FULLBORE_FORKRUN") else {
        return Vec::new();
    };
    let script = Path::new(&script).display().to_string();
    let load = format!(". {script} >/dev/null 2>&1");
    let row = |(command, input): (&str, &String)| {
        let pipeline = |sink: &str| format!("cat {input} | frun -k -s {command} | {sink}");
        let bash =
            |line: &str| format!("bash -c {}", shell_words::quote(&format!("{load}; {line}")));
        let ours = |sink: &str| format!("cat {input} | {{fullbore}} par {command} | {sink}");
        let mut row = compare(
            &format!("`{command}`: time of forkrun (`frun -k -s`) ÷ time of `par`"),
            Some(1.1),
            effort.times(3, 5),
            [&bash(&pipeline("cat > /dev/null")), &ours("cat > /dev/null")],
        );
        row.command = row.command.replace(&script, "frun.bash");
        let output = |line: &str| plain(place, line).output().unwrap().stdout;
        let same = output(&bash(&pipeline("md5sum"))) == output(&ours("md5sum"));
        row.notes.push(format!(
            "loading frun.bash alone takes {:.2} s; {}",
            Pairs::measure(3, |place| plain(place, &bash(":")), |place| plain(place, ":")).first(),
            if same { "both print the same" } else { "the outputs differ" }
        ));
        if !same {
            // As when forkrun cannot load its own part of bash.
            row.measured = format!("not comparable ({})", row.measured);
            row.outcome = Outcome::Shown;
        }
        row
    };
    commands.into_iter().map(row).collect()
}

/// What dealing out costs where it gains nothing.
pub(crate) fn costs(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let events = events(&place, effort).display().to_string();
    let one = compare(
        "`par -j1 jq -c .user`: time alone ÷ time with `par`",
        Some(0.95),
        effort.times(3, 7),
        [
            &format!("head -c 100M {events} | jq -c .user | cat > /dev/null"),
            &format!("head -c 100M {events} | {{fullbore}} par -j1 jq -c .user | cat > /dev/null"),
        ],
    );
    let [theirs, ours] = [
        format!("head -c 1M {events} | grep -c user"),
        format!("head -c 1M {events} | {{fullbore}} par grep -c user"),
    ];
    let pairs = Pairs::measure(
        effort.times(10, 100),
        |place| plain(place, &theirs),
        |place| plain(place, &ours),
    );
    let added = pairs.added_milliseconds();
    let start = Row {
        claim: "time that `par` adds to a command on 1 MB".to_owned(),
        bar: "≤ 5 ms".to_owned(),
        measured: format!("{:.1} ms ± {:.1} ms", added.median, added.mad),
        outcome: Outcome::met_if(added.median <= 5.0),
        command: format!("{theirs}\n{ours}").replace("{fullbore}", "fullbore"),
        notes: vec![format!("the first command takes {:.1} ms", pairs.first() * 1e3)],
    };
    vec![one, start, commands_started(effort)]
}

/// Blocks of 4 KiB: what matters is starting processes.
fn commands_started(effort: Effort) -> Row {
    let place = Sandbox::new();
    let file = code(&place, "code.rs", effort.pick(1, 40)).display().to_string();
    let line = format!("{{fullbore}} par --block 4K -a {file} /bin/true");
    let blocks = fs::metadata(&file).unwrap().len() as f64 / 4096.0;
    let loops = effort.pick(100, 3000);
    let count = format!("i=0; while [ $i -lt {loops} ]; do /bin/true; i=$((i + 1)); done");
    let (mut rates, mut alone): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for _ in 0..effort.times(3, 7) {
        rates.push(blocks / cpu_seconds(&place, &line));
        alone.push(f64::from(loops) / cpu_seconds(&place, &count));
    }
    let alone = fullbore_measure::median(&alone).unwrap();
    let rate = fullbore_measure::median(&rates).unwrap();
    let spawned = spawned_per_second(loops);
    Row {
        claim: "blocks of 4 KiB: commands started for each second of CPU time".to_owned(),
        bar: "≥ 2500".to_owned(),
        measured: format!("{rate:.0}"),
        outcome: Outcome::met_if(rate >= 2500.0),
        command: line.replace("{fullbore}", "fullbore"),
        notes: vec![
            format!("a loop of the shell that does nothing but start `/bin/true`: {alone:.0}"),
            format!("a program that does nothing but start it by posix_spawn(3): {spawned:.0}"),
        ],
    }
}

/// The same without anything around it: processes started and waited for, each second of CPU time.
fn spawned_per_second(count: i32) -> f64 {
    let cpu = || {
        let own = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let own = Duration::try_from(own).unwrap();
        (fullbore_process::children_cpu_time().unwrap() + own).as_secs_f64()
    };
    let before = cpu();
    for _ in 0..count {
        assert!(Command::new("/bin/true").stdin(Stdio::null()).status().unwrap().success());
    }
    f64::from(count) / (cpu() - before)
}

/// CPU time of a line and all that it starts.
fn cpu_seconds(place: &Sandbox, line: &str) -> f64 {
    let cpu = || fullbore_process::children_cpu_time().unwrap().as_secs_f64();
    let before = cpu();
    let mut command = plain(place, line);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
    cpu() - before
}

/// What it takes.
pub(crate) fn memory(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let file = code(&place, "code.rs", effort.pick(40, 400)).display().to_string();
    // The first copy holds all others back.
    let script = "if [ \"$PAR_BLOCK\" = 1 ]; then sleep 2; fi; cat";
    let mut command = place.command("sh");
    let line = format!(
        "cat {file} | {} par -j2 --window 64M -c '{script}' | cat > /dev/null",
        fullbore().display()
    );
    let mut child = command.args(["-c", &line]).spawn().unwrap();
    let mut peak_kib = 0;
    while child.try_wait().unwrap().is_none() {
        peak_kib = peak_kib.max(memory_kib(place.mark()));
        std::thread::sleep(Duration::from_millis(5));
    }
    let mib = peak_kib as f64 / 1024.0;
    let memory = Row {
        claim: "memory beyond the window of 64 MiB while the first block holds the others back"
            .to_owned(),
        bar: "≤ 16 MiB".to_owned(),
        measured: format!("{:.1} MiB", (mib - 64.0).max(0.0)),
        outcome: Outcome::met_if(mib <= 80.0),
        command: line.replace(&fullbore().display().to_string(), "fullbore"),
        notes: vec!["resident memory of par and the files in memory that it holds".to_owned()],
    };
    vec![memory]
}

/// Resident memory of the process `par` of a sandbox, and the files in memory that it holds.
fn memory_kib(mark: &str) -> u64 {
    let is_par = |pid: &str| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let has = |text: &[u8], part: &str| text.windows(part.len()).any(|w| w == part.as_bytes());
        has(&words, "fullbore\0par\0") && has(&environment, mark)
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let names = processes.filter_map(|entry| entry.file_name().into_string().ok());
    let Some(pid) = names.filter(|name| name.parse::<u32>().is_ok()).find(|pid| is_par(pid)) else {
        return 0;
    };
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim_matches([':', '\t', ' ']).split(' ').next()?.parse().ok())
    };
    let own: u64 = field("VmRSS").unwrap_or(0);
    // Pages of a file in memory that nobody mapped count in no process.
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let in_files: u64 = files
        .filter(|fd| {
            fs::read_link(fd.path()).is_ok_and(|to| to.to_string_lossy().contains("memfd:"))
        })
        .filter_map(|fd| fs::metadata(fd.path()).ok())
        .map(|file| std::os::unix::fs::MetadataExt::blocks(&file) / 2)
        .sum();
    own + in_files
}
