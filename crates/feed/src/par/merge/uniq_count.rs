//! Joins the outputs of `uniq -c`.

use std::io::{self, BufRead, BufWriter, Write};

/// The last line so far, whose count may still grow.
#[derive(Debug, Default)]
pub(crate) struct UniqCount {
    last: Option<(u64, Vec<u8>)>,
}

impl UniqCount {
    /// Writes all lines but the last one.
    pub(crate) fn add(&mut self, mut lines: impl BufRead, out: impl Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            let (count, text) = parse(&line).ok_or_else(|| {
                let shown = String::from_utf8_lossy(&line).trim_end().to_owned();
                io::Error::other(format!("`{shown}` is no line of uniq -c"))
            })?;
            match &mut self.last {
                Some((sum, last)) if last == text => *sum = sum.saturating_add(count),
                _ => {
                    let before = self.last.replace((count, text.to_vec()));
                    write(before, &mut out)?;
                }
            }
            line.clear();
        }
        out.flush()
    }

    /// Writes the last line.
    pub(crate) fn finish(self, out: impl Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        write(self.last, &mut out)?;
        out.flush()
    }
}

/// As GNU uniq: the count in at least seven columns, a space, the line.
fn write(line: Option<(u64, Vec<u8>)>, mut out: impl Write) -> io::Result<()> {
    let Some((count, text)) = line else { return Ok(()) };
    write!(out, "{count:>7} ")?;
    out.write_all(&text)
}

fn parse(line: &[u8]) -> Option<(u64, &[u8])> {
    let digits = line.trim_ascii_start();
    let end = digits.iter().position(|b| !b.is_ascii_digit())?;
    let count = std::str::from_utf8(&digits[..end]).ok()?.parse().ok()?;
    Some((count, digits[end..].strip_prefix(b" ")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(outputs: &[&str]) -> io::Result<String> {
        let (mut counts, mut out) = (UniqCount::default(), Vec::new());
        for output in outputs {
            counts.add(output.as_bytes(), &mut out)?;
        }
        counts.finish(&mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn equal_neighbours_of_two_outputs_become_one() {
        let outputs = ["      2 a\n      1  b\n", "      4  b\n", "", "9999999  b\n      1 a\n"];
        assert_eq!(joined(&outputs).unwrap(), "      2 a\n10000004  b\n      1 a\n");
        assert_eq!(joined(&[]).unwrap(), "");
        assert_eq!(joined(&["      3 \n", "      1 \n"]).unwrap(), "      4 \n");
    }

    #[test]
    fn other_lines_are_refused() {
        assert!(
            joined(&["a b\n"]).unwrap_err().to_string().contains("`a b` is no line of uniq -c")
        );
    }
}
