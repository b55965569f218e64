//! A sheet in every format.

use super::*;

struct Cells(Vec<Column>, Vec<Vec<(&'static str, &'static str)>>);

impl Sheet for Cells {
    fn columns(&self) -> &[Column] {
        &self.0
    }

    fn rows(&self) -> usize {
        self.1.len()
    }

    fn shown(&self, row: usize, column: usize, text: &mut Vec<u8>) {
        text.extend_from_slice(self.1[row][column].0.as_bytes());
    }

    fn json(&self, row: usize, column: usize, text: &mut Vec<u8>) {
        text.extend_from_slice(self.1[row][column].1.as_bytes());
    }
}

fn printed(format: Format) -> String {
    let column = |name: &str, member: &str, is_number| Column {
        name: name.to_owned(),
        member: member.to_owned(),
        is_number,
    };
    let columns = vec![column(".host", "host", false), column("sum .n", "sum_n", true)];
    let rows = vec![
        vec![("größe|x", "\"größe|x\""), ("1000000", "1000000")],
        vec![("a\tb\\\"c,\x1b", "\"a\""), ("2", "2")],
        vec![("", ""), ("", "null")],
    ];
    let mut text = Vec::new();
    let printed = print(&Cells(columns, rows), format, |piece| {
        text.extend_from_slice(piece);
        Ok::<(), ()>(())
    });
    printed.unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn every_format_has_the_same_rows() {
    assert_eq!(printed(Format::Tsv), "größe|x\t1000000\na\\tb\\\\\"c,\x1b\t2\n\t\n");
    assert_eq!(printed(Format::Csv), ".host,sum .n\ngröße|x,1000000\n\"a\tb\\\"\"c,\x1b\",2\n,\n");
    assert_eq!(
        printed(Format::Json),
        "{\"host\":\"größe|x\",\"sum_n\":1000000}\n{\"host\":\"a\",\"sum_n\":2}\n{\"sum_n\":null}\n"
    );
    assert_eq!(
        printed(Format::Md),
        "| .host | sum .n |\n| --- | ---: |\n| größe\\|x | 1000000 |\n| a b\\\\\"c,\x1b | 2 |\n|  |  |\n"
    );
    assert_eq!(
        printed(Format::Table),
        ".host        sum .n\ngröße|x     1000000\na\\tb\\\\\"c,␛        2\n\n"
    );
}

#[test]
fn lists_are_shown_on_one_line_and_as_arrays() {
    let top = Answer::Top(vec![
        (Item { kind: Some(Kind::String), text: b"GET" }, 12),
        (Item { kind: Some(Kind::Null), text: b"" }, 3),
    ]);
    let ranges = Answer::Ranges(vec![
        (Range { from: 0.0, to: 0.0 }, 1),
        (Range { from: 0.25, to: 0.5 }, 2),
        (Range { from: 4.0, to: 8.0 }, 12),
    ]);
    let shown = |one: &Answer<'_>| {
        let (mut text, mut json) = (Vec::new(), Vec::new());
        answer(one, &mut text);
        json_answer(one, &mut json);
        (String::from_utf8(text).unwrap(), serde_json::from_slice(&json).unwrap())
    };
    let (text, json): (String, serde_json::Value) = shown(&top);
    assert_eq!(text, "GET 12, null 3");
    assert_eq!(json, serde_json::json!([{"value":"GET","count":12},{"value":null,"count":3}]));
    let (text, json) = shown(&ranges);
    assert_eq!(text, "0 1, 0.25..0.5 2, 4..8 12");
    assert_eq!(json[2], serde_json::json!({"from":4,"to":8,"count":12}));
    assert_eq!(shown(&Answer::Nothing), (String::new(), serde_json::Value::Null));
}
