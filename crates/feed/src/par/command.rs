//! The command that every block gets a copy of.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rustix::fs::{Access, access};

/// Where a copy stands: its block, and the place it takes among those that run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Number of the block, from 1.
    pub block: u64,
    /// Number of the place, from 1.
    pub slot: usize,
}

/// A program and its arguments. In the arguments, `{#}` stands for the number of the block and `{%}` for that of the
/// place; the environment has the first as `PAR_BLOCK` and `PARALLEL_SEQ`, the second as `PARALLEL_JOBSLOT`.
#[derive(Clone, Debug)]
pub struct Command {
    program: PathBuf,
    words: Vec<OsString>,
    has_places: bool,
}

/// Why a command cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// There is no such program.
    NotFound,
    /// There is a file of that name that cannot be executed.
    NotExecutable,
}

impl Command {
    /// Finds a program as execvp(3) does: in the folders of `path` (the variable `PATH`), unless its name has a slash.
    ///
    /// # Errors
    /// [`Missing`]. Source: exec(3).
    pub fn find(words: Vec<OsString>, path: &OsStr) -> Result<Self, Missing> {
        let name = words.first().map_or(OsStr::new(""), OsString::as_os_str);
        if name.is_empty() {
            return Err(Missing::NotFound);
        }
        let found = if name.as_bytes().contains(&b'/') {
            check(Path::new(name)).map(|()| PathBuf::from(name))
        } else {
            let mut worst = Missing::NotFound;
            let mut places = std::env::split_paths(path).map(|folder| folder.join(name));
            let found = places.find(|place| match check(place) {
                Ok(()) => true,
                Err(why) => {
                    worst = if why == Missing::NotExecutable { why } else { worst };
                    false
                }
            });
            found.ok_or(worst)
        };
        let has_places = words.iter().skip(1).any(|word| has_place(word.as_bytes()));
        found.map(|program| Self { program, words, has_places })
    }

    /// The words as they were given.
    #[must_use]
    pub fn words(&self) -> &[OsString] {
        &self.words
    }

    /// The words of the copy at a position.
    #[must_use]
    pub fn words_at(&self, position: Position) -> Vec<OsString> {
        let mut words = self.words.clone();
        if self.has_places {
            for word in words.iter_mut().skip(1) {
                let filled = fill(word.as_bytes(), b"{#}", position.block);
                *word = OsString::from_vec(fill(&filled, b"{%}", position.slot as u64));
            }
        }
        words
    }

    /// Starts a copy with these as standard input, output and error.
    pub(super) fn spawn(&self, position: Position, ends: [OwnedFd; 3]) -> io::Result<Child> {
        let [input, output, errors] = ends;
        self.process_of(&self.words_at(position))
            .env("PAR_BLOCK", position.block.to_string())
            .env("PARALLEL_SEQ", position.block.to_string())
            .env("PARALLEL_JOBSLOT", position.slot.to_string())
            .stdin(Stdio::from(input))
            .stdout(Stdio::from(output))
            .stderr(Stdio::from(errors))
            .spawn()
    }

    /// A process with the words as they were given, and everything else as this process has it.
    #[must_use]
    pub fn as_it_is(&self) -> std::process::Command {
        self.process()
    }

    /// A process with the words as they were given.
    pub(super) fn process(&self) -> std::process::Command {
        self.process_of(&self.words)
    }

    fn process_of(&self, words: &[OsString]) -> std::process::Command {
        let mut process = std::process::Command::new(&self.program);
        process.arg0(&words[0]).args(&words[1..]);
        process
    }
}

fn check(path: &Path) -> Result<(), Missing> {
    let is_file = std::fs::metadata(path).map(|file| file.is_file());
    match (is_file, access(path, Access::EXEC_OK)) {
        (Ok(true), Ok(())) => Ok(()),
        (Ok(_), _) => Err(Missing::NotExecutable),
        (Err(_), _) => Err(Missing::NotFound),
    }
}

fn has_place(word: &[u8]) -> bool {
    memchr::memmem::find(word, b"{#}").or(memchr::memmem::find(word, b"{%}")).is_some()
}

/// Puts a number in every place of a word.
fn fill(word: &[u8], place: &[u8], number: u64) -> Vec<u8> {
    let mut filled = Vec::with_capacity(word.len());
    let mut from = 0;
    for at in memchr::memmem::find_iter(word, place) {
        filled.extend_from_slice(&word[from..at]);
        filled.extend_from_slice(number.to_string().as_bytes());
        from = at + place.len();
    }
    filled.extend_from_slice(&word[from..]);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    fn find(words: Vec<OsString>) -> Result<Command, Missing> {
        Command::find(words, OsStr::new("/no/such/folder:/usr/bin:/bin"))
    }

    #[test]
    fn a_program_is_found_as_a_shell_finds_it() {
        assert!(find(words("cat -n")).is_ok());
        assert!(find(words("/bin/sh -c :")).is_ok());
        assert_eq!(find(words("no-such-program")).unwrap_err(), Missing::NotFound);
        assert_eq!(find(words("/no/such")).unwrap_err(), Missing::NotFound);
        assert_eq!(find(words("/etc/passwd")).unwrap_err(), Missing::NotExecutable);
        assert_eq!(find(words("/tmp")).unwrap_err(), Missing::NotExecutable);
        assert_eq!(find(words("")).unwrap_err(), Missing::NotFound);
        assert_eq!(find(Vec::new()).unwrap_err(), Missing::NotFound);
    }

    #[test]
    fn numbers_stand_in_their_places() {
        let command = find(words("sh -c b{#}s{%}{#} {} {#")).unwrap();
        let filled = command.words_at(Position { block: 12, slot: 3 });
        assert_eq!(filled, words("sh -c b12s312 {} {#"));
    }
}
