//! What each aggregate gives, exactly.

use super::Case;

const MIXED: &str = r#"{"v":3}
{"v":"12"}
{"v":null}
{}
{"v":true}
{"v":-2}
{"v":[5]}
{"v":3.0}
{"v":{"a":1}}
{"v":"a"}
{"v":false}
"#;

/// One cell for everything.
const fn one(
    name: &'static str,
    input: &'static str,
    args: &'static str,
    cell: &'static str,
) -> Case {
    Case::new(name, input, args, cell)
}

pub(crate) const CASES: &[Case] = &[
    one("sum: 0.1 and 0.2", "0.1 0.2", "group 'sum .'", "0.3\n"),
    one("sum: 0.1 ten times and -0.5", "0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 -0.5", "group 'sum .'", "0.5\n"),
    one("sum: beyond 2^53", "9007199254740993 9007199254740993 1", "group 'sum .'", "18014398509481987\n"),
    one("sum: beyond 2^64", "18446744073709551615 18446744073709551615 18446744073709551615", "group 'sum .'", "55340232221128654845\n"),
    one("sum: large and small", "100000000000000000000 0.00000000000000001", "group 'sum .'", "100000000000000000000.00000000000000001\n"),
    one("sum: exponents", "1e2 1 2.5E-1 10e-1", "group 'sum .'", "102.25\n"),
    one("sum: to zero exactly", "0.1 0.2 -0.3", "group 'sum .'", "0\n").through("sed -E 's/^0\\.0+$/0/'", "0\n"),
    one("sum: negative", "-0.05 -1.25", "group 'sum .'", "-1.3\n").through("sed -E 's/0+$//'", "-1.3\n"),
    one("sum: negative integers beyond 2^64", "-18446744073709551615 -18446744073709551615", "group 'sum .'", "-36893488147419103230\n"),
    one("sum: one number with 30 digits", "123456789012345678901234567890", "group 'sum .'", "123456789012345678901234567890\n"),
    one("sum: many small steps", "", "group 'sum .'", "").made_by("seq 100000 | sed 's/.*/0.&/'")
        .oracle("python3 -c 'from decimal import *; getcontext().prec=60; print(sum(map(Decimal,open(0).read().split())))' | sed -E 's/0+$//'"),
    // The documentation allows a double and a warning here; exact is better.
    one("sum: beyond i128", "170141183460469231731687303715884105727 170141183460469231731687303715884105727", "group 'sum .'", "340282366920938463463374607431768211454\n"),
    one("sum: beyond a double is valid json", "1E400 1E400", "group 'sum .' -o json", "")
        .through("python3 -c 'import json; print(list(json.load(open(0), parse_float=str).values()))'", "['2e400']\n"),
    one("sum: of what no program can add is said, and not infinite", "1e999999999 1", "group 'sum .' 'max .'", "1\t1e999999999\n").says(&["warning: sum .: 1 value is out of range"]),
    one("quantiles: integers beyond 2^53", "9007199254740993 9007199254740993", "group 'p50 .'", "9007199254740993\n"),
    one("sum: other kinds are left out and counted", MIXED, "group 'sum .v'", "4\n").through("sed 's/\\.0$//'", "4\n").says(&["warning: sum .v: 6 values are not numbers"]),
    one("sum: no number", "{\"v\":\"1\"}\n", "group 'sum .v'", "\n").says(&["sum .v", "not a number"]),
    one("sum: null is no number and no mistake", "{\"v\":null}\n{\"v\":2}\n", "group 'sum .v'", "2\n"),
    one("avg", "1 2", "group 'avg .'", "1.5\n"),
    one("avg: whole", "1 2 3", "group 'avg .'", "2\n"),
    one("avg: a third", "1 0 0", "group 'avg .'", "0.3333333333333333\n"),
    one("avg: of an exact sum", "0.1 0.2", "group 'avg .'", "0.15\n"),
    one("avg: beyond 2^53", "9007199254740993 9007199254740991", "group 'avg .'", "").through("python3 -c 'print(float(input()))'", "9007199254740992.0\n"),
    one("avg: of a sum beyond a double", "1.7e308 1.7e308", "group 'avg .'", "1.7e308\n"),
    one("avg: of a sum beyond a double, by three", "-1e308 -1e308 -1.5e308", "group 'avg .'", "-1.1666666666666667e308\n"),
    one("avg: beyond a double", "1e400 1e400 3e400", "group 'avg .' -o json", "{\"avg_.\":1.6666666666666667e400}\n"),
    one("avg: other kinds are left out", "{\"v\":4} {\"v\":\"x\"} {} {\"v\":null} {\"v\":5}", "group 'avg .v'", "4.5\n").says(&["avg .v"]),
    one("avg: no value", "{} {}", "group 'avg .v'", "\n").says(&["no record has .v"]),
    one("min and max of numbers keep their text", "2.50 10 3.0 2.75", "group 'min .' 'max .'", "2.50\t10\n"),
    one("min and max by value, not by text", "10 9 1e1 -3 -20", "group 'min .' 'max .'", "").through("cut -f1", "-20\n"),
    one("min and max beyond 2^53", "9007199254740993 9007199254740992 9007199254740994", "group 'min .' 'max .'", "9007199254740992\t9007199254740994\n"),
    one("min and max beyond doubles", "1E400 -1E400 1e399 5", "group 'min .' 'max .'", "-1E400\t1E400\n"),
    one("min and max of several kinds", "{\"v\":\"a\"} {\"v\":3} {\"v\":null} {} {\"v\":true} {\"v\":[1]}", "group 'min .v' 'max .v'", "true\t[1]\n"),
    one("min and max of strings by bytes", r#""b" "a\u00e9" "B" "é" "az""#, "group 'min .' 'max .'", "B\té\n"),
    one("min and max of dates", r#""2026-11-23T10:00:00Z" "2025-01-01T00:00:00Z""#, "group 'min .' 'max .'", "2025-01-01T00:00:00Z\t2026-11-23T10:00:00Z\n"),
    one("min and max of nothing but null", "{\"v\":null} {}", "group 'min .v' 'max .v'", "\t\n"),
    one("count of a path", MIXED, "group count 'count .v'", "11\t9\n"),
    one("p50 of one to ten", "1 2 3 4 5 6 7 8 9 10", "group 'p50 .'", "5\n"),
    one("p50 of three in disorder", "30 10 20", "group 'p50 .'", "20\n"),
    one("quantiles by nearest rank", "15 20 35 40 50", "group 'p5,p30,p40,p50,p100 .'", "15\t20\t20\t35\t50\n"),
    one("a quantile with a fraction", "", "group 'p99,p99.9,p99.99 .'", "").made_by("seq 10000 | sort").oracle("echo -e '9900\\t9990\\t9999'"),
    one("quantiles of one", "7", "group 'p1,p50,p99.9 .'", "7\t7\t7\n"),
    one("quantiles of equal values", "5 5 5 5", "group 'p25,p75 .'", "5\t5\n"),
    one("quantiles of negative numbers and fractions", "-1.5 -2.5 0.5 1e1", "group 'p25,p50,p75,p100 .'", "").through("python3 -c 'print(*map(float,input().split()))'", "-2.5 -1.5 0.5 10.0\n"),
    one("quantiles leave other kinds out", "{\"v\":1} {\"v\":\"9\"} {\"v\":3} {} {\"v\":2}", "group 'p50,p99 .v'", "2\t3\n").says(&["not a number"]),
    one("quantiles: of 300,000 values, exactly", "", "group .k 'p1,p50,p90,p99,p99.9 .v'", "").made(spread)
        .oracle("python3 model.py group .k 'p1 .v' 'p50 .v' 'p90 .v' 'p99 .v' 'p99.9 .v'"),
    one("distinct", "1 2 1 \"1\" null null true \"a\" \"\\u0061\"", "group 'distinct .'", "6\n"),
    one("distinct: null counts, missing not", "{\"v\":null} {} {\"v\":1} {\"v\":null}", "group 'distinct .v'", "2\n"),
    one("distinct: arrays and objects", "[1] [2] [1] {\"a\":1} {\"a\":1} {}", "group 'distinct .'", "4\n"),
    one("distinct: of 200,000 values, exactly", "", "group 'distinct .'", "200000\n").made_by("seq 200000; seq 100000"),
    one("distinct in each group", "{\"k\":1,\"v\":\"a\"} {\"k\":2,\"v\":\"a\"} {\"k\":1,\"v\":\"b\"} {\"k\":2,\"v\":\"a\"}", "group .k 'distinct .v'", "1\t2\n2\t1\n"),
    one("top: values with counts", r#""a" "b" "a" "c" "b" "a""#, "group 'top 2 .'", "").through("grep -c 'a.*3.*b.*2'", "1\n"),
    one("top: no more than asked for", r#""aa" "bb" "aa" "cc" "bb" "aa""#, "group 'top 2 .'", "").through("grep -c cc", "0\n"),
    one("top in json is valid", r#""a\"b" "b" "a\"b" 1 null"#, "group 'top 3 .' -o json", "").through("jq -c 'length'", "1\n"),
    one("hist in json is valid", "1 2 3 4 5 6 7 8 0 -1 1000 0.25", "group 'hist .' -o json", "").through("jq -c 'length'", "1\n"),
    one("hist: the largest and least doubles", "1e308 -1.7e308 5e-324 -1e-323", "group 'hist .'", "-8.98846567431158e307..-2^1024 1, -1e-323..-2e-323 1, 5e-324..1e-323 1, 8.98846567431158e307..2^1024 1\n"),
    one("hist: the largest double in json", "1e308", "group 'hist .' -o json", "{\"hist_.\":[{\"from\":8.98846567431158e307,\"to\":null,\"count\":1}]}\n"),
    one("all at once", MIXED, "group count 'count .v' 'distinct .v' 'min .v' 'max .v'", "").through("cut -f1,2,4,5", "11\t9\tfalse\t{\"a\":1}\n"),
];

/// 300,000 numbers with two decimals, skewed, in two groups.
fn spread() -> Vec<u8> {
    let mut state = 1_u64;
    let line = |index: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = (state >> 40) * (state >> 44 & 0xFF) / 1000;
        format!("{{\"k\":{},\"v\":{}.{:02}}}\n", index % 2, value / 100, value % 100)
    };
    (0..300_000).map(line).collect::<String>().into_bytes()
}
