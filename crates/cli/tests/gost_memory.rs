//! Memory of `fullbore gost`: what the documents say, what it takes, and what happens when there is less.

use fullbore_feed::memory_for_chunks;
use fullbore_measure::Bytes;
use fullbore_pipe::{Probe, probe};

use crate::arguments::commands;
use crate::gost::{bash, place};
use crate::processes::{Process, most_of};
use crate::sandbox::{status_text, with_fixture};

const CHUNK: usize = 1 << 20;
const SEALED_CHUNK: usize = CHUNK + 16;

fn mebibytes(jobs: usize) -> u64 {
    memory_for_chunks(CHUNK, SEALED_CHUNK, jobs).0 >> 20
}

#[test]
fn help_and_documents_name_the_memory_that_the_program_reckons_with() {
    assert_eq!(mebibytes(1), 24);
    assert!((2..=1024).all(|jobs| mebibytes(jobs) == 27 + 5 * jobs as u64));
    let sentence = "24 MiB with one job; with more, 27 MiB and 5 MiB for each job";
    let command = commands().into_iter().find(|(path, _)| path == &["gost", "seal"]);
    let help = command.unwrap().1.render_long_help().to_string();
    let document = include_str!("../../../docs/gost.md");
    for text in [help.as_str(), document] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(sentence), "{text}");
    }
    for jobs in [2, 8, 64] {
        let said = format!("{} with `-j {jobs}`", mebibytes(jobs));
        assert!(document.contains(&said), "docs/gost.md does not say {said}");
    }
}

/// So much is mapped of the program and its libraries in a fresh build.
const FILES_KIB: u64 = 6700;

/// Without huge pages it is less.
#[test]
fn sealing_takes_the_memory_that_is_reckoned_with() {
    let place = place();
    let lends = probe() == Probe::Ring;
    if !lends {
        crate::require::skipped("that it takes no less, because nothing can be lent here");
    }
    for jobs in [1, 2, 8, 64] {
        let line = with_fixture(&format!(
            "{{fullbore}} gen zero --bytes 600M | {{fullbore}} gost seal -j {jobs} --key-file key | cat > /dev/null"
        ));
        let counted = |process: Process| process.peak_memory_kib_with_files_up_to(FILES_KIB);
        let peak = most_of(&place, &line, &["gost seal -j"], counted)[0] << 10;
        let reckoned = memory_for_chunks(CHUNK, SEALED_CHUNK, jobs).0;
        assert!(peak * 100 <= reckoned * 105, "-j {jobs}: {} of {}", Bytes(peak), Bytes(reckoned));
        let is_near = peak * 100 >= reckoned * 80;
        assert!(is_near || !lends, "-j {jobs}: {} of {}", Bytes(peak), Bytes(reckoned));
    }
}

/// From just enough to load the program to enough for 64 jobs.
#[test]
fn with_little_memory_it_works_or_says_why_not_before_it_writes_anything() {
    let place = place();
    let bash = |line: &str| bash(&place, line);
    let ended = bash(
        "{fullbore} gen zero --bytes 20M > data; {fullbore} gost seal --key-file key data > sealed",
    );
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    // What loading the program and reading arguments takes is a matter of its size.
    let loads = |kib: &u32| {
        bash(&format!("ulimit -v {kib}; {{fullbore}} gost seal --help")).status.success()
    };
    let least = (10_000..100_000).step_by(1000).find(loads).unwrap() + 1000;
    let iv = "00112233445566778899aabbccddeeff";
    let (mut worked, mut refused) = (0, 0);
    for task in [
        "seal -j 1 data".to_owned(),
        "seal -j 2 data".to_owned(),
        "seal -j 64 data".to_owned(),
        "seal data".to_owned(),
        "open -j 3 sealed".to_owned(),
        format!("encrypt --mode ctr --iv {} data", &iv[..16]),
        format!("encrypt --mode mgm --iv 00{} key", &iv[2..]),
        "mac data".to_owned(),
    ] {
        for more in [0, 10_000, 20_000, 30_000, 50_000, 80_000, 180_000, 380_000, 980_000] {
            let kib = least + more;
            let ended =
                bash(&format!("ulimit -v {kib}; {{fullbore}} gost {task} --key-file key | cat"));
            match status_text(ended.status).as_str() {
                "exit 0" => worked += 1,
                "exit 2" => {
                    refused += 1;
                    assert!(ended.stdout.is_empty(), "{task} in {kib} KiB: {}", ended.stderr);
                    assert!(ended.stderr.contains(": memory: "), "{task}: {}", ended.stderr);
                }
                other => panic!("{task} in {kib} KiB: {other}: {}", ended.stderr),
            }
        }
    }
    assert!(worked >= 8 && refused >= 8, "{worked} worked, {refused} were refused");
}
