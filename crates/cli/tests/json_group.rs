//! `json group` and `json keys` beside the slowest way that is right.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::processes::Process;
use crate::sandbox::{Ended, Sandbox, eventually, finish, status_text, wait_or_kill, with_fixture};

/// Runs `fullbore ARGS` with the file `input` in its folder; `{}` in an argument is its name.
fn run(args: &[&str], input: &str) -> Ended {
    let place = Sandbox::new();
    fs::write(place.path("input"), input).unwrap();
    place.run(args)
}

/// The output of a command that must succeed without a word.
fn answer(args: &[&str], input: &str) -> String {
    let ended = run(args, input);
    assert_eq!((status_text(ended.status), &*ended.stderr), ("exit 0".to_owned(), ""), "{args:?}");
    String::from_utf8(ended.stdout).unwrap()
}

fn mixed(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33
}

/// A record whose members are of many kinds, or missing.
fn record(number: u64) -> Value {
    let pick = mixed(number);
    let host = match pick % 9 {
        0 => json!(null),
        1 => json!(pick % 3),
        2 => json!(true),
        3 => json!("größe \t\"x\"\\"),
        4 => json!([1, {"a": 2}]),
        _ => json!(format!("web-{}", pick % 5)),
    };
    let n = match pick / 9 % 6 {
        0 => json!((pick / 54 % 2001).cast_signed() - 1000),
        1 => json!("word"),
        2 => json!(null),
        _ => json!(((pick / 54 % 100_000) as f64 - 50_000.0) / 8.0),
    };
    let mut record = json!({ "host": host, "n": n, "more": "x".repeat((pick % 60) as usize) });
    if pick.is_multiple_of(10) {
        record.as_object_mut().unwrap().remove("host");
    }
    if pick.is_multiple_of(11) {
        record.as_object_mut().unwrap().remove("n");
    }
    record
}

fn records(count: u64) -> (Vec<Value>, String) {
    let records: Vec<Value> = (0..count).map(record).collect();
    let lines = records.iter().map(|record| format!("{record}\n")).collect();
    (records, lines)
}

/// The order of values, of those that the records have.
#[expect(clippy::cast_possible_truncation, reason = "the numbers of the records are small")]
fn rank(value: Option<&Value>) -> (u8, i64, String) {
    match value {
        None => (0, 0, String::new()),
        Some(Value::Null) => (1, 0, String::new()),
        Some(Value::Bool(flag)) => (2 + u8::from(*flag), 0, String::new()),
        Some(Value::Number(number)) => (4, (number.as_f64().unwrap() * 8.0) as i64, String::new()),
        Some(Value::String(text)) => (5, 0, text.clone()),
        Some(other) => (6, 0, other.to_string()),
    }
}

/// What `json group .host count 'count .n' 'sum .n' 'avg .n' 'min .n' 'max .n' 'p50,p90 .n' 'distinct .n' 'top 2 .n'` answers.
fn naive(records: &[Value]) -> Vec<Value> {
    let mut groups: BTreeMap<_, Vec<&Value>> = BTreeMap::new();
    for record in records {
        groups.entry(rank(record.get("host"))).or_default().push(record);
    }
    groups.into_values().map(|group| row(&group)).collect()
}

fn row(group: &[&Value]) -> Value {
    let values: Vec<&Value> = group.iter().filter_map(|record| record.get("n")).collect();
    let full: Vec<&Value> = values.iter().copied().filter(|value| !value.is_null()).collect();
    let mut numbers: Vec<f64> = values.iter().filter_map(|value| value.as_f64()).collect();
    numbers.sort_by(f64::total_cmp);
    let quantile = |percent: usize| numbers[(numbers.len() * percent).div_ceil(100) - 1];
    let extreme = |mut values: Vec<&Value>| {
        values.sort_by_key(|value| rank(Some(value)));
        json!([values.first(), values.last()])
    };
    let ends = extreme(full.clone());
    let distinct: BTreeSet<_> = values.iter().map(|value| value.to_string()).collect();
    let mut counts: BTreeMap<_, (u64, &Value)> = BTreeMap::new();
    for value in &values {
        counts.entry(rank(Some(value))).or_insert((0, value)).0 += 1;
    }
    let mut top: Vec<(u64, &Value)> = counts.into_values().collect();
    top.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    // Eighths are added exactly.
    let sum: f64 = numbers.iter().sum();
    let mut row = json!({
        "count": group.len(), "count_n": full.len(), "sum_n": sum, "avg_n": sum / numbers.len() as f64,
        "min_n": ends[0], "max_n": ends[1], "p50_n": quantile(50), "p90_n": quantile(90),
        "distinct_n": distinct.len(),
        "top_2_n": top[..2].iter().map(|(count, value)| json!({"value": value, "count": count})).collect::<Vec<_>>(),
    });
    if let Some(host) = group[0].get("host") {
        row["host"] = host.clone();
    }
    row
}

