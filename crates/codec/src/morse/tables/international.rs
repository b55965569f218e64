//! International Morse code.
//!
//! - `LETTERS` and most of `FIGURES_AND_PUNCTUATION`: Recommendation ITU-R M.1677-1 (2009), part I, 1.1.
//! - `!` `$` `;` `_` `` ` ``, and the accented letters: customary; Wikipedia, "Morse code", section "Letters, numbers,
//!   punctuation, prosigns for Morse code and non-Latin variants"; The ARRL Handbook for the Radio Amateur (1985), 19-2
//!   and 19-20. Where one sign stands for several letters, decoding gives the first of the row.

use super::row::Row;

/// Letters: ITU-R M.1677-1, 1.1.1.
pub(super) const LETTERS: &[Row] = &[
    ("Aa", ".-"),
    ("Bb", "-..."),
    ("Cc", "-.-."),
    ("Dd", "-.."),
    ("Ee", "."),
    ("Ff", "..-."),
    ("Gg", "--."),
    ("Hh", "...."),
    ("Ii", ".."),
    ("Jj", ".---"),
    ("Kk", "-.-"),
    ("Ll", ".-.."),
    ("Mm", "--"),
    ("Nn", "-."),
    ("Oo", "---"),
    ("Pp", ".--."),
    ("Qq", "--.-"),
    ("Rr", ".-."),
    ("Ss", "..."),
    ("Tt", "-"),
    ("Uu", "..-"),
    ("Vv", "...-"),
    ("Ww", ".--"),
    ("Xx*×", "-..-"), // multiplication sign: 1.1.3
    ("Yy", "-.--"),
    ("Zz", "--.."),
];

/// Figures and punctuation: ITU-R M.1677-1, 1.1.2 and 1.1.3; customary where marked.
pub(super) const FIGURES_AND_PUNCTUATION: &[Row] = &[
    ("0", "-----"),
    ("1", ".----"),
    ("2", "..---"),
    ("3", "...--"),
    ("4", "....-"),
    ("5", "....."),
    ("6", "-...."),
    ("7", "--..."),
    ("8", "---.."),
    ("9", "----."),
    (".", ".-.-.-"),
    (",", "--..--"),
    (":", "---..."),
    ("?", "..--.."),
    ("'′‘’‚", ".----."), // minute sign: 3.5.1; typographic apostrophes are apostrophes
    ("-‐‑–—−", "-....-"), // dashes and the minus sign have no code of their own
    ("/\\|", "-..-."),   // \ and |: customary
    ("([{<", "-.--."),   // other brackets: customary
    (")]}>", "-.--.-"),
    ("\"“”„«»", ".-..-."),
    ("=", "-...-"),
    ("+", ".-.-."),
    ("@", ".--.-."),
    ("!", "-.-.--"),  // customary
    (";", "-.-.-."),  // customary
    ("_", "..--.-"),  // customary
    ("$", "...-..-"), // customary
    ("`", ".-----."), // customary
];

/// Letters beyond the English alphabet.
pub(super) const EXTENSIONS: &[Row] = &[
    ("ÁáÀàÅå", ".--.-"),
    ("ÄäĄąÆæ", ".-.-"),
    ("ÇçĆćĈĉ", "-.-.."),
    ("ÉéĐđĘę", "..-.."),
    ("Ðð", "..--."),
    ("ÈèŁł", ".-..-"),
    ("Ĝĝ", "--.-."),
    ("ĤĥŠš", "----"),
    ("ĴĵÌì", ".---."),
    ("ÑñŃń", "--.--"),
    ("ÖöÓóØøŒœ", "---."),
    ("Śś", "...-..."),
    ("ß", "...--.."),
    ("Ŝŝ", "...-."),
    ("Þþ", ".--.."),
    ("ÜüŬŭ", "..--"),
    ("Źź", "--..-."),
    ("Żż", "--..-"),
];

/// Words that have a character of their own; encoded, never decoded.
pub(super) const WORDS: &[Row] = &[("&", ". ...")]; // "es", customary

/// Characters that are spelled with others.
pub(super) const SPELLED: &[(char, &str)] = &[
    ('%', "0/0"),  // 3.3.1
    ('‰', "0/00"), // 3.3.1
    ('″', "''"),   // second sign: 3.5.1
    ('…', "..."),
];

/// Letters that borrow the code of the letter they look like; encoded, never decoded.
pub(super) const ALSO: &[Row] = &[
    ("ÂâÃãĀāĂă", ".-"),
    ("ĊċČč", "-.-."),
    ("Ďď", "-.."),
    ("ÊêËëĒēĔĕĖėĚě", "."),
    ("ĞğĠġĢģ", "--."),
    ("Ħħ", "...."),
    ("ıÍíÎîÏïĨĩĪīĬĭĮį", ".."),
    ("Ĳĳ", ".. .---"),
    ("Ķķĸ", "-.-"),
    ("ĹĺĻļĽľĿŀ", ".-.."),
    ("ŅņŇňŉŊŋ", "-."),
    ("ÒòÔôÕõŌōŎŏŐő", "---"),
    ("ŔŕŖŗŘř", ".-."),
    ("Şş", "..."),
    ("ŢţŤťŦŧ", "-"),
    ("ÙùÚúÛûŨũŪūŮůŰűŲų", "..-"),
    ("Ŵŵ", ".--"),
    ("ÝýŶŷŸÿ", "-.--"),
    ("Žž", "--.."),
];
