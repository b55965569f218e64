//! What a stage is called where there is room for its arguments.

use crate::StageRecord;

impl StageRecord {
    /// The command as a view shows it: `grep ×2 -i error` for `fullbore par grep -i error` with two copies, and otherwise
    /// `command`.
    ///
    /// ```
    /// let mut stage = fullbore_record::StageRecord::default();
    /// stage.command = "fullbore par -j4 grep 'a b'".to_owned();
    /// assert_eq!(stage.title(), stage.command);
    /// stage.main_words = vec!["/usr/bin/grep".to_owned(), "a b".to_owned()];
    /// stage.copies = Some(4);
    /// assert_eq!(stage.title(), "grep ×4 'a b'");
    /// ```
    #[must_use]
    pub fn title(&self) -> String {
        let (Some(copies), Some((program, arguments))) =
            (self.copies, self.main_words.split_first())
        else {
            return self.command.clone();
        };
        // Stages that `run --auto` answers as one question.
        if let ("sh", [option, line], 1) = (program.as_str(), arguments, copies)
            && option == "-c"
        {
            return line.clone();
        }
        let mut title = format!("{} ×{copies}", program.rsplit('/').next().unwrap_or(program));
        for word in arguments {
            title.push(' ');
            title.push_str(&quoted(word));
        }
        title
    }
}

/// A word as one would type it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-[]{}^~#?!".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
