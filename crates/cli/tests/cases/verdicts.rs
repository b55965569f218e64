//! Pipelines whose verdict is known by construction, and the judgement over a record.

use std::io::Write;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fullbore_record::{Finding, FindingKind, RunRecord};

use crate::sandbox::{Sandbox, finish, is_installed, with_fixture};

/// A pipeline and what must be said about it.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) line: String,
    options: &'static [&'static str],
    needs: &'static [&'static str],
    /// Kinds the first finding may have.
    kinds: &'static [FindingKind],
    /// Texts of which the stage of the first finding, or each side of its pipe, contains one; empty: it may be about any.
    stages: &'static [&'static str],
    /// A kind that some finding must have, and a text in the command of its stage.
    also: Option<(FindingKind, &'static str)>,
    outside: Outside,
    setup: &'static str,
}

/// What stands around the pipeline.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    Nothing,
    /// A program that feeds its stdin.
    Writer(&'static str),
    /// A program that reads its stdout.
    Reader(&'static str),
    /// A server that sends slowly, at `{port}`.
    Server,
}

/// How a run was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// As expected.
    Right,
    /// Something else was said; the text says what.
    Wrong(String),
    /// A stage was called the bottleneck that is not.
    WrongBottleneck(String),
    /// Too few CPUs were named, which is wrong only where no stranger uses them.
    TooFewCpus(String),
}

impl Known {
    /// Programs that are needed and not installed.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        self.needs.iter().copied().find(|program| !is_installed(program))
    }

    /// The same pipeline with so much to do that it runs for minutes; `None` where it needs something around it, or what it
    /// does depends on how long it runs.
    pub(crate) fn endless(&self) -> Option<String> {
        let plain =
            self.setup.is_empty() && self.outside == Outside::Nothing && self.also.is_none();
        let is_one_line = !self.line.contains(';') && !self.line.contains("--seconds");
        let (before, after) = self.line.split_once("--total ")?;
        let is_only_one = !after.contains("--total ");
        let line = format!("{before}--total 999{after}");
        (plain && is_one_line && is_only_one && self.missing().is_none()).then_some(line)
    }

    /// Whether fullbore may grow its pipes.
    pub(crate) fn is_tuned(&self) -> bool {
        !self.options.contains(&"--no-tune")
    }

    /// Runs the pipeline once and judges what is said about it.
    pub(crate) fn judge(&self) -> Judgement {
        let place = Sandbox::new();
        if !self.setup.is_empty() {
            let mut setup = place.command("sh");
            setup.args(["-ec", &with_fixture(self.setup)]);
            let ended = finish(setup);
            assert!(ended.status.success(), "{}: {}", self.name, ended.stderr);
        }
        let mut options = self.options.to_vec();
        if self.needs.contains(&"bash") {
            options.extend(["--shell", "bash"]);
        }
        let record = match self.outside {
            Outside::Nothing => {
                let mut command = place.reporting(&options, &self.line);
                command.stdin(Stdio::null());
                place.record_of_silent(command)
            }
            Outside::Writer(line) => {
                let (reader, writer) = std::io::pipe().expect("a pipe");
                let mut feeder = outside(&place, line).stdout(writer).spawn().expect("it starts");
                let mut command = place.reporting(&options, &self.line);
                command.stdin(reader);
                let record = place.record_of_silent(command);
                let _ = feeder.kill();
                let _ = feeder.wait();
                record
            }
            Outside::Reader(line) => {
                let (reader, writer) = std::io::pipe().expect("a pipe");
                let mut drain = outside(&place, line).stdin(reader).spawn().expect("it starts");
                let mut command = place.reporting(&options, &self.line);
                command.stdout(writer);
                let mut child = command.spawn().expect("it starts");
                drop(command); // it holds our copy of the write end
                crate::sandbox::wait_or_kill(&mut child, self.name);
                let _ = drain.wait();
                place.read_record()
            }
            Outside::Server => {
                let port = serve_slowly();
                place.record_of_silent(
                    place.reporting(&options, &self.line.replace("{port}", &port.to_string())),
                )
            }
        };
        self.verdict(&record)
    }

    /// Judges what a record says.
    pub(crate) fn verdict(&self, record: &RunRecord) -> Judgement {
        let Some(first) = record.findings.first() else {
            return Judgement::Wrong(format!("no finding; {}", shares(record)));
        };
        let commands = commands_of(record, first);
        let is_known = |command: &&str| self.stages.iter().any(|text| command.contains(text));
        let is_known_stage =
            self.stages.is_empty() || !commands.is_empty() && commands.iter().all(is_known);
        let said =
            format!("{:?} of {commands:?}: {}; {}", first.kind, first.message, shares(record));
        // The right stage under another kind is a wrong verdict, but no wrong bottleneck.
        let is_right_stage = is_known_stage
            && (!self.stages.is_empty() || self.kinds.contains(&FindingKind::Bottleneck));
        if first.kind == FindingKind::Bottleneck && !is_right_stage {
            return Judgement::WrongBottleneck(said);
        }
        if !is_known_stage || !self.kinds.contains(&first.kind) {
            let is_about_cpus = first.kind == FindingKind::CpuStarved;
            return if is_about_cpus {
                Judgement::TooFewCpus(said)
            } else {
                Judgement::Wrong(said)
            };
        }
        if let Some((kind, text)) = self.also
            && !record.findings.iter().any(|found| {
                found.kind == kind && commands_of(record, found).iter().any(|c| c.contains(text))
            })
        {
            let kinds: Vec<_> = record.findings.iter().map(|found| found.kind).collect();
            return Judgement::Wrong(format!(
                "no {kind:?} of '{text}' among {kinds:?}; {}",
                shares(record)
            ));
        }
        Judgement::Right
    }

    fn with(mut self, options: &'static [&'static str]) -> Self {
        self.options = options;
        self
    }

    fn needing(mut self, needs: &'static [&'static str]) -> Self {
        self.needs = needs;
        self
    }

    fn and_also(mut self, kind: FindingKind, stage: &'static str) -> Self {
        self.also = Some((kind, stage));
        self
    }

    fn beside(mut self, outside: Outside) -> Self {
        self.outside = outside;
        self
    }

    fn after(mut self, setup: &'static str) -> Self {
        self.setup = setup;
        self
    }
}

