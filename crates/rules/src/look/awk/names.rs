//! The words of the awk language.

use super::stop::Stop;

/// Functions that depend on their arguments only, or that change only what they are given.
const PURE: &[&str] = &[
    "length", "substr", "index", "split", "patsplit", "sub", "gsub", "gensub", "match", "sprintf",
    "sin", "cos", "atan2", "exp", "log", "sqrt", "int", "tolower", "toupper", "strtonum", "and",
    "or", "xor", "lshift", "rshift", "compl", "strftime", "mktime", "asort", "asorti", "fflush",
    "isarray",
];

const KEYWORDS: &[&str] = &[
    "in", "print", "printf", "return", "next", "break", "continue", "delete", "else", "do", "if",
    "while", "for",
];

/// Tells whether a name is no variable.
pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name) || PURE.contains(&name)
}

/// Variables with which the language itself works. A program may read them at any time and set them at the start.
const SETTINGS: &[&str] =
    &["FS", "OFS", "ORS", "CONVFMT", "OFMT", "SUBSEP", "FPAT", "FIELDWIDTHS", "IGNORECASE"];

pub(super) fn is_setting(name: &str) -> bool {
    SETTINGS.contains(&name)
}

/// Tells whether a variable of the language has the same value for every record, or belongs to the record.
pub(super) fn is_constant(name: &str) -> bool {
    is_setting(name) || matches!(name, "NF" | "FILENAME" | "ENVIRON" | "ARGC" | "ARGV")
}

/// Refuses the words with which a program looks beyond its record.
pub(super) fn check_special(name: &str, written: bool) -> Result<(), Stop> {
    match name {
        "NR" | "FNR" => Err(Stop::differs("numbers the records of its block")),
        "RS" => Err(Stop::differs("changes where records end")),
        "getline" => Err(Stop::differs("getline takes the next record of its block")),
        "exit" | "nextfile" => Err(Stop::differs("stops within its block only")),
        "RT" | "ERRNO" | "PROCINFO" | "ARGIND" | "SYMTAB" | "FUNCTAB" | "BINMODE" | "LINT"
        | "TEXTDOMAIN" | "switch" | "case" | "default" => Err(Stop::Unknown),
        _ if written && is_setting(name) => {
            Err(Stop::Differs(format!("{name} stays changed for later records")))
        }
        "FILENAME" | "ENVIRON" | "ARGC" | "ARGV" if written => Err(Stop::Unknown),
        _ => Ok(()),
    }
}

/// Tells whether a variable may be set before the first record.
pub(super) fn may_set_at_start(name: &str, value: &str) -> Result<(), Stop> {
    match name {
        "RS" if value == "\\n" || value == "\n" => Ok(()),
        "RS" => Err(Stop::differs("changes where records end")),
        _ if is_setting(name) => Ok(()),
        "NF" | "NR" | "FNR" | "RSTART" | "RLENGTH" => Err(Stop::Unknown),
        _ if is_constant(name) => Err(Stop::Unknown),
        _ => check_special(name, true),
    }
}

/// Tells whether a string, as it is written, ends with a newline.
pub(super) fn ends_line(text: &str) -> bool {
    text.strip_suffix('n').is_some_and(|before| {
        let backslashes = before.len() - before.trim_end_matches('\\').len();
        backslashes % 2 == 1
    })
}
