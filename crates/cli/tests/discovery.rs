//! What the shell started is found from the outside: stages, pipes, who writes and who reads.

use fullbore_record::RunRecord;

use crate::sandbox::{Sandbox, finish, fullbore, pipe_between, stage, with_fixture};

/// A producer that lives about half a second and mostly sleeps.
const SLOW: &str = "{stage} --name slow --no-read --seconds 0.5 --sleep-us 2000";

fn record(line: &str) -> RunRecord {
    Sandbox::new().record(&[], &line.replace("{slow}", SLOW))
}

fn record_of_bash(line: &str) -> RunRecord {
    Sandbox::new().record(&["--shell", "bash"], &line.replace("{slow}", SLOW))
}

fn commands(record: &RunRecord) -> Vec<&str> {
    record.stages.iter().map(|stage| stage.command.as_str()).collect()
}

#[test]
fn three_stages_in_the_order_of_the_data() {
    let record = record("{slow} | cat | wc -c >/dev/null");
    assert_eq!(record.stages.len(), 3, "{:?}", commands(&record));
    assert!(record.stages[0].command.contains("--name slow"), "{:?}", commands(&record));
    assert_eq!(record.stages[1].command, "cat");
    assert_eq!(record.stages[2].command, "wc -c");
    assert_eq!(record.stages.iter().map(|stage| stage.stage).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(record.pipes.len(), 2, "{:#?}", record.pipes);
    for (pipe, (from, to)) in record.pipes.iter().zip([(1, 2), (2, 3)]) {
        assert_eq!((&pipe.writers[..], &pipe.readers[..]), (&[from][..], &[to][..]));
        assert!(!pipe.outside_writer && !pipe.outside_reader && pipe.path.is_none(), "{pipe:#?}");
    }
}

#[test]
fn two_pipelines_in_one_line() {
    let line = "{stage} --name one --no-read --seconds 0.4 --sleep-us 2000 | cat >/dev/null; \
                {stage} --name two --no-read --seconds 0.4 --sleep-us 2000 | wc -c >/dev/null";
    let record = record(line);
    assert_eq!(record.stages.len(), 4, "{:?}", commands(&record));
    pipe_between(&record, "--name one", "cat");
    pipe_between(&record, "--name two", "wc -c");
    assert_eq!(record.pipes.len(), 2, "{:#?}", record.pipes);
    assert!(
        stage(&record, "--name two").start_ns > 300_000_000,
        "the second starts when the first has ended"
    );
}

#[test]
fn a_subshell_and_braces_are_no_walls() {
    for line in [
        "({slow}) | cat >/dev/null",
        "{ {slow}; } | cat >/dev/null",
        "{slow} | (cat | wc -c) >/dev/null",
    ] {
        let record = record(line);
        let slow = stage(&record, "slow").stage;
        let pipe = record.pipes.iter().find(|pipe| pipe.writers.contains(&slow));
        let pipe = pipe.unwrap_or_else(|| panic!("{line}: {record:#?}"));
        assert!(!pipe.readers.is_empty() && !pipe.readers.contains(&slow), "{line}: {pipe:#?}");
    }
}

#[test]
fn a_loop_of_short_processes_is_one_stage() {
    let record = record(
        "for i in $(seq 100); do head -c 9999 /dev/zero; sleep 0.002; done | wc -c >/dev/null",
    );
    assert_eq!(record.stages.len(), 2, "{:?}", commands(&record));
    let looping = record.stages.iter().find(|stage| stage.command != "wc -c").unwrap();
    assert!(looping.processes > 10, "{} processes", looping.processes);
    assert_eq!(record.pipes.len(), 1, "{:#?}", record.pipes);
    assert_eq!(record.pipes[0].writers, [looping.stage]);
}

#[test]
fn cpu_time_of_processes_that_came_and_went_counts() {
    let burn = "{stage} --no-read --no-write --total 64K --compute-us 20000";
    let line = format!(
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do {burn}; done | cat"
    );
    let record = record(&line);
    let looping = record.stages.iter().find(|stage| stage.command != "cat").unwrap();
    let milliseconds = looping.cpu_ns / 1_000_000;
    assert!(
        (380..900).contains(&milliseconds),
        "20 × 20 ms and 20 starts are not {milliseconds} ms"
    );
}

#[test]
fn a_function_is_a_stage() {
    let record =
        record("f() { while read x; do echo $x; done; }; seq 200000 | f | wc -l >/dev/null");
    assert_eq!(record.stages.len(), 3, "{:?}", commands(&record));
    let function = stage(&record, "seq").stage;
    assert!(record.pipes.iter().any(|pipe| pipe.writers == [function]), "{:#?}", record.pipes);
}

#[test]
fn process_substitution_is_a_stage() {
    require_programs!("bash");
    let record = record_of_bash("{slow} | tee >(wc -l >lines) | wc -c >/dev/null");
    assert_eq!(record.stages.len(), 4, "{:?}", commands(&record));
    pipe_between(&record, "slow", "tee");
    pipe_between(&record, "tee", "wc -c");
    pipe_between(&record, "tee", "wc -l");
}

#[test]
fn a_fifo_is_a_pipe_with_a_path() {
    let record = record("mkfifo channel; {slow} >channel & cat <channel >/dev/null; wait");
    let pipe = pipe_between(&record, "slow", "cat");
    let path = pipe.path.as_deref().unwrap_or_default();
    assert!(path.ends_with("/channel"), "{pipe:#?}");
}

#[test]
fn threads_are_counted_and_their_ends_are_found() {
    let line = "{slow} | {stage} --name threads --threads 4 | wc -c >/dev/null";
    let record = record(line);
    assert_eq!(record.stages.len(), 3, "{:?}", commands(&record));
    assert_eq!(stage(&record, "threads").threads, 4);
    pipe_between(&record, "slow", "threads");
    pipe_between(&record, "threads", "wc -c");
}

#[test]
fn a_stage_that_starts_late_is_found() {
    let record = record("{slow} | { sleep 0.25; exec {stage} --name late --no-write; }");
    let late = stage(&record, "late");
    assert_eq!(record.stages.len(), 2, "{:?}", commands(&record));
    pipe_between(&record, "slow", "late");
    assert!(late.stage == 2, "{late:#?}");
}

#[test]
fn a_stage_that_ends_early_stays_in_the_record() {
    let record = record(
        "{slow} | { {stage} --name early --read-block 1 --no-write --seconds 0.1; cat >/dev/null; }",
    );
    assert!(
        commands(&record).iter().any(|command| command.contains("slow")),
        "{:?}",
        commands(&record)
    );
    let record = self::record(
        "{stage} --name early --no-read --seconds 0.15 --sleep-us 1000 | { cat; sleep 0.5; } >/dev/null",
    );
    let early = stage(&record, "early");
    assert!(early.life_ns < record.elapsed_ns * 3 / 4, "{early:#?}");
    assert_eq!(early.stage, 1);
}

#[test]
fn several_writers_share_one_pipe() {
    let line = "{ {stage} --name left --no-read --seconds 0.4 --sleep-us 2000 & \
                {stage} --name right --no-read --seconds 0.4 --sleep-us 2000; wait; } | cat >/dev/null";
    let record = record(line);
    let pipes: Vec<_> = record
        .pipes
        .iter()
        .filter(|pipe| pipe.readers.contains(&stage(&record, "cat").stage))
        .collect();
    assert_eq!(pipes.len(), 1, "{:#?}", record.pipes);
    assert!(!pipes[0].writers.is_empty(), "{:#?}", record.pipes);
}

#[test]
fn xargs_with_its_children_is_one_stage() {
    let line = "(seq 8; sleep 0.2) | xargs -P2 -n1 {stage} --no-read --total 64K --sleep-us 100000 --name | wc -c >/dev/null";
    let record = record(line);
    assert_eq!(record.stages.len(), 3, "{:?}", commands(&record));
    let xargs = stage(&record, "xargs");
    assert!(xargs.processes >= 3, "{xargs:#?}");
    pipe_between(&record, "xargs", "wc -c");
}

#[test]
fn two_hundred_stages_are_two_hundred_stages() {
    let line = format!(
        "{{stage}} --name slow --no-read --seconds 3 --sleep-us 2000 | {} >/dev/null",
        vec!["cat"; 199].join(" | ")
    );
    let record = record(&line);
    assert_eq!(record.stages.len(), 200, "{:?}", commands(&record));
    assert_eq!(record.pipes.len(), 199);
    for (pipe, number) in record.pipes.iter().zip(1..) {
        assert_eq!((&pipe.writers[..], &pipe.readers[..]), (&[number][..], &[number + 1][..]));
    }
}

#[test]
fn a_command_without_a_shell_is_one_stage() {
    let place = Sandbox::new();
    let fixture = with_fixture("{stage}");
    let report = place.path("report.json");
    let words = ["run", "-q", "--report", report.to_str().unwrap(), "--", &fixture];
    let mut command = place.fullbore(&words);
    command.args(["--no-read", "--no-write", "--seconds", "0.3", "--sleep-us", "1000"]);
    let record = place.record_of(command);
    assert_eq!(record.stages.len(), 1, "{:?}", commands(&record));
    assert!(record.stages[0].command.contains("--seconds 0.3"), "{:?}", commands(&record));
}

#[test]
fn pipes_to_the_outside_are_marked() {
    let place = Sandbox::new();
    let (stdin, feed) = std::io::pipe().unwrap();
    let mut command = place.reporting(&[], "cat | {stage} --name last --seconds 1000");
    command.stdin(stdin);
    let feeder = std::thread::spawn(move || {
        let mut feed = feed;
        for _ in 0..50 {
            std::io::Write::write_all(&mut feed, &[7; 4096]).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(8)); // paces the input: the run lasts about 0.4 s
        }
    });
    let record = place.record_of(command); // its output is a pipe, too
    feeder.join().unwrap();
    let cat = stage(&record, "cat").stage;
    let last = stage(&record, "last").stage;
    assert!(
        record.pipes.iter().any(|pipe| pipe.outside_writer && pipe.readers == [cat]),
        "{:#?}",
        record.pipes
    );
    assert!(
        record.pipes.iter().any(|pipe| pipe.outside_reader && pipe.writers == [last]),
        "{:#?}",
        record.pipes
    );
}

