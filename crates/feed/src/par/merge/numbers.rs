//! Makes one number of those that stand at the same place.

/// What becomes of two numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fold {
    Sum,
    Greatest,
}

/// Numbers of all outputs so far, and the text between them.
#[derive(Debug)]
pub(crate) struct Numbers {
    fold: Fold,
    /// One for each word: the white space before it, and the word.
    words: Vec<(Vec<u8>, Word)>,
    /// White space after the last word.
    end: Vec<u8>,
    outputs: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    /// A number, and how many columns it took with the white space before it.
    Number(i128, usize),
    Text(Vec<u8>),
}

impl Numbers {
    pub(crate) fn new(fold: Fold) -> Self {
        Self { fold, words: Vec::new(), end: Vec::new(), outputs: 0 }
    }

    /// Adds an output; says what is wrong if it has another form than those before.
    pub(crate) fn add(&mut self, text: &[u8]) -> Result<(), String> {
        let (words, end) = parse(text);
        // Nothing counts as nothing.
        if words.is_empty() && end.is_empty() {
            return Ok(());
        }
        self.outputs += 1;
        if self.outputs == 1 {
            (self.words, self.end) = (words, end);
            return Ok(());
        }
        if words.len() != self.words.len() {
            let (now, before) = (words.len(), self.words.len());
            return Err(format!("an output of {now} words cannot be added to one of {before}"));
        }
        for ((_, sum), (_, word)) in self.words.iter_mut().zip(words) {
            match (&mut *sum, word) {
                (Word::Number(sum, _), Word::Number(number, _)) => {
                    *sum = match self.fold {
                        Fold::Sum => sum.checked_add(number).ok_or("a sum is too large")?,
                        Fold::Greatest => number.max(*sum),
                    };
                }
                (before, now) if *before == now => {}
                (before, now) => {
                    return Err(format!(
                        "`{}` cannot be added to `{}`",
                        now.shown(),
                        before.shown()
                    ));
                }
            }
        }
        Ok(())
    }

    /// The numbers, in the columns of the first output.
    pub(crate) fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        for (space, word) in &self.words {
            match word {
                Word::Text(word) => text.extend([space.as_slice(), word].concat()),
                Word::Number(number, columns) => {
                    // A line end and one space stay, the others make room for more digits.
                    let line = space.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
                    text.extend_from_slice(&space[..line]);
                    let columns = columns - line;
                    let is_first = text.is_empty() || text.ends_with(b"\n");
                    match space.get(line) {
                        Some(&first) if !is_first => {
                            text.push(first);
                            text.extend(format!("{number:>width$}", width = columns - 1).bytes());
                        }
                        _ => text.extend(format!("{number:>columns$}").bytes()),
                    }
                }
            }
        }
        text.extend_from_slice(&self.end);
        text
    }
}

impl Word {
    fn shown(&self) -> String {
        match self {
            Self::Number(number, _) => number.to_string(),
            Self::Text(text) => String::from_utf8_lossy(text).into_owned(),
        }
    }
}

fn parse(text: &[u8]) -> (Vec<(Vec<u8>, Word)>, Vec<u8>) {
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        let begin = rest.iter().position(|b| !b.is_ascii_whitespace());
        let Some(begin) = begin else { return (words, rest.to_vec()) };
        let (space, after) = rest.split_at(begin);
        let end = after.iter().position(u8::is_ascii_whitespace).unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse::<i128>().ok());
        let parsed = match number {
            Some(number) => Word::Number(number, space.len() + word.len()),
            None => Word::Text(word.to_vec()),
        };
        words.push((space.to_vec(), parsed));
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(outputs: &[&str]) -> Result<String, String> {
        let mut sum = Numbers::new(Fold::Sum);
        for output in outputs {
            sum.add(output.as_bytes())?;
        }
        Ok(String::from_utf8(sum.text()).unwrap())
    }

    #[test]
    fn numbers_keep_their_columns() {
        assert_eq!(sum(&["5\n", "7\n"]).unwrap(), "12\n");
        let wc = ["      1       2       3\n", "     10      20 9999999\n"];
        assert_eq!(sum(&wc).unwrap(), "     11      22 10000002\n");
        assert_eq!(sum(&["a:  5\nb: -1\n", "a: 95\nb: 11\n"]).unwrap(), "a: 100\nb: 10\n");
        assert_eq!(sum(&[]).unwrap(), "");
        assert_eq!(sum(&["9", ""]).unwrap(), "9");
        let mut greatest = Numbers::new(Fold::Greatest);
        for output in ["7\n", "12\n", "9\n"] {
            greatest.add(output.as_bytes()).unwrap();
        }
        assert_eq!(greatest.text(), b"12\n");
    }

    #[test]
    fn what_has_another_form_is_refused() {
        assert!(sum(&["5\n", "5 6\n"]).unwrap_err().contains("2 words"));
        assert!(sum(&["5\n", "x\n"]).unwrap_err().contains("`x` cannot be added to `5`"));
        let much = i128::MAX.to_string();
        assert!(sum(&[&much, &much]).is_err());
    }
}
