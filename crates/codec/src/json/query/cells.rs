//! Values as cells of a line.

use super::minify::minify;
use super::value::{Kind, Value, append_unescaped};
use crate::few;

/// How cells are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellFormat {
    /// Decoded; tab, line feed, carriage return and backslash become `\t`, `\n`, `\r` and `\\`.
    Tsv,
    /// Decoded; in quotes where RFC 4180 asks for them.
    Csv,
    /// Decoded, without any escapes.
    Raw,
    /// JSON on one line.
    Json,
}

/// Appends a value as a cell. An empty text, which is a missing value, becomes an empty cell.
///
/// Strings are decoded, except for [`CellFormat::Json`]. Arrays and objects are written as JSON without white space between
/// tokens, in CSV in quotes where necessary. Everything else is written as it stands. For [`CellFormat::Json`], a value that
/// is on one line stays as it is, with its white space.
pub fn write_cell(value: Value<'_>, format: CellFormat, output: &mut Vec<u8>) {
    if format == CellFormat::Json {
        return write_on_one_line(value, output);
    }
    let begin = output.len();
    match (value.kind(), value.text) {
        (Kind::String, [b'"', inside @ .., b'"']) => {
            if memchr::memchr(b'\\', inside).is_some() {
                append_unescaped(inside, output);
            } else {
                few::append(output, inside);
                if format == CellFormat::Tsv {
                    // Control characters are always escaped in JSON.
                    return;
                }
            }
            protect(begin, format, output);
        }
        (Kind::Array | Kind::Object, text) => {
            minify(text, output);
            if format == CellFormat::Csv {
                protect(begin, format, output);
            }
        }
        _ => few::append(output, value.text),
    }
}

/// Appends a text that is no JSON as a cell; for [`CellFormat::Json`], as a string.
pub fn write_text(text: &str, format: CellFormat, output: &mut Vec<u8>) {
    if format == CellFormat::Json {
        return write_string(text, output);
    }
    let begin = output.len();
    few::append(output, text.as_bytes());
    protect(begin, format, output);
}

/// Appends a value; if it spans lines, without the white space between its tokens.
pub fn write_on_one_line(value: Value<'_>, output: &mut Vec<u8>) {
    if memchr::memchr2(b'\n', b'\r', value.text).is_some() {
        minify(value.text, output);
    } else {
        few::append(output, value.text);
    }
}

/// Makes a cell of everything after `begin`.
fn protect(begin: usize, format: CellFormat, output: &mut Vec<u8>) {
    let text = &output[begin..];
    match format {
        CellFormat::Tsv => {
            let is_plain = memchr::memchr3(b'\t', b'\n', b'\\', text).is_none()
                && memchr::memchr(b'\r', text).is_none();
            if !is_plain {
                replace(begin, output, |byte| match byte {
                    b'\t' => Some(*b"\\t"),
                    b'\n' => Some(*b"\\n"),
                    b'\r' => Some(*b"\\r"),
                    b'\\' => Some(*b"\\\\"),
                    _ => None,
                });
            }
        }
        CellFormat::Csv => {
            let has_quote = memchr::memchr(b'"', text).is_some();
            if has_quote || memchr::memchr3(b',', b'\n', b'\r', text).is_some() {
                if has_quote {
                    replace(begin, output, |byte| (byte == b'"').then_some(*b"\"\""));
                }
                output.insert(begin, b'"');
                output.push(b'"');
            }
        }
        CellFormat::Raw | CellFormat::Json => (),
    }
}

/// Replaces bytes after `begin` by two others.
fn replace(begin: usize, output: &mut Vec<u8>, by: impl Fn(u8) -> Option<[u8; 2]>) {
    let text = output.split_off(begin);
    for byte in text {
        match by(byte) {
            Some(bytes) => output.extend_from_slice(&bytes),
            None => output.push(byte),
        }
    }
}

