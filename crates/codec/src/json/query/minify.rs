//! Removes the white space between tokens.

use super::skip::skip_value;

/// Appends a value without the white space between its tokens.
pub fn minify(value: &[u8], output: &mut Vec<u8>) {
    let mut kept = 0;
    let mut at = 0;
    while let Some(byte) = value.get(at) {
        match byte {
            b'"' => at = skip_value(value, at).unwrap_or(value.len()),
            b' ' | b'\t' | b'\r' | b'\n' => {
                output.extend_from_slice(&value[kept..at]);
                at += 1;
                kept = at;
            }
            _ => at += 1,
        }
    }
    output.extend_from_slice(&value[kept..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_goes_except_in_strings() {
        for (value, expected) in [
            ("[ 1 ,\r\n\t\"a \\\" b\" , { \"k \" : null } ]", "[1,\"a \\\" b\",{\"k \":null}]"),
            ("{}", "{}"),
            ("[\n]", "[]"),
            ("\" \\\\\"", "\" \\\\\""),
            ("-1.50E+3", "-1.50E+3"),
        ] {
            let mut output = b"x".to_vec();
            minify(value.as_bytes(), &mut output);
            assert_eq!(output, format!("x{expected}").into_bytes());
        }
    }
}
