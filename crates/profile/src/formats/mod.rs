//! Towers as files that other programs read.

mod firefox;
mod folded;
mod paths;
mod pprof;
#[cfg(test)]
mod sample;
mod speedscope;

use std::io::{self, Write};

use crate::tower::Profile;

pub use folded::parse as parse_folded;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line for each stack, with its time in microseconds: what flamegraph.pl, inferno and speedscope read.
    Folded,
    /// The Firefox Profiler's processed profile, compressed with gzip.
    Firefox,
    /// speedscope's own.
    Speedscope,
    /// `profile.proto` of pprof, compressed with gzip.
    Pprof,
}

impl Format {
    /// The format that the name of a file asks for; `None` for any other name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let ends = [
            (".folded", Self::Folded),
            (".speedscope.json", Self::Speedscope),
            (".json.gz", Self::Firefox),
            (".pb.gz", Self::Pprof),
        ];
        ends.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, format)| format)
    }

    /// Writes the towers.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(self, profile: &Profile, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Folded => folded::write(profile, to),
            Self::Firefox => firefox::write(profile, to),
            Self::Speedscope => speedscope::write(profile, to),
            Self::Pprof => pprof::write(profile, to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_file_says_which_format() {
        let of = Format::of_name;
        assert_eq!(of("a/b.folded"), Some(Format::Folded));
        assert_eq!(of("x.speedscope.json"), Some(Format::Speedscope));
        assert_eq!([of("x.json.gz"), of("x.pb.gz")], [Some(Format::Firefox), Some(Format::Pprof)]);
        assert_eq!([of("x.json"), of("x.svg"), of("folded")], [None, None, None]);
    }
}