/// Appends a text as a string of JSON.
fn write_string(text: &str, output: &mut Vec<u8>) {
    output.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => output.extend([b'\\', byte]),
            b'\n' => output.extend(*b"\\n"),
            b'\r' => output.extend(*b"\\r"),
            b'\t' => output.extend(*b"\\t"),
            0..0x20 | 0x7F => output.extend(format!("\\u{byte:04x}").into_bytes()),
            _ => output.push(byte),
        }
    }
    output.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Tree;

    use super::*;

    fn cell(value: &str, format: CellFormat) -> String {
        let mut output = b"before,".to_vec();
        write_cell(Value::new(value.as_bytes()), format, &mut output);
        String::from_utf8(output).unwrap().strip_prefix("before,").unwrap().to_owned()
    }

    #[test]
    fn values_become_cells() {
        for (value, tsv, csv, raw) in [
            ("", "", "", ""),
            ("null", "null", "null", "null"),
            ("true", "true", "true", "true"),
            ("-1.50E+400", "-1.50E+400", "-1.50E+400", "-1.50E+400"),
            (
                "12345678901234567890123",
                "12345678901234567890123",
                "12345678901234567890123",
                "12345678901234567890123",
            ),
            ("\"\"", "", "", ""),
            ("\"plain é\"", "plain é", "plain é", "plain é"),
            ("\"a,b\"", "a,b", "\"a,b\"", "a,b"),
            (r#""say \"a\"""#, "say \"a\"", "\"say \"\"a\"\"\"", "say \"a\""),
            (r#""\t\n\r\\\/\u0009\u005c""#, r"\t\n\r\\/\t\\", "\"\t\n\r\\/\t\\\"", "\t\n\r\\/\t\\"),
            (r#""\u0000\ud83d\ude00\b""#, "\0😀\u{8}", "\0😀\u{8}", "\0😀\u{8}"),
            ("[1, \"a\\n\" ,\n{}]", r#"[1,"a\n",{}]"#, r#""[1,""a\n"",{}]""#, r#"[1,"a\n",{}]"#),
            ("{ }", "{}", "{}", "{}"),
        ] {
            assert_eq!(cell(value, CellFormat::Tsv), tsv, "{value}");
            assert_eq!(cell(value, CellFormat::Csv), csv, "{value}");
            assert_eq!(cell(value, CellFormat::Raw), raw, "{value}");
        }
        assert_eq!(cell("\"\\u0061\"", CellFormat::Json), "\"\\u0061\"");
        assert_eq!(cell("[1, 2]", CellFormat::Json), "[1, 2]");
        assert_eq!(cell("[1,\r\n 2]", CellFormat::Json), "[1,2]");
    }

    proptest! {
        #[test]
        fn strings_can_be_read_back(text in "[a\t\n\r\\\\\",\u{1}é😀]{0,12}", escaped in any::<bool>()) {
            let mut value = serde_json::to_string(&text).unwrap();
            if escaped {
                let codes = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
                value = format!("\"{}\"", codes.collect::<String>());
            }
            prop_assert_eq!(&cell(&value, CellFormat::Raw), &text);
            let tsv = cell(&value, CellFormat::Tsv);
            prop_assert!(!tsv.contains(['\t', '\n', '\r']));
            let escapes = [("\\\\", "\u{2}"), ("\\t", "\t"), ("\\n", "\n"), ("\\r", "\r"), ("\u{2}", "\\")];
            let back = escapes.iter().fold(tsv, |tsv, (from, to)| tsv.replace(from, to));
            prop_assert_eq!(&back, &text);
            let csv = cell(&value, CellFormat::Csv);
            let back = match csv.strip_prefix('"').and_then(|csv| csv.strip_suffix('"')) {
                Some(inside) => inside.replace("\"\"", "\""),
                None => csv.clone(),
            };
            prop_assert_eq!(&back, &text);
            prop_assert_eq!(csv.starts_with('"'), text.contains(['"', ',', '\n', '\r']));
            for format in [CellFormat::Tsv, CellFormat::Csv, CellFormat::Raw] {
                let mut output = Vec::new();
                write_text(&text, format, &mut output);
                prop_assert_eq!(String::from_utf8(output).unwrap(), cell(&value, format));
            }
            let mut output = Vec::new();
            write_text(&text, CellFormat::Json, &mut output);
            prop_assert_eq!(serde_json::from_slice::<Tree>(&output).unwrap(), Tree::from(text));
        }
    }
}
