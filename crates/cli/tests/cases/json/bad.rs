//! Bad input: what is printed before it, and what is said about it. Files, readers and disks that are not there.

use super::Case;

const INVALID: &str = "{\"a\":1}\n{\"a\":01}\n{\"a\":3}\n";
const SEVERAL: &str = "{\"a\":1}\n{\"a\":NaN}\n{\"a\":3}\n{\"a\":4,}\n{\"a\":5}\n";

/// One record that is not valid, in what nobody asks for.
const fn invalid(name: &'static str, input: &'static str, place: &'static [&'static str]) -> Case {
    Case::new(name, input, "select .a", "").ends(1, place)
}

pub(crate) const CASES: &[Case] = &[
    Case::new("select: invalid", INVALID, "select .a", "1\n").ends(1, &["fullbore: json select: {in}: byte 15, line 2, column 7: invalid number"]),
    Case::new("where: invalid", INVALID, "where '.a > 0'", "{\"a\":1}\n").ends(1, &["fullbore: json where: {in}: byte 15, line 2, column 7: invalid number"]),
    Case::new("group: invalid", INVALID, "group .a", "1\t1\n").ends(1, &["fullbore: json group: {in}: byte 15, line 2, column 7: invalid number"]),
    Case::new("keys: invalid", INVALID, "keys", "").has(&[".a\tnumber 1\t1\t1"]).ends(1, &["fullbore: json keys: {in}: byte 15, line 2, column 7: invalid number"]),
    Case::new("each: invalid", "{\"a\":[1]}\n{\"a\":[01]}\n", "each .a", "1\n").ends(1, &["fullbore: json each: {in}: byte 18, line 2, column 8: invalid number"]),
    Case::new("select: --skip-invalid", SEVERAL, "select .a --skip-invalid", "1\n3\n5\n").ends(1, &["2"]),
    Case::new("where: --skip-invalid", SEVERAL, "where '.a >= 3' --skip-invalid", "{\"a\":3}\n{\"a\":5}\n").ends(1, &["2"]),
    Case::new("group: --skip-invalid", SEVERAL, "group count 'sum .a' --skip-invalid", "3\t9\n").ends(1, &["2"]),
    Case::new("group: a record that is refused while others are counted", "{\"k\":[{\"x\":1}]}\n{\"k\":[{\"x\":1,\"x\":2}]}\n", "group '.k[].x' --duplicates error", "").ends(1, &["{in}: byte 30, line 2, column 14: a name occurs twice"]),
    Case::new("--skip-invalid: what ends it is said, too", "x\n{\"a\":1}\n{\"b\":1}\n{\"a\":2}\n", "select .a --strict --skip-invalid", "1\n")
        .ends(1, &["fullbore: json select: {in}: byte 11, line 3, column 1: no .a\nfullbore: json select: 1 error was skipped: {in}: byte 1, line 1, column 1: expected a value\n"]),
    Case::new("--skip-invalid: nothing invalid", "{\"a\":1}\n", "select .a --skip-invalid", "1\n"),
    Case::new("--skip-invalid: the next record on the same line goes, too", "{\"a\":1} x {\"a\":2}\n{\"a\":3}\n", "select .a --skip-invalid", "1\n3\n").ends(1, &["1"]),
    Case::new("--skip-invalid: a bracket is missing at the end of a line", "{\"a\":1\n{\"a\":2}\n{\"a\":3}\n", "select .a --skip-invalid", "3\n").ends(1, &["1"]),
    Case::new("--skip-invalid: garbage between", "", "group count --skip-invalid", "19910\n").made(with_garbage).ends(1, &["{in}"]),
    Case::new("the first of two mistakes", SEVERAL, "select .a", "1\n").ends(1, &["byte 14, line 2, column 6"]),
    Case::new("a mistake after 200,000 records", "", "group count", "200000\n").made_by("seq 200000 | sed 's/.*/{\"id\":\"é&\"}/'; echo '{\"id\":\"é\",}'").ends(1, &["line 200001, column 11"]),
    Case::new("a mistake after 200,000 records, all printed before", "", "select .id", "").made_by("seq 200000 | sed 's/.*/{\"id\":&}/'; echo '{\"id\":1,}'").oracle("seq 200000").ends(1, &["line 200001, column 9"]),
    Case::new("a mistake in the middle, records behind it are not printed", "", "select .id", "").made_by("seq 100000 | sed 's/.*/{\"id\":&}/'; echo '{\"id\":}'; seq 100000 | sed 's/.*/{\"id\":&}/'").oracle("seq 100000").ends(1, &["line 100001, column 7"]),
    invalid("no value", "{\"a\":}", &["byte 6, line 1, column 6"]),
    invalid("a value without a name", "{\"x\"}", &["byte 5"]),
    invalid("a comma at the end", "{\"b\":[1,]}", &["byte 9"]),
    invalid("two commas", "{\"b\":[1,,2]}", &["byte 9"]),
    Case::new("a comment", "{\"a\":1} // x\n", "select .a", "1\n").ends(1, &["byte 9, line 1, column 9"]),
    invalid("single quotes", "{'b':1}", &["byte 2"]),
    invalid("NaN", "{\"b\":NaN}", &["byte 6"]),
    invalid("minus infinity", "{\"b\":-Infinity}", &["byte 7"]),
    invalid("a number that begins with a dot", "{\"b\":.5}", &["byte 6"]),
    invalid("a number that ends with a dot", "{\"b\":5.}", &["byte 8"]),
    invalid("an exponent without digits", "{\"b\":5e}", &["byte 8"]),
    invalid("an unknown escape", r#"{"b":"\x41"}"#, &["byte 8"]),
    invalid("an escape with three digits", r#"{"b":"\u004"}"#, &["byte 12"]),
    invalid("a line end in a string", "{\"b\":\"x\n\"}", &["byte 8, line 1, column 8"]),
    invalid("a zero byte between", "{\"b\":\0 1}", &["byte 6"]),
    invalid("the wrong bracket", "{\"b\":[1}", &["byte 8"]),
    invalid("the end in an object", "{\"b\":1", &["byte 7"]),
    invalid("the end in a string", "{\"b\":\"x", &["byte 8"]),
    invalid("the end in a literal", "{\"b\":tru", &["byte 9"]),
    invalid("two literals in one", "{\"b\":truefalse}", &["byte 10"]),
    invalid("a column is a character", "{\"é€😀\":x}", &["byte 14, line 1, column 8"]),
    Case::new("invalid utf-8 in what nobody asked for", "", "select .a", "1\n").bytes(b"{\"a\":1}\n{\"a\":2,\"b\":\"\xC3\x28\"}\n").ends(1, &["byte 22, line 2"]),
    Case::new("a surrogate in utf-8", "", "select .a", "").bytes(b"{\"b\":\"\xED\xA0\x80\"}").ends(1, &["byte 8"]),
    Case::new("a longer form of utf-8", "", "select .a", "").bytes(b"{\"b\":\"\xC0\xAF\"}").ends(1, &["byte 7"]),
    Case::new("the end in a character", "", "select .a", "").bytes(b"{\"b\":\"\xE2\x82").ends(1, &["byte 9"]),
    Case::new("a program", "", "select .a", "").made_by("head -c 100000 \"$FULLBORE\"").ends(1, &["byte 1, line 1, column 1"]),
    Case::new("gzip", "", "group .a", "").made_by("echo '{}' | gzip").ends(1, &["byte 1, line 1, column 1"]),
    Case::new("utf-16", "", "select .a", "").bytes(b"\xFF\xFE{\0}\0").ends(1, &["byte 1"]),
    Case::new("csv", "id,name\n1,a\n", "select .a", "").ends(1, &["byte 1"]),
    Case::new("the place in the second file", "{\"a\":1}\n", "select .a input second", "1\n").files(&[("second", b"\n{\"a\":01}\n")]).ends(1, &["json select: second: byte 8, line 2, column 7"]),
    Case::new("a record does not go on in the next file", "{\"a\":", "select .a input second", "").files(&[("second", b"1}\n")]).ends(1, &["json select: input: byte 6"]),
    Case::new("records before a missing file", "{\"a\":1}\n", "select .a input nothing-here", "1\n").ends(2, &["nothing-here: No such file"]),
];

/// 19,900 good lines, and a hundred that are not; ten of these begin with a good record.
fn with_garbage() -> Vec<u8> {
    let garbage = [
        "{\"a\":tru}",
        "}{",
        "[1,2",
        "\"open",
        "{\"a\":\"\\q\"}",
        "nul",
        "{\"a\":1}}",
        "+1",
        "]",
        "'",
    ];
    let line = |index: usize| match index % 200 {
        // What follows a missing bracket is skipped with it: a line of its own.
        0 => format!("{}\n}}\n", garbage[index / 200 % 10]),
        _ => format!("{{\"a\":{index}}}\n"),
    };
    (0..20_000).map(line).collect::<String>().into_bytes()
}

/// A line of bash, standard output, the status, parts of what is said.
pub(crate) type Line = (&'static str, &'static str, &'static str, i32, &'static [&'static str]);

pub(crate) const LINES: &[Line] = &[
    ("a missing file", "{fullbore} json select .a nothing-here", "", 2, &["json select: reading: nothing-here: No such file"]),
    ("a missing file, where", "{fullbore} json where .a nothing-here", "", 2, &["json where:", "nothing-here: No such file"]),
    ("a missing file, group", "{fullbore} json group .a count ./nothing-here", "", 2, &["json group:", "nothing-here: No such file"]),
    ("a missing file, keys", "{fullbore} json keys nothing-here", "", 2, &["json keys:", "nothing-here: No such file"]),
    ("a missing file, each", "{fullbore} json each .a nothing-here", "", 2, &["json each:", "nothing-here: No such file"]),
    ("a directory", "{fullbore} json select .a /tmp", "", 2, &["json select:", "/tmp: Is a directory"]),
    ("a directory as standard input", "{fullbore} json group count < /tmp", "", 2, &["Is a directory"]),
    ("no permission is said", "touch x; {fullbore} json select .a x/y", "", 2, &["x/y: Not a directory"]),
    ("standard input is closed", "{fullbore} json where .a <&-", "", 2, &["standard input"]),
    ("standard output is closed", "echo '{\"a\":1}' | {fullbore} json select .a >&-", "", 2, &["standard output"]),
    ("the disk is full, select", "seq 100000 | {fullbore} json select . > /dev/full", "", 2, &["No space left"]),
    ("the disk is full, where", "echo 1 | {fullbore} json where '. == 1' > /dev/full", "", 2, &["No space left"]),
    ("the disk is full, group", "echo 1 | {fullbore} json group count > /dev/full", "", 2, &["No space left"]),
    ("the disk is full, keys", "echo '{\"a\":1}' | {fullbore} json keys > /dev/full", "", 2, &["No space left"]),
    ("the disk is full, each", "echo '[1]' | {fullbore} json each . > /dev/full", "", 2, &["No space left"]),
    ("the reader has gone, select", "yes '{\"a\":1}' | {fullbore} json select .a | head -n 1; exit ${PIPESTATUS[1]}", "1\n", 141, &[]),
    ("the reader has gone, where", "yes '{\"a\":1}' | {fullbore} json where '.a == 1' -j 3 | head -n 1; exit ${PIPESTATUS[1]}", "{\"a\":1}\n", 141, &[]),
    ("the reader has gone, each", "yes '[1,2]' | {fullbore} json each . | head -n 2; exit ${PIPESTATUS[1]}", "1\n2\n", 141, &[]),
    ("records are printed when they come", "mkfifo p; { echo '{\"a\":1}'; cat p; } | {fullbore} json select .a | { read -t 30 x; echo \"got $x\"; echo > p; cat; }", "got 1\n", 0, &[]),
    ("records are printed when they come, where", "mkfifo p; { echo '{\"a\":1}'; cat p; } | {fullbore} json where '.a == 1' -j 3 | { read -t 30 x; echo \"got $x\"; echo > p; cat; }", "got {\"a\":1}\n", 0, &[]),
    ("elements are printed when they come", "mkfifo p; { echo '[1,2,'; cat p; } | {fullbore} json each . | { read -t 30 x; echo \"got $x\"; echo '3]' > p; cat; }", "got 1\n2\n3\n", 0, &[]),
    ("a named pipe", "mkfifo p; echo '{\"a\":1}' > p & {fullbore} json select .a p; : > p & {fullbore} json select .a p; echo '[2]' > p & {fullbore} json each . p; echo 3 > p & {fullbore} count p", "1\n2\n      1 3\n", 0, &[]),
    ("a mistake before a named pipe that nobody writes to", "mkfifo p; { seq 100000; echo '{'; seq 100000; } > bad; for jobs in 1 2 3; do timeout 30 {fullbore} json select . -j $jobs bad p | tail -n 1; done; exit ${PIPESTATUS[0]}", "100000\n100000\n100000\n", 1, &["byte"]),
    ("records before a named pipe that nobody writes to", "mkfifo p; echo 1 | {fullbore} json select . - p | { read -t 30 x; echo $x; : > p; cat; }", "1\n", 0, &[]),
    ("an empty file", ": > e; {fullbore} json select .a e; {fullbore} json where .a e; {fullbore} json group .a count e; {fullbore} json group count e; {fullbore} json keys e; {fullbore} json each . e", "0\n", 0, &[]),
    ("/dev/null", "{fullbore} json group .a < /dev/null", "", 0, &[]),
    ("a word that is neither key, aggregate nor file", "{fullbore} json group .a count sun </dev/null", "", 2, &["^", "sum"]),
    ("where without an expression", "{fullbore} json where < /dev/null", "", 2, &["EXPRESSION"]),
    ("select without a path", "{fullbore} json select < /dev/null", "", 2, &["PATH"]),
    ("each without a path", "{fullbore} json each < /dev/null", "", 2, &["PATH"]),
    ("more groups than memory: the message names the limit", "seq 1000000 | sed 's/.*/{\"k\":\"some long key &\"}/' | {fullbore} json group .k count -m 2M", "", 2, &["2"]),
    (
        "memory of each on a document of 80 MB",
        "{ echo '['; yes '{\"a\":\"some text in here\"},' | head -n 3000000; echo 1; echo ']'; } | python3 -c \"
import subprocess, resource
subprocess.run(['{fullbore}', 'json', 'each', '.'], stdout=open('out', 'w'))
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 65536)\"; wc -l < out",
        "True\n3000001\n",
        0,
        &[],
    ),
    (
        "memory of many records over --max-record",
        "yes '{\"a\":\"xxxxxxxxxxxxxxxxxxxx\"}' | head -c 1000000 > long; python3 -c \"
import subprocess, resource
subprocess.run(['{fullbore}', 'json', 'where', '-j1', '--skip-invalid', '--max-record', '16', 'exists .a', 'long'], stderr=open('said', 'w'))
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 65536)\"; cut -d: -f3 said",
        "True\n 34483 errors were skipped; the first one\n",
        0,
        &[],
    ),
    ("in a pipe of other programs", "seq 5 | sed 's/.*/{\"n\":&}/' | {fullbore} json where '.n > 2' | {fullbore} json select .n | paste -sd+ | bc", "12\n", 0, &[]),
    ("select: help", "{fullbore} json select --help | grep -q -e --strict && echo 1", "1\n", 0, &[]),
];
