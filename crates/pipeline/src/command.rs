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

    /// The words of the process that is started.
    pub(crate) fn words(&self) -> Vec<OsString> {
        match self {
            Self::Line { shell, line } => vec![shell.clone(), "-c".into(), line.clone()],
            Self::Words { program, arguments } => {
                std::iter::once(program).chain(arguments).cloned().collect()
            }
        }
    }

    /// The words of a shell that is given a line, which its copies have, too; empty for a command.
    pub(crate) fn shell_words(&self) -> Vec<String> {
        match self {
            Self::Line { .. } => {
                self.words().iter().map(|word| word.to_string_lossy().into_owned()).collect()
            }
            Self::Words { .. } => Vec::new(),
        }
    }

    pub(crate) fn to_process(&self) -> std::process::Command {
        let mut words = self.words().into_iter();
        let mut process = std::process::Command::new(words.next().unwrap_or_default());
        process.args(words);
        fullbore_process::hand_on_ignored_signals(&mut process);
        process
    }
}
