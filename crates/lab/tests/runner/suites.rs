//! Suite files: those that come with the program, and mistakes.

use fullbore_lab::suite::{BUILT_IN, read};

#[test]
fn every_suite_of_the_program_is_right() {
    for (name, text) in BUILT_IN {
        let suite = read(name, name, text).unwrap_or_else(|error| panic!("{error}"));
        assert!(!suite.cases.is_empty() && !suite.about.is_empty(), "{name}");
        for case in &suite.cases {
            assert!(case.engines.len() >= 2, "{name}/{}: nothing to compare", case.name);
        }
    }
}

#[test]
fn plain_numbers_beside_a_size_are_sizes_and_alone_they_are_counts() {
    for (values, is_size) in [("[64, \"4K\"]", true), ("[\"4K\"]", true), ("[64, 128]", false)] {
        let suite = read("s", "s.toml", &GOOD.replacen("[\"64K\", \"1M\"]", values, 1)).unwrap();
        assert_eq!(suite.cases[0].sweep[0].is_size, is_size, "{values}");
    }
}

/// A suite without a mistake, as lines.
const GOOD: &str = r#"about = "x"
[[case]]
name = "c"
title = "C"
show = "bytes/s"
bytes = "{size} * 2"
chart = "lines"
x = "size"
sweep = { size = ["64K", "1M"] }
fixed = { n = 3 }
quick = { size = ["64K"] }
[[case.engine]]
name = "a"
argv = ["cat", "{dir}/x", "{n}"]
needs = [{ program = "cat" }]
"#;

#[test]
fn a_mistake_gives_the_line_and_what_was_expected() {
    read("s", "s.toml", GOOD).unwrap();
    for (right, wrong, line, message) in [
        ("title", "titel", 4, "unknown field `titel`"),
        ("title = \"C\"\n", "", 2, "missing field `title`"),
        ("\"bytes/s\"", "\"speed\"", 5, "expected bytes/s, ops/s, latency"),
        ("bytes = \"{size} * 2\"\n", "", 5, "needs bytes"),
        ("{size} * 2", "{size} * two", 6, "'two': not a size"),
        ("\"lines\"", "\"pie\"", 7, "unknown variant `pie`, expected one of"),
        ("x = \"size\"", "x = \"sise\"", 8, "no parameter of sweep"),
        ("[\"64K\", \"1M\"] }\nfixed", "\"64K\" }\nfixed", 9, "expected a list"),
        ("[\"64K\", \"1M\"] }\nfixed", "[1.5] }\nfixed", 9, "expected a whole number"),
        ("fixed = { n", "fixed = { m = 1, n", 10, "no engine of this case uses 'm'"),
        ("n = 3", "size = 3", 10, "both swept and fixed"),
        ("quick = { size", "quick = { sise", 11, "neither in sweep nor in fixed"),
        ("name = \"a\"", "name = \"a b\"", 13, "is no name"),
        ("{dir}/x", "{dri}/x", 14, "{dri} is no parameter: expected one of"),
        (
            "argv = [\"cat\", \"{dir}/x\", \"{n}\"]",
            "builtin = \"pype\"",
            14,
            "no engine pype; there are",
        ),
        (
            "argv = [\"cat\", \"{dir}/x\", \"{n}\"]",
            "builtin = \"pipe\"\nparameters = { writer = \"rite\" }",
            14,
            "rite",
        ),
        ("{ program = \"cat\" }", "{ prog = \"cat\" }", 15, "unknown field `prog`"),
        ("{ program = \"cat\" }", "{ check = \"true\" }", 15, "check needs what"),
        ("about = \"x\"", "about = x", 1, ""),
    ] {
        assert!(GOOD.contains(right), "{right}");
        let text = GOOD.replacen(right, wrong, 1);
        let error = read("s", "s.toml", &text).expect_err(&text);
        assert_eq!((error.file.as_str(), error.line), ("s.toml", line), "{wrong}: {error}");
        assert!(error.message.contains(message), "{wrong}: {error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn names_are_there_once() {
    let engine = "[[case.engine]]\nname = \"a\"\nshell = \"true\"\n";
    let error = read("s", "s.toml", &format!("{GOOD}{engine}")).unwrap_err();
    assert_eq!((error.line, error.message.as_str()), (17, "a second engine named 'a'"));
    let twice = format!("{GOOD}{}", GOOD.split_once('\n').unwrap().1);
    assert!(read("s", "s.toml", &twice).unwrap_err().message.contains("a second case named 'c'"));
}

#[test]
fn a_suite_without_cases_is_none() {
    assert!(read("s", "s.toml", "about = \"x\"").unwrap_err().message.contains("[[case]]"));
    assert_eq!(read("s", "s.toml", "").unwrap_err().line, 1);
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,200}", at in 0..400_usize) {
        let _ = read("s", "s.toml", &text);
        let mut mixed = GOOD.to_owned();
        let at = (0..=at.min(mixed.len())).rev().find(|at| mixed.is_char_boundary(*at)).unwrap_or(0);
        mixed.insert_str(at, &text);
        let _ = read("s", "s.toml", &mixed);
    }
}
