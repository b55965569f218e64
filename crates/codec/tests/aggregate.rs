//! Groups and aggregates against the slowest way that is right, however the records are divided among workers.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use fullbore_codec::aggregate::{
    Aggregate, Answer, Grouped, Level, Plan, Rows, SKETCH_ERROR, SortBy, Wanted,
};
use fullbore_codec::json::query::{Kind, Number, Value};
use proptest::prelude::*;

/// A record: the texts of two keys and of one value; an empty text is a missing value.
type Record = (String, String, String);

const LEVELS: [Level; 3] = [Level(50_000_000), Level(99_900_000), Level(0)];

fn wanted() -> Vec<Wanted> {
    let mut aggregates = vec![
        Aggregate::Records,
        Aggregate::Count,
        Aggregate::Sum,
        Aggregate::Mean,
        Aggregate::Least,
        Aggregate::Greatest,
        Aggregate::Distinct,
        Aggregate::Top(3),
        Aggregate::Histogram,
    ];
    aggregates.extend(LEVELS.map(Aggregate::Quantile));
    aggregates.into_iter().map(|aggregate| Wanted { aggregate, path: 0 }).collect()
}

fn value(text: &str) -> Option<Value<'_>> {
    (!text.is_empty()).then(|| Value::new(text.as_bytes()))
}

/// Groups records of which each worker sees some, and returns the rows as text.
fn grouped(records: &[Record], workers: &[usize], plan: &Plan, by: SortBy) -> Vec<Vec<String>> {
    let count = workers.iter().max().map_or(1, |most| most + 1);
    let mut tables: Vec<_> = (0..count).map(|_| Grouped::new(plan, 42)).collect();
    for ((one, two, text), worker) in records.iter().zip(workers.iter().cycle()) {
        let keys = [value(one), value(two)];
        tables[*worker].add(&keys[..plan.keys], &[value(text)]);
    }
    let joined = tables.into_iter().reduce(|mut all, more| {
        assert!(all.absorb(more, |_| true));
        all
    });
    let rows = Rows::new(joined.expect("there is a table"), by);
    let row = |row| {
        let keys = (0..plan.keys).map(|part| {
            let item = rows.key(row, part);
            shown(item.kind, item.text)
        });
        let answers = (0..plan.wanted.len()).map(|number| match rows.answer(row, number) {
            Answer::Nothing => String::new(),
            Answer::Count(count) => count.to_string(),
            Answer::Number(text) => text,
            Answer::Value(kind, text) => shown(Some(kind), &text),
            Answer::Top(list) => {
                let values = list.iter().map(|(i, count)| (shown(i.kind, i.text), *count));
                format!("{:?}", values.collect::<Vec<_>>())
            }
            Answer::Ranges(list) => {
                let ranges = list.iter().map(|(range, count)| (range.from, *count));
                format!("{:?}", ranges.collect::<Vec<_>>())
            }
        });
        keys.chain(answers).collect()
    };
    (0..rows.len()).map(row).collect()
}

fn shown(kind: Option<Kind>, text: &[u8]) -> String {
    format!("{} {}", kind.map_or(0, |kind| kind as u8 + 1), String::from_utf8_lossy(text))
}

/// The same, as simply as possible.
fn naive(records: &[Record]) -> Vec<Vec<String>> {
    let mut groups: BTreeMap<(Sorted, Sorted), Vec<Sorted>> = BTreeMap::new();
    for (one, two, text) in records {
        let key = (Sorted(one.clone()), Sorted(two.clone()));
        groups.entry(key).or_default().push(Sorted(text.clone()));
    }
    groups
        .into_iter()
        .map(|((one, two), values)| {
            let mut row = vec![one.shown(), two.shown()];
            row.extend(answers(&values));
            row
        })
        .collect()
}

