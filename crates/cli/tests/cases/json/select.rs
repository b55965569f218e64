//! Cells in all formats.

use super::Case;

const STRINGS: &str = r#"{"s":"tab\there","t":"line\nfeed","u":"carriage\rreturn","v":"back\\slash","w":"quote\"d","x":"a,b"}
{"s":"é\u00e9\ud83d\ude00","t":"\/\b\f","u":"","v":" lead","w":"trail ","x":"'"}
"#;
const KINDS: &str = r#"{"v":null}
{}
{"v":""}
{"v":true}
{"v":false}
{"v":1.0}
{"v":[ 1 , "a b" , { } ]}
{"v":{ "x" : [ 1 , 2.00 ] , "y z" : "c d" , "e":{}}}
{"v":"null"}
"#;
const NUMBERS: &str = "[0,-0,-0.0,1.0,1.50,1e3,1E+3,1E-07,1E400,-1E400,0.1,12345678901234567890,9007199254740993,0.30000000000000004,123456789012345678901234567890.123456789012345678901234567890,1e99999]\n";

pub(crate) const CASES: &[Case] = &[
    Case::new(
        "strings in tsv",
        STRINGS,
        "select .s .t .u .v .w .x",
        "tab\\there\tline\\nfeed\tcarriage\\rreturn\tback\\\\slash\tquote\"d\ta,b\n\
         éé😀\t/\u{8}\u{c}\t\t lead\ttrail \t'\n",
    ),
    Case::new("strings in tsv as jq prints them", STRINGS, "select .s .t .u .v .w .x", "")
        .oracle("jq -r '[.s,.t,.u,.v,.w,.x]|@tsv'"),
    Case::new(
        "strings in csv",
        STRINGS,
        "select --csv .s .t .u .v .w .x",
        "tab\there,\"line\nfeed\",\"carriage\rreturn\",back\\slash,\"quote\"\"d\",\"a,b\"\n\
         éé😀,/\u{8}\u{c},, lead,trail ,'\n",
    ),
    Case::new("a program that reads csv gets the strings", STRINGS, "select --csv .s .t .u .v .w .x", "").through(
        "python3 -c 'import csv,sys,json
for row in csv.reader(open(0,newline=\"\")): print(json.dumps(row))'",
        "[\"tab\\there\", \"line\\nfeed\", \"carriage\\rreturn\", \"back\\\\slash\", \"quote\\\"d\", \"a,b\"]\n\
         [\"\\u00e9\\u00e9\\ud83d\\ude00\", \"/\\b\\f\", \"\", \" lead\", \"trail \", \"'\"]\n",
    ),
    Case::new(
        "strings as they are",
        STRINGS,
        "select --raw .s .t .v",
        "tab\there\tline\nfeed\tback\\slash\néé😀\t/\u{8}\u{c}\t lead\n",
    ),
    Case::new(
        "strings in json as they stand",
        STRINGS,
        "select --json .s .v",
        r#"{"s":"tab\there","v":"back\\slash"}
{"s":"é\u00e9\ud83d\ude00","v":" lead"}
"#,
    ),
    Case::new("a zero byte", r#"{"s":"a\u0000b\u0001c"}"#, "select .s", "a\0b\u{1}c\n"),
    Case::new(
        "kinds in tsv",
        KINDS,
        "select .v",
        "null\n\n\ntrue\nfalse\n1.0\n[1,\"a b\",{}]\n{\"x\":[1,2.00],\"y z\":\"c d\",\"e\":{}}\nnull\n",
    ),
    Case::new(
        "kinds in csv",
        KINDS,
        "select --csv .v .v",
        "null,null\n,\n,\ntrue,true\nfalse,false\n1.0,1.0\n\"[1,\"\"a b\"\",{}]\",\"[1,\"\"a b\"\",{}]\"\n\
         \"{\"\"x\"\":[1,2.00],\"\"y z\"\":\"\"c d\"\",\"\"e\"\":{}}\",\"{\"\"x\"\":[1,2.00],\"\"y z\"\":\"\"c d\"\",\"\"e\"\":{}}\"\n\
         null,null\n",
    ),
    Case::new("kinds in json", KINDS, "select --json .v", "").through(
        "jq -c .",
        "{\"v\":null}\n{}\n{\"v\":\"\"}\n{\"v\":true}\n{\"v\":false}\n{\"v\":1}\n{\"v\":[1,\"a b\",{}]}\n\
         {\"v\":{\"x\":[1,2],\"y z\":\"c d\",\"e\":{}}}\n{\"v\":\"null\"}\n",
    ),
    Case::new("a record each line in json", KINDS, "select --json .v", "").through("wc -l", "9\n"),
    Case::new("members of json have the names of paths", r#"{"user":{"id":1},"price":"x","t":[5]}"#, "select --json .user.id .price '.t[0]' .none", "{\"user.id\":1,\"price\":\"x\",\"t[0]\":5}\n")
        .says(&["no record has .none"]),
    Case::new("names in json are escaped", "{\"a\\\"b\":1,\"c\\td\":2}", r#"select --json '."a\"b"' '."c\td"'"#, "")
        .through("python3 -c 'import json; d=json.load(open(0)); print(sorted(d.values()))'", "[1, 2]\n"),
    Case::new(
        "numbers as they stand",
        NUMBERS,
        "select '.[]'",
        "0\n-0\n-0.0\n1.0\n1.50\n1e3\n1E+3\n1E-07\n1E400\n-1E400\n0.1\n12345678901234567890\n9007199254740993\n\
         0.30000000000000004\n123456789012345678901234567890.123456789012345678901234567890\n1e99999\n",
    ),
    Case::new("numbers as they stand in json", "{\"n\":12345678901234567890.10e+007}", "select --json .n", "{\"n\":12345678901234567890.10e+007}\n"),
    Case::new("numbers as they stand in an array", NUMBERS, "select .", NUMBERS),
    Case::new("a header", "{\"a\":1,\"b\":{\"c d\":2}}", r#"select --header .a '.b."c d"'"#, ".a\t.b.\"c d\"\n1\t2\n"),
    Case::new("a header in csv", "{\"a\":1,\"b\":2}", "select --csv --header .a .b", ".a,.b\n1,2\n"),
    Case::new("a header once", "{\"a\":1}\n{\"a\":2}\n", "select --header .a", ".a\n1\n2\n"),
    Case::new("a header of nothing", "", "select --header .a .b", ".a\t.b\n"),
    Case::new("strict", "{\"a\":1}\n{\"b\":1}\n{\"a\":3}\n", "select --strict .a", "1\n").ends(1, &["byte 9", "line 2", ".a"]),
    Case::new("strict within an object of several lines", "{\"a\":{\"b\":1}}\n\n{\n\"a\":{}}\n", "select --strict .a.b", "1\n").ends(1, &["line 3", ".a.b"]),
    Case::new("strict takes null", "{\"a\":null}\n", "select --strict .a", "null\n"),
    Case::new("a misspelt path", "{\"price\":1,\"name\":2}\n{\"price\":3}\n", "select .pirce", "\n\n").says(&["warning: no record has .pirce; did you mean .price?"]),
    Case::new("a misspelt path that one record has", "{\"price\":1}\n{\"pirce\":3}\n", "select .pirce", "\n3\n"),
    Case::new("a misspelt path within an object", "{\"user\":{\"name\":1}}\n", "select .user.nmae", "\n").says(&["warning: no record has .user.nmae; did you mean .user.name?"]),
    Case::new("a path as no other", "{\"a\":1}\n", "select .quite-different", "\n").says(&["warning: no record has .quite-different"]),
    Case::new("nothing in, nothing out", "", "select .a", ""),
    Case::new("white space in, nothing out", " \n\t\r\n \n", "select .a", ""),
    Case::new("empty cells on both sides", "{\"b\":1}\n{\"a\":2}\n{\"c\":3}\n", "select .a .b .c", "\t1\t\n2\t\t\n\t\t3\n"),
    Case::new("no elements, no line, not even for others", "{\"a\":[],\"k\":1}\n{\"k\":2}\n{\"a\":[7],\"k\":3}\n", "select .k '.a[]'", "3\t7\n"),
    Case::new("elements that are null", "{\"a\":[null,\"\",null]}\n", "select '.a[]'", "null\n\nnull\n"),
    Case::new("elements in json", "{\"k\":1,\"a\":[{\"b\":2},{}]}\n", "select --json .k '.a[].b'", "").through("jq -c '[.[]]'", "[1,2]\n[1]\n"),
    Case::new("a string in an object keeps its escapes", r#"{"o":{"s":"a\u0062\t"}}"#, "select --raw .o", "{\"s\":\"a\\u0062\\t\"}\n"),
    Case::new("white space within strings stays", r#"{"o":[ "a  b" , " \" c " ]}"#, "select --raw .o", "[\"a  b\",\" \\\" c \"]\n"),
];