/// The command of the stage a finding is about, or those on both sides of its pipe.
fn commands_of<'a>(record: &'a RunRecord, finding: &Finding) -> Vec<&'a str> {
    let pipe = record.pipes.iter().find(|pipe| Some(pipe.pipe) == finding.pipe);
    let sides = pipe.into_iter().flat_map(|pipe| pipe.writers.iter().chain(&pipe.readers));
    let stages: Vec<u32> = match finding.stage {
        Some(stage) => vec![stage],
        None => sides.copied().collect(),
    };
    let about = record.stages.iter().filter(|stage| stages.contains(&stage.stage));
    about.map(|stage| stage.command.as_str()).collect()
}

fn shares(record: &RunRecord) -> String {
    let stages = record.stages.iter().take(12).map(|stage| {
        let name =
            stage.command.rsplit_once("--name ").map_or(stage.command.as_str(), |(_, rest)| rest);
        format!(
            "[{} run {:.0} runnable {:.0} in {:.0} out {:.0} other {:.0}]",
            name.chars().take(16).collect::<String>(),
            stage.running_percent,
            stage.runnable_percent,
            stage.blocked_reading_percent.unwrap_or(f64::NAN),
            stage.blocked_writing_percent.unwrap_or(f64::NAN),
            stage.blocked_other_percent
        )
    });
    stages.collect::<Vec<_>>().join(" ")
}

fn outside(place: &Sandbox, line: &str) -> Command {
    let mut command = place.command("sh");
    command.args(["-c", &format!("exec {}", with_fixture(line))]).stdout(Stdio::null());
    command
}

/// Serves one reader: 64 KiB every 20 ms for two seconds.
fn serve_slowly() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port on the loopback interface");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        let Ok((mut peer, _)) = listener.accept() else {
            return;
        };
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(2) && peer.write_all(&[7; 64 << 10]).is_ok() {
            std::thread::sleep(Duration::from_millis(20)); // the pace of the network
        }
    });
    port
}

fn known(
    name: &'static str,
    kinds: &'static [FindingKind],
    stages: &'static [&'static str],
    line: &str,
) -> Known {
    Known {
        name,
        line: line.to_owned(),
        options: &[],
        needs: &[],
        kinds,
        stages,
        also: None,
        outside: Outside::Nothing,
        setup: "",
    }
}

/// One stage is slow and all others wait for it.
fn slow(name: &'static str, line: &str) -> Known {
    known(name, &[FindingKind::Bottleneck], &["--name slow"], line)
}

