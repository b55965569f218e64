//! Profiles as the programs read them for which the formats are: the Firefox Profiler's own reader, speedscope in a browser,
//! inferno.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fullbore_profile::parse_folded;

use crate::cases::split;
use crate::sandbox::{Sandbox, finish, status_text};

/// Where `scripts/install-test-tools` puts what npm installs.
fn viewers() -> Option<PathBuf> {
    let target = PathBuf::from(env!("CARGO_BIN_EXE_fullbore"));
    let target = target.ancestors().nth(2)?.to_owned();
    let folder = target.join("test-tools/viewers");
    folder.join("complete").exists().then_some(folder)
}

/// A profile of the program of known split, and what its stages took in seconds.
fn profile(place: &Sandbox, name: &str) -> Vec<(String, f64)> {
    split::compile(place, "split", &[]);
    let line = format!("{} | ./split 150 | cat", split::SOURCE);
    let ended = place.run(&[
        "run",
        "-q",
        "--flame",
        name,
        "--flame",
        "out.folded",
        "--report",
        "report.json",
        &line,
    ]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let record = place.read_record();
    let stages = record.stages.iter();
    stages.map(|s| (format!("{} {}", s.stage, s.command), s.life_ns as f64 / 1e9)).collect()
}

#[test]
fn the_firefox_profiler_opens_its_format() {
    require!(
        viewers().is_some(),
        "no profiler-cli: run scripts/install-test-tools, which needs npm"
    );
    let bin = viewers().unwrap().join("node_modules/.bin");
    let place = Sandbox::new();
    let stages = profile(&place, "out.json.gz");
    let ask = |args: &[&str]| {
        let mut command = place.command(bin.join("profiler-cli"));
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", bin.display())).env("HOME", place.path("."));
        command.env("PROFILER_CLI_SESSION_DIR", place.path("sessions"));
        let ended = finish({
            command.args(args);
            command
        });
        format!("{}{}", String::from_utf8_lossy(&ended.stdout), ended.stderr)
    };
    let loaded = ask(&["load", "out.json.gz"]);
    assert!(loaded.contains("Session started"), "{loaded}");
    let (threads, selected) = (ask(&["thread", "list"]), ask(&["thread", "select", "t-1"]));
    let tree = ask(&["thread", "functions", "--include-idle"]);
    let stopped = ask(&["stop"]);
    for (stage, _) in &stages {
        let start: String = stage.chars().take(10).collect();
        assert!(threads.contains(&start), "{stage}: {threads}");
    }
    for function in ["f ", "g ", "h ", "k ", "main"] {
        assert!(tree.contains(&format!(". {function}")), "{function}: {selected}{tree}");
    }
    assert!(stopped.contains("stopped"), "{stopped}");
}

#[test]
fn speedscope_opens_its_format() {
    require!(viewers().is_some(), "no speedscope: run scripts/install-test-tools, which needs npm");
    require_programs!("chromium");
    let place = Sandbox::new();
    let stages = profile(&place, "out.speedscope.json");
    let page = speedscope(&place, &viewers().unwrap(), "out.speedscope.json");
    // The list of profiles has one row for each stage: its name and its time.
    let rows: Vec<&str> = page.split("<tr title=\"").skip(1).collect();
    assert_eq!(rows.len(), stages.len(), "{page}");
    for ((stage, seconds), row) in stages.iter().zip(rows) {
        let start: String =
            stage.chars().take_while(|c| c.is_alphanumeric() || *c == ' ').collect();
        assert!(row.starts_with(&start), "{stage}: {row}");
        let weight = row.rsplit_once("s</td>").map_or("", |(before, _)| before);
        let weight: f64 = weight.rsplit('>').next().unwrap().parse().unwrap();
        assert!((weight - seconds).abs() < 0.02 + seconds / 50.0, "{stage}: {weight} of {seconds}");
    }
}

/// What speedscope makes of a profile: its page after it has loaded it as its own command does, from a script beside it.
fn speedscope(place: &Sandbox, viewers: &Path, name: &str) -> String {
    let mut encode = place.command("base64");
    encode.args(["-w0", name]);
    let encoded = String::from_utf8(finish(encode).stdout).unwrap();
    let script = place.path("load.js");
    fs::write(&script, format!("speedscope.loadFileFromBase64({name:?}, {encoded:?})")).unwrap();
    let index = viewers.join("node_modules/speedscope/dist/release/index.html");
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]);
    command.args(["--allow-file-access-from-files", "--virtual-time-budget=20000", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", place.path("browser").display()));
    command.arg(format!("file://{}#localProfilePath={}", index.display(), script.display()));
    String::from_utf8(finish(command).stdout).unwrap()
}

#[test]
fn inferno_reads_folded_stacks() {
    let place = Sandbox::new();
    profile(&place, "out2.folded");
    let text = fs::read_to_string(place.path("out.folded")).unwrap();
    let mut options = inferno::flamegraph::Options::default();
    options.count_name = "us".to_owned();
    options.min_width = 0.0;
    let mut svg = Vec::new();
    inferno::flamegraph::from_lines(&mut options, text.lines(), &mut svg).unwrap();
    let svg = String::from_utf8(svg).unwrap();
    let all: f64 = parse_folded(&text).unwrap().iter().map(|(_, us)| us).sum();
    let said = svg.split("<title>all (").nth(1).unwrap().split(" us").next().unwrap();
    let said: f64 = said.replace(',', "").parse().unwrap();
    assert!((said - all).abs() < 0.5, "{said} of {all}");
    for function in ["f", "g", "h", "k"] {
        assert!(svg.contains(&format!("<title>{function} (")), "{function}");
    }
}
