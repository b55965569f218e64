//! Greek. Source: Wikipedia, "Morse code for non-Latin alphabets", section "Greek": like the Latin alphabet, without
//! the signs of J, U and V. Accented letters take the code of the letter without accent.

use super::row::Row;

pub(super) const LETTERS: &[Row] = &[
    ("Ααά", ".-"),
    ("Ββ", "-..."),
    ("Γγ", "--."),
    ("Δδ", "-.."),
    ("Εεέ", "."),
    ("Ζζ", "--.."),
    ("Ηηή", "...."),
    ("Θθ", "-.-."),
    ("Ιιίϊΐ", ".."),
    ("Κκ", "-.-"),
    ("Λλ", ".-.."),
    ("Μμ", "--"),
    ("Νν", "-."),
    ("Ξξ", "-..-"),
    ("Οοό", "---"),
    ("Ππ", ".--."),
    ("Ρρ", ".-."),
    ("Σσς", "..."),
    ("Ττ", "-"),
    ("Υυύϋΰ", "-.--"),
    ("Φφ", "..-."),
    ("Χχ", "----"),
    ("Ψψ", "--.-"),
    ("Ωωώ", ".--"),
];

/// Accented capitals.
pub(super) const ALSO: &[Row] = &[
    ("Ά", ".-"),
    ("Έ", "."),
    ("Ή", "...."),
    ("ΊΪ", ".."),
    ("Ό", "---"),
    ("ΎΫ", "-.--"),
    ("Ώ", ".--"),
];
