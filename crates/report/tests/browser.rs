//! The page as a real browser shows it: nothing is loaded, nothing sticks out, no script fails.
//!
//! Needs Chromium; without it the test is skipped, except where `FULLBORE_CI=1` says it must be there.
#![allow(
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "a test reports by printing and panicking"
)]

#[path = "lab/sample.rs"]
mod lab;
mod samples;
#[path = "workflow/sample.rs"]
mod workflow;

use std::path::Path;
use std::process::Command;

use fullbore_report::html;

/// Runs before anything else in the page: remembers what goes wrong.
const LISTEN: &str = r#"<script>
window.wrong = [];
addEventListener("error", (event) => wrong.push("error: " + event.message), true);
addEventListener("unhandledrejection", (event) => wrong.push("rejection: " + event.reason));
addEventListener("securitypolicyviolation", (event) => wrong.push("policy: " + event.violatedDirective + " " + event.blockedURI));
for (const name of ["error", "warn"]) { console[name] = (...words) => wrong.push(name + ": " + words.join(" ")); }
window.alert = () => wrong.push("alert: a command was run as a script");
</script>"#;

/// Runs last: moves the pointer over each chart, then looks for what sticks out to the right.
const MEASURE: &str = r#"<script>
for (const strip of document.querySelectorAll(".strip")) {
  const box = strip.getBoundingClientRect();
  for (const share of [0.02, 0.4, 0.98]) {
    strip.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width * share, clientY: box.top + 1 }));
  }
  strip.dispatchEvent(new PointerEvent("pointerleave"));
}
const width = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth > width) { wrong.push("the page is " + document.documentElement.scrollWidth + " wide"); }
for (const element of document.querySelectorAll("main *")) {
  if (element.closest(".scroll table") || element.closest("defs")) { continue; }
  const box = element.getBoundingClientRect();
  if (box.width > 0 && (box.right > width + 1 || box.left < -1)) {
    wrong.push("sticks out: " + element.tagName + "." + element.getAttribute("class") + " to " + Math.round(box.right));
  }
}
for (const entry of performance.getEntriesByType("resource")) { wrong.push("loaded: " + entry.name); }
const probe = document.createElement("output");
probe.id = "probe";
probe.textContent = "width " + innerWidth + "; " + (wrong.length ? wrong.slice(0, 8).join(" | ") : "all well") + " end-of-probe";
document.body.append(probe);
</script>"#;

fn chromium() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    })
}

/// Opens `page` in a window of `width` columns of pixels; returns the document after its scripts ran.
fn dump(chromium: &str, folder: &Path, page: &Path, width: u32) -> String {
    let output = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("chromium starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The browser; `None`, with a word about it, where none is installed and none must be.
fn browser() -> Option<&'static str> {
    let found = chromium();
    if found.is_none() {
        assert!(std::env::var_os("FULLBORE_CI").is_none(), "chromium is missing");
        println!("skipped: chromium is not installed");
    }
    found
}

/// Shows the page on a desk and on a phone, and looks at what its probe found.
fn probe(chromium: &str, folder: &Path, name: &str, page: &str) {
    let probed = page
        .replacen("<meta name=\"viewport\"", &format!("{LISTEN}<meta name=\"viewport\""), 1)
        .replacen("</body>", &format!("{MEASURE}</body>"), 1);
    for width in [1280, 390] {
        // A window is never narrower than 500 pixels, a frame can be.
        let inner = folder.join(format!("{name}.html"));
        std::fs::write(&inner, &probed).unwrap();
        let outer = folder.join(format!("{name}-{width}.html"));
        std::fs::write(&outer, frame(&inner, width)).unwrap();
        let document = dump(chromium, folder, &outer, 1400);
        let start =
            document.find("width ").unwrap_or_else(|| panic!("{name}: no probe in\n{document}"));
        let probe = document[start..].split(" end-of-probe").next().unwrap_or("");
        assert_eq!(probe, format!("width {width}; all well"), "{name} at {width} pixels");
    }
}

#[test]
fn a_browser_shows_every_page_without_network_overflow_or_errors() {
    let Some(chromium) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, record) in samples::all() {
        let page = html::page(&record);
        probe(chromium, folder.path(), name, &page);
        let inner = folder.path().join(format!("{name}.html"));
        std::fs::write(&inner, &page).unwrap();
        let document = dump(chromium, folder.path(), &inner, 1280);
        let message =
            record.findings.first().map_or("Too short to judge", |finding| &finding.message);
        let shown = heading(&document);
        assert!(
            !shown.is_empty() && letters(message).starts_with(&shown),
            "{name}: the heading says {shown}"
        );
    }
}

#[test]
fn a_browser_shows_the_page_of_the_lab_without_network_overflow_or_errors() {
    let Some(chromium) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    probe(chromium, folder.path(), "lab", &fullbore_report::lab::html::page(&lab::run()));
}

#[test]
fn a_browser_shows_the_page_of_a_workflow_without_network_overflow_or_errors() {
    let Some(chromium) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, workflow) in workflow::all() {
        probe(chromium, folder.path(), name, &fullbore_report::workflow::page(&workflow));
    }
}

/// The letters and digits of the page's first heading, its entities resolved.
fn heading(document: &str) -> String {
    let after = document.split("<h1>").nth(1).unwrap_or("");
    let text = after.split("</h1>").next().unwrap_or("");
    letters(
        &text
            .replace("&nbsp;", " ")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&"),
    )
}

fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// A page that holds the page in a frame of `width` pixels and repeats what its probe found.
fn frame(inner: &Path, width: u32) -> String {
    let page = std::fs::read_to_string(inner).expect("the page was written");
    let source = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!DOCTYPE html><body style=\"margin:0\"><p id=\"found\"></p>\
         <iframe style=\"border:0;width:{width}px;height:900px\" srcdoc=\"{source}\" \
         onload=\"found.textContent = this.contentDocument.getElementById('probe').textContent; this.remove()\"></iframe></body>"
    )
}