/// The whole table.
pub(crate) fn all() -> Vec<Known> {
    [
        one_slow_stage(),
        two_slow_stages(),
        ways_to_wait(),
        outside_and_devices(),
        mishaps(),
        real_programs(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn one_slow_stage() -> Vec<Known> {
    let cats = vec!["cat"; 40].join(" | ");
    vec![
        slow("slow_first", "{stage} --name slow --no-read --total 64M --compute-us 2000 | {stage} --name mid | {stage} --no-write"),
        slow("slow_middle", "{stage} --no-read --total 64M | {stage} --name slow --compute-us 2000 | {stage} --no-write"),
        slow("slow_last", "{stage} --no-read --total 64M | {stage} | {stage} --name slow --no-write --compute-us 2000"),
        slow("slow_fourth_of_six", "{stage} --no-read --total 64M | cat | cat | {stage} --name slow --compute-us 2000 | cat | {stage} --no-write"),
        slow("slow_middle_with_busy_neighbours", "{stage} --no-read --total 64M --compute-us 300 | {stage} --name slow --compute-us 2000 | {stage} --no-write --compute-us 500"),
        slow("slow_with_large_blocks", "{stage} --no-read --total 96M --write-block 1M | {stage} --name slow --read-block 1M --compute-us 20000 | {stage} --no-write"),
        slow("slow_alone", "{stage} --name slow --no-read --no-write --total 64M --compute-us 2000"),
        slow("slow_pair_only", "{stage} --no-read --total 64M | {stage} --name slow --no-write --compute-us 2000"),
        slow("many_stages", &format!("{{stage}} --name slow --no-read --total 24M --compute-us 5000 | {cats} >/dev/null")),
        slow("two_pipelines_in_a_row", "{stage} --no-read --total 64M | {stage} --name slow --no-write --compute-us 2000; {stage} --no-read --total 16M | {stage} --name quick --no-write --compute-us 2000"),
        slow("fan_out_with_one_slow_branch", "{stage} --no-read --total 64M | tee >({stage} --name slow --no-write --compute-us 2000) | {stage} --no-write").needing(&["bash"]),
        known("loop_in_a_subshell", &[FindingKind::Bottleneck], &["for i in 1 2 3 4"], "(for i in 1 2 3 4; do {stage} --name slow --no-read --total 16M --compute-us 2000; done) | cat >/dev/null"),
    ]
}

fn two_slow_stages() -> Vec<Known> {
    use FindingKind::{Bottleneck, CpuStarved, TakingTurns};
    let cpus = std::thread::available_parallelism().map_or(2, usize::from);
    let crowd = vec!["{stage} --name crowd --compute-us 2000"; 2 * cpus + 1].join(" | ");
    let bursty = "{stage} --name producer --no-read --total 48M --burst 1M --compute-us 1200 | \
                  {stage} --name consumer --no-write --compute-us 1200";
    vec![
        // While both compute at once, each is the bottleneck; while the pipe between them makes one wait for the other,
        // they take turns. Which lasts longer is up to the scheduler.
        known(
            "two_equally_slow",
            &[Bottleneck, TakingTurns],
            &["--name slow"],
            "{stage} --name slow --no-read --total 64M --compute-us 2000 | {stage} --name slow --no-write --compute-us 2000",
        ),
        slow(
            "two_slow_one_slower",
            "{stage} --no-read --total 64M --compute-us 1300 | {stage} --name slow --no-write --compute-us 2000",
        ),
        slow(
            "two_slow_the_first_slower",
            "{stage} --name slow --no-read --total 64M --compute-us 2000 | {stage} --no-write --compute-us 1300",
        ),
        known("bursty_producer_untuned", &[TakingTurns], &[], bursty).with(&["--no-tune"]),
        // They take turns until their pipe is grown; from then on both work at once and either is the bottleneck. How soon
        // it is grown decides which lasts longer.
        known(
            "bursty_producer",
            &[Bottleneck, TakingTurns],
            &["--name producer", "--name consumer"],
            bursty,
        ),
        known(
            "more_stages_than_cpus",
            &[CpuStarved],
            &[],
            &format!(
                "{{stage}} --name crowd --no-read --total 24M --compute-us 2000 | {crowd} >/dev/null"
            ),
        ),
    ]
}

fn ways_to_wait() -> Vec<Known> {
    use FindingKind::{Bottleneck, SmallCalls, SourceBound};
    vec![
        slow("sleeping_stage", "{stage} --no-read --total 32M | {stage} --name slow --sleep-us 4000 | {stage} --no-write"),
        // All others wait for this stage, and what it waits for is none of them: the bottleneck is the source.
        known("sleeping_source", &[Bottleneck, SourceBound], &["--name slow"], "{stage} --name slow --no-read --total 32M --sleep-us 4000 | cat | {stage} --no-write"),
        slow("threads", "{stage} --no-read --total 96M | {stage} --name slow --threads 2 --compute-us 2500 | {stage} --no-write"),
        slow("poll_loop", "{stage} --no-read --total 64M --poll | {stage} --name slow --compute-us 2000 | {stage} --no-write --poll"),
        slow("poll_loop_that_is_slow", "{stage} --no-read --total 64M | {stage} --name slow --compute-us 2000 --poll | {stage} --no-write"),
        slow("epoll_loop", "{stage} --no-read --total 64M --epoll | {stage} --name slow --compute-us 2000 | {stage} --no-write --epoll"),
        slow("splice_user", "{stage} --name slow --no-read --total 64M --compute-us 2000 | {stage} --splice | {stage} --no-write"),
        slow("splice_user_before_the_slow_stage", "{stage} --no-read --total 64M | {stage} --splice | {stage} --name slow --no-write --compute-us 2000"),
        // These stages hold up the others because of their small calls: either may come first.
        known("writes_of_512_bytes", &[Bottleneck, SmallCalls], &["--name tiny"], "{stage} --name tiny --no-read --total 1G --seconds 2 --write-block 512 | {stage} --no-write").and_also(SmallCalls, "--name tiny"),
        known("reads_of_512_bytes", &[Bottleneck, SmallCalls], &["--name tiny"], "{stage} --no-read --total 4G --seconds 2 | {stage} --name tiny --no-write --read-block 512").and_also(SmallCalls, "--name tiny"),
        known("shell_that_reads_single_bytes", &[Bottleneck, SmallCalls], &["sh", "while", "read"], "yes abcdefghijklmnop | head -n 150000 | while read line; do :; done"),
    ]
}

fn outside_and_devices() -> Vec<Known> {
    use FindingKind::{Bottleneck, SinkBound, SourceBound};
    vec![
        known(
            "disk_bound_source",
            &[SourceBound],
            &["--name disk"],
            "{stage} --name disk --no-read --seconds 2 --journal log | {stage} --no-write",
        ),
        // Reading past the page cache costs about as much CPU time as waiting: both names for it are right.
        known(
            "small_reads_past_the_page_cache",
            &[SourceBound, Bottleneck],
            &["--name disk"],
            "{stage} --name disk --source file --direct --read-block 4K | {stage} --no-write",
        )
        .after("{stage} --no-read --total 128M >file; sync file"),
        known(
            "synced_file",
            &[SinkBound],
            &["--name disk"],
            "{stage} --no-read --seconds 2 | {stage} --name disk --sink file --fsync --journal log",
        ),
        known("slow_outside_reader", &[SinkBound], &[], "{stage} --no-read --total 24M | cat")
            .beside(Outside::Reader("{stage} --no-write --sleep-us 5000")),
        known("slow_outside_writer", &[SourceBound], &[], "cat | {stage} --no-write")
            .beside(Outside::Writer("{stage} --no-read --total 24M --sleep-us 5000")),
        known(
            "network_source",
            &[SourceBound],
            &["cat"],
            "cat </dev/tcp/127.0.0.1/{port} | {stage} --no-write",
        )
        .needing(&["bash"])
        .beside(Outside::Server),
    ]
}

fn mishaps() -> Vec<Known> {
    use FindingKind::{Deadlock, LeakedEnd};
    let deadlock = "mkfifo a b; \
        timeout 3 sh -c 'exec 3>a 4>b; head -c 1000000 /dev/zero >&3; echo end >&4' & \
        timeout 3 sh -c 'exec 5<a 6<b; cat <&6; cat <&5' >/dev/null & wait";
    let of_pollers = "mkfifo a b c d; \
        timeout 3 python3 -c 'import os, select; p = select.poll(); \
            [p.register(os.open(f, os.O_RDONLY), select.POLLIN) for f in \"ab\"]; \
            k = [os.open(f, os.O_WRONLY) for f in \"cd\"]; p.poll()' & \
        timeout 3 python3 -c 'import os, select; p = select.poll(); \
            k = [os.open(f, os.O_WRONLY) for f in \"ab\"]; \
            [p.register(os.open(f, os.O_RDONLY), select.POLLIN) for f in \"cd\"]; p.poll()' & wait";
    vec![
        known("leaked_write_end", &[LeakedEnd], &[], "{ sleep 3 & echo x; } | cat"),
        known("deadlock_through_two_fifos", &[Deadlock], &[], deadlock),
        known("deadlock_of_two_that_poll", &[Deadlock], &[], of_pollers).needing(&["python3"]),
    ]
}

fn real_programs() -> Vec<Known> {
    let real = |name, stages, line| known(name, &[FindingKind::Bottleneck], stages, line);
    vec![
        real("gzip", &["gzip"], "seq 1 4000000 | gzip -9 | wc -c").needing(&["gzip"]),
        real("sort", &["sort"], "seq 1 6000000 | LC_ALL=C sort --parallel=1 -k1.4 | tail -n 1"),
        real("xz", &["xz"], "seq 1 1000000 | xz -6 -T1 | wc -c").needing(&["xz"]),
        real(
            "sed",
            &["sed"],
            "yes 'some words to look through' | head -n 3000000 | sed 's/w[a-z]*s/W/; s/t.*k/K/' | wc -c",
        ),
    ]
}
