//! Arabic. Source: The ARRL Handbook for the Radio Amateur (1985), 19-3; Wikipedia, "Morse code for non-Latin alphabets".
//! The letters are those of Unicode's block 0600: kaf U+0643 and yeh U+064A, not their calligraphic or Urdu forms.

use super::row::Row;

pub(super) const LETTERS: &[Row] = &[
    ("ا", ".-"),
    ("ب", "-..."),
    ("ت", "-"),
    ("ث", "-.-."),
    ("ج", ".---"),
    ("ح", "...."),
    ("خ", "---"),
    ("د", "-.."),
    ("ذ", "--.."),
    ("ر", ".-."),
    ("ز", "---."),
    ("س", "..."),
    ("ش", "----"),
    ("ص", "-..-"),
    ("ض", "...-"),
    ("ط", "..-"),
    ("ظ", "-.--"),
    ("ع", ".-.-"),
    ("غ", "--."),
    ("ف", "..-."),
    ("ق", "--.-"),
    ("كڪ", "-.-"),
    ("ل", ".-.."),
    ("م", "--"),
    ("ن", "-."),
    ("ه", "..-.."),
    ("و", ".--"),
    ("يے", ".."),
    ("ء", "."),
    ("ﻻ", ".-...-"), // lam-alif, U+FEFB; as two letters it encodes as two signs
];

/// Letters that carry a hamza or dots take the code of their bare form.
pub(super) const ALSO: &[Row] =
    &[("أإآٱ", ".-"), ("ؤ", ".--"), ("ئىی", ".."), ("ة", "..-.."), ("ک", "-.-")];
