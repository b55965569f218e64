//! Dates in predicates and as keys.

use super::Case;

const TIMES: &str = r#"{"t":"2026-11-23T10:15:30Z"}
{"t":"2026-11-23T12:15:30+02:00"}
{"t":"2026-11-23T05:15:30.000-05:00"}
{"t":"2026-11-23T10:15:30.5Z"}
{"t":"2026-11-23T10:15:30.500000000001Z"}
{"t":"2026-11-23T00:30:00+02:00"}
{"t":"2026-11-22T23:30:00-01:00"}
{"t":"2026-11-23"}
{"t":"2024-02-29T23:59:59.999999999Z"}
{"t":"2023-02-29T00:00:00Z"}
{"t":"yesterday"}
{"t":1795428930}
{"t":null}
{}
{"t":"2026-12-31T22:00:00-03:00"}
{"t":"1969-12-31T23:59:59Z"}
{"t":"2026-11-23T10:60:00Z"}
{"t":"2026-11-23T10:15:30"}
"#;

const fn keeps(name: &'static str, args: &'static str, lines: &'static [usize]) -> Case {
    Case::new(name, TIMES, args, "").lines(lines)
}

pub(crate) const CASES: &[Case] = &[
    keeps("an instant in several offsets", r#"where 'time .t == "2026-11-23T10:15:30Z"'"#, &[1, 2, 3]),
    keeps("the literal has an offset", r#"where 'time .t == "2026-11-23T11:15:30+01:00"'"#, &[1, 2, 3]),
    keeps("fractions of a second", r#"where 'time .t == "2026-11-23T10:15:30.50Z"'"#, &[4]),
    keeps("greater by half a second", r#"where 'time .t > "2026-11-23T10:15:30Z" && time .t < "2026-11-23T10:15:31Z"'"#, &[4, 5]),
    keeps("before a date", r#"where 'time .t < "2026-11-23"'"#, &[6, 9, 16]),
    keeps("a date alone is its midnight in utc", r#"where 'time .t == "2026-11-23"'"#, &[8]),
    keeps("from a date on", r#"where 'time .t >= "2026-11-23" and time .t < "2026-11-24"'"#, &[1, 2, 3, 4, 5, 7, 8]),
    keeps("before 1970", r#"where 'time .t < "1970-01-01T00:00:00Z"'"#, &[16]),
    keeps("a day of a leap year", r#"where 'day .t == "2024-02-29"'"#, &[9]),
    keeps("the day in utc", r#"where 'day .t == "2026-11-22"'"#, &[6]),
    keeps("days from one on", r#"where 'day .t >= "2026-11-24"'"#, &[15]),
    keeps("the offset moves the year", r#"where 'year .t == "2027-01-01"'"#, &[15]),
    keeps("the month", r#"where 'month .t == "2026-11-01"'"#, &[1, 2, 3, 4, 5, 6, 7, 8]),
    keeps("the hour", r#"where 'hour .t == "2026-11-23T10:00:00Z"'"#, &[1, 2, 3, 4, 5]),
    keeps("the minute", r#"where 'minute .t == "2026-11-23T10:15:00Z"'"#, &[1, 2, 3, 4, 5]),
    keeps("the second", r#"where 'second .t == "2026-11-23T10:15:30Z"'"#, &[1, 2, 3, 4, 5]),
    keeps("not the day: also what is no date", r#"where 'day .t != "2026-11-23"'"#, &[6, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]),
    Case::new("two dates of a record", r#"{"a":"2026-11-23T00:30:00+02:00","b":"2026-11-22T01:00:00Z"}
{"a":"2026-11-23T01:00:00Z","b":"2026-11-22T01:00:00Z"}
"#, "where 'day .a == day .b'", "").lines(&[1]),
    Case::new("two instants ordered", r#"{"a":"2026-11-23T12:00:00+02:00","b":"2026-11-23T11:00:00Z"}
{"a":"2026-11-23T12:00:00Z","b":"2026-11-23T12:30:00+01:00"}
"#, "where 'time .a > time .b'", "").lines(&[2]),
    Case::new("strings that are dates are strings without time", TIMES, r#"where '.t == "2026-11-23T10:15:30Z"'"#, "").lines(&[1]),
    Case::new("any date of an array", "{\"t\":[\"2026-01-01\",\"2027-01-01\"]}\n{\"t\":[\"2025-01-01\",7]}\n", r#"where 'year .t[] == "2027-01-01"'"#, "").lines(&[1]),
    Case::new("a date function in parentheses and negated", TIMES, r#"where '!(day .t == "2026-11-23") && exists .t && .t != null'"#, "").lines(&[6, 9, 10, 11, 12, 15, 16, 17, 18]),
    // How a cut date is printed is not promised: its first characters are.
    Case::new("group by day", TIMES, "group --by 'day .t' count --where 'time .t > \"2026-01-01\"'", "")
        .through("sed -E 's/T00:00:00Z//'", "2026-11-22\t1\n2026-11-23\t7\n2027-01-01\t1\n"),
    Case::new("group by hour", TIMES, "group 'hour .t' count --where 'time .t >= \"2026-11-22\" and time .t < \"2026-11-24\"'", "")
        .through("sed -E 's/:00:00Z//;s/:00Z//'", "2026-11-22T22\t1\n2026-11-23T00\t2\n2026-11-23T10\t5\n"),
    Case::new("group by month and another key", "{\"t\":\"2026-11-01T00:00:00+01:00\",\"k\":\"a\"}\n{\"t\":\"2026-11-30T00:00:00Z\",\"k\":\"a\"}\n{\"t\":\"2026-11-29\",\"k\":\"a\"}\n", "group 'month .t,.k' count", "")
        .through("sed -E 's/-01T00:00:00Z//;s/-01\t/\t/'", "2026-10\ta\t1\n2026-11\ta\t2\n"),
    Case::new("group by year", "{\"t\":\"2026-12-31T23:00:00-02:00\"}\n{\"t\":\"2026-01-01T00:00:00Z\"}\n", "group 'year .t'", "")
        .through("sed -E 's/-01-01(T00:00:00Z)?//'", "2026\t1\n2027\t1\n"),
];
