//! Keys of `fullbore gost`: where they come from, what is no key, and that nothing repeats one.

use std::os::unix::fs::PermissionsExt;

use crate::bad_input::{assert_message, in_own_mounts};
use crate::gost::{DIGITS, bash, place, sealed, write_key};
use crate::sandbox::{Sandbox, status_text};

#[test]
fn keys_come_from_a_file_a_descriptor_or_the_environment_and_messages_never_show_them() {
    let place = place();
    let stream = sealed(&place, b"full bore", "");
    std::fs::write(place.path("stream"), stream).unwrap();
    let bytes: Vec<u8> = (0..32).collect();
    std::fs::write(place.path("raw"), bytes).unwrap();
    std::fs::write(place.path("open"), DIGITS).unwrap();
    for (name, text) in [
        ("crlf", format!("{DIGITS}\r\n")),
        ("short", DIGITS[..63].to_owned()),
        ("long", format!("{DIGITS}{DIGITS}")),
        ("words", format!("{}zz\n", &DIGITS[..62])),
        ("empty", String::new()),
    ] {
        write_key(&place, name, &text);
    }
    let program = "{fullbore} gost open";
    for (line, message) in [
        ("chmod 600 raw; {} --key-file raw stream", ""),
        ("{} --key-file crlf stream", ""),
        ("{} --key-file <(cat key) stream", ""),
        ("{} --key-fd 3 stream 3< key", ""),
        ("{} --key-fd 0 stream < key", ""),
        ("K=DIGITS {} --key-env K stream", ""),
        ("chmod 640 open; {} --key-file open stream", "other users have access to it (mode 640)"),
        ("{} --key-file nowhere stream", "--key-file: nowhere: No such file"),
        (
            "{} --key-file short stream",
            "--key-file: short: not a key: 63 hexadecimal digits instead of 64",
        ),
        ("{} --key-file long stream", "--key-file: long: not a key: too long"),
        ("{} --key-file words stream", "some characters are not hexadecimal digits"),
        ("{} --key-file empty stream", "--key-file: empty: it is empty"),
        ("{} --key-file . stream", "--key-file: .: it is a directory"),
        ("{} --key-fd 9 stream", "--key-fd: 9: Bad file descriptor"),
        ("{} --key-fd 3 stream 3< short", "--key-fd: 3: not a key"),
        ("{} --key-fd three stream", "expected the number of a descriptor"),
        ("{} --key-fd 0 < key", "standard input already carries the data"),
        ("{} --key-env NO_SUCH_KEY stream", "--key-env: NO_SUCH_KEY: the variable is not set"),
        ("K=00ff {} --key-env K stream", "--key-env: K: not a key: 4 bytes"),
        ("{} --key-env DIGITS stream", "this is a key, not a name"),
        ("{} --key-file DIGITS stream", "this is a key, not a file name"),
        ("{} --key-fd DIGITS stream", "this is a key, not a descriptor"),
        ("{} stream", "--key-file <FILE>|--key-fd <N>|--key-env <NAME>"),
        ("{} --key-file key --key-env K stream", "cannot be used with"),
    ] {
        let line = line.replace("{}", program).replace("DIGITS", DIGITS);
        let ended = bash(&place, &line);
        let status = if message.is_empty() { "exit 0" } else { "exit 2" };
        assert_eq!(status_text(ended.status), status, "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(message), "{line}: {}", ended.stderr);
        assert!(!ended.stderr.contains("00010203"), "{line} shows the key: {}", ended.stderr);
        let output = if message.is_empty() { &b"full bore"[..] } else { b"" };
        assert_eq!(ended.stdout, output, "{line}");
    }
}

#[test]
fn a_new_key_is_for_its_owner_only() {
    let place = Sandbox::new();
    let mode =
        |name: &str| std::fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    let ended = bash(
        &place,
        "umask 022; {fullbore} gost keygen -o one && {fullbore} gost keygen > two && {fullbore} gost keygen | cat",
    );
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    assert_eq!((mode("one"), mode("two")), (0o600, 0o600));
    let keys = [
        std::fs::read(place.path("one")).unwrap(),
        std::fs::read(place.path("two")).unwrap(),
        ended.stdout,
    ];
    for key in &keys {
        assert_eq!((key.len(), key[64]), (65, b'\n'));
        assert!(key[..64].iter().all(u8::is_ascii_hexdigit));
        assert_eq!(keys.iter().filter(|other| *other == key).count(), 1, "a key twice");
    }
    let ended = bash(&place, "{fullbore} gost keygen -o one");
    assert_eq!(status_text(ended.status), "exit 2");
    assert!(ended.stderr.contains("one: File exists"), "{}", ended.stderr);
    assert_eq!(std::fs::read(place.path("one")).unwrap(), keys[0]);
}

/// Keys that are typed where they do not belong end in logs if a message repeats them.
#[test]
fn a_key_in_the_wrong_place_is_in_no_message() {
    let place = place();
    let spaced: Vec<_> = DIGITS.as_bytes().chunks(2).map(String::from_utf8_lossy).collect();
    let keys = [
        DIGITS.to_owned(),
        DIGITS[..63].to_owned(),
        format!("{DIGITS}00"),
        format!("0x{DIGITS}"),
        spaced.join(":"),
        format!("'{}'", spaced.join(" ")),
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".to_owned(),
    ];
    for line in [
        "gost seal --key-file {} data",
        "gost seal --key-file ./{} data",
        "gost seal --key-fd {} data",
        "gost seal --key-env {} data",
        "gost seal --key {} data",
        "gost seal --key={} data",
        "gost seal --key-file key {}",
        "gost seal --key-file key data {}",
        "gost seal --key-file key -j {} data",
        "gost open --key-file key {}",
        "gost encrypt --mode {} --key-file key data",
        "gost encrypt --mode ecb --padding {} --key-file key data",
        "gost encrypt --mode ctr --section {} --key-file key data",
        "gost mac --cipher {} --key-file key data",
        "gost mac --verify {}zz --key-file key data",
        "gost keygen {}",
        "gost keygen -o {}",
        "gost keygen -o no/such/{}",
        "gost {}",
        "{}",
        "gost {} seal",
    ] {
        for key in &keys {
            let ended = bash(&place, &format!("{{fullbore}} {}", line.replace("{}", key)));
            assert_eq!(status_text(ended.status), "exit 2", "{line}: {key}: {}", ended.stderr);
            assert_message(&ended, "");
            let shows = |part: &str| ended.stderr.contains(part);
            let is_shown =
                shows("0102030405") || shows("01:02") || shows("01 02") || shows("QFBgcICQ");
            assert!(!is_shown, "{line}: {key}: {}", ended.stderr);
        }
    }
    let is_a_key = |name: &str| keys.iter().any(|key| key.contains(name) && name.len() > 40);
    assert!(place.files().iter().all(|(name, _)| !is_a_key(name)), "{:?}", place.files());
}

/// The mode of a directory or of a device is nothing to change for the sake of a key.
#[test]
fn a_change_of_mode_is_advised_only_for_a_file() {
    let place = place();
    std::fs::write(place.path("open key"), DIGITS).unwrap();
    for (line, hint) in [
        ("--key-file 'open key'", Some("chmod 600 'open key'; if others may have read it")),
        ("--key-file /tmp", None),
        ("--key-file .", None),
        ("--key-file /dev/null", None),
        ("--key-file $'open\\nkey'", None),
    ] {
        let ended = bash(
            &place,
            &format!("cp 'open key' $'open\\nkey'; {{fullbore}} gost seal {line} key"),
        );
        assert_eq!(status_text(ended.status), "exit 2", "{line}: {}", ended.stderr);
        assert_message(&ended, "--key-file");
        let is_advised = ended.stderr.contains("chmod");
        assert_eq!(is_advised, hint.is_some(), "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(hint.unwrap_or("")), "{line}: {}", ended.stderr);
    }
}

#[test]
fn a_change_of_mode_is_not_advised_for_a_file_of_somebody_else() {
    require!(rustix::process::geteuid().is_root(), "only root can give a file away");
    let place = place();
    std::fs::write(place.path("open key"), DIGITS).unwrap();
    std::os::unix::fs::chown(place.path("open key"), Some(65534), Some(65534)).unwrap();
    let ended = bash(&place, "{fullbore} gost seal --key-file 'open key' key");
    assert_eq!(status_text(ended.status), "exit 2", "{}", ended.stderr);
    assert_message(&ended, "other users have access");
    assert!(!ended.stderr.contains("chmod"), "{}", ended.stderr);
}

/// Half of the digits of a key are 32 bytes, too.
#[test]
fn half_of_the_digits_are_not_taken_for_a_key_in_bytes() {
    let place = place();
    for end in ["", "\n", "\r\n"] {
        write_key(&place, "half", &format!("{}{end}", &DIGITS[..32]));
        let ended = bash(&place, "{fullbore} gost seal --key-file half key");
        assert_eq!(status_text(ended.status), "exit 2", "{}", ended.stderr);
        assert_message(&ended, "half: not a key: 32 hexadecimal digits instead of 64");
    }
}

#[test]
fn a_key_that_does_not_fit_on_the_disk_leaves_no_file() {
    require_programs!("unshare", "mount");
    let place = Sandbox::new();
    std::fs::create_dir(place.path("full")).unwrap();
    let prepare = "mount -t tmpfs -o size=4k,mode=700 none full && { head -c 9999 /dev/zero > full/other || true; }";
    let run = r#""$1" gost keygen -o full/key; status=$?; echo $(ls -A full); exit $status"#;
    let ended = in_own_mounts(&place, prepare, run);
    require!(ended.is_some(), "mounting a small disk is not allowed here");
    let ended = ended.unwrap();
    assert_eq!(status_text(ended.status), "exit 2", "{}", ended.stderr);
    let message = "fullbore: gost keygen: creating: full/key: No space left on device\n";
    assert!(ended.stderr.contains(message), "{}", ended.stderr);
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "other\n");
}

/// A new key takes the place of nothing: of no file, link, device or folder.
#[test]
fn a_new_key_replaces_nothing() {
    let place = place();
    std::fs::create_dir(place.path("folder")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path("link")).unwrap();
    let before = place.files();
    for name in ["key", "folder", "link", "/dev/null", "."] {
        let ended = bash(&place, &format!("{{fullbore}} gost keygen -o {name}"));
        assert_eq!(status_text(ended.status), "exit 2", "{name}: {}", ended.stderr);
        assert_message(&ended, "File exists");
    }
    assert_eq!(place.files(), before);
    let ended = bash(&place, "[ -c /dev/null ] && {fullbore} gost keygen -o - | wc -c");
    assert_eq!(ended.stdout, b"65\n", "{}", ended.stderr);
}
