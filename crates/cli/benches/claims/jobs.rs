//! What a job costs more under `fullbore sh` than under the real shell.

use std::path::Path;
use std::process::Command;

use crate::Effort;
use crate::pairs::Pairs;
use crate::sandbox::{Sandbox, fullbore};
use crate::table::{Outcome, Row};

const MOST_MS: f64 = 4.0;

const LINES: [(&str, &str); 2] =
    [("the shortest job", "true"), ("a job of three stages", "seq 100 | cat | tail -1")];

/// Time added to each job, with a record and without.
pub(crate) fn costs(effort: Effort) -> Vec<Row> {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = Vec::new();
    for (name, line) in LINES {
        rows.push(row(&format!("{name}, with a record"), line, Some(folder.path()), effort));
    }
    rows.push(row("the shortest job, without FULLBORE_RECORDS", "true", None, effort));
    rows
}

fn row(name: &str, line: &str, folder: Option<&Path>, effort: Effort) -> Row {
    let job = |place: &Sandbox, shell: &[&str]| -> Command {
        let mut command = place.command(shell[0]);
        command.args(&shell[1..]).args(["-c", line]).env_remove("FULLBORE_SHELL");
        match folder {
            Some(folder) => command.env("FULLBORE_RECORDS", folder),
            None => command.env_remove("FULLBORE_RECORDS"),
        };
        command
    };
    let program = fullbore();
    let pairs = Pairs::measure(
        effort.times(30, 500),
        |place| job(place, &["/bin/sh"]),
        |place| job(place, &[program.to_str().unwrap(), "sh"]),
    );
    let added = pairs.added_milliseconds();
    Row {
        claim: format!("time added to {name}"),
        bar: format!("≤ {MOST_MS} ms"),
        measured: format!("{:.1} ms ± {:.1} ms", added.median, added.mad),
        outcome: Outcome::met_if(added.median <= MOST_MS),
        command: format!("/bin/sh -c '{line}'\nfullbore sh -c '{line}'"),
        notes: vec![format!(
            "`/bin/sh` takes {:.1} ms; {} pairs",
            pairs.first() * 1e3,
            pairs.first_seconds.len()
        )],
    }
}
