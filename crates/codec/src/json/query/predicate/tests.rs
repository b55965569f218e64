use proptest::prelude::*;
use serde_json::{Value as Tree, json};

use super::*;
use crate::Tier;
use crate::json::query::{Duplicates, Scanner, Table};

fn holds(expression: &str, document: &str) -> bool {
    let predicate = Predicate::parse(expression);
    let predicate = predicate.unwrap_or_else(|error| panic!("{expression}: {error:?}"));
    let rows = Rows::new(predicate.paths(), Duplicates::Last).unwrap();
    let mut scanner = Scanner::new(Tier::Portable, rows.members().to_vec(), Duplicates::Last);
    let mut table = Table::default();
    scanner.scan(document.as_bytes(), true, &mut table).unwrap();
    let cells = &mut Vec::new();
    predicate.selects(&rows, document.as_bytes(), &table.values, cells).unwrap()
}

const RECORD: &str = r#"{"n":1,"d":1.0,"big":12345678901234567890123,"z":-0,"huge":1E400,"s":"a\u0062c","e":"",
    "t":true,"f":false,"nul":null,"arr":[1,{"k":"x"}],"arr2":[1, {"k":"x"}],"obj":{"in":3},"w x":9,"quote":"say \"a\"",
    "at":"2026-11-23T14:05:07+01:00","then":"2026-11-23T13:30:00Z","no date":"2026-11-31","path":"/api/v1?x=\\d"}"#;

const TRUE: &[&str] = &[
    ".n == 1",
    ".n == 1.0",
    ".n == 10e-1",
    ".d == 1",
    "1 == .d",
    ".n == .d",
    ".z == 0",
    ".z >= .z",
    ".big == 12345678901234567890123.0",
    ".big != 12345678901234567890124",
    ".big < 12345678901234567890124",
    ".big > 12345678901234567890122",
    ".huge > 1e399",
    ".huge == 10E399",
    ".huge < 1e1000000000",
    ".n > -1e1000000000",
    ".n != \"1\"",
    ".s == \"abc\"",
    ".s == 'abc'",
    ".s == \"\\u0061bc\"",
    ".s > \"ab\"",
    ".s < \"abd\"",
    "\"abb\" < .s",
    ".e == \"\"",
    ".e < .s",
    ".t",
    ".t == true",
    ".f == false",
    ".f < .t",
    ".f != .t",
    "!.f",
    "not .f",
    ".nul == null",
    ".nul <= null",
    ".none != null",
    ".none != 1",
    "!(.none == 1)",
    "!exists .none",
    "exists .nul",
    "exists .arr[1].k",
    "!exists .arr[2]",
    ".arr == .arr2",
    ".arr <= .arr2",
    ".arr != .obj",
    ".arr[-1].k == \"x\"",
    ".obj.in == 3",
    ".\"w x\" == 9",
    "$['w x'] == 9",
    ".quote ~ \"\\\"a\\\"\"",
    ".s ~ \"^a.c$\"",
    ".s ~ \"b\"",
    ".s !~ \"^b\"",
    ".n !~ \"1\"",
    ".none !~ \"x\"",
    ".path ~ \"^/api/v\\d+\\?\"",
    ".path ~ '\\\\d$'",
    ".s ~ \"(?i)ABC\"",
    ".n in (1)",
    ".d in (\"a\", 1, null)",
    ".s in (\"x\", \"abc\")",
    ".nul in (null)",
    ".n in(0,2,3,4,5,6,7,8,9,10,1.0)",
    ".s in (1,2,3,4,5,6,7,8,\"abc\")",
    ".t in (1,2,3,4,5,6,7,8,true)",
    "!(.s in (1,2,3,4,5,6,7,8,null))",
    ".n == 1 && .s == \"abc\"",
    ".n == 2 || .n == 1",
    ".n == 2 or .n == 1 and .t",
    "(.n == 2 || .t) && .t",
    ".t&&.t||.f",
    "!(.f || .f)",
    "!(.t && .f)",
    "not (.n > 5 or .f)",
    "!!.t",
    "time .at == time .at_ || true == .t",
    ". != 1",
    "exists .",
    "time .at == \"2026-11-23T13:05:07Z\"",
    "time .at < time .then",
    "time .at >= \"2026-11-23\"",
    "\"2026-11-24\" > time .at",
    "hour .at == hour .then",
    "hour .at == \"2026-11-23T13:00:00Z\"",
    "day .at == \"2026-11-23\"",
    "month .at == \"2026-11\"",
    "year .at == \"2026\"",
    "minute .at != minute .then",
    "second .at == time .at",
    "time .s != \"2026-11-23\"",
    "!(time .\"no date\" < \"2030-01-01\")",
    ".n<2&&.n>0",
    " \t.n\n==\r1 ",
];

