//! Tests that our output equals that of OpenSSL's gost engine, for the modes that it has. Debian:
//! libengine-gost-openssl.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use fullbore_codec::Tier;
use fullbore_codec::gost::modes::{Bare, Direction, Mode, Omac, Padding};
use fullbore_codec::gost::{BlockCipher, Cipher, Key, Kuznyechik, Magma};

use crate::bare::run;
use crate::given;
use crate::tiers;

fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Configuration that loads all of the engine's algorithms. Named on the command line, the engine confuses the codes of
/// the two ciphers.
const CONFIGURATION: &str = "openssl_conf = all\n[all]\nengines = engines\n[engines]\ngost = gost\n\
                             [gost]\nengine_id = gost\ndefault_algorithms = ALL\n";

/// Runs openssl with the engine, and without anyone's configuration.
fn openssl(arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gost-engine.cnf");
        std::fs::write(&file, CONFIGURATION).unwrap();
        file
    });
    let mut child = Command::new("openssl")
        .args(arguments)
        .env("OPENSSL_CONF", &*FILE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let (mut stdin, input) = (child.stdin.take()?, input.to_vec());
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().ok()?;
    writer.join().ok()?;
    output.status.success().then_some(output.stdout)
}

/// Tells whether the engine is installed; if not, reports it, or fails where nothing may be skipped.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn has_engine() -> bool {
    let engines = openssl(&["engine"], &[]).unwrap_or_default();
    if String::from_utf8_lossy(&engines).contains("(gost)") {
        return true;
    }
    assert!(std::env::var_os("FULLBORE_CI").is_none(), "openssl has no gost engine");
    eprintln!("skipped: openssl has no gost engine (Debian: libengine-gost-openssl)");
    false
}

fn theirs(name: &str, direction: &str, key: &Key, iv: &[u8], data: &[u8]) -> Vec<u8> {
    // Fill up with zeros, as openssl would do with a warning.
    let (key, iv) = (text(key.bytes()), format!("{:0<16}", text(iv)));
    let mut arguments = vec!["enc", name, direction, "-nopad", "-K", &key];
    if name != "-kuznyechik-ecb" {
        arguments.extend(["-iv", &iv]);
    }
    openssl(&arguments, data).unwrap_or_else(|| panic!("openssl {arguments:?}"))
}

/// Each mode that the engine has, with the length of its vector. (It takes eight bytes for Magma in counter mode, and
/// uses four.)
const MODES: [(Cipher, Mode, &str, usize); 7] = [
    (Cipher::Kuznyechik, Mode::Ecb, "-kuznyechik-ecb", 0),
    (Cipher::Kuznyechik, Mode::Cbc, "-kuznyechik-cbc", 16),
    (Cipher::Kuznyechik, Mode::Ctr, "-kuznyechik-ctr", 8),
    (Cipher::Kuznyechik, Mode::Cfb, "-kuznyechik-cfb", 16),
    (Cipher::Kuznyechik, Mode::Ofb, "-kuznyechik-ofb", 16),
    (Cipher::Magma, Mode::Cbc, "-magma-cbc", 8),
    (Cipher::Magma, Mode::Ctr, "-magma-ctr", 4),
];

#[test]
fn modes_give_what_the_gost_engine_gives() {
    if !has_engine() {
        return;
    }
    for (cipher, mode, name, iv_bytes) in MODES {
        for (seed, blocks) in [(1, 1), (2, 7), (3, 5000)] {
            let (key, iv) = (given::key(seed), given::bytes(seed + 10, iv_bytes));
            let plain = given::bytes(seed + 20, blocks * cipher.block_bytes());
            let sealed = theirs(name, "-e", &key, &iv, &plain);
            assert_eq!(theirs(name, "-d", &key, &iv, &sealed), plain, "{name} does not come back");
            for tier in tiers::tested() {
                let ours = |direction| {
                    Bare::new(cipher, mode, direction, &key, &iv, Padding::None, tier).unwrap()
                };
                let found = run(&mut ours(Direction::Encrypt), &plain, &[1000]).unwrap();
                assert!(found == sealed, "{name} {tier}: encryption of {blocks} blocks");
                let found = run(&mut ours(Direction::Decrypt), &sealed, &[1000]).unwrap();
                assert!(found == plain, "{name} {tier}: decryption of {blocks} blocks");
            }
        }
    }
}

#[test]
fn counter_mode_takes_lengths_that_are_not_whole_blocks_as_the_gost_engine_does() {
    if !has_engine() {
        return;
    }
    for (cipher, name) in [(Cipher::Kuznyechik, "-kuznyechik-ctr"), (Cipher::Magma, "-magma-ctr")] {
        let iv = given::bytes(2, cipher.block_bytes() / 2);
        for length in [1, 15, 17, 1000, 4097] {
            let key = given::key(1);
            let plain = given::bytes(3, length);
            let wanted = theirs(name, "-e", &key, &iv, &plain);
            let mut ours = Bare::new(
                cipher,
                Mode::Ctr,
                Direction::Encrypt,
                &key,
                &iv,
                Padding::None,
                Tier::best(),
            )
            .unwrap();
            assert_eq!(run(&mut ours, &plain, &[100]).unwrap(), wanted, "{name}: {length} bytes");
        }
    }
}

fn omac<C: BlockCipher>(key: &Key, tier: Tier, message: &[u8]) -> String {
    let mut omac = Omac::new(C::new(key, tier));
    omac.update(message);
    text(&omac.finish())
}

#[test]
fn omac_gives_what_the_gost_engine_gives() {
    if !has_engine() {
        return;
    }
    for (seed, length) in [(1, 1), (2, 15), (3, 16), (4, 17), (5, 100), (6, 8192), (7, 9001)] {
        let (key, message) = (given::key(seed), given::bytes(seed, length));
        for (name, ours) in [
            ("kuznyechik-mac", omac::<Kuznyechik> as fn(&Key, Tier, &[u8]) -> String),
            ("magma-mac", omac::<Magma>),
        ] {
            let hexkey = format!("hexkey:{}", text(key.bytes()));
            let arguments = ["dgst", "-mac", name, "-macopt", &hexkey, "-r"];
            let output = openssl(&arguments, &message).unwrap_or_else(|| panic!("{arguments:?}"));
            let wanted = String::from_utf8_lossy(&output);
            let wanted = wanted.split_whitespace().next().unwrap();
            for tier in tiers::tested() {
                assert_eq!(ours(&key, tier, &message), wanted, "{name} {tier}: {length} bytes");
            }
        }
    }
}
