//! `fullbore doctor`.

use std::io::{self, Write, stdout};

use anyhow::Result;
use fullbore_doctor::{Attempts, Finding, Level, Machine, Places, Unread, examine};
use fullbore_report::text;
use serde::Serialize;

use super::run::style_of;
use super::stage::refuse_closed_output;
use crate::args::doctor::DoctorOptions;
use crate::exit::Exit;

/// What `--json` prints; docs/doctor.md describes it.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    kernel: &'a str,
    findings: &'a [Finding],
    unread: &'a [Unread],
}

/// Shows what was found about this machine.
pub(crate) fn run(options: &DoctorOptions) -> Result<Exit> {
    refuse_closed_output("doctor")?;
    let machine = Machine::read(Places::system(), Attempts::make());
    let findings = examine(&machine);
    let text = if options.json {
        let (kernel, unread) = (machine.kernel.release.as_str(), machine.unread.as_slice());
        let document =
            Document { schema: "fullbore.doctor/1", kernel, findings: &findings, unread };
        serde_json::to_string_pretty(&document)? + "\n"
    } else {
        text::machine(&findings, &machine.unread, style_of(&stdout()))
    };
    let costs = findings.iter().any(|finding| finding.level == Level::Costs);
    match stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::ReaderLeft),
        written => Ok(written.map(|()| if costs { Exit::No } else { Exit::Done })?),
    }
}