#[test]
fn what_splice_moves_is_unknown_and_not_zero() {
    let line = "{slow} | {stage} --name splicer --splice | cat >/dev/null";
    let record = record(line);
    let splicer = stage(&record, "splicer");
    assert_eq!((splicer.read_bytes, splicer.written_bytes), (None, None), "{splicer:#?}");
    assert!(stage(&record, "cat").read_bytes.is_some_and(|bytes| bytes > 0));
}

#[test]
fn bytes_and_calls_are_counted() {
    let line = "{stage} --name writer --no-read --total 2M --write-block 512 --sleep-us 50 | \
                {stage} --name reader --no-write --read-block 64K";
    let record = record(line);
    let (writer, reader) = (stage(&record, "writer"), stage(&record, "reader"));
    // Bytes and calls are read every 50 ms; what a process did after the last reading, at most 500 writes of 100 µs,
    // is not counted.
    let written = writer.written_bytes.unwrap();
    assert!((1_790_000..2_200_000).contains(&written), "{writer:#?}");
    let calls = writer.write_calls.unwrap();
    assert!((3_500..4_300).contains(&calls), "{calls} calls");
    let read = reader.read_bytes.unwrap();
    assert!((1_790_000..2_200_000).contains(&read), "{reader:#?}");
}

#[test]
fn a_child_that_fullbore_had_before_is_no_stage() {
    require_programs!("bash");
    let place = Sandbox::new();
    // bash starts `<( )` in the process that becomes fullbore.
    let script = format!(
        "exec '{}' run -q --report report.json 'cat | wc -c' < <(printf a; exec sleep 0.3)",
        fullbore().display()
    );
    let mut command = place.command("bash");
    command.args(["-c", &script]);
    assert_eq!(finish(command).stdout, b"1\n");
    let record = place.read_record();
    // A shell that took long to start its stages is shown, too.
    let stages = commands(&record).into_iter().filter(|command| *command != "(the shell)");
    assert_eq!(stages.collect::<Vec<_>>(), ["cat", "wc -c"]);
}

