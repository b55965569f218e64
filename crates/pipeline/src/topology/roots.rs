//! The processes from which everything else is found.

use serde::{Deserialize, Serialize};

/// The processes at the root of what is watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Roots {
    /// Process of the shell, or of the command.
    pub(crate) shell: i32,
    /// Words of a shell that was given a line; its copies have them, too. Empty for a command.
    pub(crate) shell_words: Vec<String>,
    /// The process of fullbore: the parent of those whose parent ended.
    pub(crate) own: i32,
    /// How many of `shell_words` follow the line: `$0` and the parameters.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) words_after_line: usize,
}

impl Roots {
    /// The line that the shell was given.
    pub(super) fn line(&self) -> Option<&String> {
        self.shell_words.iter().nth_back(self.words_after_line)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
