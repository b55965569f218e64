//! The arguments of `fullbore sh`.

use std::ffi::OsString;

use clap::Args;

/// Be the shell of make, Snakemake, GNU parallel, cron, …, and leave a record of each job.
///
/// The words go to the real shell as they are, so that the output, messages, exit status and signals are its own. If the
/// variable FULLBORE_RECORDS names a folder, `-c LINE` is watched as run watches a pipeline, in silence, and a run record
/// (sh-TIME-PID-HOST.json) is left there. Otherwise, and without -c, the real shell takes the place of fullbore at once.
///
/// The real shell is that of --shell, else of the variable FULLBORE_SHELL, else /bin/sh. A link to fullbore named
/// fullbore-bash is `fullbore sh --shell bash`, for settings that take one word. docs/sh.md has the setting of each program.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(
    override_usage = "fullbore sh [--shell SHELL] [--scripts] [WORD]...",
    after_help = "Examples:\n  \
        FULLBORE_RECORDS=/tmp/records make SHELL='fullbore sh'\n  \
        fullbore sh --shell bash -euo pipefail -c 'zcat \"$1\" | sort | uniq -c' job log.gz\n  \
        ln -s \"$(command -v fullbore)\" ~/bin/fullbore-bash    # for a setting that takes one word\n\n\
        Variables:\n  \
        FULLBORE_RECORDS  the folder for records; if it is not set, nothing is watched\n  \
        FULLBORE_SHELL    the real shell\n  \
        FULLBORE_NO_TUNE  if set, pipes stay as they are\n\n\
        Exit status:\n  \
        the shell's own (if signal n kills the shell, it also kills fullbore: 128 + n);\n  \
        126 the shell cannot be executed; 127 the shell was not found"
)]
pub(crate) struct ShOptions {
    /// The real shell. Must come first.
    #[arg(long, value_name = "SHELL")]
    pub(crate) shell: Option<OsString>,

    /// Watch a script file, too, not only -c LINE. Must come before the words of the shell.
    #[arg(long)]
    pub(crate) scripts: bool,

    /// The words of the real shell: options, -c LINE, parameters.
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

impl ShOptions {
    /// The options in front, and the words of the shell, in what follows `fullbore sh`; `None` where our own help is wanted.
    pub(crate) fn of_words(words: &[OsString]) -> Option<Self> {
        if matches!(words, [only] if only == "--help") {
            return None;
        }
        let (mut options, mut rest) = (Self::default(), words);
        while let Some((first, others)) = rest.split_first() {
            let attached = first.to_str().and_then(|word| word.strip_prefix("--shell="));
            match (attached, others) {
                (Some(shell), _) => (options.shell, rest) = (Some(shell.into()), others),
                (None, [shell, after @ ..]) if first == "--shell" => {
                    (options.shell, rest) = (Some(shell.clone()), after);
                }
                _ if first == "--scripts" => (options.scripts, rest) = (true, others),
                _ => break,
            }
        }
        options.words = rest.to_vec();
        Some(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Option<(String, bool, Vec<String>)> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let options = ShOptions::of_words(&words)?;
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        let shell = options.shell.as_ref().map(text).unwrap_or_default();
        Some((shell, options.scripts, options.words.iter().map(text).collect()))
    }

    #[test]
    fn our_options_come_first_and_everything_else_belongs_to_the_shell() {
        for (words, shell, scripts, rest) in [
            (&["-c", "true"][..], "", false, &["-c", "true"][..]),
            (&["--shell", "bash", "-ec", "true"], "bash", false, &["-ec", "true"]),
            (&["--shell=zsh", "--scripts", "f"], "zsh", true, &["f"]),
            (&["--posix", "--shell", "bash"], "", false, &["--posix", "--shell", "bash"]),
            (&["-c", "x", "--help"], "", false, &["-c", "x", "--help"]),
            (&["--shell"], "", false, &["--shell"]),
            (&[], "", false, &[]),
        ] {
            let rest = rest.iter().map(ToString::to_string).collect();
            assert_eq!(read(words), Some((shell.to_owned(), scripts, rest)), "{words:?}");
        }
        assert_eq!(read(&["--help"]), None);
    }
}
