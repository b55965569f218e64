//! `--prove`: how much of the input is worked on both ways.

use std::fmt;

use fullbore_measure::Bytes;

/// What is to be proved waits in memory, three times.
const MOST: Bytes = Bytes(256 << 20);

/// How much of the input is worked on both ways before the faster way is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prove {
    /// Nothing: the table of rules is trusted.
    Off,
    /// The beginning.
    First(Bytes),
    /// Everything. The output is that of the command itself; nothing becomes faster.
    All,
}

impl fmt::Display for Prove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::First(bytes) => write!(f, "{}", bytes.0),
            Self::All => f.write_str("all"),
        }
    }
}

/// Reads `off`, `all` or a size.
pub(crate) fn prove(text: &str) -> Result<Prove, String> {
    match text {
        "off" => Ok(Prove::Off),
        "all" => Ok(Prove::All),
        size => match size.parse::<Bytes>() {
            Ok(bytes) if (1..=MOST.0).contains(&bytes.0) => Ok(Prove::First(bytes)),
            _ => Err("expected off, all, or a size up to 256M".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["off", "all", "1", "64M", "256M"] {
            let read = prove(text).unwrap();
            assert_eq!(prove(&read.to_string()), Ok(read), "{text}");
        }
        for wrong in ["", "0", "257M", "-1", "some", "64 M B"] {
            assert!(prove(wrong).is_err(), "{wrong}");
        }
    }
}
