//! Functions that a line defines before its first pipeline.

use crate::segments;

/// Takes the definitions of functions (`f() { …; }`, `function f { …; }`) off the beginning of a line: their names, and the
/// rest of the line.
///
/// ```
/// use fullbore_shell::without_functions;
/// let (names, rest) = without_functions("up() { tr a-z A-Z; }; cat f | up");
/// assert_eq!((names, rest), (vec!["up".to_owned()], " cat f | up"));
/// ```
#[must_use]
pub fn without_functions(line: &str) -> (Vec<String>, &str) {
    let mut names = Vec::new();
    let mut rest = line;
    while let Some((name, behind)) = definition(rest) {
        names.push(name.to_owned());
        rest = behind;
    }
    (names, rest)
}

/// The name of the function that a text begins with, and what follows the definition and its separator.
fn definition(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let (is_named, after_keyword) = match text.strip_prefix("function ") {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    let is_of_name = |c: char| c.is_alphanumeric() || "_-.:".contains(c);
    let end = after_keyword.find(|c| !is_of_name(c)).filter(|end| *end > 0)?;
    let (name, rest) = after_keyword.split_at(end);
    let rest = rest.trim_start();
    let body = match rest.strip_prefix('(') {
        Some(inner) => inner.trim_start().strip_prefix(')')?.trim_start(),
        None if is_named => rest,
        None => return None,
    };
    if !body.starts_with(['{', '(']) {
        return None;
    }
    // The body ends with the first bracket with which it is whole.
    let brackets = body.char_indices().filter(|(_, c)| matches!(c, '}' | ')'));
    let is_whole = |body: &str| segments(body).is_some_and(|found| found == [[body]]);
    let end = brackets.map(|(at, _)| at + 1).find(|end| is_whole(&body[..*end]))?;
    let behind = body[end..].trim_start_matches([' ', '\t']);
    Some((name, behind.strip_prefix([';', '\n'])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_taken_off_the_beginning_only() {
        for (line, names, rest) in [
            ("a() { x; }; b () (y | z); a | b", &["a", "b"][..], " a | b"),
            ("function g { echo '}'; }\ng", &["g"], "g"),
            ("f() { case $1 in a) b;; esac; }; f a | cat", &["f"], " f a | cat"),
            ("f() { { a; b; } | c; }; f", &["f"], " f"),
            ("seq 9 | cat; f() { x; }; f", &[], "seq 9 | cat; f() { x; }; f"),
            ("f() { x; } | cat", &[], "f() { x; } | cat"),
            ("(a | b) | c", &[], "(a | b) | c"),
            ("f() { unfinished", &[], "f() { unfinished"),
            ("", &[], ""),
        ] {
            let (found, left) = without_functions(line);
            assert_eq!(
                (found.as_slice(), left),
                (names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>().as_slice(), rest),
                "{line}"
            );
        }
    }
}
