//! Keys, options and forms of output of `group`.

use super::Case;

const LOG: &str = r#"{"host":"b","method":"GET","status":200,"bytes":100,"ms":1.5}
{"host":"a","method":"GET","status":200,"bytes":50,"ms":2.5}
{"host":"b","method":"PUT","status":500,"bytes":7,"ms":3.25}
{"host":"a","method":"GET","status":404,"bytes":1,"ms":0.75}
{"host":"c","method":"GET","status":200,"bytes":0,"ms":10}
{"host":"b","method":"GET","status":200,"ms":4}
"#;
const KINDS: &str = r#"{"k":"b"}
{"k":{"x":1}}
{"k":10}
{"k":9.5}
{"k":true}
{"k":null}
{"k":"B"}
{"k":[1]}
{"k":false}
{"k":-1}
{"k":"é"}
{"k":1E400}
{"k":"10"}
"#;

pub(crate) const CASES: &[Case] = &[
    Case::new("count is the default", LOG, "group .host", "a\t2\nb\t3\nc\t1\n"),
    Case::new("count", LOG, "group .host count", "a\t2\nb\t3\nc\t1\n"),
    Case::new("two keys", LOG, "group .host,.method count", "a\tGET\t2\nb\tGET\t2\nb\tPUT\t1\nc\tGET\t1\n"),
    Case::new("keys in another order", LOG, "group .method,.host", "GET\ta\t2\nGET\tb\t2\nGET\tc\t1\nPUT\tb\t1\n"),
    Case::new("no key", LOG, "group count 'sum .bytes'", "6\t158\n"),
    Case::new("--by", LOG, "group --by .host,.method count 'sum .bytes'", "a\tGET\t2\t51\nb\tGET\t2\t100\nb\tPUT\t1\t7\nc\tGET\t1\t0\n"),
    Case::new("--by and no aggregate", LOG, "group --by .method", "GET\t5\nPUT\t1\n"),
    Case::new("several aggregates", LOG, "group .host count 'sum .bytes' 'min .ms' 'max .ms' 'count .bytes'", "a\t2\t51\t0.75\t2.5\t2\nb\t3\t107\t1.5\t4\t2\nc\t1\t0\t10\t10\t1\n"),
    // Columns are found by their names: one name cannot stand for two.
    Case::new("an aggregate twice", LOG, "group .method count count", "").ends(2, &["count"]),
    Case::new("a list of quantiles makes columns", LOG, "group .method 'p50,p99 .status'", "GET\t200\t404\nPUT\t500\t500\n"),
    Case::new("--where", LOG, "group .host count --where '.status < 500 && .bytes > 0'", "a\t2\nb\t1\n"),
    Case::new("--where that no record meets", LOG, "group .host count --where '.status > 999'", ""),
    Case::new("--where that no record meets, without keys", LOG, "group count 'sum .bytes' --where '.status > 999'", "0\t\n"),
    Case::new("--sort by an aggregate", LOG, "group .host count --sort count", "b\t3\na\t2\nc\t1\n"),
    Case::new("--sort by a number", LOG, "group .host count 'sum .bytes' --sort 3", "b\t3\t107\na\t2\t51\nc\t1\t0\n"),
    Case::new("--sort by the name of an aggregate", LOG, "group .host count 'max .ms' --sort 'max .ms'", "c\t1\t10\nb\t3\t4\na\t2\t2.5\n"),
    Case::new("--sort by a key", LOG, "group .method,.host count --sort .host", "GET\ta\t2\nGET\tb\t2\nPUT\tb\t1\nGET\tc\t1\n"),
    Case::new("--sort: equal values in the order of keys", LOG, "group .host 'distinct .method' --sort 2", "b\t2\na\t1\nc\t1\n"),
    Case::new("--top", LOG, "group .host count --top 2", "b\t3\na\t2\n"),
    Case::new("--top takes the first aggregate", LOG, "group .host 'sum .ms' count --top 1", "c\t10\t1\n"),
    Case::new("--top and --sort", LOG, "group .host count 'sum .ms' --sort 1 --top 2", "a\t2\t3.25\nb\t3\t8.75\n"),
    Case::new("--top with more rows than there are", LOG, "group .host --top 100", "b\t3\na\t2\nc\t1\n"),
    Case::new("keys in the order of kinds", KINDS, "group .k", "null\t1\nfalse\t1\ntrue\t1\n-1\t1\n9.5\t1\n10\t1\n1E400\t1\n10\t1\nB\t1\nb\t1\né\t1\n[1]\t1\n{\"x\":1}\t1\n"),
    Case::new("numbers in order of value", "3 20 100 1e1 -5 0.5 9007199254740993 9007199254740992 99e-1\n", "group .", "-5\t1\n0.5\t1\n3\t1\n99e-1\t1\n1e1\t1\n20\t1\n100\t1\n9007199254740992\t1\n9007199254740993\t1\n"),
    Case::new("1 and 1.0 are two groups", "1 1.0 1 1e0", "group .", "").through("sort", "1\t2\n1.0\t1\n1e0\t1\n"),
    Case::new("a number and its string are two groups", "1 \"1\" \"1\"", "group .", "1\t1\n1\t2\n"),
    Case::new("null and its string are two groups", "null \"null\" \"null\"", "group .", "null\t1\nnull\t2\n"),
    Case::new("missing, null and the empty string are three groups", "{\"k\":null} {} {\"k\":\"\"} {} {} {\"k\":\"\"}", "group .k", "").through("sort", "\t2\n\t3\nnull\t1\n"),
    Case::new("a string and its escaped form are one group", r#"{"k":"a/\u00e9"} {"k":"\u0061\/é"} {"\u006b":"a/é"}"#, "group .k", "a/é\t3\n"),
    Case::new("keys with tabs and line ends", r#"{"k":"a\tb"} {"k":"a\nb"} {"k":"a\\tb"}"#, "group .k", "a\\tb\t1\na\\nb\t1\na\\\\tb\t1\n"),
    Case::new("long keys", "", "group .k", "").made(long_keys).oracle("python3 -c \"
for i in range(50): print('k'*1000+'%02d'%i, 4, sep='\\t')\""),
    Case::new("keys that differ at every length", "", "group .k", "").made(lengths).oracle("python3 -c \"
for i in range(300): print('x'*i, 2, sep='\\t')\""),
    Case::new("keys of elements", "{\"t\":[\"a\",\"b\"]}\n{\"t\":[\"a\"]}\n{\"t\":[]}\n", "group '.t[0]'", "").through("sort", "\t1\na\t2\n"),
    Case::new("an object with a name twice", "{\"k\":1,\"k\":2}\n{\"k\":2}\n", "group .k", "2\t2\n"),
    Case::new("an object with a name twice, the first", "{\"k\":1,\"k\":2}\n{\"k\":2}\n", "group .k --duplicates first", "1\t1\n2\t1\n"),
    Case::new("csv", LOG, "group .host count 'sum .bytes' -o csv", "").through("tail -n +2", "a,2,51\nb,3,107\nc,1,0\n"),
    Case::new("csv has a header with three cells", LOG, "group .host count 'sum .bytes' -o csv", "").through("head -n 1 | tr -cd ,", ",,"),
    Case::new("csv quotes", r#"{"k":"a,b"} {"k":"say \"hi\""} {"k":"two\nlines"}"#, "group .k -o csv", "").through("tail -n +2", "\"a,b\",1\n\"say \"\"hi\"\"\",1\n\"two\nlines\",1\n"),
    Case::new("tsv asked for", LOG, "group .host -o tsv", "a\t2\nb\t3\nc\t1\n"),
    Case::new("json: an object a row, values as they stand", LOG, "group .host,.status count 'max .ms' -o json", "").through(
        "jq -c '[.[]]'",
        "[\"a\",200,1,2.5]\n[\"a\",404,1,0.75]\n[\"b\",200,2,4]\n[\"b\",500,1,3.25]\n[\"c\",200,1,10]\n",
    ),
    Case::new("json: no value is null", LOG, "group .host 'sum .none' 'min .none' 'avg .none' 'p50 .none' -o json", "").through(
        "jq -c '[.[]]' | sort -u",
        "[\"a\",null,null,null,null]\n[\"b\",null,null,null,null]\n[\"c\",null,null,null,null]\n",
    )
    .says(&["no record has .none"]),
    Case::new("json: a key with the name of an aggregate", "{\"count\":7}\n{\"count\":8}\n{\"count\":8}\n", "group .count count --sort count -o json", "{\".count\":8,\"count\":2}\n{\".count\":7,\"count\":1}\n"),
    Case::new("json: valid whatever the keys", r#"{"k":"\u0000\"\\\n\u007f😀"} {"k":[1,{"a":"\t"}]} {"k":1E400} {"k":-0}"#, "group .k -o json", "")
        .through("python3 -c 'import json; print(sum(1 for line in open(0) if json.loads(line)))'", "4\n"),
    Case::new("json: strings are strings, numbers numbers", r#"{"k":"1"} {"k":1} {"k":true} {"k":null} {"k":"\u0061"}"#, "group .k -o json", "")
        .through("python3 -c 'import json\nfor line in open(0): print(list(json.loads(line).values()))'", "[None, 1]\n[True, 1]\n[1, 1]\n['1', 1]\n['a', 1]\n"),
    Case::new("md: a table with a rule below its header", r#"{"k":"a|b"} {"k":"c"}"#, "group .k -o md", "").through("sed -n '2p' | tr -d ' :' | sed 's/-\\{1,\\}/-/g'", "|-|-|\n"),
    Case::new("md: a bar within a cell is escaped", r#"{"k":"a|b"} {"k":"c"}"#, "group .k -o md", "").through("grep -c 'a\\\\|b'", "1\n"),
    Case::new("md: as many rows as groups", r#"{"k":"a\nb"} {"k":"c"}"#, "group .k -o md", "").through("wc -l", "4\n"),
    Case::new("table: asked for in a pipe", LOG, "group .host count -o table", "").through("tail -n 3 | tr -s ' ' | sed 's/^ //;s/ $//'", "a 2\nb 3\nc 1\n"),
    Case::new("table: columns are aligned", "{\"k\":\"wide 世界\",\"n\":1}\n{\"k\":\"x\",\"n\":1000}\n", "group .k 'sum .n' -o table", "")
        .through("python3 -c 'import unicodedata as u\nprint(len({sum(2 if u.east_asian_width(c) in \"WF\" else 1 for c in l.rstrip(\"\\n\")) for l in open(0, encoding=\"utf-8\") if l.strip()}))'", "1\n"),
    Case::new("empty input", "", "group .k count", ""),
    Case::new("empty input without keys", "", "group count 'sum .x' 'avg .x' 'min .x' 'p50 .x' 'distinct .x' 'count .x'", "0\t\t\t\t\t0\t0\n"),
    Case::new("empty input in json", "", "group .k count -o json", ""),
    Case::new("white space only", "\n\n \r\n", "group count", "0\n"),
    Case::new("--file twice", "{\"k\":\"a\"}\n", "group .k --file input --file second count", "a\t2\nb\t1\n").files(&[("second", b"{\"k\":\"b\"}\n{\"k\":\"a\"}\n")]),
    Case::new("files at the end", "{\"k\":\"a\"}\n", "group .k count input second ./third", "a\t3\nb\t1\n").files(&[("second", b"{\"k\":\"b\"}\n{\"k\":\"a\"}"), ("third", b"{\"k\":\"a\"}")]),
    Case::new("a misspelt key", LOG, "group .hots count", "\t6\n").says(&["warning: no record has .hots; did you mean .host?"]),
    Case::new("a misspelt path of an aggregate", LOG, "group .host 'sum .byts'", "a\t\nb\t\nc\t\n").says(&["warning: no record has .byts; did you mean .bytes?"]),
    Case::new("records of several lines", "{\n\"k\":\n1}\n{\"k\"\n:1}\n{\"k\":2}\n", "group .k", "1\t2\n2\t1\n"),
    Case::new("more groups than memory", "", "group .k count -m 1M", "").made_by("seq 1000000 | sed 's/.*/{\"k\":\"a key of some length &\"}/'").ends(2, &["1"]),
    Case::new("as many groups as memory holds", "", "group .k count -m 200M", "").made_by("seq 100000 | sed 's/.*/{\"k\":&}/'").oracle("seq 100000 | sed 's/$/\\t1/'"),
];

/// 50 keys of 1002 bytes, each four times, in another order than theirs.
fn long_keys() -> Vec<u8> {
    let key = |index: usize| format!("{{\"k\":\"{}{:02}\"}}\n", "k".repeat(1000), index * 7 % 50);
    (0..200).map(key).collect::<String>().into_bytes()
}

/// Keys of 0 to 299 equal letters, each twice.
fn lengths() -> Vec<u8> {
    let key = |index: usize| format!("{{\"k\":\"{}\"}}\n", "x".repeat(index * 7 % 300));
    (0..600).map(key).collect::<String>().into_bytes()
}
