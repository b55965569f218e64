//! `run --flame`, `attach --flame`, `flame diff`: towers add up, name the right functions, and harm nobody.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use crate::cases::split::{self, Split, Stacks, has, time_of};
use crate::exact::FORBIDDEN;
use crate::gate::Pass;
use crate::narrow;
use crate::processes::marked;
use crate::sandbox::{Sandbox, eventually, finish, fullbore, status_text};

fn stacks(place: &Sandbox, file: &str) -> Stacks {
    split::read_stacks(&place.path(file))
}

/// The program of known split between two others.
fn line() -> String {
    format!("{} | ./split 250 | cat", split::SOURCE)
}

pub(crate) fn flame(place: &Sandbox, line: &str) -> Stacks {
    let ended = place.run(&["run", "-q", "--flame", "out.folded", line]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    stacks(place, "out.folded")
}

#[test]
fn a_known_split_is_found_on_a_cpu_and_off_it() {
    let _alone = Pass::alone();
    let place = Sandbox::new();
    split::compile(&place, "split", &[]);
    let stacks = flame(&place, &format!("{} | ./split 250 truth | cat", split::SOURCE));
    let (said, truth) = (Split::of_stacks(&stacks), Split::read(&place.path("truth")));
    // A second or two have some hundred samples, and which of two short waits it was is less certain (docs/profile.md);
    // `make bench` holds longer runs to 3 points.
    for (name, said, truth) in said.beside(&truth) {
        let most = if matches!(name, "h" | "k") { 15.0 } else { 8.0 };
        assert!((said - truth).abs() < most, "{name}: {said} %, in truth {truth} %: {stacks:?}");
    }
    let ends = |function: &str, leaf: &str| {
        let all = time_of(&stacks, "2 ", |stack| has(stack, function));
        time_of(&stacks, "2 ", |stack| {
            has(stack, function) && stack.last().is_some_and(|last| last.contains(leaf))
        }) / all
    };
    assert!(ends("h", "sleeps") > 0.9 && ends("k", "stage 1") > 0.9, "{stacks:?}");
    assert!(stacks.iter().all(|(stack, _)| !(has(stack, "h") && has(stack, "k"))));
}

#[test]
fn a_tower_is_as_high_as_its_stage_lived() {
    let place = Sandbox::new();
    let mut command = place.command(fullbore());
    command.args(["run", "-q", "--flame", "out.folded", "--report", "report.json"]);
    command.arg("seq 900000 | sort | (sleep 0.2; cat) | tail -1");
    let record = place.record_of(command);
    let stacks = stacks(&place, "out.folded");
    for stage in &record.stages {
        let height = time_of(&stacks, &format!("{} ", stage.stage), |_| true) * 1e3;
        let life = stage.life_ns as f64;
        // Lines have whole microseconds.
        assert!((height - life).abs() < life * 0.01 + 100_000.0, "{height} and {life}: {stacks:?}");
    }
}

/// Without frame pointers, from programs as Debian builds them.
#[test]
fn programs_of_debian_are_followed_to_their_beginning() {
    require_programs!("jq", "python3", "perl", "gzip", "grep");
    let place = Sandbox::new();
    let line = "seq 400000 | gzip -6 | gzip -dc | grep -v 77 | jq -c '.+1' | sort -n | \
                perl -ne 'print if /1/' | python3 -c 'import sys; print(sum(int(line) for line in sys.stdin))'";
    let stacks = flame(&place, line);
    let (deep, all) = split::depth(&stacks);
    assert!(deep > all * 0.95, "{deep} of {all} µs: {:?}", shallow(&stacks));
}

/// The longest stacks that are not deep, for a message.
fn shallow(stacks: &Stacks) -> Vec<String> {
    let mut rest: Vec<_> = stacks.iter().filter(|(stack, _)| !split::is_deep(stack)).collect();
    rest.sort_by(|one, two| two.1.total_cmp(&one.1));
    rest.iter().take(8).map(|(stack, us)| format!("{} {us}", stack.join(";"))).collect()
}

#[test]
fn static_stripped_and_deleted_programs_keep_what_names_they_have() {
    let place = Sandbox::new();
    split::compile(&place, "split", &["-static"]);
    let of = |line: &str| {
        let stacks = flame(&place, line);
        let mut own: BTreeMap<String, f64> = BTreeMap::new();
        for (stack, us) in stacks.iter().filter(|(stack, _)| stack[0].starts_with("2 ")) {
            *own.entry(stack.last().unwrap().clone()).or_default() += us;
        }
        own
    };
    // How long the work takes differs between CPUs by a factor of three.
    let is_found = |own: &BTreeMap<String, f64>, name: &str| {
        own.get(name).is_some_and(|us| *us > 0.02 * own.values().sum::<f64>())
    };
    let of_static = of("seq 9e5 | ./split 120 | cat");
    assert!(is_found(&of_static, "f") && is_found(&of_static, "g"), "{of_static:?}");
    split::compile(&place, "gone", &[]);
    let deleted = of("seq 9e5 | sh -c './gone 120 & \
                      until readlink /proc/$!/exe | grep -q gone; do :; done; rm gone; wait' | cat");
    assert!(is_found(&deleted, "f"), "{deleted:?}");
    split::compile(&place, "split", &["-s"]);
    let stripped = of("seq 9e5 | ./split 120 | cat");
    let own: Vec<&String> = stripped.keys().filter(|name| name.starts_with("split+0x")).collect();
    // The program has some ten functions, the runtime's among them; addresses would be hundreds.
    assert!((2..=8).contains(&own.len()), "functions, not addresses: {stripped:?}");
}

/// Calls `work`, which counts down, writes, and naps; its system calls are those of i386.
#[cfg(target_arch = "x86_64")]
const OF_32_BITS: &str = "
.globl _start
work:   movl $100000000, %ecx
1:      decl %ecx
        jnz 1b
        ret
_start: movl $6, %esi
2:      call work
        movl $4, %eax
        movl $1, %ebx
        movl $line, %ecx
        movl $2, %edx
        int $0x80
        decl %esi
        jnz 2b
        movl $162, %eax
        movl $nap, %ebx
        xorl %ecx, %ecx
        int $0x80
        movl $1, %eax
        xorl %ebx, %ebx
        int $0x80
.data
line:   .ascii \"x\\n\"
.align 4
nap:    .long 0, 300000000
";

#[test]
#[cfg(target_arch = "x86_64")]
fn of_a_32_bit_program_the_function_is_known() {
    require_programs!("as", "ld");
    let place = Sandbox::new();
    narrow::assemble(&place, OF_32_BITS, "narrow", &[]);
    require!(narrow::runs(&place, "./narrow"), "this kernel runs no 32-bit programs");
    let stacks = flame(&place, "./narrow | cat");
    let all = time_of(&stacks, "1 ", |_| true);
    let working = time_of(&stacks, "1 ", |stack| stack.last().is_some_and(|last| last == "work"));
    let napping = time_of(&stacks, "1 ", |stack| {
        has(stack, "_start") && stack.last().is_some_and(|last| last == "sleeps")
    });
    assert!(working > 0.2 * all && napping > 200_000.0, "{stacks:?}");
}

#[test]
fn a_thousand_threads_are_no_trouble() {
    let place = Sandbox::new();
    let source = "#include <pthread.h>\n#include <unistd.h>\n\
        static void *nap(void *a) { usleep(700000); return a; }\n\
        int main(void) { pthread_t p; for (int i = 0; i < 1000; i++) pthread_create(&p, 0, nap, 0); usleep(900000); }";
    split::compile_source(&place, source, "threads", &["-pthread"]);
    let stacks = flame(&place, "./threads | cat");
    let napping = time_of(&stacks, "1 ", |stack| has(stack, "nap") || has(stack, "main"));
    assert!(napping > 500_000.0, "{stacks:?}");
}

#[test]
fn where_perf_events_are_forbidden_waits_are_still_known() {
    require_programs!("perl");
    require!(cfg!(target_arch = "x86_64"), "the filter is for x86-64");
    let place = Sandbox::new();
    split::compile(&place, "split", &[]);
    let mut command = place.command("perl");
    command.args(["-e", FORBIDDEN]).arg(fullbore());
    command.args(["run", "-q", "--flame", "out.folded", "--flame", "out.html", &line()]);
    let ended = finish(command);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let stacks = stacks(&place, "out.folded");
    let asleep = time_of(&stacks, "2 ", |stack| has(stack, "h"));
    assert!(asleep > 300_000.0, "{stacks:?}");
    let running = time_of(&stacks, "2 ", |stack| has(stack, "[on a CPU, where is unknown]"));
    assert!(running > 100_000.0, "{stacks:?}");
    let page = fs::read_to_string(place.path("out.html")).unwrap();
    assert!(page.contains("functions on a CPU are unknown: perf_event_open"), "why is on the page");
}

/// What level 3 of `kernel.perf_event_paranoid` does in the kernels of Debian and Ubuntu: perf_event_open(2) says EACCES to all
/// but root.
#[test]
fn at_level_3_of_paranoia_a_user_gets_waits_and_is_told_what_is_missing() {
    require_programs!("perl", "setpriv");
    require!(cfg!(target_arch = "x86_64"), "the filter is for x86-64");
    require!(rustix::process::geteuid().is_root(), "only root can become another user");
    let place = Sandbox::new();
    split::compile(&place, "split", &[]);
    let copy = place.copy_program(fullbore(), "fullbore-copy");
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(place.path("."), permissions).unwrap();
    let refused = FORBIDDEN.replace("0x50001", "0x5000d");
    let mut command = place.command("perl");
    command.args(["-e", &refused]);
    command.args(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(copy);
    command.args(["run", "--flame", "out.folded", &line()]);
    let ended = finish(command);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let stacks = stacks(&place, "out.folded");
    assert!(time_of(&stacks, "2 ", |stack| has(stack, "h")) > 300_000.0, "{stacks:?}");
    let said: Vec<&str> = ended
        .stderr
        .lines()
        .filter(|line| line.contains("flame: functions on a CPU are unknown: perf_event_open"))
        .collect();
    assert_eq!(said.len(), 1, "{}", ended.stderr);
}

#[test]
fn without_privileges_only_the_kernel_is_one_block() {
    let _alone = Pass::alone();
    require_programs!("setpriv");
    require!(rustix::process::geteuid().is_root(), "only root can become another user");
    let place = Sandbox::new();
    split::compile(&place, "split", &[]);
    let copy = place.copy_program(fullbore(), "fullbore-copy");
    let open = |path| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs::set_permissions(path, permissions).unwrap();
    };
    open(place.path("."));
    let mut command = place.command("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(copy);
    command.args(["run", "-q", "--flame", "out.folded", &line()]);
    let ended = finish(command);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let stacks = stacks(&place, "out.folded");
    let asleep = time_of(&stacks, "2 ", |stack| has(stack, "h"));
    assert!(asleep > 300_000.0, "{stacks:?}");
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if level.trim().parse::<i32>().unwrap() == 2 {
        let (f, g) = (
            time_of(&stacks, "2 ", |stack| has(stack, "f")),
            time_of(&stacks, "2 ", |stack| has(stack, "g")),
        );
        // Not the known shares: where another machine takes the CPU away, a sample comes late, after f or in the kernel.
        assert!(f > g && g > 0.0, "{f} and {g}: {stacks:?}");
        assert!(stacks.iter().any(|(stack, _)| stack.last().unwrap().starts_with("[kernel")));
    }
}

#[test]
fn a_pipeline_that_runs_already_is_looked_into() {
    let place = Sandbox::new();
    split::compile(&place, "split", &[]);
    let mut command = place.command("sh");
    command.args(["-c", "yes | ./split 100000 | cat > /dev/null"]);
    let mut shell = command.spawn().unwrap();
    let split = eventually(|| {
        marked(place.mark())
            .into_iter()
            .find(|process| process.command_line().starts_with("./split"))
    });
    let pid = split.expect("it was started").0.to_string();
    let ended = place.run(&["attach", "-q", "--for", "1.5s", "--flame", "out.folded", &pid]);
    for process in marked(place.mark()) {
        process.kill();
    }
    shell.wait().unwrap();
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let stacks = stacks(&place, "out.folded");
    let within = |name: &str| time_of(&stacks, "", |stack| has(stack, name));
    assert!(within("f") > within("g") && within("g") > 0.0 && within("h") > 0.0, "{stacks:?}");
}

#[test]
fn every_format_is_written_and_a_wrong_name_is_said_before_anything_runs() {
    let place = Sandbox::new();
    let names = ["a.html", "a.folded", "a.speedscope.json", "a.json.gz", "a.pb.gz"];
    let flames: Vec<&str> = names.iter().flat_map(|name| ["--flame", name]).collect();
    let ended =
        place.run(&[&["run", "-q"], &flames[..], &["seq 300000 | sort -n | tail -1"]].concat());
    assert_eq!(
        (status_text(ended.status).as_str(), &ended.stdout[..]),
        ("exit 0", &b"300000\n"[..])
    );
    for name in names {
        assert!(fs::metadata(place.path(name)).unwrap().len() > 500, "{name}");
    }
    for (name, said) in
        [("a.svg", "must end in .html"), ("none/a.html", "No such file"), (".", "must end")]
    {
        let ended = place.run(&["run", "--flame", name, "touch ran"]);
        assert_eq!(status_text(ended.status), "exit 2", "{name}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{name}: {}", ended.stderr);
        assert!(!place.path("ran").exists(), "{name}");
    }
    let ended = place.run(&["run", "--report", "./a.html", "--flame", "a.html", "touch ran"]);
    assert_eq!(status_text(ended.status), "exit 2", "{}", ended.stderr);
    assert!(ended.stderr.contains("a.html: --report writes this file, too"), "{}", ended.stderr);
    assert!(!place.path("ran").exists());
}

#[test]
fn a_full_disk_is_said_and_the_status_is_the_pipelines() {
    let place = Sandbox::new();
    std::os::unix::fs::symlink("/dev/full", place.path("full.html")).unwrap();
    let ended = place.run(&["run", "-q", "--flame", "full.html", "seq 9; exit 3"]);
    assert_eq!(status_text(ended.status), "exit 3");
    assert!(ended.stderr.contains("full.html: No space left"), "{}", ended.stderr);
}

#[test]
fn two_profiles_are_compared() {
    let place = Sandbox::new();
    fs::write(place.path("a.folded"), "1 sort;main;compare 600000\n1 sort;main;read 200000\n")
        .unwrap();
    fs::write(
        place.path("b.folded"),
        "1 sort -n;main;compare 100000\n1 sort -n;main;read 200000\n",
    )
    .unwrap();
    let ended = place.run(&["flame", "diff", "a.folded", "b.folded"]);
    let text = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(text, "800 ms before, 300 ms after\n-500 ms    compare\n", "{}", ended.stderr);
    let ended = place.run(&["flame", "diff", "a.folded", "b.folded", "-o", "diff.html"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let page = fs::read_to_string(place.path("diff.html")).unwrap();
    assert!(page.contains("800 ms before, 300 ms after: 500 ms less (-62.5 %)"));
    fs::write(place.path("c.folded"), "1 sort;main 5\nnonsense\n").unwrap();
    for (args, said) in [
        (["a.folded", "none.folded"], "none.folded: No such file"),
        (["c.folded", "a.folded"], "c.folded: line 2 is not a stack and a number"),
    ] {
        let ended = place.run(&[&["flame", "diff"], &args[..]].concat());
        assert_eq!(status_text(ended.status), "exit 2");
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
}

/// What the programs read for which the formats are: pprof of Go, where Go is.
#[test]
fn pprof_reads_its_format() {
    require!(Command::new("go").arg("version").output().is_ok(), "no Go with its pprof");
    let place = Sandbox::new();
    let ended = place.run(&["run", "-q", "--flame", "a.pb.gz", "seq 900000 | sort -n | tail -1"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let mut command = place.command("go");
    command.args(["tool", "pprof", "-top", "-nodecount=400", "a.pb.gz"]);
    command.env("HOME", place.path("."));
    let ended = finish(command);
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(
        text.contains("Type: wall") && text.contains("waits for sort (stage 2)"),
        "{text}{}",
        ended.stderr
    );
}