fn answers(values: &[Sorted]) -> Vec<String> {
    let present: Vec<_> = values.iter().filter(|value| !value.0.is_empty()).collect();
    let full: Vec<_> = present.iter().filter(|value| value.0 != "null").collect();
    let numbers: Vec<f64> = present.iter().filter_map(|value| value.0.parse().ok()).collect();
    let sum: i128 = present.iter().filter_map(|value| thousandths(&value.0)).sum();
    let sum = (!numbers.is_empty()).then(|| plain(sum));
    let mean = sum.as_ref().map(|sum| sum.parse::<f64>().expect("a number") / numbers.len() as f64);
    let distinct: BTreeSet<_> = present.iter().collect();
    let mut counts = BTreeMap::new();
    present.iter().for_each(|value| *counts.entry(value).or_insert(0) += 1);
    let mut top: Vec<_> = counts.iter().map(|(value, count)| (value.shown(), *count)).collect();
    top.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    top.truncate(3);
    let text = |list: &[(String, i32)]| {
        if list.is_empty() { String::new() } else { format!("{list:?}") }
    };
    let mut row = vec![
        values.len().to_string(),
        full.len().to_string(),
        sum.unwrap_or_default(),
        mean.map(shortest).unwrap_or_default(),
        full.iter().min().map(|value| value.shown()).unwrap_or_default(),
        full.iter().max().map(|value| value.shown()).unwrap_or_default(),
        distinct.len().to_string(),
        text(&top),
        histogram(&numbers),
    ];
    row.extend(LEVELS.map(|level| quantile(&numbers, level)));
    row
}

/// A value of the tests' records, in the order in which values are sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sorted(String);

impl Sorted {
    fn shown(&self) -> String {
        match value(&self.0) {
            None => shown(None, b""),
            Some(value) => match value.kind() {
                kind @ (Kind::Null | Kind::False | Kind::True) => shown(Some(kind), b""),
                kind => shown(Some(kind), &value.decoded()),
            },
        }
    }
}

