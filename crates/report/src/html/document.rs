//! What every page has around its body: a policy that loads nothing, the style, the record itself, the script.

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;
use serde_json::ser::Formatter;

/// Nothing may be loaded from anywhere, whatever a command line says.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A page that needs nothing else.
pub(crate) struct Document<'a> {
    /// What its tab says.
    pub(crate) title: &'a str,
    /// Style besides that of all pages.
    pub(crate) style: &'static str,
    /// A script besides that of all pages.
    pub(crate) script: &'static str,
    /// Id of the element that holds the record as JSON.
    pub(crate) id: &'static str,
}

impl Document<'_> {
    /// The whole page.
    pub(crate) fn around(&self, body: &Markup, record: &impl Serialize) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    link rel="icon" href="data:,";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) (PreEscaped(self.style)) }
                }
                body {
                    (body)
                    script type="application/json" id=(self.id) { (PreEscaped(embedded(record))) }
                    script { (PreEscaped(SCRIPT)) (PreEscaped(self.script)) }
                }
            }
        }
    }
}

/// A section with a table that may be wider than a phone.
pub(crate) fn wide_table(title: &str, content: &Markup) -> Markup {
    html! {
        section {
            h2 { (title) }
            (scrolled(title, content))
        }
    }
}

/// A table that may be wider than a phone.
pub(crate) fn scrolled(title: &str, content: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(title) { table { (content) } } }
}

/// Writes whole numbers without `.0`: most shares of a timeline are 0 or 100, and a page has thousands of them.
struct ShortNumbers;

impl Formatter for ShortNumbers {
    fn write_f32<W: ?Sized + Write>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        write!(writer, "{value}")
    }

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write!(writer, "{value}")
    }
}

/// The record as JSON that no text in it can end early: `<`, `>` and `&` are written as escapes.
fn embedded(record: &impl Serialize) -> String {
    let mut json = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut json, ShortNumbers);
    let json = match record.serialize(&mut serializer) {
        Ok(()) => String::from_utf8_lossy(&json),
        Err(_) => "null".into(),
    };
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullbore_record::RunRecord;

    #[test]
    fn a_command_cannot_end_the_embedded_json() {
        let mut record = RunRecord::default();
        record.command = "</script><!-- &".into();
        let json = embedded(&record);
        assert!(!json.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<RunRecord>(&json).unwrap(), record);
    }
}
