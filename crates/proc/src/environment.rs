//! Reads from `/proc/PID/environ` what decides how a program treats text and how it buffers: never the rest, which holds
//! passwords.

use std::collections::BTreeMap;
use std::path::Path;

/// Variables that decide in which pieces a program reads and writes: of Python, and of stdbuf(1), which sets them for the
/// program that it becomes.
const BUFFERING: [&str; 3] = ["PYTHONUNBUFFERED", "_STDBUF_I", "_STDBUF_O"];

/// What the environment of a program says about text and buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The locale: `C` or `en_US.UTF-8`; if it is not the same for characters and for their order, both, as setlocale(3)
    /// writes them: `LC_CTYPE=en_US.UTF-8;LC_COLLATE=C`. `None` when it could not be read.
    pub locale: Option<String>,
    /// `PYTHONUNBUFFERED`, `_STDBUF_I` and `_STDBUF_O`, where they are set and not empty.
    pub buffering: BTreeMap<String, String>,
}

impl Environment {
    /// Parses the file's bytes.
    pub(crate) fn parse(environ: &[u8], is_installed: impl Fn(&str) -> bool) -> Self {
        // That of a process which is ending, or within execve, cannot be read.
        if environ.is_empty() {
            return Self::default();
        }
        let value = |name: &str| {
            let mut variables = environ.split(|byte| *byte == 0);
            let value = variables
                .find_map(|variable| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
            value.filter(|value| !value.is_empty())
        };
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let buffering = BUFFERING
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), text(value(name)?))))
            .collect();
        // The program may find its locales elsewhere then.
        let looks_elsewhere =
            ["LOCPATH", "LOCALE_ARCHIVE"].iter().any(|name| value(name).is_some());
        let is_there = |name: &str| looks_elsewhere || is_installed(name);
        Self { locale: Some(locale(|name| value(name).map(text), is_there)), buffering }
    }
}

/// The locale that decides what characters there are and in which order. Without any variable it is `C`.
///
/// Source: locale(7), setlocale(3): LC_ALL, then LC_COLLATE and LC_CTYPE, then LANG; empty ones do not count. With one that is
/// not installed setlocale fails, and the program stays in `C`, in which every program begins.
fn locale(value: impl Fn(&str) -> Option<String>, is_installed: impl Fn(&str) -> bool) -> String {
    let of = |category: &str| {
        let first = ["LC_ALL", category, "LANG"].into_iter().find_map(&value);
        first.unwrap_or_else(|| "C".to_owned())
    };
    let (characters, order) = (of("LC_CTYPE"), of("LC_COLLATE"));
    if ![&characters, &order].into_iter().all(|name| is_installed(name)) {
        return "C".to_owned();
    }
    if characters == order {
        return order;
    }
    format!("LC_CTYPE={characters};LC_COLLATE={order}")
}

/// Where the GNU C library keeps its locales.
const LOCALES: &str = "/usr/lib/locale";

/// Whether this machine has a locale, as far as that can be told: locales that are packed in one file are not listed.
pub(crate) fn is_installed(name: &str) -> bool {
    let folder = Path::new(LOCALES);
    if ["C", "POSIX"].contains(&name) || !folder.is_dir() || folder.join("locale-archive").exists()
    {
        return true;
    }
    // The library compares codesets without case and punctuation: UTF-8 is utf8.
    let (language, codeset) = name.split_once('.').unwrap_or((name, ""));
    let plain: String = codeset.chars().filter(char::is_ascii_alphanumeric).collect();
    let names = [name.to_owned(), format!("{language}.{}", plain.to_ascii_lowercase())];
    names.iter().any(|name| folder.join(name).is_dir()) || language == "C"
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
            ("LANG=xx_XX\0", Some("C")),
            ("LANG=xx_XX\0LOCPATH=/x\0", Some("xx_XX")),
            ("LANG=en_US.UTF-8\0LC_ALL=C\0", Some("C")),
            ("LANG=en_US.UTF-8\0LC_ALL=\0", Some("en_US.UTF-8")),
            ("LANG=de_DE.UTF-8\0LC_COLLATE=C\0", Some("LC_CTYPE=de_DE.UTF-8;LC_COLLATE=C")),
            ("LC_CTYPE=C.UTF-8\0LC_COLLATE=C.UTF-8\0LANG=C\0", Some("C.UTF-8")),
        ] {
            assert_eq!(
                Environment::parse(environ.as_bytes(), |name| name != "xx_XX").locale.as_deref(),
                expected,
                "{environ:?}"
            );
        }
    }

    #[test]
    fn of_all_other_variables_only_those_about_buffering_are_kept() {
        let environ = b"PASSWORD=x\0PYTHONUNBUFFERED=1\0_STDBUF_O=L\0_STDBUF_I=\0PYTHONPATH=/y\0";
        let expected = [("PYTHONUNBUFFERED", "1"), ("_STDBUF_O", "L")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(Environment::parse(environ, |_| true).buffering, BTreeMap::from(expected));
    }
}
