//! Scripts put together at random: those that the rules accept are run by the real programs.

use fullbore_rules::{Dealt, rule};

use super::{Case, Kind, first_difference, run};

const SED: &[&str] = &[
    "s/a/b/",
    "s/o/0/g",
    "s//x/",
    "/a/",
    "/foo/!",
    "p",
    "d",
    "h",
    "H",
    "g",
    "G",
    "x",
    "n",
    "N",
    "D",
    "P",
    "q",
    "{",
    "}",
    "t",
    "b",
    "T",
    "bz",
    ":z",
    "1",
    "$",
    "2,3",
    "/a/,/b/",
    "=",
    "y/ab/ba/",
    ";",
    ";",
    ";",
    "␤",
    "i\\␤text␤",
    "a b␤",
    "c x␤",
    "l",
    "z",
    "//",
    "I",
    "s/^/-/;ta;s/$/+/;:a",
];

const AWK: &[&str] = &[
    "{",
    "}",
    "{ print }",
    "{ print x }",
    "x = $1",
    "x = y",
    "y = NF",
    "x++",
    "a[$1]++",
    "a[1] = x",
    "if (NF > 1)",
    "else",
    "for (i = 1; i <= NF; i++)",
    "for (k in a)",
    "while (i < 3) i++",
    "next",
    "print x, y",
    "print i",
    "print k",
    "$2 = x",
    "x = x $1",
    "delete a",
    ";",
    ";",
    ";",
    "␤",
    "NF > 1",
    "x == 2",
    "/a/",
    "split($0, a, \" \")",
    "print length(a)",
    "match($0, /o+/)",
    "print RSTART",
    "sub(/a/, \"b\", x)",
    "y = x ? 1 : 2",
    "(x = NF) && (y = 1)",
    "{ x = 1 }",
    "{ y = $0 }",
    "$1",
    "BEGIN { x = 7 }",
    "function f(p) { p = p $1; return p }",
    "print f(x)",
    "OFS = \"-\"",
    "do { i = 2 } while (0)",
    "{ if (x) { y = 2 } else { y = 3 } }",
];

/// A generator of numbers that is the same everywhere (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    fn script(&mut self, parts: &[&str], glue: &str) -> String {
        let count = 1 + self.below(7);
        let chosen: Vec<&str> = (0..count).map(|_| parts[self.below(parts.len())]).collect();
        chosen.join(glue).replace('␤', "\n")
    }
}

/// How many scripts are made of each kind; most are refused, and cost nothing.
fn count() -> usize {
    std::env::var("FULLBORE_REPEAT").ok().and_then(|text| text.parse().ok()).unwrap_or(1) * 100
}

#[test]
fn random_scripts_that_are_accepted_see_one_record() {
    let mut numbers = Numbers(0x5eed_1234_9876_0001);
    let mut wrong = Vec::new();
    let mut accepted = 0;
    for (program, parts, glue) in [("sed", SED, ""), ("awk", AWK, " "), ("awk", AWK, ";")] {
        for _ in 0..count() {
            let script = numbers.script(parts, glue);
            // In braces, so that statements are more often understood.
            let script = if glue == ";" { format!("{{ {script} }}") } else { script };
            let words = [program.to_owned(), script.clone()].to_vec();
            let rule = rule(&words);
            if rule.dealt != Dealt::Records {
                continue;
            }
            accepted += 1;
            let line: &'static str = Box::leak(format!("{words:?}").into_boxed_str());
            let case = Case {
                kind: Kind::Any,
                words: ["timeout", "5"].map(str::to_owned).into_iter().chain(words).collect(),
                line,
            };
            for input in [
                "b 2\nb 1\na 1\na 1\nb 1\nc",
                "foo bar\n\n  a foo\nofo o\n\na\na",
                "a\n1 2\nx y z\n2 3\n",
            ] {
                // Of a program that fails at a record, nothing is promised.
                if run(&case.words, input.as_bytes(), "C").status == 0 {
                    wrong.extend(first_difference(&case, &rule, input.as_bytes(), "C"));
                }
            }
        }
    }
    assert!(accepted > 20, "only {accepted} scripts were accepted");
    assert!(wrong.is_empty(), "{} of {accepted}:\n{}", wrong.len(), wrong.join("\n"));
}
