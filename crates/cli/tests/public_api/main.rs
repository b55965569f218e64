//! Compares the public items of the libraries with those that were agreed on, in `public-api.txt` beside each library's manifest.
//! `FULLBORE_BLESS=1` writes these files; `docs/packages.md` says what a change means for the version.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic and print")]

use std::path::{Path, PathBuf};
use std::process::Command;

use public_api::PublicApi;

const LIBRARIES: [&str; 4] = ["measure", "pipe", "codec", "feed"];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Returns all that the library offers: its description by rustdoc, which only an unstable option makes.
fn items_of(library: &str) -> Result<PublicApi, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("public-api");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.current_dir(workspace()).env("RUSTC_BOOTSTRAP", "1").env_remove("CARGO_BUILD_TARGET");
    command.args(["rustdoc", "--quiet", "--locked", "--lib", "--all-features", "--package"]);
    command.arg(format!("fullbore-{library}")).arg("--target-dir").arg(&folder);
    command.args([
        "--",
        "-Z",
        "unstable-options",
        "--output-format",
        "json",
        "--cap-lints",
        "allow",
    ]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = folder.join(format!("doc/fullbore_{library}.json"));
    assert!(file.exists(), "{}: rustdoc has not written it", file.display());
    public_api::Builder::from_rustdoc_json(file)
        .omit_blanket_impls(true)
        .build()
        .map_err(|error| error.to_string())
}

/// Returns the lines of `these` that are not among `those`.
fn without<'a>(these: &'a str, those: &str) -> Vec<&'a str> {
    let those: std::collections::HashSet<_> = those.lines().collect();
    these.lines().filter(|line| !those.contains(line)).collect()
}

#[test]
fn the_libraries_offer_what_was_agreed_on() {
    let mut changed = Vec::new();
    for library in LIBRARIES {
        let items = match items_of(library) {
            Ok(items) => items.to_string(),
            Err(why) => {
                let why = format!("public-api 0.52 reads rustdoc's output of Rust 1.95: {why}");
                assert!(std::env::var_os("FULLBORE_CI").is_none(), "skipped: {why}");
                eprintln!("skipped: {why}");
                return;
            }
        };
        let file = workspace().join("crates").join(library).join("public-api.txt");
        if std::env::var_os("FULLBORE_BLESS").is_some() {
            std::fs::write(&file, &items).unwrap();
        }
        let agreed = std::fs::read_to_string(&file).unwrap();
        let (gone, new) = (without(&agreed, &items), without(&items, &agreed));
        changed.extend(gone.iter().map(|item| format!("{library}: - {item}")));
        changed.extend(new.iter().map(|item| format!("{library}: + {item}")));
    }
    assert!(
        changed.is_empty(),
        "public items have changed; if they should, set FULLBORE_BLESS=1, and raise the version as \
         docs/packages.md says:\n{}",
        changed.join("\n")
    );
}
