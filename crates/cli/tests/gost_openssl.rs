//! The bare modes give what OpenSSL's gost engine gives, both through their command lines.

use std::process::Command;

use crate::sandbox::{Sandbox, finish, status_text, with_fixture};

const KEY: &str = "8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef";
const IV: &str = "1234567890abcef0a1b2c3d4e5f00112";

/// Loads the engine for all that it can do.
const CONFIGURATION: &str = "openssl_conf = all\n[all]\nengines = engines\n[engines]\ngost = gost\n\
                             [gost]\nengine_id = gost\ndefault_algorithms = ALL\n";

fn place() -> Sandbox {
    let place = Sandbox::new();
    std::fs::write(place.path("engine.cnf"), CONFIGURATION).unwrap();
    std::fs::write(place.path("key"), KEY).unwrap();
    let chmod = Command::new("chmod").arg("600").arg(place.path("key")).status();
    assert!(chmod.unwrap().success());
    place
}

/// What a line of bash prints; it must succeed.
fn bash(place: &Sandbox, line: &str) -> Vec<u8> {
    let mut command = place.command("bash");
    command.args(["-c", &with_fixture(&format!("set -o pipefail; {line}"))]);
    command.env("OPENSSL_CONF", place.path("engine.cnf"));
    let ended = finish(command);
    assert_eq!(status_text(ended.status), "exit 0", "{line}: {}", ended.stderr);
    ended.stdout
}

fn has_engine(place: &Sandbox) -> bool {
    let mut command = place.command("openssl");
    command.arg("engine").env("OPENSSL_CONF", place.path("engine.cnf"));
    crate::sandbox::is_installed("openssl")
        && String::from_utf8_lossy(&finish(command).stdout).contains("(gost)")
}

/// Cipher, mode, bytes of its vector, bytes that openssl wants of it. For counter modes of Magma it takes eight, and
/// uses four.
const MODES: [(&str, &str, usize, usize); 9] = [
    ("kuznyechik", "ecb", 0, 0),
    ("kuznyechik", "cbc", 16, 16),
    ("kuznyechik", "ctr", 8, 16),
    ("kuznyechik", "cfb", 16, 16),
    ("kuznyechik", "ofb", 16, 16),
    ("kuznyechik", "ctr-acpkm", 8, 16),
    ("magma", "cbc", 8, 8),
    ("magma", "ctr", 4, 8),
    ("magma", "ctr-acpkm", 4, 8),
];

#[test]
fn modes_give_what_openssl_gives_there_and_back() {
    let place = place();
    require!(has_engine(&place), "openssl has no gost engine (Debian: libengine-gost-openssl)");
    for (cipher, mode, iv_bytes, their_iv_bytes) in MODES {
        let block = if cipher == "magma" { 8 } else { 16 };
        let (ours, theirs) = match iv_bytes {
            0 => (String::new(), String::new()),
            _ => {
                let iv = &IV[..2 * iv_bytes];
                (format!("--iv {iv}"), format!("-iv {iv:0<width$}", width = 2 * their_iv_bytes))
            }
        };
        let is_padded = ["ecb", "cbc"].contains(&mode);
        let padding = if is_padded { "--padding pkcs7" } else { "" };
        for len in [0, 1, block - 1, block, block + 1, 2 * block, 3 * block, (1 << 20) + 5] {
            // The engine's section is a parameter that `openssl enc` cannot set.
            let line = format!(
                "{{fullbore}} gen random --seed {len} --bytes {len} > data; \
                 {{fullbore}} gost encrypt --cipher {cipher} --mode {mode} {ours} {padding} --key-file key data > ours; \
                 openssl enc -{cipher}-{mode} -e -K {KEY} {theirs} -in data -out theirs; \
                 cmp ours theirs && \
                 {{fullbore}} gost decrypt --cipher {cipher} --mode {mode} {ours} {padding} --key-file key < theirs | cmp - data"
            );
            bash(&place, &line);
            if is_padded {
                // Procedures 1 and 2 of the standard by hand, for an openssl that pads nothing.
                let line = format!(
                    "pad() {{ head -c $(( (BLOCK - $(stat -c %s $1) % BLOCK) % BLOCK )) /dev/zero; }}; \
                     enc() {{ openssl enc -{cipher}-{mode} -e -nopad -K {KEY} {theirs}; }}; \
                     our() {{ {{fullbore}} gost $1 --cipher {cipher} --mode {mode} {ours} --padding $2 --key-file key; }}; \
                     (cat data; printf '\\x80') > one; \
                     cmp <(cat data; pad data) <(our encrypt zeros < data | our decrypt zeros) && \
                     cmp <((cat data; pad data) | enc) <(our encrypt zeros < data) && \
                     cmp <((cat one; pad one) | enc) <(our encrypt one-and-zeros < data) && \
                     our encrypt one-and-zeros < data | our decrypt one-and-zeros | cmp - data"
                )
                .replace("BLOCK", &block.to_string());
                bash(&place, &line);
            }
        }
    }
}

#[test]
fn codes_are_what_openssl_gives() {
    let place = place();
    require!(has_engine(&place), "openssl has no gost engine (Debian: libengine-gost-openssl)");
    for cipher in ["kuznyechik", "magma"] {
        for len in [1, 8, 15, 16, 17, (1 << 20) + 5] {
            let line = format!(
                "{{fullbore}} gen random --seed {len} --bytes {len} > data; \
                 {{fullbore}} gost mac --cipher {cipher} --key-file key data; \
                 openssl dgst -mac {cipher}-mac -macopt hexkey:{KEY} -r data | cut -d ' ' -f 1"
            );
            let printed = String::from_utf8(bash(&place, &line)).unwrap();
            let codes: Vec<&str> = printed.lines().collect();
            assert_eq!(codes[0], codes[1], "{cipher}: {len} bytes");
        }
    }
}
