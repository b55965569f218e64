//! Predicates: every operator, precedence, kinds, exact numbers.

use super::Case;

const RECORDS: &str = r#"{"i":1,"s":200,"p":"/api/x","ok":true,"tags":["a","b"]}
{"i":2,"s":404.0,"p":"/static","ok":false,"tags":[]}
{"i":3,"s":5e2,"p":"\u002fapi/y","ok":null,"tags":["b"]}
{"i":4,"s":"500","p":"x/api","tags":"a"}
{"i":5}
{"i":6,"s":null,"p":null,"ok":"true","tags":[null,1,"c"]}
{"i":7,"s":7,"p":"","ok":{},"tags":[["a"]]}
"#;
const NUMBERS: &str = r#"{"n":9007199254740992}
{"n":9007199254740993}
{"n":18446744073709551616}
{"n":18446744073709551615}
{"n":1.0}
{"n":1}
{"n":10e-1}
{"n":0.1e1}
{"n":-0}
{"n":0.0}
{"n":0e5}
{"n":1E400}
{"n":10E399}
{"n":-1E400}
{"n":1e-400}
{"n":0.1}
{"n":0.30000000000000004}
{"n":0.3}
{"n":100000000000000000000000000000000000000000000000000000000000000000000000000001}
{"n":1e77}
"#;
const PAIRS: &str = r#"{"a":1,"b":1.0}
{"a":1,"b":"1"}
{"a":"x","b":"\u0078"}
{"a":null,"b":null}
{"a":true,"b":false}
{"a":2,"b":10}
{"a":"2","b":"10"}
{"a":1}
{"b":1}
{}
{"a":"é","b":"z"}
"#;
const PRECEDENCE: &str = r#"{"a":true,"b":false,"c":false}
{"a":false,"b":true,"c":true}
{"a":false,"b":true,"c":false}
{"a":true,"b":true,"c":false}
{"a":false,"b":false,"c":true}
{"a":false,"b":false,"c":false}
"#;

/// A case about records of one line each: which lines are kept.
const fn keeps(
    name: &'static str,
    input: &'static str,
    args: &'static str,
    lines: &'static [usize],
) -> Case {
    Case::new(name, input, args, "").lines(lines)
}

