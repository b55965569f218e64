//! The crates depend on each other as the design says, and unsafe code stays behind its fences.

mod circles;
mod structs;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Who may depend on whom: the arrows of the design, and nothing else.
const ARROWS: &[(&str, &[&str])] = &[
    ("measure", &[]),
    ("codec", &[]),
    ("pipe", &["measure"]),
    ("process", &[]),
    ("before-main", &["process"]),
    ("apparatus", &["pipe", "measure"]),
    ("perf", &[]),
    ("proc", &["measure"]),
    ("feed", &["codec", "pipe", "measure"]),
    ("shell", &[]),
    ("rules", &["shell"]),
    ("auto", &["shell", "rules"]),
    ("record", &["measure"]),
    ("doctor", &["pipe", "proc", "perf", "measure"]),
    ("diagnose", &["shell", "rules", "record", "measure"]),
    ("what-if", &["record"]),
    ("gather", &["record", "measure"]),
    ("profile", &[]),
    (
        "pipeline",
        &["shell", "record", "diagnose", "pipe", "process", "proc", "perf", "profile", "measure"],
    ),
    ("lab", &["feed", "apparatus", "codec", "pipe", "proc", "measure"]),
    ("report", &["doctor", "record", "gather", "lab", "profile", "measure"]),
    ("dash", &["record", "measure"]),
    (
        "cli",
        &[
            "measure",
            "codec",
            "pipe",
            "process",
            "before-main",
            "proc",
            "shell",
            "auto",
            "rules",
            "record",
            "what-if",
            "doctor",
            "feed",
            "gather",
            "pipeline",
            "profile",
            "lab",
            "report",
            "dash",
        ],
    ),
];

/// The only crates with unsafe code: memory and system calls, and kernels. All others forbid it.
const FENCED: &[&str] = &["apparatus", "before-main", "codec", "pipe", "process"];

