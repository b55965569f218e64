//! `fullbore gost` as a user meets it: what is sealed comes back whole or not at all, and keys stay secret.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use rustix::process::Signal;

use crate::processes::{Process, peaks_of};
use crate::sandbox::{Ended, Sandbox, eventually, finish, fullbore, status_text, with_fixture};
use crate::terminal::Terminal;

const CHUNK: usize = 1 << 20;
const TAG: usize = 16;
const HEADER: usize = 48;
pub(crate) const DIGITS: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A place with the key 00 01 … 1f in the file `key`.
pub(crate) fn place() -> Sandbox {
    let place = Sandbox::new();
    write_key(&place, "key", &format!("{DIGITS}\n"));
    place
}

pub(crate) fn write_key(place: &Sandbox, name: &str, text: &str) {
    std::fs::write(place.path(name), text).unwrap();
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(place.path(name), mode).unwrap();
}

fn data(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        })
        .collect()
}

pub(crate) fn bash(place: &Sandbox, line: &str) -> Ended {
    let mut command = place.command("bash");
    command.args(["-c", &with_fixture(&format!("set -o pipefail; {line}"))]);
    finish(command)
}

/// The sealed form of some data.
pub(crate) fn sealed(place: &Sandbox, data: &[u8], options: &str) -> Vec<u8> {
    std::fs::write(place.path("data"), data).unwrap();
    let line = format!("{{fullbore}} gost seal --key-file key {options} data");
    let ended = bash(place, &line);
    assert_eq!(status_text(ended.status), "exit 0", "{line}: {}", ended.stderr);
    ended.stdout
}

/// Opens a stream; asserts the message that begins so, and exactly this output.
fn refused(place: &Sandbox, stream: &[u8], output: &[u8], message: &str, what: &str) {
    std::fs::write(place.path("stream"), stream).unwrap();
    for line in [
        "{fullbore} gost open --key-file key -j 1 stream",
        "cat stream | {fullbore} gost open --key-file key -j 3 | cat",
    ] {
        let ended = bash(place, line);
        assert_eq!(status_text(ended.status), "exit 1", "{what}: {line}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(message),
            "{what}: {line}: {} is not {message}",
            ended.stderr
        );
        assert!(ended.stdout == output, "{what}: {line}: {} bytes", ended.stdout.len());
    }
}

fn authentication(chunk: usize, chunk_bytes: usize) -> String {
    format!(
        "authentication failed in chunk {chunk} at offset {}",
        HEADER + chunk * (chunk_bytes + TAG)
    )
}

#[test]
fn what_is_sealed_opens_whatever_its_length_and_the_number_of_jobs() {
    let place = place();
    for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 77] {
        for cipher in ["kuznyechik", "magma"] {
            std::fs::write(place.path("data"), data(len)).unwrap();
            for jobs in [1, 2, 5] {
                let line = format!(
                    "cat data | {{fullbore}} gost seal --cipher {cipher} --key-file key -j {jobs} > sealed && \
                     for j in 1 2 5; do {{fullbore}} gost open --key-file key -j $j < sealed | cmp - data || exit 9; done; \
                     {{fullbore}} gost open --key-file key sealed > opened; cmp opened data"
                );
                let ended = bash(&place, &line);
                assert_eq!(
                    status_text(ended.status),
                    "exit 0",
                    "{len} {cipher} {jobs}: {}{}",
                    ended.stderr,
                    String::from_utf8_lossy(&ended.stdout)
                );
            }
        }
    }
}

#[test]
fn the_documented_vectors_open() {
    let header = "66756c6c626f7265 01 0{} 0000 00100000 \
                  202122232425262728292a2b2c2d2e2f 303132333435363738393a3b3c3d3e3f";
    for (cipher, rest) in [
        ("1", "1811c40f71ea97a82f b4413c5b2d4cb3cd57d586db50c6a49a"),
        ("2", "3d7c082e1fa4f57d82 63aad8bfda630598"),
    ] {
        let digits = format!("{} {rest}", header.replace("{}", cipher)).replace(' ', "");
        let escaped: String = digits
            .as_bytes()
            .chunks(2)
            .map(|pair| format!("\\x{}{}", pair[0] as char, pair[1] as char))
            .collect();
        let ended =
            bash(&place(), &format!("printf '{escaped}' | {{fullbore}} gost open --key-file key"));
        assert_eq!(ended.stdout, b"full bore", "{}", ended.stderr);
    }
}

