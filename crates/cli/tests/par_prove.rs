//! `fullbore par --prove`, and what is left when par is ended.

use std::fs;

use crate::buffer::line;
use crate::processes::marked;
use crate::sandbox::{Sandbox, eventually, status_text};

/// Runs a line on 9 MB of lines in `input`, which is dealt out in about ten blocks.
fn ended(place: &Sandbox, text: &str) -> crate::sandbox::Ended {
    let input: String = (0..300_000).map(|number| format!("line {number:>24}\n")).collect();
    fs::write(place.path("input"), input).unwrap();
    line(place, text)
}

#[test]
fn what_dealing_out_does_not_change_is_dealt_out() {
    for (command, after) in [
        ("sed s/line/x/", ""),
        ("grep -c 7", " --merge auto"),
        ("tail -n 5", " --merge auto"),
        ("sort -r", " --merge auto"),
        ("cut -c 1-9", " --header 1"),
        ("grep nothing", ""),
    ] {
        for input in ["cat input |", ""] {
            let place = Sandbox::new();
            let file = if input.is_empty() { "-a input" } else { "" };
            let text = format!(
                "{input} $fullbore par --prove{after} {file} --joblog log {command} >dealt; a=$?
                 {command} <input >alone; [ $a = $? ] && cmp dealt alone && tail -n +3 log | wc -l"
            );
            let ended = ended(&place, &text);
            assert_eq!(ended.stderr, "", "{command}");
            let copies = String::from_utf8_lossy(&ended.stdout).trim().parse::<u32>();
            assert!(copies.is_ok_and(|copies| copies >= 2), "{command}: one copy did all");
        }
    }
}

#[test]
fn what_dealing_out_changes_is_told_and_left_to_one_copy() {
    for (command, byte) in [
        ("sed '1s/line/LINE/'", 1_047_617),
        ("awk '{ n++; print n }'", 198_607),
        ("sh -c 'cat; exit $((PAR_BLOCK + 0 > 3))'", 9_000_001),
    ] {
        for input in ["cat input |", ""] {
            let place = Sandbox::new();
            let file = if input.is_empty() { "-a input" } else { "" };
            let text = format!(
                "{input} $fullbore par --prove {file} {command} >dealt; a=$?
                 {command} <input >alone; [ $a = $? ] && cmp dealt alone && echo same"
            );
            let ended = ended(&place, &text);
            assert_eq!(String::from_utf8_lossy(&ended.stdout), "same\n", "{}", ended.stderr);
            let told =
                ended.stderr.lines().find(|line| line.contains("is not that of one run, from"));
            let told = told.and_then(|line| line.split(' ').rev().nth(1)?.parse::<u64>().ok());
            // Where the blocks end depends on the speed of the copies.
            let expected = byte - byte / 10..=byte + byte / 10;
            assert!(told.is_some_and(|at| expected.contains(&at)), "{command}: {}", ended.stderr);
        }
    }
}

#[test]
fn a_proof_ends_with_its_reader_and_with_a_signal() {
    let place = Sandbox::new();
    let text = "cat input | $fullbore par --prove awk '{ print NR }' 2>/dev/null | head -n 1; \
                echo ${PIPESTATUS[1]}";
    assert_eq!(ended(&place, text).stdout, b"1\n141\n");
    let text = "mkfifo fifo; $fullbore par --prove cat <fifo & exec 3>fifo; cat input >&3; \
                kill $!; wait $!; echo $?";
    assert_eq!(ended(&place, text).stdout, b"143\n");
}

#[test]
fn a_signal_ends_what_the_copies_have_started() {
    let place = Sandbox::new();
    // The inner shell ignores nothing, and is no copy itself.
    let text = "$fullbore par -c 'sh -c \"echo started; sleep 60; :\" & cat; wait' <input & \
                until [ -s out ]; do :; done; kill $!; wait $!; echo $? >&2";
    let ended = ended(&place, &format!("({text}) >out"));
    assert_eq!(ended.stderr, "143\n", "{}", status_text(ended.status));
    let is_gone = eventually(|| marked(place.mark()).is_empty().then_some(())).is_some();
    assert!(is_gone, "{:?}", marked(place.mark()));
}