#[test]
fn expressions_that_are_true() {
    for expression in TRUE {
        assert!(holds(expression, RECORD), "{expression}");
    }
}

const FALSE: &[&str] = &[
    ".n == 1.0000000000000000000000000000001",
    ".n == \"1\"",
    ".n < \"2\"",
    ".s < 5",
    ".s >= 5",
    ".n == true",
    ".none == 1",
    ".none == null",
    ".none < 1",
    ".none >= 1",
    ".none == .none",
    ".none < .n",
    ".nul < 1",
    ".nul == false",
    ".n",
    ".s",
    ".obj",
    ".nul",
    ".none",
    ".n ~ \"1\"",
    ".none ~ \"\"",
    ".n in (2, \"1\")",
    ".none in (null)",
    ".obj.in[0] == 3",
    ".n.a == 1",
    ".arr.k == 1",
    ".s == \"ABC\"",
    ".s == \"ab\"",
    ".big == 12345678901234567890124",
    ".big == 12345678901234567890122.9",
    ".huge == 1e401",
    "time .none == \"2026-11-23\"",
    "time .n < \"2026-11-23\"",
    "time .\"no date\" == time .\"no date\"",
    ".t && .f",
    ".f or .f",
    "not .t",
    "!(.t || .f)",
    ".path == \"/api/v1?x=\\\\\\\\d\"",
];

#[test]
fn expressions_that_are_false() {
    for expression in FALSE {
        assert!(!holds(expression, RECORD), "{expression}");
    }
}

