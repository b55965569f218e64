//! Tests the splitting of lines into pipelines and stages: tables of known lines, and properties of arbitrary ones.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use fullbore_shell::{segments, shorten};
use proptest::prelude::*;

/// A line and the stages of its pipelines.
type Line = (&'static str, &'static [&'static [&'static str]]);

const LINES: &[Line] = &[
    ("", &[]),
    ("  # nothing", &[]),
    ("a", &[&["a"]]),
    ("a|b |& c", &[&["a", "b", "c"]]),
    ("a | b; c | d & e\nf", &[&["a", "b"], &["c", "d"], &["e"], &["f"]]),
    ("a && b || c", &[&["a"], &["b"], &["c"]]),
    ("a |\n  b", &[&["a", "b"]]),
    ("a \\\n | b", &[&["a", "b"]]),
    ("a # x | y\nb", &[&["a"], &["b"]]),
    ("echo a#b | c", &[&["echo a#b", "c"]]),
    (r#"grep 'a|b' | sed "s/;/|/" | x\|y"#, &[&["grep 'a|b'", r#"sed "s/;/|/""#, r"x\|y"]]),
    (r"printf $'it\'s|' | wc", &[&[r"printf $'it\'s|'", "wc"]]),
    (
        "echo `a | b` $(c | d; e) ${x:-|} $((1|2)) | f",
        &[&["echo `a | b` $(c | d; e) ${x:-|} $((1|2))", "f"]],
    ),
    (r#"echo "$(a "b|c" | d)" | e"#, &[&[r#"echo "$(a "b|c" | d)""#, "e"]]),
    ("(a | b) | { c; d | e; } | f", &[&["(a | b)", "{ c; d | e; }", "f"]]),
    (
        "a | while read -r l; do echo $l | b; done | c",
        &[&["a", "while read -r l; do echo $l | b; done", "c"]],
    ),
    ("for i in 1 2; do a | b; done > out | c", &[&["for i in 1 2; do a | b; done > out", "c"]]),
    ("for ((i=0; i<3; i++)); do a; done | c", &[&["for ((i=0; i<3; i++)); do a; done", "c"]]),
    (
        "if a | b; then c; elif d; then e; else f; fi | g",
        &[&["if a | b; then c; elif d; then e; else f; fi", "g"]],
    ),
    (
        "case $x in a|b) c | d;; (e) f ;; *) ;; esac | g",
        &[&["case $x in a|b) c | d;; (e) f ;; *) ;; esac", "g"]],
    ),
    ("[[ a == b || c ]] && d | e", &[&["[[ a == b || c ]]"], &["d", "e"]]),
    ("(( a || b )) && c", &[&["(( a || b ))"], &["c"]]),
    (
        "a >| f 2>&1 | b &> g | c <&3 | d >&2 | e &>> h",
        &[&["a >| f 2>&1", "b &> g", "c <&3", "d >&2", "e &>> h"]],
    ),
    ("a 3>&- <<< 'x|y' | b", &[&["a 3>&- <<< 'x|y'", "b"]]),
    (
        "tee >(gzip | x > a.gz) | diff <(a | b) <(c) | d",
        &[&["tee >(gzip | x > a.gz)", "diff <(a | b) <(c)", "d"]],
    ),
    ("cat <<EOF | sort\na | b\nEOF\nc | d", &[&["cat <<EOF", "sort"], &["c", "d"]]),
    ("cat <<-'E F' | sort\n\ta $( |\n\tE F\nc", &[&["cat <<-'E F'", "sort"], &["c"]]),
    ("A=1 b=(x y) ! ", &[&["A=1 b=(x y) !"]]),
    ("! a | b", &[&["! a", "b"]]),
    ("time a | b", &[&["time a", "b"]]),
    ("ls !(*.gz|@(a|b)) | c", &[&["ls !(*.gz|@(a|b))", "c"]]),
    ("echo } done fi | a", &[&["echo } done fi", "a"]]),
    ("echo $# $$ ${#x} | wc", &[&["echo $# $$ ${#x}", "wc"]]),
    ("< in a | b > out", &[&["< in a", "b > out"]]),
];

#[test]
fn lines_split_where_a_shell_splits_them() {
    for (line, wanted) in LINES {
        let wanted: Vec<Vec<String>> =
            wanted.iter().map(|stages| stages.iter().map(|s| (*s).to_owned()).collect()).collect();
        assert_eq!(segments(line), Some(wanted), "{line}");
    }
}

#[test]
fn lines_that_are_unbalanced_or_unusual_have_no_names() {
    for line in [
        "a |",
        "| a",
        "a | | b",
        "a &&",
        "; a",
        "a ; ; b",
        "a & ; b",
        "a ;; b",
        "'a",
        "\"a",
        "`a",
        "a\\",
        "$(a",
        "${a",
        "$((1)",
        "(a",
        "a)",
        "()",
        "{ a",
        "a; }",
        "{ }",
        "if a; then b",
        "while a; b; done",
        "for i in a; done",
        "done",
        "case x in a) b",
        "case x on a) b;; esac",
        "f() { a; }; f | b",
        "function f { a; }",
        "coproc a",
        "cat <<EOF\nnever closed",
        "cat <<EOF | b",
        "cat <",
        "cat < | b",
        "(a) b",
        "{ a; } b",
        "a (b)",
        "[[ a",
        "$( (a); b) | $(((c); d)",
        "} | a",
    ] {
        assert_eq!(segments(line), None, "{line}");
    }
}

#[test]
fn deep_nesting_gives_up_instead_of_overflowing() {
    assert_eq!(segments(&"(".repeat(100_000)), None);
    assert_eq!(segments(&"$(".repeat(100_000)), None);
    assert_eq!(segments(&"\"$(".repeat(100_000)), None);
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(line in "\\PC*") {
        let _ = segments(&line);
    }

    #[test]
    fn arbitrary_shell_never_panics_and_never_yields_an_empty_stage(
        parts in prop::collection::vec(prop::sample::select(vec![
            "a", "b c", " ", "\n", "|", "||", "&", "&&", ";", ";;", "(", ")", "{ ", "}", "$(", "$((", "))", "${", "`",
            "'", "\"", "\\", "#", "<", ">", ">|", "<<", "EOF", "<<-E\n", "if ", "then ", "fi", "do ", "done", "while ",
            "case x in ", "esac", "for i in ", "[[ ", " ]]", "ä", "=(", "@(", "<(", "2>&1",
        ]), 0..24)
    ) {
        if let Some(found) = segments(&parts.concat()) {
            for stage in found.iter().flatten() {
                prop_assert!(!stage.trim().is_empty());
            }
        }
    }

    #[test]
    fn joining_the_stages_of_a_simple_pipeline_gives_the_line_back(
        stages in prop::collection::vec("z[a-z0-9]{0,8}( -[a-z]| [a-z0-9./]{1,8}| '[ -&(-~]{0,9}'| \"[a-z |;&()]{0,9}\"){0,3}", 1..7)
    ) {
        let line = stages.join(" | ");
        let found = segments(&line).expect("a simple pipeline");
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0].join(" | "), line);
    }

    #[test]
    fn quoted_bars_do_not_split(before in "[a-z |;&#(){}]{0,10}", after in "[a-z |;&#(){}<>]{0,10}") {
        for quoted in [format!("x '{before}|{after}'"), format!("x \"{before}|{after}\""), format!("x $'{before}|{after}'")] {
            prop_assert_eq!(segments(&quoted), Some(vec![vec![quoted.clone()]]));
        }
    }

    #[test]
    fn a_shortened_text_fits_and_is_one_line(text in "(?s).{0,60}", max_chars in 0_usize..40) {
        let short = shorten(&text, max_chars);
        prop_assert!(short.chars().count() <= max_chars);
        prop_assert!(!short.contains(['\n', '\t', '\r']));
        prop_assert_eq!(shorten(&short, max_chars), short);
    }
}