/// The only files with unsafe code, from the folder of crates (a `*` stands for any part of a name), each with a test
/// that fails when what is behind the fence goes wrong.
const FENCES: &[(&str, &str, &str)] = &[
    (
        "pipe/src/pages.rs", // maps, lends and shares memory
        "pipe/tests/integrity/main.rs",
        "every_safe_way_delivers_every_byte_to_every_reader",
    ),
    (
        "pipe/src/scratch.rs", // rustix maps memory only through raw pointers
        "pipe/src/scratch.rs",
        "it_is_zero_and_writable_to_its_ends_at_every_length",
    ),
    (
        "pipe/src/writer.rs", // says why lent bytes stay as they are
        "pipe/src/writer/cursor.rs",
        "bytes_that_went_out_are_not_given_out_again",
    ),
    (
        "pipe/src/writer/exchange.rs", // the same of blocks
        "pipe/tests/exchange.rs",
        "a_block_that_a_reader_holds_is_not_changed_by_the_next",
    ),
    (
        "pipe/src/lender.rs", // the same of what several pipes get
        "pipe/src/lender.rs",
        "bytes_that_somebody_holds_are_not_changed_by_later_pieces",
    ),
    (
        "codec/src/kernel.rs", // loads and stores of vectors
        "codec/tests/text/encode.rs",
        "every_kernel_agrees_with_the_oracle_at_every_alignment",
    ),
    (
        "codec/src/group/room.rs", // rustix maps memory only through raw pointers
        "codec/src/group/room.rs",
        "rooms_keep_what_is_theirs_until_they_are_dropped",
    ),
    (
        "codec/src/*avx*.rs", // calls of kernels on processors that have them
        "codec/tests/gost/blocks.rs",
        "every_kernel_agrees_with_naive_at_every_alignment",
    ),
    (
        "codec/src/*neon*.rs", // calls of kernels on AArch64
        "codec/tests/gost/blocks.rs",
        "every_kernel_agrees_with_naive_at_every_alignment",
    ),
    (
        "codec/src/json/passes.rs", // calls of kernels, in a macro for several tiers
        "codec/tests/text/json.rs",
        "the_cause_and_place_of_an_error_are_the_naive_ones_in_every_tier",
    ),
    (
        "codec/src/json/query/each/skip_blocks.rs", // the same
        "codec/src/json/query/each/tests.rs",
        "every_kernel_finds_the_end_of_every_value_at_every_alignment",
    ),
    (
        "process/src/slice.rs", // neither rustix nor nix has sched_setattr(2)
        "process/src/slice.rs",
        "a_short_slice_changes_the_length_and_nothing_else",
    ),
    (
        "process/src/signals.rs", // rustix sends no real-time signals; code between fork and execve
        "process/src/signals.rs",
        "a_process_gets_the_signal_of_that_number_and_no_other",
    ),
    (
        "process/src/spawn.rs", // a child that shares memory until it executes a program
        "process/src/spawn.rs",
        "threads_that_allocate_and_signals_that_come_meanwhile_are_not_disturbed",
    ),
    (
        "process/src/pidfd.rs", // rustix has no safe form of ioctl(PIDFD_GET_INFO)
        "process/src/pidfd.rs",
        "a_live_process_has_no_status_and_a_reaped_one_has_its_own",
    ),
    (
        "process/src/start.rs", // takes ownership of descriptors that were inherited as bare numbers
        "before-main/tests/inherited.rs",
        "inherited_ends_are_closed_once_and_our_own_stay",
    ),
    (
        "before-main/src/lib.rs", // a function that runs before the language's runtime
        "before-main/tests/inherited.rs",
        "the_state_before_the_runtime_changes_it_is_recorded",
    ),
    (
        "apparatus/src/pages.rs", // lends memory without a promise
        "apparatus/tests/pages.rs",
        "pages_outlive_the_value_with_its_bytes_and_no_others",
    ),
    (
        "apparatus/src/passing/queue.rs", // a message queue from a descriptor
        "apparatus/tests/passing/queue.rs",
        "a_descriptor_that_is_no_queue_is_refused_and_closed_once",
    ),
    (
        "apparatus/src/passing/shared.rs", // memory of two processes
        "apparatus/tests/passing/shared.rs",
        "bytes_go_where_they_were_put_and_nowhere_else",
    ),
    (
        "apparatus/src/passing/uring.rs", // io_uring's submission
        "apparatus/src/passing/uring.rs",
        "an_entry_that_linux_did_not_take_is_never_taken_later",
    ),
    (
        "apparatus/src/memory/*avx*.rs",
        "apparatus/tests/memory.rs",
        "every_copy_matches_naive_at_every_length_and_alignment_and_touches_nothing_else",
    ),
    (
        "apparatus/src/memory/non_temporal.rs",
        "apparatus/tests/memory.rs",
        "every_write_matches_naive_at_every_length_and_alignment_and_touches_nothing_else",
    ),
    (
        "apparatus/src/memory/sse2.rs",
        "apparatus/tests/memory.rs",
        "every_read_matches_naive_at_every_length_and_alignment",
    ),
    (
        "apparatus/src/memory/string.rs", // instructions that no intrinsic stands for
        "apparatus/tests/memory.rs",
        "buffers_of_different_lengths_are_refused_by_every_copy",
    ),
    (
        "apparatus/src/memory/vectors.rs", // loads and stores of vectors
        "apparatus/src/memory/vectors.rs",
        "a_load_or_store_that_leaves_the_bytes_by_one_is_refused",
    ),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn short(name: &str) -> &str {
    if name == "fullbore" { "cli" } else { name.strip_prefix("fullbore-").unwrap_or(name) }
}

#[test]
fn the_crates_depend_on_each_other_as_the_table_says() {
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(crates());
    let metadata: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let ours: BTreeSet<&str> =
        packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    assert!(ours.contains("fullbore") && ours.contains("fullbore-measure"), "{ours:?}");
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let row = ARROWS.iter().find(|(from, _)| *from == short(name));
        let (_, allowed) = row.unwrap_or_else(|| panic!("{name} is not in the table"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let to = dependency["name"].as_str().unwrap();
            let is_for_tests = dependency["kind"] == "dev";
            assert!(
                !ours.contains(to) || allowed.contains(&short(to)) || is_for_tests,
                "{name} must not depend on {to}"
            );
        }
    }
}

#[test]
fn unsafe_code_stays_behind_its_fences() {
    let outside: Vec<_> = unsafe_sources()
        .into_iter()
        .filter(|path| !FENCES.iter().any(|(f, ..)| fits(path, f)))
        .collect();
    assert!(outside.is_empty(), "unsafe code in {outside:?}");
}

#[test]
fn every_fence_is_in_a_crate_for_it_and_has_something_behind_it() {
    let sources = unsafe_sources();
    for (fence, ..) in FENCES {
        let (name, rest) = fence.split_once('/').unwrap();
        assert!(FENCED.contains(&name) && rest.starts_with("src/"), "a fence of {name}: {fence}");
        assert!(sources.iter().any(|path| fits(path, fence)), "nothing behind {fence}");
    }
}

#[test]
fn every_fence_has_a_test_that_would_notice_its_failure() {
    for (fence, file, test) in FENCES {
        let source = fs::read_to_string(crates().join(file)).unwrap();
        assert!(source.contains(&format!("fn {test}(")), "{fence}: no test {test} in {file}");
    }
}

#[test]
fn every_crate_without_a_fence_forbids_unsafe_code() {
    for (name, _) in ARROWS.iter().filter(|(name, _)| !FENCED.contains(name)) {
        let source = crates().join(name).join("src");
        let roots = ["lib.rs", "main.rs"].map(|root| source.join(root));
        let roots: Vec<_> = roots.iter().filter(|root| root.exists()).collect();
        assert!(
            !roots.is_empty() && !source.join("bin").exists(),
            "the roots of {name}: {roots:?}"
        );
        for root in roots {
            let code = code_of(&fs::read_to_string(root).unwrap());
            assert!(code.contains("#![forbid(unsafe_code)]"), "{} allows it", root.display());
        }
    }
}

#[test]
fn every_crate_takes_the_lints_which_deny_unsafe_code() {
    let manifest = fs::read_to_string(crates().parent().unwrap().join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"deny\""));
    for folder in fs::read_dir(crates()).unwrap() {
        let manifest = folder.unwrap().path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        assert!(
            text.contains("[lints]\nworkspace = true"),
            "{} does not take the lints",
            manifest.display()
        );
    }
}

