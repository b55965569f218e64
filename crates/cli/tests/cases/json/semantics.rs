//! Each row of the semantics: what a record is, names that occur twice, white space, marks, depth.

use super::Case;

const TWICE: &str = r#"{"a":1,"a":2}
{"a":1,"\u0061":3}
{"a":{"b":1},"a":{"c":2}}
{"a":{"b":1},"a":5}
{"a":5,"a":{"b":4}}
{"a":{"b":1,"b":6}}
{"a":1,"a":null}
"#;

pub(crate) const CASES: &[Case] = &[
    Case::new("names twice: the last counts", TWICE, "select .a .a.b", "2\t\n3\t\n{\"c\":2}\t\n5\t\n{\"b\":4}\t4\n{\"b\":1,\"b\":6}\t6\nnull\t\n"),
    Case::new("names twice: the last, asked for", TWICE, "select --duplicates last .a.b", "\n\n\n\n4\n6\n\n"),
    Case::new("names twice: the first", TWICE, "select --duplicates first .a .a.b", "1\t\n1\t\n{\"b\":1}\t1\n{\"b\":1}\t1\n5\t\n{\"b\":1,\"b\":6}\t1\n1\t\n"),
    Case::new("names twice: as jq answers", TWICE, "select --json .a", "").through("jq -c .", "{\"a\":2}\n{\"a\":3}\n{\"a\":{\"c\":2}}\n{\"a\":5}\n{\"a\":{\"b\":4}}\n{\"a\":{\"b\":6}}\n{\"a\":null}\n"),
    Case::new("names twice: an error", "{\"a\":0}\n{\"a\":1,\"b\":{},\"a\":2}\n{\"a\":3}\n", "select --duplicates error .a", "0\n").ends(1, &["line 2", "a"]),
    Case::new("names twice: an error for the escaped form", "{\"a\":0}\n{\"a\":1,\"\\u0061\":2}\n", "select --duplicates error .a", "0\n").ends(1, &["line 2"]),
    Case::new("names twice: an error within the object on the path", "{\"o\":{\"a\":1,\"a\":1}}\n", "select --duplicates error .o.a", "").ends(1, &["line 1"]),
    Case::new("names twice: not on the path", "{\"a\":1,\"x\":{\"a\":1,\"a\":2}}\n{\"a\":2}\n", "select --duplicates error .a", "1\n2\n"),
    Case::new("names twice: the same name at another depth is another", "{\"a\":{\"a\":{\"a\":1}}}\n", "select --duplicates error .a.a", "{\"a\":1}\n"),
    Case::new("names twice: across a large value", "", "select .a", "2\n").made(far),
    Case::new("names twice: across a large value, the first", "", "select --duplicates first .a", "1\n").made(far),
    Case::new("names twice: across a large value, an error", "", "select --duplicates error .a", "").made(far).ends(1, &["line 1"]),
    Case::new("names twice: in elements", "{\"i\":[{\"a\":1,\"a\":2},{\"a\":3}]}\n", "select '.i[].a' '.i[].a'", "2\t2\n3\t3\n"),
    Case::new("names twice: in elements, the first", "{\"i\":[{\"a\":1,\"a\":2}]}\n", "select --duplicates first '.i[].a'", "1\n"),
    Case::new("names twice: in elements, an error", "{\"i\":[{\"a\":1,\"a\":2}]}\n", "select --duplicates error '.i[].a'", "").ends(1, &["line 1"]),
    Case::new("names twice: an array twice", "{\"i\":[1,2],\"i\":[3]}\n", "select '.i[]'", "3\n"),
    Case::new("names twice: in a predicate, an error", "{\"a\":1,\"a\":1}\n", "where --duplicates error '.a == 1'", "").ends(1, &["line 1"]),
    Case::new("names twice: in a group, an error", "{\"a\":1,\"a\":1}\n", "group --duplicates error .a count", "").ends(1, &["line 1"]),
    Case::new("a byte order mark", "", "select .a", "1\n2\n").bytes(b"\xEF\xBB\xBF{\"a\":1}\n{\"a\":2}\n"),
    Case::new("a byte order mark is no part of the record", "", "where '.a == 1'", "{\"a\":1}\n").bytes(b"\xEF\xBB\xBF{\"a\":1}\n{\"a\":2}\n"),
    Case::new("a byte order mark before an array", "", "each .", "1\n2\n").bytes(b"\xEF\xBB\xBF[1,2]"),
    Case::new("a byte order mark within", "", "select .a", "1\n").bytes(b"{\"a\":1}\n\xEF\xBB\xBF{\"a\":2}\n").ends(1, &["json select: {in}: byte 9, line 2, column 1"]),
    Case::new("crlf", "{\"a\":1}\r\n{\"a\":2}\r\n", "select .a", "1\n2\n"),
    Case::new("crlf and whole records", "{\"a\":1}\r\n{\"a\":2}\r\n", "where '.a > 0'", "{\"a\":1}\n{\"a\":2}\n"),
    Case::new("crlf and the record as a cell", "{\"a\":1}\r\n2\r\n", "select .", "{\"a\":1}\n2\n"),
    Case::new("empty lines", "\n\n{\"a\":1}\n\n\r\n   \n{\"a\":2}\n\n", "select .a", "1\n2\n"),
    Case::new("no line end at the end", "{\"a\":1}\n{\"a\":2}", "select .a", "1\n2\n"),
    Case::new("concatenated", "{\"a\":1}{\"a\":2}[3]4 5\"6\"true{\"a\":7}", "select .a", "1\n2\n\n\n\n\n\n7\n"),
    Case::new("numbers at the end of blocks are whole", "", "group count", "").made_by("seq 1000000 1300000").oracle("wc -l"),
    Case::new("pretty-printed", "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    2\n  ]\n}\n{\n  \"a\": 2,\n  \"b\": []\n}\n", "select .a .b", "1\t[1,2]\n2\t[]\n"),
    Case::new("pretty-printed, many", "", "select .id .t", "").made_by("seq 30000 | jq '{id:., t:[., {x:\"a b\"}]}'").oracle("jq -r '[.id, (.t|tojson)] | \"\\(.[0])\\t\\(.[1])\"'"),
    Case::new("pretty-printed behind many lines", "", "group count 'sum .id'", "60001\t1800120001\n").made_by("seq 60000 | sed 's/.*/{\"id\":&}/'; echo '{'; echo '\"id\":90001'; echo '}'"),
    Case::new("rfc 7464", "\x1E{\"a\":1}\n\x1E{\"a\":2}\n", "select .a", "1\n2\n"),
    Case::new("rfc 7464, several lines, whole records", "\x1E{\n\"a\":1}\n\x1E{\"a\":2}\n", "where '.a >= 1'", "{\n\"a\":1}\n{\"a\":2}\n"),
    Case::new("a top-level array is one record", "[{\"a\":1},{\"a\":2}]\n", "group count", "1\n"),
    Case::new("a top-level array has no members", "[{\"a\":1},{\"a\":2}]\n", "select .a", "\n").says(&["no record has .a"]),
    Case::new("scalars are records", "1 \"a\" null true [] {}", "group count", "6\n"),
    Case::new("depth 1024", "", "select '.[0][0]'", "").made(|| nested(1024)).oracle("python3 -c \"print('['*1022+']'*1022)\""),
    Case::new("depth 1025", "", "select '.[0]'", "").made(|| nested(1025)).ends(1, &["byte 1025, line 1, column 1025"]),
    Case::new("depth 1024 of objects", "", "select .a.a.a", "").made(|| objects(1024)).through("wc -c", "6128\n"),
    Case::new("depth 1025 of objects in what nobody asked for", "", "select .b", "").made(|| objects(1025)).ends(1, &["byte 5121"]),
    Case::new("a record of 3 MB", "", "select .k .z", "1\t2\n").made(|| long_record(3_000_000)),
    Case::new("a record of 3 MB among short ones", "", "group count 'sum .k'", "20001\t20001\n").made(long_among_short),
    Case::new("a record larger than --max-record", "", "select .k --max-record 1M", "").made(|| long_record(3_000_000)).ends(1, &["json select: {in}: byte", "line 1"]),
    Case::new("records before one larger than --max-record", "", "select .k --max-record 10K", "5\n").made(|| [b"{\"k\":5}\n".to_vec(), long_record(30_000)].concat()).ends(1, &["line 2"]),
    Case::new("a record as large as --max-record", "", "group count --max-record 1M", "1\n").made(|| long_record(1 << 20)),
    Case::new("half of a surrogate pair", r#"{"a":"\ud83d"}"#, "select .a", "").ends(1, &["json select: {in}: byte 13, line 1, column 13"]),
    Case::new("half of a surrogate pair in what nobody asked for", "{\"a\":1}\n{\"a\":2,\"b\":\"\\udc00\"}\n", "select .a", "1\n").ends(1, &["json select: {in}: byte 2", "line 2"]),
    Case::new("a surrogate pair", r#"{"a":"\uD834\uDD1E"}"#, "select .a", "𝄞\n"),
    Case::new("characters of every length", r#"{"a":"aé€𝄞","b":"\u0061\u00e9\u20ac\ud834\udd1e"}"#, "select .a .b", "aé€𝄞\taé€𝄞\n"),
    Case::new("all escapes", r#"{"a":"\"\\\/\b\f\n\r\t\u002f"}"#, "select --raw .a", "\"\\/\u{8}\u{c}\n\r\t/\n"),
    Case::new("u+007f and noncharacters", "{\"a\":\"\u{7f}\u{ffff}\"}", "select .a", "\u{7f}\u{ffff}\n"),
];

fn far() -> Vec<u8> {
    let values: Vec<_> = (0..20_000).map(|index| format!("{{\"a\":{index}}}")).collect();
    format!("{{\"a\":1,\"x\":[{}],\"a\":2}}\n", values.join(",")).into_bytes()
}

fn nested(depth: usize) -> Vec<u8> {
    format!("{}{}\n", "[".repeat(depth), "]".repeat(depth)).into_bytes()
}

fn objects(depth: usize) -> Vec<u8> {
    format!("{}1{}\n", "{\"a\":".repeat(depth), "}".repeat(depth)).into_bytes()
}

/// One record of so many bytes, without its line end.
fn long_record(bytes: usize) -> Vec<u8> {
    let frame = r#"{"k":1,"s":"","z":2}"#.len();
    format!("{{\"k\":1,\"s\":\"{}\",\"z\":2}}\n", "x".repeat(bytes - frame)).into_bytes()
}

fn long_among_short() -> Vec<u8> {
    let short = "{\"k\":1,\"s\":\"short\"}\n".repeat(10_000).into_bytes();
    [short.clone(), long_record(3_000_000), short].concat()
}
