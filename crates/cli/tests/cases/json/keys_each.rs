//! The paths of a stream, and the elements of an array.

use super::Case;

const STREAM: &str = r#"{"a":1,"b":["x",2],"c":{"d e":null}}
{"a":null,"b":[],"c":{"d e":"long long long long long long long long long long long long"}}
{"a":"s","b":[{"z":true}]}
"#;
const NESTED: &str = r#"{"items":[{"id":1},{ "id" : 2 },3,"four",null,[5,[6]]],"x":{"y":[true,1.50]}}
{"items":[],"x":{"y":[7]}}
{"other":1}
{"items":{"k":10,"l":{"m":11}},"x":5}
"#;

pub(crate) const CASES: &[Case] = &[
    Case::new("keys: a path, its kinds, how often, an example", "{\"a\":1}\n{\"a\":2}\n{\"a\":null}\n", "keys", "").has(&[".a\tnumber 2, null 1\t3\t1"]),
    Case::new("keys: a string as example", "{\"a\":\"x y\"}\n", "keys", "").has(&[".a\tstring 1\t1\tx y"]).through("grep -cE '^\\.a\tstring 1\t1\t\"?x y\"?$'", "1\n"),
    Case::new("keys: all paths", STREAM, "keys", "").through("cut -f1 | grep -v '^\\.$'", ".a\n.b\n.b[]\n.b[].z\n.c\n.c.\"d e\"\n"),
    Case::new("keys: how many records have it", STREAM, "keys", "").through("cut -f1,3 | grep -v '^\\.\t'", ".a\t3\n.b\t3\n.b[]\t2\n.b[].z\t1\n.c\t2\n.c.\"d e\"\t2\n"),
    Case::new("keys: kinds with counts", STREAM, "keys", "").through(
        "cut -f1,2 | grep -v '^\\.\t' | python3 -c 'for line in open(0):
    path, kinds = line.rstrip().split(\"\\t\"); print(path, *sorted(kinds.split(\", \")), sep=\",\")'",
        ".a,null 1,number 1,string 1\n.b,array 3\n.b[],number 1,object 1,string 1\n.b[].z,true 1\n.c,object 2\n.c.\"d e\",null 1,string 1\n",
    ),
    Case::new("keys: an example has at most 40 characters", "{\"a\":\"ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää\"}\n", "keys", "")
        .through("grep '^\\.a' | cut -f4 | python3 -c 'print(len(open(0, encoding=\"utf-8\").read().strip()) <= 40)'", "True\n"),
    Case::new("keys: nothing", "", "keys", ""),
    Case::new("keys: arrays of arrays", "{\"a\":[[1],[[2]]]}\n", "keys", "").through("cut -f1 | grep -v '^\\.$'", ".a\n.a[]\n.a[][]\n.a[][][]\n"),
    Case::new("keys: a record that is an array", "[{\"id\":1},{\"id\":2,\"n\":1}]", "keys", "").through("cut -f1,3 | grep -v '^\\.\t'", ".[]\t1\n.[].id\t1\n.[].n\t1\n"),
    Case::new("keys: escaped names are one path", "{\"\\u0061\":1}\n{\"a\":2}\n", "keys", "").has(&[".a\tnumber 2\t2\t1"]),
    Case::new("keys: a tab in a name does not make a cell", "{\"a\\tb\":1}\n", "keys", "").through("grep -v '^\\.\t' | awk -F'\t' '{print NF}'", "4\n"),
    Case::new("keys: paths it prints are paths it reads", r#"{"a b":1,"c.d":2,"e\"f":3,"":4,"g\\h":5,"i\tj":6,"1":7,"é-$@_":8,"[]":9,"k'l":10}"#, "keys", "").through(
        "cut -f1 | grep -v '^\\.$' | sed 's/\\\\\\\\/\\\\/g' | while IFS= read -r path; do \"$FULLBORE\" json select \"$path\" input; done | sort -n | paste -sd ' '",
        "1 2 3 4 5 6 7 8 9 10\n",
    ),
    Case::new("keys: json is valid", STREAM, "keys -o json", "").through("jq -c 'length' | sort -u", "4\n"),
    Case::new("keys: csv has a header", STREAM, "keys -o csv", "").through("tail -n +2 | cut -d, -f1 | grep -v '^\\.$' | head -n 2", ".a\n.b\n"),
    Case::new("keys: the beginning of a long array is marked as such", "", "keys -o json", "{\"path\":\".\",\"kinds\":{\"object\":1},\"records\":1,\"example\":\"{\\\"a\\\":[…\"}\n{\"path\":\".a\",\"kinds\":{\"array\":1},\"records\":1,\"example\":\"[…\"}\n{\"path\":\".a[]\",\"kinds\":{\"number\":1},\"records\":1,\"example\":1}\n")
        .made_by("printf '{\"a\":[%600s1]}\\n' ''"),
    Case::new("keys: too many paths", "", "keys", "").made_by("seq 100001 | sed 's/.*/{\"&\":1}/'").ends(2, &["100"]),
    Case::new("keys: 20,000 paths", "", "keys", "").made_by("seq 20000 | sed 's/.*/{\"k&\":1}/'").through("grep -c '^\\.k'", "20000\n"),
    Case::new("each: elements of an array, bytes untouched", NESTED, "each .items", "{\"id\":1}\n{ \"id\" : 2 }\n3\n\"four\"\nnull\n[5,[6]]\n10\n{\"m\":11}\n"),
    Case::new("each: an array in an object", NESTED, "each .x.y", "true\n1.50\n7\n"),
    Case::new("each: elements of elements", "{\"a\":[{\"b\":[1,2]},{\"b\":[3]},{}]}\n", "each '.a[].b'", "1\n2\n3\n"),
    Case::new("each: an index", "{\"a\":[[1,2],[3,4]]}\n", "each '.a[1]'", "3\n4\n"),
    Case::new("each: the record", "[1,{\"a\": 2},[3]]", "each .", "1\n{\"a\": 2}\n[3]\n"),
    Case::new("each: the record, an object", "{\"a\":1,\"b\":[2]}", "each .", "1\n[2]\n"),
    Case::new("each: an rfc 9535 path", "{\"a\":{\"b c\":[1]}}", "each \"$.a['b c']\"", "1\n"),
    Case::new("each: elements over several lines are put on one", "[\n  {\n    \"id\": 1,\n    \"s\": \"a  b\"\n  },\n  2,\n  [ 3, 4 ]\n]\n", "each .", "{\"id\":1,\"s\":\"a  b\"}\n2\n[ 3, 4 ]\n"),
    Case::new("each: as jq prints it", "", "each .list", "").made(pretty).oracle("jq -c '.list[]'"),
    Case::new("each: an empty array is no reason to warn", "{\"a\":[]}\n{\"a\":{}}\n", "each .a", ""),
    Case::new("each: missing", "{\"items\":[1]}\n", "each .itmes", "").says(&["warning", ".itmes"]),
    Case::new("each: no container", "{\"a\":5}\n{\"a\":\"[1]\"}\n", "each .a", "").says(&["warning", ".a"]),
    Case::new("each: several arrays at the top", "[1,2][3]\n[]\n[[4]]", "each .", "1\n2\n3\n[4]\n"),
    Case::new("each: names in strings are no names", r#"{"x":"{\"a\":[9]}","y":{"a":[8]},"a":[1]}"#, "each .a", "1\n"),
    Case::new("each: an escaped name", r#"{"\u0061":[1]}"#, "each .a", "1\n"),
    Case::new("each: an array with 300,000 elements", "", "each .items", "").made_by("seq 300000 | sed 's/.*/{\"id\":&}/' | paste -sd, | sed 's/^/{\"a\":1,\"items\":[/;s/$/],\"z\":2}/'").oracle("seq 300000 | sed 's/.*/{\"id\":&}/'"),
    Case::new("each: a mistake in the middle", "[1,2,{\"a\":01},3]", "each .", "1\n2\n").ends(1, &["json each: {in}: byte 12, line 1, column 12: invalid number"]),
    Case::new("each: the end is missing", "{\"a\":[1,2,", "each .a", "1\n2\n").ends(1, &["json each: {in}: byte 11"]),
    Case::new("each: a mistake behind the array", "{\"a\":[1,2]]\n", "each .a", "1\n2\n").ends(1, &["json each: {in}: byte 11"]),
    Case::new("each: an element larger than --max-record", "", "each . --max-record 1K", "1\n").made(large_element).ends(1, &["byte"]),
    Case::new("each: a document larger than --max-record", "", "each . --max-record 64K", "").made_by("seq 100000 | paste -sd, | sed 's/^/[/;s/$/]/'").oracle("seq 100000"),
    Case::new("each into group", "{\"items\":[{\"t\":\"a\"},{\"t\":\"b\"},{\"t\":\"a\"}]}\n", "each .items", "").through("\"$FULLBORE\" json group .t count", "a\t2\nb\t1\n"),
];

/// A document over many lines, as programs print it for people.
fn pretty() -> Vec<u8> {
    let element = |index: usize| {
        format!(
            "    {{\n      \"id\": {index},\n      \"tags\": [\n        \"a b\",\n        {{}}\n      ]\n    }}"
        )
    };
    let elements: Vec<_> = (0..2000).map(element).collect();
    format!("{{\n  \"n\": 1,\n  \"list\": [\n{}\n  ]\n}}\n", elements.join(",\n")).into_bytes()
}

fn large_element() -> Vec<u8> {
    format!("[1,\"{}\",2]", "x".repeat(100_000)).into_bytes()
}
