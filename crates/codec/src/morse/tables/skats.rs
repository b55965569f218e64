//! Korean, SKATS (Standard Korean Alphabet Transliteration System). Sources: Wikipedia, "SKATS"; The ARRL Handbook for
//! the Radio Amateur (1985), 19-3. Every jamo has the sign of a Latin letter; doubled consonants and combined vowels
//! are spelled. Hangul syllables are decomposed as The Unicode Standard says (section 3.12, Hangul syllable
//! decomposition).

use super::row::Row;

pub(super) const LETTERS: &[Row] = &[
    ("ㄱ", ".-.."),
    ("ㄴ", "..-."),
    ("ㄷ", "-..."),
    ("ㄹ", "...-"),
    ("ㅁ", "--"),
    ("ㅂ", ".--"),
    ("ㅅ", "--."),
    ("ㅇ", "-.-"),
    ("ㅈ", ".--."),
    ("ㅊ", "-.-."),
    ("ㅋ", "-..-"),
    ("ㅌ", "--.."),
    ("ㅍ", "---"),
    ("ㅎ", ".---"),
    ("ㅏ", "."),
    ("ㅐ", "--.-"),
    ("ㅑ", ".."),
    ("ㅓ", "-"),
    ("ㅔ", "-.--"),
    ("ㅕ", "..."),
    ("ㅗ", ".-"),
    ("ㅛ", "-."),
    ("ㅜ", "...."),
    ("ㅠ", ".-."),
    ("ㅡ", "-.."),
    ("ㅣ", "..-"),
];

pub(super) const ALSO: &[Row] = &[
    ("ㄲ", ".-.. .-.."),
    ("ㄳ", ".-.. --."),
    ("ㄵ", "..-. .--."),
    ("ㄶ", "..-. .---"),
    ("ㄸ", "-... -..."),
    ("ㄺ", "...- .-.."),
    ("ㄻ", "...- --"),
    ("ㄼ", "...- .--"),
    ("ㄽ", "...- --."),
    ("ㄾ", "...- --.."),
    ("ㄿ", "...- ---"),
    ("ㅀ", "...- .---"),
    ("ㅃ", ".-- .--"),
    ("ㅄ", ".-- --."),
    ("ㅆ", "--. --."),
    ("ㅉ", ".--. .--."),
    ("ㅒ", ".. ..-"),
    ("ㅖ", "... ..-"),
    ("ㅘ", ".- ."),
    ("ㅙ", ".- --.-"),
    ("ㅚ", ".- ..-"),
    ("ㅝ", ".... -"),
    ("ㅞ", ".... -.--"),
    ("ㅟ", ".... ..-"),
    ("ㅢ", "-.. ..-"),
];

#[rustfmt::skip]
const INITIALS: [char; 19] = [
    'ㄱ', 'ㄲ', 'ㄴ', 'ㄷ', 'ㄸ', 'ㄹ', 'ㅁ', 'ㅂ', 'ㅃ', 'ㅅ', 'ㅆ', 'ㅇ', 'ㅈ', 'ㅉ', 'ㅊ', 'ㅋ', 'ㅌ', 'ㅍ', 'ㅎ',
];
#[rustfmt::skip]
const VOWELS: [char; 21] = [
    'ㅏ', 'ㅐ', 'ㅑ', 'ㅒ', 'ㅓ', 'ㅔ', 'ㅕ', 'ㅖ', 'ㅗ', 'ㅘ', 'ㅙ', 'ㅚ', 'ㅛ', 'ㅜ', 'ㅝ', 'ㅞ', 'ㅟ', 'ㅠ', 'ㅡ', 'ㅢ',
    'ㅣ',
];
#[rustfmt::skip]
const FINALS: [char; 27] = [
    'ㄱ', 'ㄲ', 'ㄳ', 'ㄴ', 'ㄵ', 'ㄶ', 'ㄷ', 'ㄹ', 'ㄺ', 'ㄻ', 'ㄼ', 'ㄽ', 'ㄾ', 'ㄿ', 'ㅀ', 'ㅁ', 'ㅂ', 'ㅄ', 'ㅅ', 'ㅆ',
    'ㅇ', 'ㅈ', 'ㅊ', 'ㅋ', 'ㅌ', 'ㅍ', 'ㅎ',
];

/// Returns the two or three jamo of a Hangul syllable.
pub(in super::super) fn syllable(character: char) -> Option<[Option<char>; 3]> {
    let index = (character as usize).checked_sub(0xAC00).filter(|index| *index < 19 * 21 * 28)?;
    let last = (index % 28).checked_sub(1);
    Some([
        Some(INITIALS[index / (21 * 28)]),
        Some(VOWELS[index / 28 % 21]),
        last.map(|last| FINALS[last]),
    ])
}

/// Returns the plain jamo of a conjoining one (U+1100 to U+11FF), as decomposed text has them.
pub(super) fn joined(character: char) -> Option<char> {
    let at = |first: char| (character as usize).checked_sub(first as usize);
    at('\u{1100}').and_then(|at| INITIALS.get(at)).copied().or_else(|| {
        let vowel = at('\u{1161}').and_then(|at| VOWELS.get(at));
        vowel.or_else(|| at('\u{11A8}').and_then(|at| FINALS.get(at))).copied()
    })
}
