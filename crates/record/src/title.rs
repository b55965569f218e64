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
    /// // One copy of what `run --auto` has not dealt out is the command itself.
    /// stage.words = ["fullbore", "par", "--auto", "--", "grep", "a b"].map(str::to_owned).to_vec();
    /// stage.copies = Some(1);
    /// assert_eq!(stage.title(), "grep 'a b'");
    /// ```
    #[must_use]
    pub fn title(&self) -> String {
        let (Some(copies), Some((program, arguments))) =
            (self.copies, self.main_words.split_first())
        else {
            return self.command.clone();
        };
        if let Some(line) = self.line_of_auto() {
            return line.to_owned();
        }
        let mut title = program.rsplit('/').next().unwrap_or(program).to_owned();
        if copies > 1 || !self.is_auto() {
            title.push_str(&format!(" ×{copies}"));
        }
        for word in arguments {
            title.push(' ');
            title.push_str(&quoted(word));
        }
        title
    }

    /// Whether `run --auto` put `par` before the command.
    #[must_use]
    pub fn is_auto(&self) -> bool {
        self.words.iter().take_while(|word| *word != "--").any(|word| word == "--auto")
    }

    /// The stages that this one stands for, as the user wrote them: `sort | uniq -c`. `None` for all but those that
    /// `run --auto` answers as one question.
    #[must_use]
    pub fn line_of_auto(&self) -> Option<&str> {
        let [shell, option, line] = &self.main_words[..] else { return None };
        (self.is_auto() && self.copies == Some(1) && shell == "sh" && option == "-c")
            .then_some(line)
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
