//! The words of the awk language.

use super::Stop;

/// Functions that depend on their arguments only, or that change only what they are given.
const PURE: &[&str] = &[
    "length", "substr", "index", "split", "patsplit", "sub", "gsub", "gensub", "match", "sprintf",
    "sin", "cos", "atan2", "exp", "log", "sqrt", "int", "tolower", "toupper", "strtonum", "and",
    "or", "xor", "lshift", "rshift", "compl", "strftime", "mktime", "asort", "asorti", "fflush",
    "isarray",
];

pub(super) fn is_pure(function: &str) -> bool {
    PURE.contains(&function)
}

/// Words that are no variables.
pub(super) fn is_keyword(name: &str) -> bool {
    let words = [
        "in", "print", "printf", "return", "next", "break", "continue", "delete", "else", "do",
        "if", "while",
    ];
    words.contains(&name) || name == "for" || is_pure(name)
}

/// Variables with which the language itself works, that programs may read at any time and set at the start.
const SETTINGS: &[&str] = &[
    "FS",
    "OFS",
    "ORS",
    "CONVFMT",
    "OFMT",
    "SUBSEP",
    "FPAT",
    "FIELDWIDTHS",
    "IGNORECASE",
    "BINMODE",
    "LINT",
    "TEXTDOMAIN",
];

pub(super) fn is_setting(name: &str) -> bool {
    SETTINGS.contains(&name)
}

/// What reading or writing a variable of the language means while records are read.
pub(super) fn check_special(name: &str, written: bool) -> Result<(), Stop> {
    match name {
        "NR" | "FNR" => Err(Stop::differs("numbers the records of its block")),
        "RS" => Err(Stop::differs("changes where records end")),
        "getline" => Err(Stop::differs("getline takes the next record of its block")),
        "exit" | "nextfile" => Err(Stop::differs("stops within its block only")),
        "RT" | "ERRNO" | "PROCINFO" | "ARGIND" | "SYMTAB" | "FUNCTAB" | "switch" | "case"
        | "default" => Err(Stop::Unknown),
        _ if written && is_setting(name) => {
            Err(Stop::Differs(format!("{name} stays changed for later records")))
        }
        "FILENAME" | "ENVIRON" | "ARGC" | "ARGV" if written => Err(Stop::Unknown),
        _ => Ok(()),
    }
}

/// Variables of the language that hold the same for every record, or belong to the record.
pub(super) fn is_constant(name: &str) -> bool {
    is_setting(name) || matches!(name, "NF" | "FILENAME" | "ENVIRON" | "ARGC" | "ARGV")
}

/// Tells whether a variable may be set before the first record.
pub(super) fn may_set_at_start(name: &str, value: &str) -> Result<(), Stop> {
    match name {
        "RS" if value == "\\n" || value == "\n" => Ok(()),
        "RS" => Err(Stop::differs("changes where records end")),
        _ if is_setting(name) => Ok(()),
        _ if name.bytes().all(|byte| byte.is_ascii_uppercase()) && name.len() < 3
            || is_constant(name) =>
        {
            // NR, NF, RT and what others may add.
            if matches!(name, "NR" | "NF" | "RT") || is_constant(name) {
                Err(Stop::Unknown)
            } else {
                Ok(())
            }
        }
        "FNR" | "RSTART" | "RLENGTH" | "ERRNO" | "PROCINFO" | "ARGIND" | "SYMTAB" | "FUNCTAB" => {
            Err(Stop::Unknown)
        }
        _ => Ok(()),
    }
}