/// Makes whole numbers equal, whether they are written as integers or not.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(elements) => elements.iter().map(plain).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
        }
        other => other.clone(),
    }
}

const ASKED: &[&str] = &[
    "json",
    "group",
    ".host",
    "count",
    "count .n",
    "sum .n",
    "avg .n",
    "min .n",
    "max .n",
    "p50,p90 .n",
    "distinct .n",
    "top 2 .n",
    "input",
];

#[test]
fn groups_are_those_of_the_naive_form() {
    let (records, input) = records(20_000);
    let ended = run(&[ASKED, &["-o", "json"]].concat(), &input);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let lines = String::from_utf8(ended.stdout).unwrap();
    let found: Vec<Value> =
        lines.lines().map(|line| plain(&serde_json::from_str(line).unwrap())).collect();
    let expected: Vec<Value> = naive(&records).iter().map(plain).collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    let words = records.iter().filter(|record| record["n"] == "word").count();
    let expected: Vec<String> = ["sum", "avg", "p50", "p90"]
        .iter()
        .map(|name| {
            format!("fullbore: json group: warning: {name} .n: {words} values are not numbers\n")
        })
        .collect();
    assert_eq!(ended.stderr, expected.concat());
}

#[test]
fn the_answer_is_the_same_on_any_number_of_threads() {
    let (_, input) = records(75_000);
    assert!(input.len() > 4 << 20, "{} bytes are too few blocks", input.len());
    for format in ["table", "tsv", "csv", "json", "md"] {
        let outputs = ["1", "2", "3", "4"].map(|jobs| {
            let ended = run(&[ASKED, &["hist .n", "-o", format, "-j", jobs]].concat(), &input);
            assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
            (String::from_utf8(ended.stdout).unwrap(), ended.stderr)
        });
        assert!(outputs[0].0.lines().count() >= 10, "{}", outputs[0].0);
        assert!(outputs.iter().all(|output| *output == outputs[0]), "{format}");
        let keys = ["1", "4"]
            .map(|jobs| answer(&["json", "keys", "input", "-o", format, "-j", jobs], &input));
        assert_eq!(keys[0], keys[1], "{format}");
    }
}

const LOG: &str = r#"{"t":"2026-11-23T07:59:59+01:00","h":"a","s":200,"b":0.1}
{"t":"2026-11-23T06:00:00Z","h":"b","s":500,"b":0.2,"i":[{"k":1,"p":2},{"k":2,"p":3}]}
{"t":"2026-11-23T07:00:00Z","h":"a","s":404,"b":12345678901234567890,"i":[{"k":1,"p":5}]}
{"t":"today","h":"c\td","s":200,"b":1e300}
"#;

#[test]
fn rows_are_what_the_contract_says() {
    for (args, expected) in [
        (&[".h"][..], "a\t2\nb\t1\nc\\td\t1\n"),
        (&["count", "sum .s"], "4\t1304\n"),
        (
            &[".h", "sum .b", "--where", ".s < 500 && .h != \"c\\td\""],
            "a\t12345678901234567890.1\n",
        ),
        (&["sum .b", "--where", ".t == \"today\""], "1e300\n"),
        (&[".h", "max .s", "--sort", "2", "--top", "2"], "b\t500\na\t404\n"),
        (&[".h", "max .s", "--sort", ".h", "--top", "1"], "a\t404\n"),
        (&[".h", "count", "--top", "1"], "a\t2\n"),
        (&[".i[].k", "count", "sum .i[].p", "max .h"], "1\t2\t7\tb\n2\t1\t3\tb\n"),
        (&["--by", ".s,.h", "count"], "200\ta\t1\n200\tc\\td\t1\n404\ta\t1\n500\tb\t1\n"),
        (&["day", ".t", "--where", ".h == \"b\""], "2026-11-23\t1\n"),
        (&[".b", "--where", ".b < 1"], "0.1\t1\n0.2\t1\n"),
        (&["hist .s", "top 1 .s"], "128..256 2, 256..512 2\t200 2\n"),
        (&["p0,p50,p51,p100 .s"], "200\t200\t404\t500\n"),
        (&[".h", "--where", ".h == 7"], ""),
    ] {
        let args = [&["json", "group"], args, &["input"]].concat();
        assert_eq!(answer(&args, LOG), expected, "{args:?}");
    }
    let hours = run(&["json", "group", "hour .t", "input"], LOG);
    let expected = "\t1\n2026-11-23T06:00:00Z\t2\n2026-11-23T07:00:00Z\t1\n";
    assert_eq!(String::from_utf8(hours.stdout).unwrap(), expected);
    let warning = "fullbore: json group: warning: hour .t: 1 value is no time (RFC 3339)\n";
    assert_eq!(hours.stderr, warning);
}