#[test]
fn the_last_of_two_members_counts_and_names_are_decoded() {
    assert!(holds(".a == 2", r#"{"a":1,"a":2}"#));
    assert!(holds(".a == 2", r#"{"\u0061":2}"#));
    assert!(holds(".\"\\u0061\" == 2", r#"{"a":2}"#));
}

#[test]
fn one_element_is_enough_for_a_test_and_none_for_its_opposite() {
    let record = r#"{"a":1,"items":[{"id":1,"n":5},{"id":2,"n":6},{"n":7}],"e":[]}"#;
    for expression in [
        ".items[].id == 2",
        ".items[].id == 1 && .items[].n == 5",
        ".items[].id == 1 && .items[].n == 6",
        ".items[].id != 3",
        ".a == 1 && .items[].n > 6",
        "exists .items[].id",
        ".a == 1 || .e[] == 1",
        "exists .items[]",
        ".items[].n == .items[].n",
        ".e[] != 1",
        "!(.e[] == 1)",
        "!exists .e[]",
        ".none[] != 1",
        ".a[] != 1",
    ] {
        assert!(holds(expression, record), "{expression}");
    }
    for expression in [
        ".items[].id == 3",
        ".items[].id != 1",
        "!(.items[].id == 1)",
        "!exists .items[].id",
        ".e[] == 1",
        ".a == 1 && .none[] == 1",
    ] {
        assert!(!holds(expression, record), "{expression}");
    }
}

#[test]
fn a_mistake_has_a_place() {
    for (expression, at, message) in [
        ("", 0, parse::EXPECTED_TEST),
        ("  ", 2, parse::EXPECTED_TEST),
        ("status == 1", 0, parse::EXPECTED_TEST),
        (".a = 1", 3, "expected == != < <= > or >=, ~ !~ in && ||, or the end"),
        (".a == ", 6, parse::EXPECTED_OPERAND),
        (".a == b", 6, parse::EXPECTED_OPERAND),
        (".a == 01", 6, "expected a number as JSON writes it"),
        (".a == 1.", 6, "expected a number as JSON writes it"),
        (".a == 1 .b", 8, "expected && or || or the end of the expression"),
        (".a == 1 & .b", 8, "expected && or || or the end of the expression"),
        (".a & .b", 3, "expected && or || or the end of the expression"),
        (".a == 1)", 7, "there is no ( for this )"),
        ("(.a == 1", 0, "this ( is never closed"),
        ("!(.a == 1 .b)", 10, "expected && or || or the end of the expression"),
        (".a && ", 6, parse::EXPECTED_TEST),
        (".a == \"x", 6, "this \" is never closed"),
        (".größe == \"\\x\"", 14, "expected one of \" \\ / b f n r t u after \\"),
        ("1 == 2", 0, "expected a path on one side"),
        ("1", 1, parse::EXPECTED_RELATION),
        ("true", 4, parse::EXPECTED_RELATION),
        ("exists 1", 7, "expected a path, which begins with . or $"),
        (".a[x] == 1", 3, "expected an index, a name in quotes, or ]"),
        ("hour == 1", 5, "expected a path, which begins with . or $"),
        ("hour .t", 7, parse::EXPECTED_RELATION),
        ("hour .t == 1", 11, parse::EXPECTED_DATE),
        ("hour .t == \"noon\"", 11, parse::EXPECTED_DATE),
        ("\"2026-02-30\" < time .t", 0, parse::EXPECTED_DATE),
        ("time .t < .u", 10, "expected time before this path, because the other side is a time"),
        (".u > time .t", 0, "expected time before this path, because the other side is a time"),
        (".a ~ x", 5, "expected a regular expression in quotes"),
        (".a ~ \"x", 5, "this \" is never closed"),
        (".a ~ \"x\\\"", 5, "this \" is never closed"),
        (".a ~ \"(x\"", 5, "wrong regular expression: unclosed group"),
        (
            ".a ~ \"\\w{1000}{1000}\"",
            5,
            "this regular expression would need more than 10485760 bytes of memory",
        ),
        (".a in 1", 6, "expected ( after in"),
        (".a in ()", 7, parse::EXPECTED_LITERAL),
        (".a in (1 2)", 9, "expected , or )"),
        (".a in (.b)", 7, parse::EXPECTED_LITERAL),
        (".a[].x == 1 && .b[] == 2", 15, "only one array can be gone through: .a[] or .b[]"),
    ] {
        let error = Predicate::parse(expression).unwrap_err();
        assert_eq!((error.at, &*error.message), (at, message), "{expression}");
    }
}

#[test]
fn deep_and_long_expressions_do_not_need_a_deep_stack() {
    for (text, at) in [("(", 100), ("!", 100), ("not ", 400), ("!(", 100)] {
        let error = Predicate::parse(&text.repeat(100_000)).unwrap_err();
        assert_eq!((error.at, &*error.message), (at, "nested more than 100 deep"));
    }
    let nested = format!("{}.t{}", "(".repeat(99), ")".repeat(99));
    assert!(holds(&nested, RECORD));
    let long = vec![".t && .n == 1 || .f"; 50_000].join(" || ");
    assert!(holds(&long, RECORD));
}

/// An expression, and what it means.
#[derive(Clone, Debug)]
enum Meaning {
    Compare(String, String, Tree),
    Exists(String),
    IsTrue(String),
    In(String, Vec<Tree>),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
}

impl Meaning {
    fn text(&self) -> String {
        match self {
            Self::Compare(name, symbol, literal) => format!(".{name} {symbol} {literal}"),
            Self::Exists(name) => format!("exists .{name}"),
            Self::IsTrue(name) => format!(".{name}"),
            Self::In(name, literals) => {
                let literals: Vec<String> = literals.iter().map(Tree::to_string).collect();
                format!(".{name} in ({})", literals.join(","))
            }
            Self::Not(inner) => format!("!({})", inner.text()),
            Self::And(one, two) => format!("({}) && ({})", one.text(), two.text()),
            Self::Or(one, two) => format!("({})or({})", one.text(), two.text()),
        }
    }

    fn holds(&self, record: &Tree) -> bool {
        match self {
            Self::Compare(name, symbol, literal) => {
                let order = record.get(name).and_then(|value| naive_order(value, literal));
                match &**symbol {
                    "==" => order == Some(0),
                    "!=" => order != Some(0),
                    "<" => order.is_some_and(|order| order < 0),
                    "<=" => order.is_some_and(|order| order <= 0),
                    ">" => order.is_some_and(|order| order > 0),
                    _ => order.is_some_and(|order| order >= 0),
                }
            }
            Self::Exists(name) => record.get(name).is_some(),
            Self::IsTrue(name) => record.get(name) == Some(&json!(true)),
            Self::In(name, literals) => literals.iter().any(|literal| {
                record.get(name).and_then(|value| naive_order(value, literal)) == Some(0)
            }),
            Self::Not(inner) => !inner.holds(record),
            Self::And(one, two) => one.holds(record) && two.holds(record),
            Self::Or(one, two) => one.holds(record) || two.holds(record),
        }
    }
}

fn naive_order(value: &Tree, literal: &Tree) -> Option<i32> {
    let order = match (value, literal) {
        (Tree::Null, Tree::Null) => Some(std::cmp::Ordering::Equal),
        (Tree::Bool(one), Tree::Bool(two)) => Some(one.cmp(two)),
        (Tree::Number(one), Tree::Number(two)) => one.as_f64().partial_cmp(&two.as_f64()),
        (Tree::String(one), Tree::String(two)) => Some(one.cmp(two)),
        _ => None,
    };
    order.map(|order| order as i32)
}

fn literal() -> impl Strategy<Value = Tree> {
    prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::from),
        (-3..3_i64).prop_map(Tree::from),
        (-3..3_i8).prop_map(|halves| Tree::from(f64::from(halves) / 2.0)),
        "[ab\n\"é]{0,2}".prop_map(Tree::from),
    ]
}

fn meaning() -> impl Strategy<Value = Meaning> {
    let symbol = prop_oneof![Just("=="), Just("!="), Just("<"), Just("<="), Just(">"), Just(">=")];
    let leaf = prop_oneof![
        4 => ("[a-c]", symbol, literal()).prop_map(|(name, symbol, literal)| {
            Meaning::Compare(name, symbol.to_owned(), literal)
        }),
        1 => "[a-c]".prop_map(Meaning::Exists),
        1 => "[a-c]".prop_map(Meaning::IsTrue),
        1 => ("[a-c]", proptest::collection::vec(literal(), 1..12))
            .prop_map(|(name, literals)| Meaning::In(name, literals)),
    ];
    leaf.prop_recursive(4, 16, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Meaning::Not(Box::new(inner))),
            (inner.clone(), inner.clone())
                .prop_map(|(one, two)| Meaning::And(Box::new(one), Box::new(two))),
            (inner.clone(), inner).prop_map(|(one, two)| Meaning::Or(Box::new(one), Box::new(two))),
        ]
    })
}

proptest! {
    #[test]
    fn expressions_mean_what_they_mean_for_serde_json(
        meaning in meaning(), members in proptest::collection::btree_map("[a-c]", literal(), 0..4),
    ) {
        let record = Tree::Object(members.into_iter().collect());
        let text = meaning.text();
        prop_assert_eq!(holds(&text, &record.to_string()), meaning.holds(&record), "{}", text);
    }

    #[test]
    fn any_text_has_a_verdict_within_it(
        text in "([.()!&|<=>~\"é ]|a|1|\\[\\]|in |exists |time |\"2026\"|and|not ){0,12}",
    ) {
        if let Err(error) = Predicate::parse(&text) {
            prop_assert!(text.is_char_boundary(error.at), "{:?}", error);
        }
    }
}
