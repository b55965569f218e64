//! `fullbore sh` as the shell of make, GNU parallel, Snakemake and cron: what they do must not change.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sandbox::{Sandbox, finish, fullbore, is_installed, path_with_ours, status_text};
use crate::sh_scripts::records;

/// Links to fullbore under these names, and PATH with their folder in front of ours.
fn links(names: &[&str]) -> (tempfile::TempDir, OsString) {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        symlink(fullbore(), folder.path().join(name)).unwrap();
    }
    let rest = path_with_ours();
    let folders = std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&rest));
    let path = std::env::join_paths(folders).unwrap();
    (folder, path)
}

/// What a program that starts jobs says, how it ends, and the files that it makes, without those in `but`.
fn seen(place: &Sandbox, command: Command, but: &[&str]) -> (String, String, Vec<(String, u64)>) {
    let ended = finish(command);
    let mut files = place.files();
    files.retain(|(name, _)| !but.contains(&name.as_str()));
    let said = format!("{}\n--\n{}", String::from_utf8_lossy(&ended.stdout), ended.stderr);
    (status_text(ended.status), said, files)
}

const MAKEFILE: &str = r#"
VERSION = $(shell seq 3 | tail -1)
all: words sub list; @echo "version $(VERSION)" | tr a-z A-Z
words: input
	@tr -cs a-z '\n' < $< | sort | uniq -c > $@; \
	 test -s $@
	-@false | cat; exit 3
	+@echo '$$0 is' "a 'quoted' \"word\" # no comment"
sub: ; @$(MAKE) -s -f sub.mk A='x y' deep
list: a b c d
a b c d: ; @sleep 0.02; echo $@ > $@; cat $@ | grep -q $@
broken: ; @echo before; seq 3 | grep -q 9; echo after
traced: ; @for i in 1 2; do test $$i -lt 2; done; echo after
missing: ; @no_such_command_in_make
killed: ; @kill -TERM $$$$
"#;

const SUB_MAKEFILE: &str = "deep: ; @echo \"$(A) level $(MAKELEVEL)\" | cat\n";

/// make itself does what is simple when its shell is /bin/sh, and then has messages of its own.
fn real_shell() -> String {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|folder| folder.join("dash"));
    found.into_iter().find(|path| path.is_file()).unwrap().to_str().unwrap().to_owned()
}

fn make(
    shell: &str,
    words: &[&str],
    records: &Path,
    path: &OsString,
) -> (String, String, Vec<(String, u64)>) {
    let place = Sandbox::new();
    fs::write(place.path("Makefile"), MAKEFILE).unwrap();
    fs::write(place.path("sub.mk"), SUB_MAKEFILE).unwrap();
    fs::write(place.path("input"), "a b a c\n").unwrap();
    let mut make = place.command("make");
    make.arg(format!("SHELL={shell}")).args(words);
    make.env("FULLBORE_RECORDS", records).env("PATH", path).env("FULLBORE_SHELL", real_shell());
    seen(&place, make, &[])
}

