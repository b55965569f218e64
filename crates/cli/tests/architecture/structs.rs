//! A struct with many fields knows too much: each of those that has its reasons is named with them.

use std::collections::BTreeMap;
use std::fs;

use super::{ARROWS, code_of, collect_sources, crates};

/// So many fields need no reason.
const FIELDS_MAX: usize = 12;

/// Structs with more, and why; one that has fewer by now must leave this list.
const REASONS: &[(&str, &str)] = &[
    ("cli: BufferOptions", "one field for each option of the command line"),
    ("cli: Line", "the keys of `buffer --json`, one field each"),
    ("cli: ParOptions", "one field for each option of the command line"),
    ("feed: Options", "one field for each choice that users of `par` have"),
    ("lab: Case", "mirrors the keys of a suite file"),
    ("lab: CaseRun", "mirrors the published schema fullbore.lab/1"),
    ("lab: CaseText", "mirrors the keys of a suite file"),
    ("lab: DiskRun", "mirrors the published schema fullbore.disk/1"),
    ("lab: EngineRun", "mirrors the published schema fullbore.lab/1"),
    ("lab: EngineText", "mirrors the keys of a suite file"),
    ("record: RunRecord", "mirrors the published schema of run records"),
    ("record: StageRecord", "mirrors the published schema of run records"),
    ("rules: Row", "mirrors the keys of rules.toml"),
];

/// The structs in a source with the number of their named fields.
fn structs(code: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("struct ") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "struct ".len()..];
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // A tuple struct or one without fields has no body; a bound may stand before it.
        let (Some(open), end) = (rest.find('{'), rest.find(';').unwrap_or(rest.len())) else {
            continue;
        };
        if open < end && !name.is_empty() {
            found.push((name, fields(&rest[open + 1..])));
        }
    }
    found
}

/// Counts `name: type` up to the end of the body.
fn fields(body: &str) -> usize {
    let (mut depth, mut count) = (0, 0);
    let mut previous = ' ';
    let mut characters = body.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '{' | '(' | '[' | '<' => depth += 1,
            '}' if depth == 0 => break,
            '>' if previous == '-' => {}
            '}' | ')' | ']' | '>' => depth -= 1,
            ':' if depth == 0 && previous != ':' && characters.peek() != Some(&':') => count += 1,
            _ => {}
        }
        previous = character;
    }
    count
}

#[test]
fn a_struct_with_many_fields_has_a_reason() {
    let mut large = BTreeMap::new();
    let mut all = 0;
    for (name, _) in ARROWS {
        let mut sources = Vec::new();
        collect_sources(&crates().join(name).join("src"), &mut sources);
        for path in sources {
            for (found, count) in structs(&code_of(&fs::read_to_string(path).unwrap())) {
                all += 1;
                if count > FIELDS_MAX {
                    large.insert(format!("{name}: {found}"), count);
                }
            }
        }
    }
    assert!(all > 100, "only {all} structs were found");
    let reason = |name: &str| REASONS.iter().find(|(known, _)| *known == name);
    let without: Vec<_> = large.iter().filter(|(name, _)| reason(name).is_none()).collect();
    assert!(
        without.is_empty(),
        "structs with more than {FIELDS_MAX} fields and no reason: {without:#?}"
    );
    let stale: Vec<_> = REASONS.iter().filter(|(name, _)| !large.contains_key(*name)).collect();
    assert!(stale.is_empty(), "these are small by now and must leave the list: {stale:#?}");
}

#[test]
fn fields_are_counted() {
    let source = "pub struct A<T: Into<u8>> where T: Copy {\n    /// b: c\n    pub(crate) a: Vec<(u8, u8)>,\n    #[arg(long = \"x: y\")]\n    b: fn(x: u8) -> a::B,\n    c: [u8; 4],\n}\nstruct B(u8);\nstruct C;\nstruct D {}\n";
    let found = structs(&code_of(source));
    assert_eq!(found, [("A".to_owned(), 3), ("D".to_owned(), 0)]);
}
