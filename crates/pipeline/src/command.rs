//! What to run: a line for a shell, or a command without one.

use std::ffi::OsString;

/// What a run starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `SHELL -c LINE`; the line goes to the shell untouched.
    Line {
        /// The shell, looked up in PATH.
        shell: OsString,
        /// The line.
        line: OsString,
    },
    /// A program with its arguments, without a shell; never empty.
    Words {
        /// The program, looked up in PATH.
        program: OsString,
        /// Its arguments.
        arguments: Vec<OsString>,
    },
}

impl Command {
    /// The program that is started.
    #[must_use]
    pub fn program(&self) -> &OsString {
        match self {
            Self::Line { shell, .. } => shell,
            Self::Words { program, .. } => program,
        }
    }

    /// The command as a person wrote it.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Line { line, .. } => line.to_string_lossy().into_owned(),
            Self::Words { program, arguments } => {
                let words = std::iter::once(program).chain(arguments);
                words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
            }
        }
    }

    pub(crate) fn to_process(&self) -> std::process::Command {
        let mut process = std::process::Command::new(self.program());
        match self {
            Self::Line { line, .. } => process.arg("-c").arg(line),
            Self::Words { arguments, .. } => process.args(arguments),
        };
        process
    }
}
