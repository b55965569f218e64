//! Scripts of sed, awk, jq, perl and tr that look harmless and are not, and the other way round.

use fullbore_rules::{Dealt, Merge, rule};
use proptest::prelude::*;

fn records(words: &[&str]) -> bool {
    rule(words).dealt == Dealt::Records
}

#[test]
fn scripts_are_accepted_only_if_they_see_one_record() {
    let mut program: Vec<&str> = Vec::new();
    let mut expected = false;
    let mut wrong = Vec::new();
    let lines = include_str!("scripts.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        let header = line.strip_prefix('[').and_then(|line| line.strip_suffix("ed]"));
        if let Some((name, verdict)) = header.and_then(|header| header.rsplit_once(' ')) {
            program = name.split(' ').collect();
            expected = verdict == "accept";
            continue;
        }
        let script = line.replace('␤', "\n").replace('␀', "");
        let words = [&program[..], &[script.as_str()]].concat();
        if records(&words) != expected {
            wrong.push(format!("{words:?}: {:?}", rule(&words).dealt));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// None of these treats every record alike.
const REFUSED: &str = "\
awk -v RS=x 1
awk -f x
awk -v NR=1 1
awk 1 x=1
awk 1 file
awk -v x
awk --dump 1
awk -v ORS 1
awk -F
awk -i inplace 1
awk -o 1
jq -n 1
jq -s .
jq -cs .
jq --slurp .
jq -f x
jq . file
jq --seq .
jq --stream .
jq
perl -e print
perl -i -pe s/a/b/
perl -0pe s/a/b/
perl -0777 -pe s/a/b/
perl -MList::Util -ne print
perl x.pl
perl -pe s/a/b/ file
sed -i s/a/b/
sed -f x
sed -n -e p -e 2q
sed -ne 2p
sed --debug p
sed p file
sed -e a -e 1d -e $p
";

#[test]
fn options_that_change_what_a_script_means_are_refused() {
    for line in REFUSED.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        assert!(!records(&words), "{line}");
    }
}

#[test]
fn tr_squeezes_across_line_ends_only_what_they_become() {
    let squeezes = |words: &[&str], byte: u8| {
        assert_eq!(rule(words).dealt, Dealt::Merge(Merge::Squeeze(byte)), "{words:?}");
    };
    squeezes(&["tr", "-s", "\n"], b'\n');
    squeezes(&["tr", "-s", "\\n"], b'\n');
    squeezes(&["tr", "-s", "\\012 "], b'\n');
    squeezes(&["tr", "-s", "[:space:]"], b'\n');
    squeezes(&["tr", "-cs", "a-z", "\\n"], b'\n');
    squeezes(&["tr", "-cs", "a-z", "[\\n*]"], b'\n');
    squeezes(&["tr", "-s", "\\n", " "], b' ');
    squeezes(&["tr", "-s", " ", "\\n"], b'\n');
    for set in [" ", "[:blank:]", "a-z", "\\t"] {
        assert!(records(&["tr", "-s", set]), "{set}");
    }
    for set in ["[a*3]", "[=a=]", "z-a", "[:frob:]"] {
        assert_eq!(rule(&["tr", "-s", set]).dealt, Dealt::Unknown, "{set}");
    }
}

#[test]
fn a_delimiter_that_ends_records_makes_cut_differ() {
    assert!(!records(&["cut", "-d", "\n", "-f1"]) && !records(&["cut", "-z", "-d", "", "-f1"]));
    assert!(records(&["cut", "-d", "", "-f1"]) && records(&["cut", "-z", "-d", "\n", "-f1"]));
}

proptest! {
    /// Whatever the text is, there is an answer.
    #[test]
    fn no_script_makes_the_rules_panic(script in "[-a-zA-Z0-9 \\n\\\\/$.,;:{}()\\[\\]\"'|&<>=+*!~^#%é]{0,40}") {
        for program in [&["sed"][..], &["sed", "-n"], &["awk"], &["jq"], &["perl", "-ne"], &["tr", "-s"], &["tr", "a"], &["sort"], &["env"]] {
            let words: Vec<&str> = program.iter().copied().chain([script.as_str()]).collect();
            let _ = rule(&words);
        }
        let _ = fullbore_rules::rule_of_line(&script);
    }

    /// Also of what looks like a program.
    #[test]
    fn no_awk_like_text_makes_the_rules_panic(parts in proptest::collection::vec(prop::sample::select(vec![
        "{", "}", "(", ")", "[", "]", ";", "\n", "if", "else", "for", "while", "do", "x", "=", "++", "/", "$", "1", ",", "in", "delete", "print", ">", "split(", "function ", "BEGIN", "\"a\"", "?", ":", "&&", "return",
    ]), 0..30)) {
        let _ = rule(&["awk", &parts.join(" ")]);
        let _ = rule(&["sed", &parts.join("")]);
    }
}
