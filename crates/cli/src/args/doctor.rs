//! The arguments of `fullbore doctor`.

use clap::Args;

/// Show what of this machine costs pipelines speed or hides something from fullbore.
///
/// fullbore reads settings of Linux, of the CPUs and of the control groups, and tries a few system calls on pipes of its own. It
/// changes nothing. For each thing that it finds, it says what follows from it, and prints a command that changes it and one that
/// undoes that.
#[derive(Args, Debug)]
#[command(
    name = "doctor",
    after_help = "Examples:\n  \
        fullbore doctor\n  \
        fullbore doctor --json | jq -r '.findings[] | select(.level == \"costs_speed\").commands[]'\n\n\
        Exit status:\n  \
        0 nothing costs speed; 1 something does; 2 wrong usage, or a failure"
)]
pub(crate) struct DoctorOptions {
    /// Print all findings as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
