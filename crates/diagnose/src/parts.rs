//! Builds an advice from text to read and commands to paste.

use fullbore_record::AdvicePart;

/// What to do: text and commands in the order in which they are read.
pub(super) type Advice = Vec<AdvicePart>;

/// A part to read.
pub(super) fn text(text: impl Into<String>) -> AdvicePart {
    AdvicePart::text(text)
}

/// A part to paste.
pub(super) fn command(command: impl Into<String>) -> AdvicePart {
    AdvicePart::command(command)
}

/// An advice that is one text; none when it is empty.
pub(super) fn only(words: impl Into<String>) -> Advice {
    let words: String = words.into();
    if words.is_empty() { Advice::new() } else { vec![text(words)] }
}

/// `before`, the command and a full stop.
pub(super) fn paste(before: impl Into<String>, line: impl Into<String>) -> Advice {
    vec![text(before), command(line), text(".")]
}

/// The sentences one after the other, with a space between them.
pub(super) fn joined(sentences: impl IntoIterator<Item = Advice>) -> Advice {
    let mut advice = Advice::new();
    for sentence in sentences.into_iter().filter(|sentence| !sentence.is_empty()) {
        if !advice.is_empty() {
            push(&mut advice, text(" "));
        }
        sentence.into_iter().for_each(|part| push(&mut advice, part));
    }
    advice
}

/// Adds a part; text that follows text becomes one with it.
fn push(advice: &mut Advice, part: AdvicePart) {
    match (advice.last_mut(), part) {
        (Some(AdvicePart::Text(last)), AdvicePart::Text(more)) => last.push_str(&more),
        (_, part) => advice.push(part),
    }
}
