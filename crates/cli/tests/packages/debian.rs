//! The Debian package, installed into a root directory and a database of its own.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{are_installed, package, run, text};

/// A directory into which dpkg has installed the package; `None` where that cannot be had.
fn installed() -> Option<TempDir> {
    let deb = package("FULLBORE_DEB")?;
    if !are_installed(&["dpkg"]) {
        return None;
    }
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("var/lib/dpkg/info")).unwrap();
    std::fs::create_dir_all(root.path().join("var/lib/dpkg/updates")).unwrap();
    std::fs::write(root.path().join("var/lib/dpkg/status"), "").unwrap();
    // The libraries that the package depends on are not in this root.
    let words = ["--force-depends", "--install"].map(OsStr::new);
    dpkg(root.path(), &[&words[..], &[deb.as_os_str()]].concat());
    Some(root)
}

/// Runs dpkg on this root directory and returns what it printed.
fn dpkg(root: &Path, arguments: &[&OsStr]) -> String {
    let option = format!("--root={}", root.display());
    let log = format!("--log={}", root.join("var/lib/dpkg/log").display());
    let options = [&option, &log, "--force-not-root"].map(OsStr::new);
    text(run("dpkg", &[&options[..], arguments].concat(), b""))
}

/// All files below a directory, by their paths in it.
fn files_in(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else {
                found.insert(path.to_str().unwrap().to_owned());
            }
        }
    }
    found
}

#[test]
fn it_contains_the_program_a_page_for_each_command_completions_and_licences() {
    let Some(root) = installed() else { return };
    let pages = root.path().join("pages");
    let words = ["man", "--directory", pages.to_str().unwrap()].map(OsStr::new);
    text(run(root.path().join("usr/bin/fullbore"), &words, b""));
    let pages = files_in(&pages).into_iter().map(|page| format!("/usr/share/man/man1/{page}.gz"));
    let others = [
        "/usr/bin/fullbore",
        "/usr/share/bash-completion/completions/fullbore",
        "/usr/share/zsh/vendor-completions/_fullbore",
        "/usr/share/fish/vendor_completions.d/fullbore.fish",
        "/usr/share/doc/fullbore/copyright",
        "/usr/share/doc/fullbore/third-party-licences.gz",
        "/usr/share/doc/fullbore/docs/guide.md",
    ];
    let listed = dpkg(root.path(), &["--listfiles", "fullbore"].map(OsStr::new));
    let listed: BTreeSet<&str> = listed.lines().collect();
    for wanted in pages.chain(others.map(str::to_owned)) {
        assert!(listed.contains(wanted.as_str()), "{wanted} is not in {listed:#?}");
    }
}

#[test]
fn the_installed_program_runs_and_its_manual_can_be_read() {
    let Some(root) = installed() else { return };
    let words = ["run", "-q", "echo one | cat"].map(OsStr::new);
    assert_eq!(text(run(root.path().join("usr/bin/fullbore"), &words, b"")), "one\n");
    if !are_installed(&["man"]) {
        return;
    }
    let pages = root.path().join("usr/share/man");
    for name in ["fullbore", "fullbore-run", "fullbore-gost-seal"] {
        let words = ["-M", pages.to_str().unwrap(), name].map(OsStr::new);
        let page = text(run("man", &words, b""));
        assert!(page.contains(&format!("{name} - ")), "{page}");
    }
}

#[test]
fn each_shell_completes_the_names_of_commands() {
    let Some(root) = installed() else { return };
    let share = root.path().join("usr/share");
    let bash =
        ". \"$0/bash-completion/completions/fullbore\"; COMP_WORDS=(fullbore mor); COMP_CWORD=1
        _fullbore fullbore mor fullbore; echo ${COMPREPLY[@]}";
    // Where the system is searched, dpkg's folder is among what zsh and fish search.
    let zsh = "fpath=($0/zsh/vendor-completions $fpath); autoload -Uz compinit; compinit -u -D
        autoload +X -Uz _fullbore; print -r -- ${_comps[fullbore]}; whence -f _fullbore | grep -o '^.*morse:' | head -n 1";
    let fish =
        "source $argv[1]/fish/vendor_completions.d/fullbore.fish; complete -C 'fullbore mor'";
    for (shell, options, script) in
        [("bash", "--norc", bash), ("zsh", "-f", zsh), ("fish", "--no-config", fish)]
    {
        if !are_installed(&[shell]) {
            continue;
        }
        let words = [options, "-c", script, share.to_str().unwrap()].map(OsStr::new);
        let offered = text(run(shell, &words, b""));
        assert!(offered.contains("morse"), "{shell}: {offered}");
    }
}

#[test]
fn removing_it_leaves_nothing() {
    let Some(root) = installed() else { return };
    dpkg(root.path(), &["--purge", "fullbore"].map(OsStr::new));
    let left: Vec<String> = files_in(root.path())
        .into_iter()
        .filter(|path| !path.starts_with("var/lib/dpkg/"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn lintian_finds_nothing() {
    let Some(deb) = package("FULLBORE_DEB") else { return };
    if !are_installed(&["lintian"]) {
        return;
    }
    let words = ["--allow-root", "--fail-on", "error,warning"].map(OsStr::new);
    let output = run("lintian", &[&words[..], &[deb.as_os_str()]].concat(), b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