#[test]
fn no_records_are_one_row_without_keys_and_none_with_keys() {
    assert_eq!(answer(&["json", "group", "count", "sum .a", "input"], ""), "0\t\n");
    assert_eq!(
        answer(&["json", "group", "sum .a", "input", "-o", "json"], ""),
        "{\"sum_a\":null}\n"
    );
    assert_eq!(answer(&["json", "group", ".a", "input"], ""), "");
    assert_eq!(answer(&["json", "group", ".a", "-o", "csv", "input"], ""), ".a,count\n");
    assert_eq!(answer(&["json", "keys", "input"], ""), "");
}

#[test]
fn mistakes_are_shown_with_their_place_and_what_was_probably_meant() {
    for (args, message) in [
        (
            &[".h", "summ .b"][..],
            "neither an aggregate nor a file\n  summ .b\n  ^\nhint: did you mean sum?\n",
        ),
        (&[".h", "sum .b."], "expected a name, or a name in quotes\n  sum .b.\n         ^\n"),
        (
            &[".h", "p101 .b"],
            "expected p and a number from 0 to 100, such as p99.9\n  p101 .b\n  ^\n",
        ),
        (&[".h,", "count"], "expected a path, which begins with . or $\n  .h,\n     ^\n"),
        (&[".h", ".b"], "expected an aggregate or a file, found a path\n  .b\n  ^\nhint: "),
        (&[".h", "--where", ".s => 1"], "\n  .s => 1\n     ^\n"),
        (
            &[".h", "--sort", "coun"],
            "--sort coun: there is no such column\nhint: did you mean count?\n",
        ),
        (&[".h", "--sort", "3"], "--sort 3: there is no such column\nhint: columns: .h, count"),
        (&[".h", "count", "count"], "there are two columns count\n"),
        (&[".i[].k", "sum .j[].p"], "go through two different arrays\n"),
        (&[".h", "./none"], "reading: ./none: No such file or directory\n"),
        (&[".h", "-m", "1"], "at least 1M is needed"),
    ] {
        let args = [&["json", "group"], args].concat();
        let ended = run(&args, LOG);
        assert_eq!(status_text(ended.status), "exit 2", "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(message), "{args:?}: {}", ended.stderr);
        assert!(ended.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn a_path_that_no_record_has_is_said_at_the_end() {
    let ended =
        run(&["json", "group", ".h", "sum .bb", "input"], &LOG.replace("\"b\":", "\"bbb\":"));
    let warning = "fullbore: json group: warning: no record has .bb; did you mean .bbb?\n";
    assert_eq!((status_text(ended.status), &*ended.stderr), ("exit 0".to_owned(), warning));
}

#[test]
fn invalid_input_is_an_error_after_the_answer_for_what_came_before() {
    let input = format!("{LOG}{{\"h\":\"a\",}}\n{LOG}");
    let ended = run(&["json", "group", ".h", "input"], &input);
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "a\t2\nb\t1\nc\\td\t1\n");
    assert_eq!(status_text(ended.status), "exit 1");
    assert!(ended.stderr.starts_with("fullbore: json group: input: byte"), "{}", ended.stderr);
    assert!(ended.stderr.contains("line 5, column 10"), "{}", ended.stderr);
    let ended = run(&["json", "group", "count", "--skip-invalid", "input"], &input);
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "8\n");
    assert_eq!(status_text(ended.status), "exit 1");
}

#[test]
fn too_many_groups_for_the_memory_are_an_error() {
    let mut input = String::new();
    for number in 0..200_000 {
        input.push_str(&format!("{{\"id\":\"user-{number}\",\"n\":{number}}}\n"));
    }
    for asked in [".id", "distinct .id", "top 3 .id", "p50 .n"] {
        for jobs in ["1", "3"] {
            let ended = run(&["json", "group", asked, "-m", "1M", "-j", jobs, "input"], &input);
            assert_eq!(status_text(ended.status), "exit 2", "{asked}: {}", ended.stderr);
            assert!(ended.stdout.is_empty());
            assert!(ended.stderr.contains("need more than 1 MiB of memory"), "{}", ended.stderr);
            assert!(ended.stderr.contains("-m SIZE"), "{}", ended.stderr);
        }
    }
    assert_eq!(
        answer(&["json", "group", "distinct .id", "-m", "16M", "input"], &input),
        "200000\n"
    );
}

#[test]
fn from_a_million_values_on_answers_are_estimates_and_said_to_be() {
    let place = Sandbox::new();
    let mut command = place.command("bash");
    let line =
        "seq 0 1200000 | sed 's/.*/{\"n\":&}/' | {fullbore} json group 'p50,p99 .n' 'distinct .n'";
    command.args(["-c", &with_fixture(line)]);
    let ended = finish(command);
    let text = String::from_utf8(ended.stdout).unwrap();
    let found: Vec<f64> = text.trim().split('\t').map(|cell| cell.parse().unwrap()).collect();
    for (found, exact) in found.iter().zip([600_000.0, 1_188_000.0, 1_200_001.0_f64]) {
        assert!((found - exact).abs() < exact * 0.02, "{found} for {exact}");
    }
    for said in ["p50 .n: estimated for 1 group", "distinct .n: estimated for 1 group"] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
}

#[test]
fn the_answer_so_far_is_told_on_sigusr1_and_printed_after_ctrl_c() {
    for (args, row) in
        [(&["json", "group", ".h"][..], "b\t1\n"), (&["json", "keys"], ".s\tnumber 4\t4\t200\n")]
    {
        let place = Sandbox::new();
        let mut command = place.fullbore(args);
        let said = fs::File::create(place.path("said")).unwrap();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(said);
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(LOG.as_bytes()).unwrap();
        // Before the program listens, the signal would end it: it listens when it has read everything.
        let is_read = || (rustix::io::ioctl_fionread(&input).unwrap() == 0).then_some(());
        eventually(is_read).expect("the input is read");
        let told = eventually(|| {
            Process(child.id()).send(Signal::USR1);
            let said = fs::read_to_string(place.path("said")).unwrap();
            said.contains(row).then_some(())
        });
        told.expect("the answer so far");
        Process(child.id()).send(Signal::INT);
        let status = wait_or_kill(&mut child, "after Ctrl-C");
        drop(input);
        let output = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
        assert_eq!(status_text(status), "signal 2");
        assert!(output.contains(row), "{output}");
        let said = fs::read_to_string(place.path("said")).unwrap();
        assert!(said.ends_with("interrupted: this is a partial answer, for 4 records\n"), "{said}");
    }
}

#[test]
fn keys_are_the_paths_of_all_records() {
    let expected = "\
.\tobject 4\t4\t{\"t\":\"2026-11-23T07:59:59+01:00\",\"h\":\"a…
.b\tnumber 4\t4\t0.1
.h\tstring 4\t4\ta
.i\tarray 2\t2\t[{\"k\":1,\"p\":2},{\"k\":2,\"p\":3}]
.i[]\tobject 3\t2\t{\"k\":1,\"p\":2}
.i[].k\tnumber 3\t2\t1
.i[].p\tnumber 3\t2\t2
.s\tnumber 4\t4\t200
.t\tstring 4\t4\t2026-11-23T07:59:59+01:00
";
    assert_eq!(answer(&["json", "keys", "input"], LOG), expected);
    let json = answer(&["json", "keys", "-o", "json", "input"], "{\"a\":[null,\"x\",\"y\"]}");
    let rows: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = json!({"path":".a[]","kinds":{"string":2,"null":1},"records":1,"example":null});
    assert_eq!(rows[2], expected);
}

#[test]
fn an_object_that_is_used_as_a_map_is_told() {
    let input: String = (0..100_001).map(|number| format!("{{\"k{number}\":1}}\n")).collect();
    for jobs in ["1", "4"] {
        let ended = run(&["json", "keys", "-j", jobs, "input"], &input);
        assert_eq!(status_text(ended.status), "exit 2");
        let said = "fullbore: json keys: there are more than 100000 different paths\nhint: ";
        assert!(ended.stderr.starts_with(said) && ended.stdout.is_empty(), "{}", ended.stderr);
    }
}
