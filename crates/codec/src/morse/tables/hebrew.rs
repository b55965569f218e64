//! Hebrew. Source: The ARRL Handbook for the Radio Amateur (1985), 19-3; Wikipedia, "Morse code for non-Latin alphabets".
//! Final forms take the code of the letter. Points have no code.

use super::row::Row;

pub(super) const LETTERS: &[Row] = &[
    ("א", ".-"),
    ("ב", "-..."),
    ("ג", "--."),
    ("ד", "-.."),
    ("ה", "---"),
    ("ו", "."),
    ("ז", "--.."),
    ("ח", "...."),
    ("ט", "..-"),
    ("י", ".."),
    ("כך", "-.-"),
    ("ל", ".-.."),
    ("מם", "--"),
    ("נן", "-."),
    ("ס", "-.-."),
    ("ע", ".---"),
    ("פף", ".--."),
    ("צץ", ".--"),
    ("ק", "--.-"),
    ("ר", ".-."),
    ("ש", "..."),
    ("ת", "-"),
];