pub(crate) const CASES: &[Case] = &[
    keeps("equal", RECORDS, "where '.s == 200'", &[1]),
    keeps("equal by value", RECORDS, "where '.s == 500'", &[3]),
    keeps("equal to a string", RECORDS, r#"where '.s == "500"'"#, &[4]),
    keeps(
        "not equal takes the missing and other kinds",
        RECORDS,
        "where '.s != 200'",
        &[2, 3, 4, 5, 6, 7],
    ),
    keeps("less", RECORDS, "where '.s < 404'", &[1, 7]),
    keeps("less or equal", RECORDS, "where '.s <= 404'", &[1, 2, 7]),
    keeps("greater", RECORDS, "where '.s > 404'", &[3]),
    keeps("greater or equal", RECORDS, "where '.s >= 404.00'", &[2, 3]),
    keeps("a literal on the left", RECORDS, "where '404 <= .s'", &[2, 3]),
    keeps("a number is no string in orderings", RECORDS, r#"where '.s > ""'"#, &[4]),
    keeps("a regular expression", RECORDS, r#"where '.p ~ "^/api"'"#, &[1, 3]),
    keeps("a regular expression is not anchored", RECORDS, r#"where '.p ~ "api"'"#, &[1, 3, 4]),
    keeps(
        "a regular expression fits the empty string",
        RECORDS,
        r#"where '.p ~ ""'"#,
        &[1, 2, 3, 4, 7],
    ),
    keeps("the opposite of a regular expression", RECORDS, r#"where '.p !~ "api"'"#, &[2, 5, 6, 7]),
    keeps("regular expressions are for strings", RECORDS, r#"where '.s ~ "0"'"#, &[4]),
    keeps("flags of a regular expression", RECORDS, r#"where '.p ~ "(?i)^/STATIC$"'"#, &[2]),
    keeps("a class of a regular expression", RECORDS, r#"where '.p ~ "^/\w+/[xy]$"'"#, &[1, 3]),
    keeps("in", RECORDS, r#"where '.s in (200, "500", null)'"#, &[1, 4, 6]),
    keeps("in one", RECORDS, "where '.s in (500.0)'", &[3]),
    keeps("not in", RECORDS, "where '!(.i in (1, 2, 3))'", &[4, 5, 6, 7]),
    keeps("exists", RECORDS, "where 'exists .ok'", &[1, 2, 3, 6, 7]),
    keeps("does not exist", RECORDS, "where '!exists .ok'", &[4, 5]),
    keeps("null is not missing", RECORDS, "where '.s == null'", &[6]),
    keeps("not null takes the missing", RECORDS, "where '.s != null'", &[1, 2, 3, 4, 5, 7]),
    keeps("a bare path is true for true only", RECORDS, "where .ok", &[1]),
    keeps("not a bare path", RECORDS, "where '!.ok'", &[2, 3, 4, 5, 6, 7]),
    keeps("equal to true", RECORDS, "where '.ok == true'", &[1]),
    keeps("equal to false", RECORDS, "where '.ok == false'", &[2]),
    keeps("equal to the empty string", RECORDS, r#"where '.p == ""'"#, &[7]),
    keeps("strings are compared decoded", RECORDS, r#"where '.p == "/api\/\u0079"'"#, &[3]),
    keeps("strings are ordered by bytes", RECORDS, r#"where '.p < "/b"'"#, &[1, 3, 7]),
    keeps("two paths", RECORDS, "where '.i == .s'", &[7]),
    keeps("two paths ordered", RECORDS, "where '.i < .s'", &[1, 2, 3]),
    keeps("any element", RECORDS, r#"where '.tags[] == "b"'"#, &[1, 3]),
    keeps("no element", RECORDS, r#"where '!(.tags[] == "b")'"#, &[2, 4, 5, 6, 7]),
    keeps(
        "any element, and another one",
        RECORDS,
        r#"where '.tags[] == "a" && .tags[] == "b"'"#,
        &[1],
    ),
    keeps(
        "any element, or something else",
        RECORDS,
        r#"where '.i == 2 or .i == 5 or .tags[] == "b"'"#,
        &[1, 2, 3, 5],
    ),
    keeps(
        "any element and a regular expression",
        RECORDS,
        r#"where '.tags[] ~ "^[ac]$"'"#,
        &[1, 6],
    ),
    keeps("an index", RECORDS, r#"where '.tags[0] == "a"'"#, &[1]),
    keeps("an index from the end", RECORDS, r#"where '.tags[-1] == "b"'"#, &[1, 3]),
    keeps("any element is null", RECORDS, "where '.tags[] == null'", &[6]),
    keeps("any element exists", RECORDS, "where 'exists .tags[]'", &[1, 3, 6, 7]),
    keeps("any element in", RECORDS, r#"where '.tags[] in ("c", 2, "a")'"#, &[1, 6]),
    keeps("no record", RECORDS, "where '.i > 100'", &[]),
    keeps("every record", RECORDS, "where '.i >= 1'", &[1, 2, 3, 4, 5, 6, 7]),
    keeps(
        "words for operators",
        RECORDS,
        "where '.s == 200 or not (.i <= 6) and exists .p'",
        &[1, 7],
    ),
    keeps("2^53 and the next", NUMBERS, "where '.n == 9007199254740993'", &[2]),
    keeps("greater than 2^53", NUMBERS, "where '.n > 9007199254740992 and .n < 1e17'", &[2]),
    keeps("2^64", NUMBERS, "where '.n == 18446744073709551616'", &[3]),
    keeps(
        "less than 2^64 by one",
        NUMBERS,
        "where '.n > 18446744073709551614 && .n < 18446744073709551616'",
        &[4],
    ),
    keeps("forms of one", NUMBERS, "where '.n == 1'", &[5, 6, 7, 8]),
    keeps("forms of one in a list", NUMBERS, "where '.n in (2, 100e-2)'", &[5, 6, 7, 8]),
    keeps("forms of zero", NUMBERS, "where '.n == 0'", &[9, 10, 11]),
    keeps("minus zero is not less", NUMBERS, "where '.n < 0'", &[14]),
    keeps("beyond a double", NUMBERS, "where '.n == 1E400'", &[12, 13]),
    keeps("greater than every double", NUMBERS, "where '.n > 1e309'", &[12, 13]),
    keeps("greater than zero by very little", NUMBERS, "where '.n > 0 && .n < 1e-300'", &[15]),
    keeps("0.3 exactly", NUMBERS, "where '.n == 0.3'", &[18]),
    keeps("0.30 exactly, not equal", NUMBERS, "where '.n != 0.30 && .n < 1 && .n > 0.2'", &[17]),
    keeps("0.1 in another form", NUMBERS, "where '.n == 1.00e-1'", &[16]),
    keeps("78 digits", NUMBERS, "where '.n > 1e77'", &[12, 13, 19]),
    keeps(
        "78 digits, equal",
        NUMBERS,
        "where '.n == 100000000000000000000000000000000000000000000000000000000000000000000000000001'",
        &[19],
    ),
    keeps(
        "exponents as large as they like",
        "{\"n\":1e999999999999999999999}\n{\"n\":-1e999999999999999999999}\n{\"n\":1e-999999999999999999999}\n{\"n\":0e999999999999999999999}\n",
        "where '.n > 0'",
        &[1, 3],
    ),
    keeps(
        "exponents as large as they like, compared",
        "{\"n\":1e999999999}\n{\"n\":1e1000000000}\n{\"n\":10e999999999}\n",
        "where '.n == 1e1000000000'",
        &[2, 3],
    ),
    keeps("equal paths", PAIRS, "where '.a == .b'", &[1, 3, 4]),
    keeps("not equal paths", PAIRS, "where '.a != .b'", &[2, 5, 6, 7, 8, 9, 10, 11]),
    keeps("ordered paths", PAIRS, "where '.a > .b'", &[5, 7, 11]),
    keeps("both missing are not equal", PAIRS, "where '!(exists .a) && !(.a == .b)'", &[9, 10]),
    keeps("and before or", PRECEDENCE, "where '.a || .b && .c'", &[1, 2, 4]),
    keeps("and before or, the other way round", PRECEDENCE, "where '.a && .b || .c'", &[2, 4, 5]),
    keeps("parentheses", PRECEDENCE, "where '(.a || .b) && .c'", &[2]),
    keeps("not before and", PRECEDENCE, "where '!.a && .b'", &[2, 3]),
    keeps("not before or", PRECEDENCE, "where '!.a || .b'", &[2, 3, 4, 5, 6]),
    keeps("not of parentheses", PRECEDENCE, "where '!(.a && .b) && !(.c)'", &[1, 3, 6]),
    keeps("not twice", PRECEDENCE, "where '!!.a'", &[1, 4]),
    keeps(
        "comparison before and",
        PRECEDENCE,
        "where '.a == true && .b == false || .c == true'",
        &[1, 2, 5],
    ),
    keeps("words and signs together", PRECEDENCE, "where 'not .a and (.b or .c)'", &[2, 3, 5]),
    keeps("no spaces", PRECEDENCE, "where '.a==true&&.b!=true'", &[1]),
    keeps("white space everywhere", PRECEDENCE, "where '  ( .a\t== \n true )  '", &[1, 4]),
    keeps("ten levels of parentheses", PRECEDENCE, "where '((((((((((.a))))))))))'", &[1, 4]),
    keeps(
        "a quoted path",
        "{\"a b\":{\"c.d\":1}}\n{\"a b\":2}\n",
        r#"where '."a b"["c.d"] == 1'"#,
        &[1],
    ),
    keeps(
        "an rfc 9535 path",
        "{\"a\":[{\"b\":1}]}\n{\"a\":[{\"b\":2}]}\n",
        "where '$.a[0].b == 2'",
        &[2],
    ),
    keeps(
        "a name that is a word of the language",
        "{\"in\":1,\"and\":true,\"exists\":true}\n{}\n",
        "where '.in == 1 and .and and exists .exists'",
        &[1],
    ),
    keeps(
        "duplicates: the last counts",
        "{\"a\":1,\"a\":2}\n{\"a\":2,\"a\":1}\n",
        "where '.a == 1'",
        &[2],
    ),
    keeps(
        "duplicates: the first, if asked",
        "{\"a\":1,\"a\":2}\n{\"a\":2,\"a\":1}\n",
        "where --duplicates first '.a == 1'",
        &[1],
    ),
    keeps(
        "a record without any member",
        "{}\n[]\n1\n\"a\"\nnull\n",
        "where '.a != 1'",
        &[1, 2, 3, 4, 5],
    ),
    keeps("the record itself", "1\n2\n\"1\"\nnull\n", "where '. == 1'", &[1]),
    Case::new(
        "bytes of a record stay",
        "  { \"a\" : 1.50 ,\t\"b\":\"\\u0041\" }  \r\n{\"a\":2}\n",
        "where '.a == 1.5'",
        "{ \"a\" : 1.50 ,\t\"b\":\"\\u0041\" }\n",
    ),
    Case::new(
        "bytes of a record of several lines stay",
        "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n",
        "where '.a == 2'",
        "{\n  \"a\": 2\n}\n",
    ),
    Case::new(
        "concatenated records get lines",
        "{\"a\":1}{\"a\":2}{\"a\":1,\"b\":[]} {\"a\":1}",
        "where '.a == 1'",
        "{\"a\":1}\n{\"a\":1,\"b\":[]}\n{\"a\":1}\n",
    ),
    Case::new(
        "members in any order, with others between",
        r#"{"z":{"a":5},"b":2,"y":[1,{"a":5}],"a":1}
{"a":1,"b":3}
"#,
        "where '.a == 1 && .b == 2'",
        "",
    )
    .lines(&[1]),
    Case::new("a name that no record has", "{\"price\":1}\n", "where '.pirce > 1'", "")
        .says(&["no record has .pirce; did you mean .price?"]),
];