#[test]
fn make_is_the_same_with_fullbore_as_its_shell() {
    require_programs!("make", "dash");
    let (_folder, path) = links(&["fullbore-sh"]);
    let real = real_shell();
    let records_folder = tempfile::tempdir().unwrap();
    for words in [
        &["all"][..],
        &["-j4", "-O", "all"],
        &["-k", "broken", "missing", "list"],
        &["traced", ".SHELLFLAGS=-xec"],
        &["killed"],
        &["-n", "all"],
        &["-s", "--trace", "words"],
    ] {
        let plain = make(&real, words, records_folder.path(), &path);
        assert!(records(records_folder.path()).is_empty());
        for shell in ["fullbore sh", "fullbore-sh"] {
            let under = make(shell, words, records_folder.path(), &path);
            // The order of jobs that run side by side is not that of another run.
            let sorted = |text: &str| {
                let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
                lines.sort_unstable();
                lines
            };
            assert_eq!(sorted(&plain.1), sorted(&under.1), "{shell} {words:?}");
            assert_eq!((&plain.0, &plain.2), (&under.0, &under.2), "{shell} {words:?}");
            let all = records(records_folder.path());
            assert!(!all.is_empty() || words.contains(&"-n"), "{shell} {words:?}: no records");
            for (path, _) in all {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

#[test]
fn the_records_of_make_name_each_recipe_line_and_the_level() {
    require_programs!("make");
    let (_folder, path) = links(&[]);
    let folder = tempfile::tempdir().unwrap();
    make("fullbore sh", &["-j2", "all"], folder.path(), &path);
    let all = records(folder.path());
    let level = |text: &str| {
        let found = all.iter().find(|(_, record)| record.command.contains(text));
        let record = &found.unwrap_or_else(|| panic!("no record of {text}")).1;
        record.job.as_ref().and_then(|job| job.variables.get("MAKELEVEL")).cloned()
    };
    assert_eq!(level("uniq -c > words").as_deref(), Some("1"));
    assert_eq!(level("x y level 1").as_deref(), Some("2"));
    assert_eq!(level("grep -q d").as_deref(), Some("1"));
}

/// Only for shells with the name of one does make take away `@` and `-` before all lines of a recipe.
#[test]
fn a_recipe_in_one_shell_works_with_a_link_named_as_a_shell() {
    require_programs!("make", "bash");
    let (links, path) = links(&["sh", "bash"]);
    let folder = tempfile::tempdir().unwrap();
    let text = ".ONESHELL:\nall:\n\t@x=5\n\t@echo $$x | cat\n\t-@cd /\n\tpwd\n\texit 2\n";
    for name in ["sh", "bash"] {
        let run = |shell: &str| {
            let place = Sandbox::new();
            fs::write(place.path("Makefile"), text).unwrap();
            let mut make = place.command("make");
            make.arg(format!("SHELL={shell}")).env("PATH", &path);
            make.env("FULLBORE_RECORDS", folder.path());
            seen(&place, make, &[])
        };
        let plain = run(&format!("/bin/{name}"));
        assert_eq!(plain, run(links.path().join(name).to_str().unwrap()));
        assert!(plain.1.contains("5\n/\n"), "{}", plain.1);
    }
    assert_eq!(records(folder.path()).len(), 2);
}

#[test]
fn gnu_parallel_is_the_same_with_fullbore_as_its_shell() {
    require_programs!("parallel");
    let (links, path) = links(&["fullbore-sh"]);
    let folder = tempfile::tempdir().unwrap();
    let run = |shell: &Path| {
        let place = Sandbox::new();
        let mut parallel = place.command("parallel");
        parallel.args(["--will-cite", "-k", "-j3", "--joblog", "log"]);
        parallel.arg("seq {} | tac | paste -sd+; [ {} != 4 ] || exit 5");
        parallel.args([":::", "3", "4", "5", "a b'c"]).env("PARALLEL_SHELL", shell);
        parallel.env("PATH", &path).env("HOME", folder.path().join("home"));
        parallel.env("FULLBORE_RECORDS", folder.path());
        seen(&place, parallel, &["log"])
    };
    let plain = run(Path::new("/bin/sh"));
    assert!(records(folder.path()).is_empty());
    assert_eq!(plain, run(&links.path().join("fullbore-sh")));
    let all = records(folder.path());
    let mut numbers: Vec<_> = all
        .iter()
        .filter_map(|(_, record)| record.job.as_ref()?.variables.get("PARALLEL_SEQ").cloned())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, ["1", "2", "3", "4"]);
}

const SNAKEFILE: &str = r#"
SAMPLES = ["a", "b", "c"]
rule all:
    input: "total"
rule count:
    output: "count/{s}"
    shell: "seq 1000 | grep -c {wildcards.s} > {output} || [[ $? == 1 ]]"
rule total:
    input: expand("count/{s}", s=SAMPLES)
    output: "total"
    shell: "cat {input} | paste -sd+ > {output}; echo ${{BASH_VERSION:+bash}}"
rule broken:
    output: "broken"
    shell: "false | cat > {output}"
"#;

/// Where `make test` installs Snakemake.
fn snakemake() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_BIN_EXE_fullbore")).ancestors().nth(2)?;
    let installed = target.join("test-tools/snakemake/bin/snakemake");
    if installed.is_file() {
        return Some(installed);
    }
    is_installed("snakemake").then(|| PathBuf::from("snakemake"))
}

#[test]
fn snakemake_is_the_same_with_fullbore_as_its_shell() {
    let program = snakemake();
    require!(program.is_some(), "snakemake is not installed (scripts/install-test-tools)");
    require_programs!("bash");
    let program = program.unwrap();
    let (links, path_with_bash) = links(&["bash"]);
    let folder = tempfile::tempdir().unwrap();
    let run = |first: &str, target: &str, path: &OsString| {
        let place = Sandbox::new();
        fs::write(place.path("Snakefile"), format!("{first}\n{SNAKEFILE}")).unwrap();
        let mut snakemake = place.command(&program);
        snakemake.args(["-j2", "--quiet", "all", "--", target]).env("PATH", path);
        snakemake.env("FULLBORE_RECORDS", folder.path()).env("HOME", folder.path().join("home"));
        let ended = finish(snakemake);
        let total = fs::read_to_string(place.path("total")).unwrap_or_default();
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        (
            status_text(ended.status),
            total,
            text,
            ended.stderr.contains("CalledProcessError"),
            place.path("broken").exists(),
        )
    };
    let usual = path_with_ours();
    let link = format!("shell.executable({:?})", links.path().join("bash"));
    for target in ["total", "broken"] {
        let plain = run("", target, &usual);
        assert!(records(folder.path()).is_empty());
        assert_eq!(plain.0, if target == "total" { "exit 0" } else { "exit 1" });
        // By its setting, and by PATH alone, where it looks for bash.
        for (first, path) in [(link.as_str(), &usual), ("", &path_with_bash)] {
            assert_eq!(plain, run(first, target, path), "{first} {target}");
            let all = records(folder.path());
            assert!(all.len() >= if target == "total" { 4 } else { 1 }, "{target}: {}", all.len());
            for (path, record) in all {
                assert!(record.command.starts_with("set -euo pipefail"), "{}", record.command);
                fs::remove_file(path).unwrap();
            }
        }
    }
}

/// cron starts `SHELL -c LINE` with nearly no environment, in the home folder, and with a pipe for what the job says.
#[test]
fn a_job_of_cron_is_the_same() {
    let (links, _) = links(&["fullbore-sh"]);
    let folder = tempfile::tempdir().unwrap();
    let run = |shell: &Path, with_path: bool| {
        let place = Sandbox::new();
        let mut job = place.command("setsid");
        job.args(["--wait", "env", "-i"]);
        if with_path {
            job.arg("PATH=/usr/bin:/bin");
        }
        job.arg(format!("FULLBORE_RECORDS={}", folder.path().display()));
        job.args(["HOME=/", "LOGNAME=nobody"]).arg(shell);
        job.args(["-c", "seq 5 | tail -1; echo \"$0\" $HOME; ls /none 2>&1; exit 7"]);
        seen(&place, job, &[])
    };
    for with_path in [true, false] {
        let plain = run(Path::new("/bin/sh"), with_path);
        assert_eq!(plain, run(&links.path().join("fullbore-sh"), with_path));
    }
    assert_eq!(records(folder.path()).len(), 2);
}