#[test]
fn the_environment_of_what_did_the_work_is_known_as_far_as_hints_need_it() {
    let variables = |stage: &fullbore_record::StageRecord| {
        let all = stage.buffering.iter().map(|(name, value)| format!("{name}={value}"));
        (stage.locale.clone().unwrap_or_default(), all.collect::<Vec<_>>().join(" "))
    };
    for (command, locale, buffering) in [
        ("sort", "de_DE.UTF-8", ""),
        ("LC_COLLATE=C sort", "LC_CTYPE=de_DE.UTF-8;LC_COLLATE=C", ""),
        ("sh -c 'LC_ALL=C sort; true'", "C", ""),
        ("env LC_ALL=C.UTF-8 stdbuf -oL sort", "C.UTF-8", "_STDBUF_O=L"),
        ("PYTHONUNBUFFERED=1 sort", "de_DE.UTF-8", "PYTHONUNBUFFERED=1"),
    ] {
        let place = Sandbox::new();
        let mut command_line =
            place.reporting(&[], &format!("seq 1000000 | {command} | cat >/dev/null"));
        command_line.env_remove("LC_ALL").env("LANG", "de_DE.UTF-8").env("PASSWORD", "a secret");
        // Whether that is installed here is not to matter.
        command_line.env("LOCPATH", "/usr/lib/locale");
        for name in ["LC_CTYPE", "LC_COLLATE"] {
            command_line.env_remove(name);
        }
        let record = place.record_of(command_line);
        let sort = stage(&record, "sort");
        let expected = (locale.to_owned(), buffering.to_owned());
        assert_eq!(variables(sort), expected, "{command}: {sort:#?}");
        let text = std::fs::read_to_string(place.path("report.json")).unwrap();
        assert!(!text.contains("a secret"), "{text}");
    }
}
