//! Reads from `/proc/PID/environ` in which locale a program was started.

/// The locale that decides what characters there are and in which order, when it is one for both; `None` when the two
/// differ, and when there is no variable at all. Without any of these variables it is `C`.
///
/// Source: locale(7), setlocale(3): LC_ALL, then LC_COLLATE and LC_CTYPE, then LANG; empty ones do not count.
pub(crate) fn locale(environ: &[u8]) -> Option<String> {
    // That of a process which is ending, or within execve, cannot be read.
    if environ.is_empty() {
        return None;
    }
    let value = |name: &str| {
        let mut variables = environ.split(|byte| *byte == 0);
        variables.find_map(|variable| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    };
    let of = |category: &str| {
        let values = ["LC_ALL", category, "LANG"].into_iter().filter_map(value);
        let locale = values.into_iter().find(|value| !value.is_empty()).unwrap_or(b"C");
        String::from_utf8_lossy(locale).into_owned()
    };
    let order = of("LC_COLLATE");
    (order == of("LC_CTYPE")).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_for_everything_goes_before_one_for_a_part() {
        for (environ, expected) in [
            ("", None),
            ("HOME=/\0XLANG=x\0", Some("C")),
            ("LANG=en_US.UTF-8\0", Some("en_US.UTF-8")),
            ("LANG=en_US.UTF-8\0LC_ALL=C\0", Some("C")),
            ("LANG=en_US.UTF-8\0LC_ALL=\0", Some("en_US.UTF-8")),
            ("LANG=de_DE.UTF-8\0LC_COLLATE=C\0", None),
            ("LC_CTYPE=C.UTF-8\0LC_COLLATE=C.UTF-8\0LANG=C\0", Some("C.UTF-8")),
        ] {
            assert_eq!(locale(environ.as_bytes()).as_deref(), expected, "{environ:?}");
        }
    }
}
