//! Files at the ends of a stage.

/// The stage without a last `>FILE` or `>>FILE`, if its text ends so.
pub(crate) fn before_redirection(stage: &str) -> &str {
    let Some((before, file)) = stage.rsplit_once('>') else { return stage };
    let before = before.strip_suffix('>').unwrap_or(before);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "./_-~$".contains(c);
    let file = file.trim();
    // `2>`, `&>`, `<>` and `>|` are something else; what is in quotes has one before, too.
    let is_output = before.ends_with(|c: char| c.is_ascii_alphabetic() || c == ' ');
    match !file.is_empty() && file.chars().all(is_plain) && is_output {
        true => before.trim_end(),
        false => stage,
    }
}

/// Whether a character may stand in the plain name of a file.
pub(crate) fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "./_-".contains(c)
}

/// The command without `<FILE`, and the file.
pub(crate) fn input_file(text: &str) -> Option<(String, String)> {
    let (before, behind) = text.split_once('<')?;
    let behind = behind.trim_start_matches(' ');
    let end = behind.find(' ').unwrap_or(behind.len());
    let (name, rest) = behind.split_at(end);
    let is_it = before.ends_with(' ') && !name.is_empty() && name.chars().all(is_of_name);
    (is_it && !rest.contains('<')).then(|| (format!("{before}{rest}"), name.to_owned()))
}