#[test]
fn a_changed_stream_opens_up_to_the_chunk_that_was_changed() {
    let place = place();
    let data = data(3 * CHUNK + 1000);
    let stream = sealed(&place, &data, "");
    let start = |chunk: usize| HEADER + chunk * (CHUNK + TAG);
    assert_eq!(stream.len(), start(3) + 1000 + TAG);
    let is_bad = |changed: &[u8], chunk: usize, what: &str| {
        refused(&place, changed, &data[..chunk * CHUNK], &authentication(chunk, CHUNK), what);
    };
    for (at, chunk) in [
        (16, 0),           // the salt
        (start(0), 0),     // data
        (start(1) - 1, 0), // a tag
        (start(2) + 5000, 2),
        (start(3), 3),
        (stream.len() - 1, 3),
    ] {
        let mut changed = stream.clone();
        changed[at] ^= 1;
        is_bad(&changed, chunk, &format!("a bit at {at}"));
    }
    for (len, chunk) in [
        (HEADER, 0),
        (HEADER + 1, 0),
        (start(1), 0),
        (start(1) + 1, 1),
        (start(3) - 1, 2),
        (start(3), 2),
        (start(3) + TAG, 3),
        (stream.len() - 1, 3),
    ] {
        is_bad(&stream[..len], chunk, &format!("cut at {len}"));
    }
    is_bad(&[stream.as_slice(), b"\n"].concat(), 3, "a byte more");
    is_bad(&[stream.as_slice(), &stream].concat(), 3, "the same again");
    let swapped = [
        &stream[..start(1)],
        &stream[start(2)..start(3)],
        &stream[start(1)..start(2)],
        &stream[start(3)..],
    ];
    is_bad(&swapped.concat(), 1, "two chunks in each other's place");
    is_bad(&[&stream[..start(1)], &stream[start(0)..]].concat(), 1, "a chunk twice");
    is_bad(&[&stream[..start(1)], &stream[start(2)..]].concat(), 1, "a chunk left out");
    let other = sealed(&place, &data, "");
    assert!(other != stream, "a salt was used twice");
    let spliced = [&stream[..start(2)], &other[start(2)..]].concat();
    is_bad(&spliced, 2, "the end of another stream");
    write_key(&place, "key", &DIGITS.replace("1f", "1e"));
    is_bad(&stream, 0, "another key");
}

#[test]
fn what_is_no_sealed_stream_is_called_so() {
    let place = place();
    let stream = sealed(&place, b"full bore", "");
    let mut other = stream.clone();
    other[8] = 9;
    let mut unknown = stream.clone();
    unknown[9] = 3;
    for (stream, message) in [
        (&b""[..], "not a sealed stream: it is empty"),
        (b"hello", "not a sealed stream: it does not begin with"),
        (&[b'x'; 5000], "not a sealed stream: it does not begin with"),
        (&stream[..20], "not a sealed stream: it ends after 20 bytes of its header"),
        (&other, "unknown version 9"),
        (&unknown, "damaged header: the cipher is unknown"),
    ] {
        refused(&place, stream, b"", message, message);
    }
}

#[test]
fn a_reader_that_leaves_ends_it_without_a_word() {
    let place = place();
    let line = "{fullbore} gen zero | {fullbore} gost seal --key-file key | head -c 3M | wc -c; \
                echo ${PIPESTATUS[1]}; \
                {fullbore} gen zero | {fullbore} gost seal --key-file key | {fullbore} gost open --key-file key | head -c 3M | wc -c; \
                echo ${PIPESTATUS[2]}";
    let ended = bash(&place, line);
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "3145728\n141\n3145728\n141\n");
    assert_eq!(ended.stderr, "");
}

/// `FULLBORE_SEALED_BYTES=10G` makes it longer.
#[test]
fn a_long_stream_comes_back_and_takes_no_more_memory_than_a_short_one() {
    let size = if cfg!(debug_assertions) { "300M" } else { "1G" };
    let size = std::env::var("FULLBORE_SEALED_BYTES").unwrap_or(size.to_owned());
    let place = place();
    let line = with_fixture(&format!(
        "set -o pipefail; made='{{fullbore}} gen zero --bytes {size}'; \
         $made | {{fullbore}} gost seal -j 2 --key-file key | {{fullbore}} gost open -j 2 --key-file key | cmp - <($made)"
    ));
    let peaks = peaks_of(&place, &line, &["gost seal -j", "gost open -j"]);
    assert!(peaks.iter().all(|peak| (1..48 << 10).contains(peak)), "{peaks:?} KiB");
}

