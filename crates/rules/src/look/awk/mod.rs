//! `awk`: accepts programs that are a function of one record.
//!
//! `tokens` and `program` take the text apart, `flow` and `expression` follow what is assigned before it is read, `names`
//! knows the language's words, and `stop` says why a program is not accepted.

mod expression;
mod flow;
mod names;
mod program;
mod stop;
mod tokens;

use program::END;
use stop::Stop;

use super::reason::{advise, differ};
use crate::answer::{Dealt, Ends, Merge, Rule};
use crate::call::Call;

pub(super) fn look(rule: &mut Rule, call: &Call) {
    match judge(call) {
        Ok(ends) => rule.output = ends,
        Err(Stop::Differs(_)) if counts(call) => {
            rule.dealt = Dealt::Merge(Merge::Sum);
            rule.output = Ends::Lines;
        }
        Err(Stop::Differs(why)) if why == END => {
            advise(rule, &why, "if END prints whole numbers that can be added: --merge sum");
        }
        Err(Stop::Differs(why)) => differ(rule, &why),
        Err(Stop::Unknown) => rule.dealt = Dealt::Unknown,
    }
}

/// Tells whether a program does nothing but count: `END { print NR }`.
fn counts(call: &Call) -> bool {
    let [program] = &call.parsed.operands[..] else { return false };
    let words: String = program.split([' ', '\t', '\n', ';']).collect();
    // `printNR` without a blank would print an empty variable of that name.
    words == "END{printNR}"
        && program.contains("print NR")
        && call.parsed.values(&["-v"]).is_empty()
}

/// Returns where the output for a block ends.
fn judge(call: &Call) -> Result<Ends, Stop> {
    let mut ends = Ends::Lines;
    for assignment in call.parsed.values(&["-v"]) {
        let (name, value) = assignment.split_once('=').ok_or(Stop::Unknown)?;
        names::may_set_at_start(name, value)?;
        if name == "ORS" && !names::ends_line(value) {
            ends = Ends::Bytes;
        }
    }
    let (program, files) = call.parsed.operands.split_first().ok_or(Stop::Unknown)?;
    let tokens = tokens::split(program).ok_or(Stop::Unknown)?;
    if !flow::judge(&tokens)? {
        ends = Ends::Bytes;
    }
    match files {
        [] => Ok(ends),
        [only] if only == "-" => Ok(ends),
        [file, ..] if file.contains('=') || file == "-" || file.starts_with("/dev/") => {
            Err(Stop::Unknown)
        }
        [file, ..] => Err(Stop::Differs(format!("reads the file {file} instead of its input"))),
    }
}
