//! Paths of all forms, with quoting.

use super::Case;

const NAMES: &str = r#"{"a":{"b":1,"c":[10,20,30]},"with space":2,"b.c":3,"é":4,"x-y":5,"$ref":6,"@type":7,"":8,"q\"t":9,"a b":{"c d":10},"0":11,"back\\slash":12,"under_score":13,"[]":14,"名前":{"姓":15}}
"#;
const ESCAPED: &str = r#"{"\u0061":1,"t\u0061b\there":2,"\uD83D\uDE00":3,"sl\/ash":4}
"#;
const TOP: &str = "[1,[2,3],{\"id\":4}]\n[5]\n";
const ITEMS: &str = r#"{"k":9,"items":[{"id":1,"n":"a"},{"id":2},5,{"id":3,"n":null}]}
{"k":8,"items":[]}
{"k":7}
{"k":6,"items":{"id":1}}
{"k":5,"items":null}
{"k":4,"items":[{"id":7,"n":"z"}]}
"#;

pub(crate) const CASES: &[Case] = &[
    Case::new("name in name", NAMES, "select .a.b", "1\n"),
    Case::new("index", NAMES, "select '.a.c[0]'", "10\n"),
    Case::new("index from the end", NAMES, "select '.a.c[-1]' '.a.c[-3]'", "30\t10\n"),
    Case::new("index behind the end", NAMES, "select '.a.c[3]'", "\n")
        .says(&["no record has .a.c[3]"]),
    Case::new("index before the beginning", NAMES, "select '.a.c[-4]'", "\n")
        .says(&["no record has .a.c[-4]"]),
    Case::new("every element", NAMES, "select '.a.c[]'", "10\n20\n30\n"),
    Case::new("quoted name with a space", NAMES, r#"select '."with space"'"#, "2\n"),
    Case::new("quoted name with a dot", NAMES, r#"select '."b.c"'"#, "3\n"),
    Case::new("quoted in brackets", NAMES, r#"select '.["b.c"]' '.["with space"]'"#, "3\t2\n"),
    Case::new("single quotes in brackets", NAMES, r#"select ".a['b']""#, "1\n"),
    Case::new("brackets after brackets", NAMES, r#"select '.["a b"]["c d"]'"#, "10\n"),
    Case::new("quoted after quoted", NAMES, r#"select '."a b"."c d"'"#, "10\n"),
    Case::new("brackets after a name", NAMES, r#"select '.a["b"]'"#, "1\n"),
    Case::new("a name after brackets", NAMES, r#"select '.["a"].b'"#, "1\n"),
    Case::new("beyond ascii", NAMES, "select .é .名前.姓", "4\t15\n"),
    Case::new(
        "hyphen, dollar, at, underscore, digit",
        NAMES,
        "select .x-y '.$ref' .@type .under_score .0",
        "5\t6\t7\t13\t11\n",
    ),
    Case::new("the empty name", NAMES, r#"select '.""'"#, "8\n"),
    Case::new("an escaped quote in a quoted name", NAMES, r#"select '."q\"t"'"#, "9\n"),
    Case::new("an escaped backslash in a quoted name", NAMES, r#"select '."back\\slash"'"#, "12\n"),
    Case::new("brackets in a quoted name", NAMES, r#"select '."[]"'"#, "14\n"),
    Case::new(
        "an escape of unicode in a quoted name",
        NAMES,
        r#"select '."\u0061"."\u0062"'"#,
        "1\n",
    ),
    Case::new(
        "a surrogate pair in a quoted name",
        ESCAPED,
        r#"select '."\ud83d\ude00"' .😀"#,
        "3\t3\n",
    ),
    Case::new(
        "escaped names are compared decoded",
        ESCAPED,
        r#"select .a '."tab\there"' '."sl/ash"'"#,
        "1\t2\t4\n",
    ),
    Case::new(
        "rfc 9535 names",
        NAMES,
        r#"select '$.a.b' '$["a"]["b"]' "$['with space']" '$.a.c[1]'"#,
        "1\t1\t2\t20\n",
    ),
    Case::new("rfc 9535 index from the end", NAMES, r#"select "$['a']['c'][-1]""#, "30\n"),
    Case::new(
        "the record",
        "{ \"a\" : [ 1 , 2 ] }\n",
        "select . '$'",
        "{\"a\":[1,2]}\t{\"a\":[1,2]}\n",
    ),
    Case::new(
        "records that are scalars",
        "1.0 \"x\\ty\" null true\n",
        "select .",
        "1.0\nx\\ty\nnull\ntrue\n",
    ),
    Case::new(
        "index of a record",
        TOP,
        "select '.[0]' '$[0]' '.[-1]'",
        "1\t1\t{\"id\":4}\n5\t5\t5\n",
    ),
    Case::new("index in index", TOP, "select '.[1][0]'", "2\n\n"),
    Case::new("elements of a record", TOP, "select '.[]'", "1\n[2,3]\n{\"id\":4}\n5\n"),
    Case::new("a name in elements of a record", TOP, "select '.[].id'", "\n\n4\n\n"),
    Case::new("an index on an object is missing", NAMES, "select '.a[0]'", "\n")
        .says(&["no record has .a[0]"]),
    Case::new("a name on an array is missing", NAMES, "select .a.c.x", "\n")
        .says(&["no record has .a.c.x"]),
    Case::new("a name on a number is missing", NAMES, "select .a.b.c", "\n")
        .says(&["no record has .a.b.c"]),
    Case::new(
        "elements of an array, with others beside them",
        ITEMS,
        "select .k '.items[].id' '.items[].n'",
        "9\t1\ta\n9\t2\t\n9\t\t\n9\t3\tnull\n4\t7\tz\n",
    ),
    Case::new(
        "elements come where the path stands",
        ITEMS,
        "select '.items[].id' .k",
        "1\t9\n2\t9\n\t9\n3\t9\n7\t4\n",
    ),
    Case::new(
        "elements of elements",
        "{\"a\":[{\"b\":[1,2]},{\"b\":[]},{},{\"b\":[3]}]}\n",
        "select '.a[].b[]'",
        "1\n2\n3\n",
    ),
    Case::new(
        "an index behind elements",
        "{\"a\":[[1,2],[3],[]]}\n",
        "select '.a[][0]' '.a[][-1]'",
        "1\t2\n3\t3\n\t\n",
    ),
    Case::new("the same path twice", NAMES, "select .a.b .a.b", "1\t1\n"),
    Case::new(
        "a path and a part of it",
        NAMES,
        "select .a.b .a .a.c",
        "1\t{\"b\":1,\"c\":[10,20,30]}\t[10,20,30]\n",
    ),
    Case::new(
        "a name that begins as another",
        "{\"ab\":1,\"a\":2,\"abc\":3}\n",
        "select .a .ab .abc",
        "2\t1\t3\n",
    ),
    Case::new(
        "a name within a skipped value",
        "{\"x\":{\"a\":1},\"y\":[{\"a\":2}],\"a\":3}\n",
        "select .a",
        "3\n",
    ),
    Case::new("a name within a string", r#"{"x":"\"a\":1,","a":3}"#, "select .a", "3\n"),
    Case::new(
        "a path of ten names",
        "",
        "select .a.a.a.a.a.a.a.a.a.a '.a.a.a.a.a.a.a.a.a.b'",
        "{\"a\":1}\t\n",
    )
    .made(deep)
    .says(&["no record has .a.a.a.a.a.a.a.a.a.b"]),
    Case::new(
        "paths in another order than the members",
        "",
        "select .a3 .a99 .a0 .a10 .a50 .a1 .a98 .a9 .a11 .a2 .a31",
        "3\t99\t0\t10\t50\t1\t98\t9\t11\t2\t31\n",
    )
    .made(wide),
    Case::new(
        "a file whose name begins with a dot",
        "{\"a\":0}\n",
        "select .a ./.x input",
        "1\n0\n",
    )
    .files(&[(".x", b"{\"a\":1}")]),
    Case::new(
        "several files, the first without a line end",
        "{\"a\":1}",
        "select .a input second input",
        "1\n2\n1\n",
    )
    .files(&[("second", b"{\"a\":2}\n")]),
    Case::new(
        "numbers at the ends of files are two numbers",
        "1",
        "select . input second",
        "1\n2\n",
    )
    .files(&[("second", b"2")]),
    Case::new("standard input among files", "{\"a\":1}", "select .a second - second", "2\n1\n2\n")
        .files(&[("second", b"{\"a\":2}")]),
];

/// Eleven objects in each other.
fn deep() -> Vec<u8> {
    format!("{}1{}", "{\"a\":".repeat(11), "}".repeat(11)).into_bytes()
}

/// An object with 100 members.
fn wide() -> Vec<u8> {
    let members: Vec<_> = (0..100).rev().map(|index| format!("\"a{index}\":{index}")).collect();
    format!("{{{}}}\n", members.join(",")).into_bytes()
}