#[test]
fn no_core_dump_holds_a_key() {
    let place = place();
    let mut command = place.command("bash");
    let line = "ulimit -c unlimited 2> /dev/null; exec {fullbore} gost seal --key-file key";
    command.args(["-c", &with_fixture(line)]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let process = Process(child.id());
    let read = |name: &str| {
        std::fs::read_to_string(format!("/proc/{}/{name}", child.id())).unwrap_or_default()
    };
    let is_set = eventually(|| (read("coredump_filter").trim() == "00000000").then_some(()));
    assert!(is_set.is_some(), "the filter is {}", read("coredump_filter"));
    let limits = read("limits");
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    let soft = core.split_whitespace().nth(4).unwrap();
    assert!(["0", "1"].contains(&soft), "{core}");
    process.send(Signal::ABORT);
    let status = eventually(|| child.try_wait().unwrap()).unwrap();
    assert_eq!(status.signal(), Some(6));
    assert!(!status.core_dumped(), "a core was dumped");
    assert!(place.files().iter().all(|(name, _)| !name.contains("core")), "{:?}", place.files());
}

#[test]
fn sealed_data_does_not_go_to_a_terminal() {
    let place = place();
    let line = with_fixture("echo x | {fullbore} gost seal --key-file key; echo status $?");
    let mut terminal = Terminal::start(&place, 200, 24, &["bash", "-c", &line], &[]);
    let (_, screen) = terminal.wait_for_end();
    assert!(screen.contains("it is a terminal") && screen.contains("status 2"), "{screen}");
}

#[test]
fn codes_of_messages_are_printed_and_verified() {
    let place = Sandbox::new();
    // GOST R 34.13-2015, A.1.6 and A.2.6.
    let messages = [
        (
            "kuznyechik",
            "8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef",
            "1122334455667700ffeeddccbbaa998800112233445566778899aabbcceeff0a\
             112233445566778899aabbcceeff0a002233445566778899aabbcceeff0a0011",
            "336f4d296059fbe3",
        ),
        (
            "magma",
            "ffeeddccbbaa99887766554433221100f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
            "92def06b3c130a59db54c704f8189d204a98fb2e67a8024c8912409b17b57e41",
            "154e7210",
        ),
    ];
    for (cipher, key, message, code) in messages {
        write_key(&place, "key", key);
        let bytes: Vec<u8> = (0..message.len() / 2)
            .map(|at| u8::from_str_radix(&message[2 * at..][..2], 16).unwrap())
            .collect();
        std::fs::write(place.path("message"), bytes).unwrap();
        let mac = format!("{{fullbore}} gost mac --cipher {cipher} --key-file key");
        let ended = bash(&place, &format!("{mac} < message"));
        let printed = String::from_utf8(ended.stdout).unwrap();
        assert!(printed.starts_with(code) && printed.ends_with('\n'), "{printed}{}", ended.stderr);
        for (code, status) in [
            (printed.trim(), "exit 0"),
            (code, "exit 0"),
            (&code[..8], "exit 0"),
            ("00000000", "exit 1"),
            (&code[..6], "exit 2"),
            ("", "exit 2"),
            ("0011223344556677889900112233445566", "exit 2"),
        ] {
            let ended = bash(&place, &format!("{mac} --verify '{code}' message"));
            assert_eq!(status_text(ended.status), status, "{code}: {}", ended.stderr);
            assert_eq!(ended.stdout, b"");
        }
    }
}

#[test]
fn mgm_releases_nothing_before_its_tag_is_verified() {
    let place = place();
    let iv = "1122334455667700ffeeddccbbaa9988";
    let mgm = format!("--mode mgm --iv {iv} --key-file key");
    let line = format!(
        "{{fullbore}} gen random --bytes 3M > data; {{fullbore}} gost encrypt {mgm} data > out && \
         {{fullbore}} gost decrypt {mgm} < out | cmp - data && stat -c %s out"
    );
    let ended = bash(&place, &line);
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "3145744\n", "{}", ended.stderr);
    let mut out = std::fs::read(place.path("out")).unwrap();
    out[100] ^= 1;
    std::fs::write(place.path("changed"), &out).unwrap();
    for (line, status, message) in [
        (format!("{{fullbore}} gost decrypt {mgm} changed"), "exit 1", "authentication failed"),
        (
            format!("head -c 15 out | {{fullbore}} gost decrypt {mgm}"),
            "exit 1",
            "shorter than a tag",
        ),
        (
            format!("{{fullbore}} gen zero --bytes 17M | {{fullbore}} gost encrypt {mgm} | cat"),
            "exit 2",
            "more than 16 MiB",
        ),
        (
            format!("{{fullbore}} gen zero | {{fullbore}} gost decrypt {mgm}"),
            "exit 2",
            "gost seal and open",
        ),
        (format!("{{fullbore}} gost encrypt {mgm} < /dev/null"), "exit 1", "the message is empty"),
        (
            "{fullbore} gost encrypt --mode mgm --iv ff --key-file key data".to_owned(),
            "exit 2",
            "1 bytes",
        ),
        (
            format!("{{fullbore}} gost encrypt --mode mgm --iv f{} --key-file key data", &iv[1..]),
            "exit 2",
            "first bit",
        ),
    ] {
        let ended = bash(&place, &line);
        assert_eq!(status_text(ended.status), status, "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(message), "{line}: {}", ended.stderr);
        assert_eq!(ended.stdout, b"", "{line}");
    }
}

#[test]
fn what_does_not_fit_a_mode_is_explained() {
    let place = place();
    std::fs::write(place.path("data"), b"seventeen bytes..").unwrap();
    for (options, status, message) in [
        ("--mode cbd", "exit 2", "ecb, cbc, ctr, cfb, ofb, ctr-acpkm, mgm"),
        ("--mode ecb --iv 00", "exit 2", "--iv: ecb takes none"),
        ("--mode cbc", "exit 2", "give --iv with 32 digits"),
        ("--mode ctr --cipher magma", "exit 2", "give --iv with 8 digits (half a block)"),
        ("--mode cbc --iv 0011", "exit 2", "initialization vector of 2 bytes"),
        ("--mode ctr --iv 0x11", "exit 2", "not hexadecimal digits"),
        ("--mode ctr --iv 001", "exit 2", "odd number"),
        ("--mode ecb --padding none", "exit 1", "not whole blocks: 1 bytes"),
        ("--mode ctr --iv 0011223344556677 --section 16", "exit 2", "only ctr-acpkm has sections"),
        ("--mode ctr-acpkm --iv 0011223344556677 --section 17", "exit 2", "section of 17 bytes"),
        ("--mode ecb --cipher aes", "exit 2", "[possible values: kuznyechik, magma]"),
        ("", "exit 2", "--mode <MODE>"),
    ] {
        let line =
            format!("{{fullbore}} gost encrypt {options} --key-file key data | cat > /dev/null");
        let ended = bash(&place, &line);
        assert_eq!(status_text(ended.status), status, "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(message), "{line}: {}", ended.stderr);
    }
}

#[test]
fn a_stage_with_a_key_is_observed_by_another_user_than_root() {
    require!(rustix::process::geteuid().is_root(), "only root can become another user");
    require_programs!("setpriv");
    let place = place();
    let folder = place.path("");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    std::os::unix::fs::chown(place.path("key"), Some(65534), Some(65534)).unwrap();
    place.copy_program(fullbore(), "fullbore");
    let line = "setpriv --reuid=65534 --regid=65534 --clear-groups ./fullbore run -q --strict --report r.json \
                './fullbore gen zero --bytes 200M | ./fullbore gost seal --key-file key | cat > /dev/null'; echo $?";
    let ended = bash(&place, line);
    assert_eq!(ended.stdout, b"0\n", "{}", ended.stderr);
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.path("r.json")).unwrap()).unwrap();
    let stages = report["stages"].as_array().unwrap();
    let seal =
        stages.iter().find(|stage| stage["command"].as_str().unwrap().contains("gost")).unwrap();
    assert!(seal["blocked_reading_percent"].is_number(), "{seal}");
    assert_eq!(report["pipes"].as_array().unwrap().len(), 2, "{report}");
}