impl Ord for Sorted {
    fn cmp(&self, other: &Self) -> Ordering {
        let kind = |one: &Self| value(&one.0).map(Value::kind);
        let kinds = kind(self).cmp(&kind(other));
        if kinds.is_eq() && kind(self) == Some(Kind::Number) {
            let (one, two) = (Number::new(self.0.as_bytes()), Number::new(other.0.as_bytes()));
            return one.cmp(&two).then_with(|| self.0.cmp(&other.0));
        }
        kinds.then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Sorted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns a number of the tests' records in thousandths.
fn thousandths(text: &str) -> Option<i128> {
    text.parse::<f64>().ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    format!("{whole}{fraction:0<3}").parse().ok()
}

/// Returns a number of thousandths as text.
fn plain(thousandths: i128) -> String {
    let sign = if thousandths < 0 { "-" } else { "" };
    let thousandths = thousandths.abs();
    let text = format!("{sign}{}.{:03}", thousandths / 1000, thousandths % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn shortest(number: f64) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

#[expect(clippy::cast_possible_truncation, reason = "the rank of a number in memory")]
fn quantile(numbers: &[f64], level: Level) -> String {
    let mut numbers = numbers.to_vec();
    numbers.sort_by(f64::total_cmp);
    let rank = (numbers.len() as u64 * u64::from(level.0)).div_ceil(100_000_000).max(1);
    numbers.get(rank as usize - 1).map(|number| shortest(*number + 0.0)).unwrap_or_default()
}

#[expect(clippy::cast_possible_truncation, reason = "logarithms are small")]
fn histogram(numbers: &[f64]) -> String {
    let mut counts: Vec<(f64, u64)> = Vec::new();
    let mut froms: Vec<f64> = numbers
        .iter()
        .map(|number| match *number {
            0.0 => 0.0,
            number => number.signum() * 2_f64.powi(number.abs().log2().floor() as i32),
        })
        .collect();
    froms.sort_by(f64::total_cmp);
    for from in froms {
        match counts.last_mut() {
            Some((last, count)) if *last == from => *count += 1,
            _ => counts.push((from, 1)),
        }
    }
    if counts.is_empty() { String::new() } else { format!("{counts:?}") }
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("1".to_owned()),
        Just("1.0".to_owned()),
        Just("\"1\"".to_owned()),
        Just("[1,2]".to_owned()),
        "\"[a-c]{0,2}\"",
        "\"[a-b]{13,17}\"",
        (-20..20_i32).prop_map(|number| number.to_string()),
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (-9..9_i32).prop_map(|number| number.to_string()),
        (-999_999_999_999_999..999_999_999_999_999_i64).prop_map(|number| number.to_string()),
        (-1_000_000..1_000_000_i64, 0..1000_u32)
            .prop_map(|(whole, fraction)| format!("{whole}.{fraction:03}")),
        (0..9_u32, 1..9_u32).prop_map(|(whole, tenth)| format!("{whole}.{tenth}")),
    ]
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let value = prop_oneof![4 => number(), 1 => key()];
    prop::collection::vec((key(), key(), value), 0..120)
}

proptest! {
    #[test]
    fn rows_are_those_of_the_naive_form_however_the_records_are_divided(
        records in records(),
        workers in prop::collection::vec(0..4_usize, 1..50),
    ) {
        let plan = Plan::new(2, wanted());
        let rows = grouped(&records, &workers, &plan, SortBy::Keys);
        prop_assert_eq!(&rows, &naive(&records));
        prop_assert_eq!(rows, grouped(&records, &[0], &plan, SortBy::Keys));
    }

    #[test]
    fn estimates_do_not_depend_on_how_the_records_are_divided(
        records in records(),
        workers in prop::collection::vec(0..4_usize, 1..50),
        most in 0..60_usize,
    ) {
        let limits = Plan { most_exact_values: most, most_exact_distinct: most, ..Plan::new(0, wanted()) };
        let alone = grouped(&records, &[0], &limits, SortBy::Keys);
        prop_assert_eq!(&alone, &grouped(&records, &workers, &limits, SortBy::Keys));
        prop_assert_eq!(alone.len(), 1);
        let exact = grouped(&records, &[0], &Plan::new(0, wanted()), SortBy::Keys);
        for (estimate, exact) in alone[0].iter().zip(&exact[0]).skip(9) {
            if let (Ok(estimate), Ok(exact)) = (estimate.parse::<f64>(), exact.parse::<f64>()) {
                let error = (estimate - exact).abs();
                prop_assert!(error <= (SKETCH_ERROR + 0.001) * exact.abs(), "{} for {}", estimate, exact);
            }
        }
    }

    #[test]
    fn rows_are_sorted_by_an_aggregate_and_then_by_their_keys(records in records(), number in 0..12_usize) {
        let plan = Plan::new(2, wanted());
        let sorted = grouped(&records, &[0, 1], &plan, SortBy::Aggregate(number));
        let mut all = grouped(&records, &[0], &plan, SortBy::Keys);
        let mut same = sorted.clone();
        all.sort();
        same.sort();
        prop_assert_eq!(all, same);
        let column: Vec<&String> = sorted.iter().map(|row| &row[2 + number]).collect();
        if let Some(at) = column.iter().position(|cell| cell.is_empty()) {
            prop_assert!(column[at..].iter().all(|cell| cell.is_empty()));
        }
        let numbers: Vec<f64> = column.iter().map_while(|cell| cell.parse().ok()).collect();
        prop_assert!(numbers.is_sorted_by(|one, other| one >= other), "{:?}", numbers);
    }
}

#[test]
fn without_keys_there_is_one_row_even_of_no_records() {
    let rows = grouped(&[], &[0, 1], &Plan::new(0, wanted()), SortBy::Keys);
    let expected = ["0", "0", "", "", "", "", "0", "", "", "", "", ""];
    assert_eq!(rows, [expected]);
    assert!(grouped(&[], &[0], &Plan::new(2, wanted()), SortBy::Keys).is_empty());
}

#[test]
fn sums_do_not_depend_on_the_order_even_where_128_bits_are_too_few() {
    let huge = "170141183460469231731687303715884105727";
    let texts =
        [huge, huge, "-0.000000000000000001", "1e300", "99999999999999999", "0.1", "-1e300"];
    let wanted = vec![Wanted { aggregate: Aggregate::Sum, path: 0 }];
    let plan = Plan::new(0, wanted);
    let expected = "340282366920938463463474607431768211453.099999999999999999";
    for turn in 0..texts.len() {
        let mut texts = texts;
        texts.rotate_left(turn);
        let records: Vec<Record> =
            texts.iter().map(|text| (String::new(), String::new(), (*text).to_owned())).collect();
        for workers in [&[0][..], &[0, 1], &[0, 1, 2, 1]] {
            assert_eq!(grouped(&records, workers, &plan, SortBy::Keys), [[expected]]);
        }
    }
}

#[test]
fn the_memory_is_counted() {
    let wanted = [Aggregate::Quantile(LEVELS[0]), Aggregate::Distinct, Aggregate::Top(1)];
    let wanted = wanted.map(|aggregate| Wanted { aggregate, path: 0 }).to_vec();
    let mut grouped = Grouped::new(&Plan::new(1, wanted), 1);
    let before = grouped.bytes();
    for number in 0..10_000 {
        let text = number.to_string();
        grouped.add(&[Some(Value::new(b"1"))], &[Some(Value::new(text.as_bytes()))]);
    }
    let grown = grouped.bytes() - before;
    // 8 bytes for the quantile, 9 and free slots for the set, a map of texts.
    assert!((10_000 * 60..10_000 * 150).contains(&grown), "{grown} bytes");
    let other = Grouped::new(&Plan::new(1, Vec::new()), 1);
    assert!(!grouped.absorb(other, |bytes| bytes < 1000));
}