#[test]
fn the_search_for_unsafe_code_finds_it() {
    let source = "// unsafe in a comment\n#![deny(unsafe_code)]\nlet a = \"unsafe \\\" text\"; /* unsafe */ let b = '\"';";
    assert!(!has_word(&code_of(source), "unsafe"));
    assert!(has_word(&code_of(&format!("{source}\nunsafe {{ call() }}")), "unsafe"));
    assert!(has_word(&code_of("let a = r#\"a \" b\"#; unsafe { call() }"), "unsafe"));
    assert!(fits(Path::new("codec/src/morse/avx2.rs"), "codec/src/*avx*.rs"));
    assert!(!fits(Path::new("codec/src/morse/naive.rs"), "codec/src/*avx*.rs"));
    assert!(!fits(Path::new("lab/src/pages.rs"), "pipe/src/pages.rs"));
}

/// The sources with unsafe code, from the folder of crates: of libraries, programs, tests, examples and benchmarks.
fn unsafe_sources() -> Vec<PathBuf> {
    let mut sources = Vec::new();
    collect_sources(&crates(), &mut sources);
    assert!(sources.len() >= 10, "the sources are not where they are looked for: {sources:?}");
    sources.retain(|path| has_word(&code_of(&fs::read_to_string(path).unwrap()), "unsafe"));
    sources.iter().map(|path| path.strip_prefix(crates()).unwrap().to_owned()).collect()
}

fn collect_sources(folder: &Path, sources: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_sources(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(path);
        }
    }
}

/// Whether a path from the folder of crates is what a fence names.
fn fits(path: &Path, fence: &str) -> bool {
    let path = path.to_str().unwrap();
    let mut parts = fence.split('*');
    let rest = path.strip_prefix(parts.next().unwrap_or_default());
    let end = parts.try_fold(rest, |rest, part| {
        let rest = rest?;
        Some(if part.is_empty() {
            Some(rest)
        } else {
            Some(&rest[rest.rfind(part)? + part.len()..])
        })
    });
    end.flatten() == Some("")
}

/// The source without comments and text.
fn code_of(source: &str) -> String {
    let mut code = String::new();
    let mut rest = source;
    while let Some(character) = rest.chars().next() {
        let skipped = if let Some(text) = raw_text(&code, rest) {
            text
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("'\"'") {
            3
        } else if character == '"' {
            1 + length_of_text(&rest[1..])
        } else {
            code.push(character);
            character.len_utf8()
        };
        rest = &rest[skipped..];
    }
    code
}

/// Length of the raw text (`r"…"`, `r#"…"#`) at the beginning of `rest`, if there is one.
fn raw_text(before: &str, rest: &str) -> Option<usize> {
    let is_name =
        before.ends_with(|c: char| c.is_alphanumeric() || c == '_') && !before.ends_with('b');
    let hashes = rest.strip_prefix('r')?.len() - rest[1..].trim_start_matches('#').len();
    let text = rest[1 + hashes..].strip_prefix('"').filter(|_| !is_name)?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(2 + hashes + text.find(&end)? + end.len())
}

fn length_of_text(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return index + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

/// Where a library asks for a variable of the environment, and why.
const ASKS_FOR_VARIABLES: &[&str] = &[
    "lab/src/real/process.rs", // finds the programs of a suite in PATH
];

#[test]
fn a_library_does_not_read_the_environment() {
    let mut readers = BTreeSet::new();
    for (name, _) in ARROWS.iter().filter(|(name, _)| *name != "cli") {
        let mut sources = Vec::new();
        collect_sources(&crates().join(name).join("src"), &mut sources);
        for path in sources {
            let code = code_of(&fs::read_to_string(&path).unwrap());
            let shipped = code.split("#[cfg(test)]").next().unwrap_or_default();
            if shipped.contains("env::var") {
                readers.insert(path.strip_prefix(crates()).unwrap().display().to_string());
            }
        }
    }
    let known: BTreeSet<String> = ASKS_FOR_VARIABLES.iter().map(|&file| file.to_owned()).collect();
    assert_eq!(readers, known);
}
