//! Which commands are dealt out without being asked for.

use std::ffi::OsStr;

use fullbore_rules::{Check, Dealt, Ends, Merge, Rule, Status, always_differs, is_light, rule};

/// How a command is dealt out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How the outputs become one; `None` puts them one after the other.
    pub merge: Option<Merge>,
    /// How the exit statuses become one.
    pub status: Status,
    /// Records end in zero bytes, not in line ends.
    pub has_zeros: bool,
    /// What must hold for the input.
    pub check: Option<Check>,
    /// A copy with at least this exit status has failed, so that one copy of the command would have ended there; `None` if
    /// it would have gone on.
    pub failed_from: Option<u8>,
}

/// Why a command is not dealt out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The table says no, or nothing.
    Rule,
    /// It costs too little.
    Light,
    /// Its rule has a condition that cannot be looked for.
    Condition,
    /// Its arguments hold `{#}` or `{%}`, which mean something to `fullbore par`.
    Places,
}

/// Exit statuses from here on are failures of any command.
const FAILURE: u8 = 1;

/// And of grep, which says 1 if no line matches.
const GREP_FAILURE: u8 = 2;

/// Those of commands that a signal killed.
const KILLED: u8 = 128;

impl Plan {
    /// How the command with these words is dealt out.
    ///
    /// # Errors
    /// Why it is not.
    pub fn of(words: &[impl AsRef<OsStr>]) -> Result<Self, Why> {
        let known = rule(words);
        let merge = match &known.dealt {
            Dealt::Records => None,
            Dealt::Merge(merge @ (Merge::Sum | Merge::Greatest | Merge::Squeeze(_))) => {
                Some(merge.clone())
            }
            _ => return Err(Why::Rule),
        };
        let texts: Vec<String> =
            words.iter().map(|word| word.as_ref().to_string_lossy().into_owned()).collect();
        if texts.iter().any(|word| word.contains("{#}") || word.contains("{%}")) {
            return Err(Why::Places);
        }
        if known.is_light {
            return Err(Why::Light);
        }
        if known.needs.is_some() && known.check.is_none() {
            return Err(Why::Condition);
        }
        Ok(Self {
            merge,
            status: known.status,
            has_zeros: known.input == Ends::Zeros,
            check: known.check,
            failed_from: failed_from(&known),
        })
    }
}

fn failed_from(known: &Rule) -> Option<u8> {
    match known.status {
        Status::All => Some(FAILURE),
        Status::Any => Some(GREP_FAILURE),
        // It goes on after an error.
        Status::Max | Status::Last => Some(KILLED),
    }
}

/// Whether a command of this name may be dealt out with some arguments.
pub(crate) fn is_promising(name: &str) -> bool {
    !is_light(name) && !always_differs(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Result<Plan, Why> {
        Plan::of(&text.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn slow_commands_on_records_are_dealt_out() {
        for text in
            ["jq -c .a", "grep -E x+", "tr -s x", "sed -E s/a/b/", "cut -f2", "wc -w", "grep -ic x"]
        {
            assert!(plan(text).is_ok(), "{text}");
        }
        assert_eq!(plan("jq -c .a").unwrap().check, Some(Check::Values));
        assert_eq!(plan("grep x+").unwrap().check, Some(Check::Text));
        assert_eq!(plan("grep -i x").unwrap().failed_from, Some(2));
        assert!(plan("grep -iz x").unwrap().has_zeros);
        assert_eq!(plan("wc -w").unwrap().merge, Some(Merge::Sum));
    }

    #[test]
    fn others_are_left_alone() {
        for (text, why) in [
            ("sort", Why::Rule),
            ("frobnicate", Why::Rule),
            ("sed 5q", Why::Rule),
            ("uniq -c", Why::Rule),
            ("gzip", Why::Rule),
            ("grep x file", Why::Rule),
            ("head -n 3", Why::Rule),
            ("grep -m1 x", Why::Rule),
            ("cat", Why::Light),
            ("wc -l", Why::Light),
            ("/usr/bin/wc -c", Why::Light),
            ("tr a-z A-Z", Why::Light),
            ("tr -cd [:print:]", Why::Light),
            ("grep -vc TODO", Why::Light),
            ("env LC_ALL=C grep -F -e x", Why::Light),
            ("numfmt --to=si", Why::Condition),
            ("sed s/{#}/x/", Why::Places),
        ] {
            assert_eq!(plan(text), Err(why), "{text}");
        }
    }
}
