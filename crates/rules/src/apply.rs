//! Applies the row of a command to its arguments.

use crate::answer::{Dealt, Ends, Merge, Rule};
use crate::call::Call;
use crate::look;
use crate::options::Parsed;
use crate::table::{Kind, Known, Operands, Row, table};

/// The rule of a command without wrappers.
pub(crate) fn rule(name: &str, arguments: &[String]) -> Rule {
    let Some(row) = table().row(name) else { return Rule::unknown() };
    let Some(parsed) = Parsed::read(row, arguments) else {
        return match &row.always {
            Some(why) => Rule::differs(why, row.instead.as_deref()),
            None => Rule::unknown(),
        };
    };
    let call = Call { name, parsed: &parsed };
    let mut rule = plain(row, &call);
    if let Some(other) = differs(row, &parsed) {
        rule.dealt = other;
        return rule;
    }
    if let Some(look) = row.look {
        look::look(look, &mut rule, &call);
    }
    if matches!(rule.dealt, Dealt::Differs { .. }) {
        return rule;
    }
    if let Some(other) = operands(row, &parsed) {
        rule.dealt = other;
    }
    rule
}

/// What the row says before anything is looked into.
fn plain(row: &Row, call: &Call) -> Rule {
    let wanted = |known: &Known| call.parsed.has(known.name());
    let zeros = row.zeros.groups().any(|known| wanted(&known));
    let ends = |usual: Ends| if zeros && usual == Ends::Lines { Ends::Zeros } else { usual };
    let mut rule = Rule {
        dealt: Dealt::Records,
        status: row.status,
        needs: None,
        check: None,
        input: ends(row.input),
        output: ends(row.output),
        is_light: row.light,
    };
    if !row.lifts.groups().any(|known| wanted(&known)) {
        rule.needs = row.needs.clone();
        rule.check = row.check;
    }
    if let Some(why) = &row.equivalent {
        rule.dealt = Dealt::Equivalent { why: why.clone() };
    }
    let chosen = row.merges.iter().filter(|(key, _)| wanted(&Known::read(key)));
    let mut kinds: Vec<(Kind, String)> =
        chosen.map(|(key, kind)| (*kind, Known::read(key).name().to_owned())).collect();
    if kinds.is_empty() {
        kinds.extend(row.merge.map(|kind| (kind, String::new())));
    }
    match &kinds[..] {
        [] => {}
        [(kind, option)] => rule.dealt = merge(*kind, option, call),
        _ => rule.dealt = Dealt::Unknown,
    }
    rule
}

fn merge(kind: Kind, option: &str, call: &Call) -> Dealt {
    let own = || call.words();
    let head = |count: &str| Merge::Head(["head", "-n", count].map(str::to_owned).to_vec());
    Dealt::Merge(match kind {
        Kind::Sum => Merge::Sum,
        Kind::Greatest => Merge::Greatest,
        Kind::Sort => Merge::Sort(own()),
        Kind::Uniq => Merge::Uniq(own()),
        Kind::UniqCount => Merge::UniqCount,
        Kind::Head => match call.parsed.value(option).and_then(|count| count.parse::<u64>().ok()) {
            Some(count) if count > 0 => head(&count.to_string()),
            _ => return Dealt::Unknown,
        },
        Kind::Once => head("1"),
        Kind::SameHead => Merge::Head(own()),
        Kind::SameTail => Merge::Tail(own()),
    })
}

/// The first option that gives another output.
fn differs(row: &Row, parsed: &Parsed) -> Option<Dealt> {
    if let Some(why) = &row.always {
        return Some(Dealt::differs(why, row.instead.as_deref()));
    }
    let found = row.differs.iter().find(|(key, _)| parsed.has(Known::read(key).name()))?;
    let (why, instead) = found.1.parts();
    Some(Dealt::differs(why, instead.or(row.instead.as_deref())))
}

/// What operands change: a command that reads a file does not read its input.
fn operands(row: &Row, parsed: &Parsed) -> Option<Dealt> {
    let files = match row.operands {
        Operands::Free => return None,
        Operands::None if parsed.operands.is_empty() => return None,
        Operands::None => return Some(Dealt::Unknown),
        Operands::Files => &parsed.operands[..],
        Operands::Script => {
            let given = !parsed.values(&["-e", "-f"]).is_empty();
            parsed.operands.get(usize::from(!given)..).unwrap_or_default()
        }
    };
    match files {
        [] => None,
        [only] if only == "-" => None,
        _ => Some(match files.iter().find(|file| *file != "-") {
            None => Dealt::Unknown,
            Some(file) if file.starts_with("/dev/") || file.starts_with("/proc/") => Dealt::Unknown,
            Some(file) => Dealt::differs(&file_reason(file, files), None),
        }),
    }
}

fn file_reason(file: &str, files: &[String]) -> String {
    if files.iter().any(|file| file == "-") {
        format!("reads the file {file} once per block")
    } else {
        format!("reads the file {file} instead of its input")
    }
}
