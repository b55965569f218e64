//! What to run: a line for a shell, or a command without one.

use std::ffi::OsString;

use fullbore_process::HeldSignals;

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
    /// A shell with all the words that it was called with. It is killed when the process that runs it is killed.
    Shell {
        /// The shell, looked up in PATH.
        shell: OsString,
        /// What the shell finds as its own name: its `$0`.
        name: OsString,
        /// The words after its name: options, the line or a file, parameters.
        words: Vec<OsString>,
        /// Which of `words` is the line; `None` when the shell reads a file.
        line: Option<usize>,
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
            Self::Line { shell, .. } | Self::Shell { shell, .. } => shell,
            Self::Words { program, .. } => program,
        }
    }

    /// The command as a person wrote it.
    #[must_use]
    pub fn text(&self) -> String {
        let line = match self {
            Self::Line { line, .. } => Some(line),
            Self::Shell { words, line, .. } => line.and_then(|line| words.get(line)),
            Self::Words { .. } => None,
        };
        line.map_or_else(|| self.text_of_words(), |line| line.to_string_lossy().into_owned())
    }

    fn text_of_words(&self) -> String {
        let words = self.words();
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    /// The words of the process that is started.
    pub(crate) fn words(&self) -> Vec<OsString> {
        match self {
            Self::Line { shell, line } => vec![shell.clone(), "-c".into(), line.clone()],
            Self::Shell { name: first, words: rest, .. }
            | Self::Words { program: first, arguments: rest } => {
                std::iter::once(first).chain(rest).cloned().collect()
            }
        }
    }

    /// The words of a shell that is given a line or a file, which its copies have, too; empty for a command.
    pub(crate) fn shell_words(&self) -> Vec<String> {
        match self {
            Self::Line { .. } | Self::Shell { .. } => {
                self.words().iter().map(|word| word.to_string_lossy().into_owned()).collect()
            }
            Self::Words { .. } => Vec::new(),
        }
    }

    /// How many words follow the line.
    pub(crate) fn words_after_line(&self) -> usize {
        match self {
            Self::Shell { words, line: Some(line), .. } => words.len().saturating_sub(line + 1),
            _ => 0,
        }
    }

    /// Starts it, and returns the number of its process.
    ///
    /// # Errors
    /// Those of [`fullbore_process::spawn`].
    pub(crate) fn start(&self, held: &HeldSignals) -> std::io::Result<i32> {
        let is_shell = matches!(self, Self::Shell { .. });
        fullbore_process::spawn(self.program(), &self.words(), held, is_shell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(words: &[&str], line: Option<usize>) -> Command {
        let words = words.iter().map(OsString::from).collect();
        Command::Shell { shell: "/bin/dash".into(), name: "sh".into(), words, line }
    }

    #[test]
    fn a_shell_is_called_with_the_words_it_was_given_and_known_by_its_line() {
        let command = shell(&["-e", "-c", "seq 9 | cat", "name", "parameter"], Some(2));
        assert_eq!(command.text(), "seq 9 | cat");
        assert_eq!(command.words_after_line(), 2);
        assert_eq!(command.words()[..3], ["sh", "-e", "-c"]);
        assert_eq!(command.program(), "/bin/dash");
    }

    #[test]
    fn a_shell_with_a_file_is_known_by_its_words() {
        assert_eq!(shell(&["-e", "job.sh"], None).text(), "sh -e job.sh");
    }
}
