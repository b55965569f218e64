//! Tests that everything an alphabet accepts comes back from it.

use fullbore_codec::morse::{Alphabet, Decoder, Encoder, OnError, naive};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::support::{Numbers, run};
use crate::tiers;

/// Characters that come back as something other than their capital or their letter without accents (docs/morse.md):
/// result, characters.
type Merged = &'static [(&'static str, &'static str)];

const MARKS: Merged = &[
    ("\"", "«»“”„"),
    ("'", "‘’‚′"),
    ("''", "″"),
    ("-", "‐‑–—−"),
    ("(", "<[{"),
    (")", ">]}"),
    ("/", "\\|"),
    ("0/0", "%"),
    ("0/00", "‰"),
];
const TELEGRAPH_MARKS: Merged = &[("(", "()[]{}<>"), ("—", "—–")];
const LATIN: Merged = &[
    ("ES", "&"),
    ("X", "*×"),
    ("H", "Ħħ"),
    ("K", "ĸ"),
    ("L", "Ŀŀ"),
    ("N", "ŉŊŋ"),
    ("T", "Ŧŧ"),
    ("Á", "ÀÅàå"),
    ("Ä", "ÆæĄą"),
    ("Ç", "ĆćĈĉ"),
    ("È", "Łł"),
    ("É", "ĐđĘę"),
    ("Ñ", "Ńń"),
    ("Ö", "ÓØóøŒœ"),
    ("Ü", "Ŭŭ"),
    ("Ĥ", "Šš"),
    ("Ĵ", "Ìì"),
    ("ß", "ß"),
];
const CYRILLIC: Merged = &[
    ("Г", "Ґґ"),
    ("ГЙ", "Ѓѓ"),
    ("ДЗ", "ЅЏѕџ"),
    ("ДЙ", "Ђђ"),
    ("Е", "Єє"),
    ("И", "ІЇії"),
    ("Й", "Јј"),
    ("КЙ", "Ќќ"),
    ("ЛЙ", "Љљ"),
    ("НЙ", "Њњ"),
    ("Ц", "Ћћ"),
    ("Э", "Ѣѣ"),
];
const HEBREW: Merged = &[("כ", "ך"), ("מ", "ם"), ("נ", "ן"), ("פ", "ף"), ("צ", "ץ")];
const ARABIC: Merged = &[("ا", "ٱ"), ("ك", "کڪ"), ("ه", "ة"), ("ي", "ىیے")];
const KANA: Merged = &[("ー", "－"), ("゛", "\u{3099}"), ("゜", "\u{309A}")];
/// Small kana and the large ones they come back as.
const SMALL_KANA: &str = "ァアィイゥウェエォオッツャヤュユョヨヮワヵカヶケ";
/// Conjoining jamo in the order of Unicode, and the jamo that spell each.
const INITIALS: &str = "ㄱ ㄱㄱ ㄴ ㄷ ㄷㄷ ㄹ ㅁ ㅂ ㅂㅂ ㅅ ㅅㅅ ㅇ ㅈ ㅈㅈ ㅊ ㅋ ㅌ ㅍ ㅎ";
const VOWELS: &str =
    "ㅏ ㅐ ㅑ ㅑㅣ ㅓ ㅔ ㅕ ㅕㅣ ㅗ ㅗㅏ ㅗㅐ ㅗㅣ ㅛ ㅜ ㅜㅓ ㅜㅔ ㅜㅣ ㅠ ㅡ ㅡㅣ ㅣ";
const FINALS: &str = "ㄱ ㄱㄱ ㄱㅅ ㄴ ㄴㅈ ㄴㅎ ㄷ ㄹ ㄹㄱ ㄹㅁ ㄹㅂ ㄹㅅ ㄹㅌ ㄹㅍ ㄹㅎ ㅁ ㅂ ㅂㅅ ㅅ ㅅㅅ ㅇ ㅈ ㅊ ㅋ ㅌ ㅍ ㅎ";

fn merged(alphabet: Alphabet) -> [Merged; 2] {
    match alphabet {
        Alphabet::Latin => [LATIN, MARKS],
        Alphabet::Russian => [CYRILLIC, MARKS],
        Alphabet::RussianTelegraph => [TELEGRAPH_MARKS, CYRILLIC],
        Alphabet::Hebrew => [HEBREW, MARKS],
        Alphabet::Arabic => [ARABIC, MARKS],
        Alphabet::Japanese => [KANA, MARKS],
        Alphabet::Greek | Alphabet::Korean => [&[], MARKS],
    }
}

/// Returns the jamo that spell a conjoining one.
fn spelled(jamo: char) -> &'static str {
    let of = |table: &'static str, first: u32| {
        table.split(' ').nth((u32::from(jamo) - first) as usize).unwrap_or_default()
    };
    match jamo {
        '\u{1100}'..='\u{1112}' => of(INITIALS, 0x1100),
        '\u{1161}'..='\u{1175}' => of(VOWELS, 0x1161),
        '\u{11A8}'..='\u{11C2}' => of(FINALS, 0x11A8),
        // Two of the jamo that stand alone decompose into old initials.
        '\u{111A}' => "ㄹㅎ",
        '\u{1121}' => "ㅂㅅ",
        other => panic!("{other}"),
    }
}

fn katakana(kana: char) -> String {
    let kana = match kana {
        'ぁ'..='ゖ' => char::from_u32(u32::from(kana) + 0x60).unwrap_or(kana),
        other => other,
    };
    let mut pairs = SMALL_KANA.chars();
    while let (Some(small), Some(large)) = (pairs.next(), pairs.next()) {
        if small == kana {
            return large.to_string();
        }
    }
    kana.to_string()
}

/// Returns what a character comes back as: one of two for letters with accents, because some have codes of their own.
fn expected(alphabet: Alphabet, character: char) -> [String; 2] {
    let tables = merged(alphabet);
    if let Some((result, _)) = tables
        .into_iter()
        .chain([MARKS])
        .flatten()
        .find(|(_, characters)| characters.contains(character))
    {
        return [(); 2].map(|()| (*result).to_owned());
    }
    match alphabet {
        Alphabet::Japanese if character > '\u{3000}' => [(); 2].map(|()| katakana(character)),
        Alphabet::Korean if matches!(character, '\u{1100}'..='\u{11FF}' | 'ㄱ'..='ㅣ' | '가'..='힣') =>
        {
            let jamo: String = character.to_string().nfkd().map(spelled).collect();
            [jamo.clone(), jamo]
        }
        _ => {
            let parts = character.to_string();
            let plain: String = parts.nfkd().filter(|part| !is_combining_mark(*part)).collect();
            [character.to_uppercase().collect(), plain.to_uppercase()]
        }
    }
}

/// Returns the characters that an alphabet accepts, with what they come back as.
fn accepted(alphabet: Alphabet) -> Vec<(char, String)> {
    let mut accepted = Vec::new();
    for character in '\0'..='\u{FFFF}' {
        if let Some(code) = naive::code_in(Some(alphabet), character) {
            let (back, error) = naive::decode(code.as_bytes(), alphabet, OnError::Fail);
            assert_eq!(error, None, "{alphabet} {character}");
            accepted.push((character, String::from_utf8_lossy(&back).into_owned()));
        }
    }
    accepted
}

#[test]
fn every_character_that_an_alphabet_accepts_comes_back_from_it() {
    for alphabet in Alphabet::ALL {
        let accepted = accepted(alphabet);
        assert!(accepted.len() > 60, "{alphabet}: {}", accepted.len());
        for (character, back) in accepted {
            let expected = expected(alphabet, character);
            assert!(expected.contains(&back), "{alphabet}: {character} {back} {expected:?}");
        }
    }
}

#[test]
fn text_of_accepted_characters_comes_back_through_every_kernel() {
    for (seed, alphabet) in Alphabet::ALL.into_iter().enumerate() {
        let mut accepted = accepted(alphabet);
        // These come back according to what precedes them.
        let depends = "゛゜\u{3099}\u{309A}()[]{}<>";
        accepted.retain(|(character, _)| !depends.contains(*character));
        accepted.extend([' ', '\n', '\t', '\r'].map(|gap| (gap, gap.to_string())));
        let mut numbers = Numbers(seed as u64);
        for length in 0..300 {
            let (mut text, mut back) = (String::new(), String::new());
            for _ in 0..length {
                // Use mostly the alphabet's own and usual characters.
                let front =
                    if numbers.below(4) > 0 { accepted.len().min(120) } else { accepted.len() };
                let (character, result) = &accepted[accepted.len() - 1 - numbers.below(front)];
                text.push(*character);
                back.push_str(result);
            }
            for tier in tiers::tested() {
                let cut = text.len() / 2;
                let encoder = Encoder::of_alphabet(tier, alphabet, OnError::Fail);
                let (code, error) =
                    run(encoder, &[&text.as_bytes()[..cut], &text.as_bytes()[cut..]]);
                assert_eq!(error, None, "{tier} {alphabet} {text}");
                let decoder = Decoder::new(tier, alphabet, OnError::Fail);
                let (decoded, error) = run(decoder, &[&code[..cut], &code[cut..]]);
                assert_eq!(error, None, "{tier} {alphabet} {text}");
                assert_eq!(String::from_utf8(decoded).unwrap(), back, "{tier} {alphabet} {text}");
            }
        }
    }
}

#[test]
fn prose_round_trips_with_its_punctuation() {
    let russian = "Привет, мир. (раз)";
    for (text, encoded_as, alphabet) in [
        (russian, None, Alphabet::Russian),
        (russian, Some(Alphabet::Russian), Alphabet::Russian),
        (russian, Some(Alphabet::RussianTelegraph), Alphabet::RussianTelegraph),
        (
            "Съешь (ещё) же; «нет»!\n(да)",
            Some(Alphabet::RussianTelegraph),
            Alphabet::RussianTelegraph,
        ),
        ("и\u{306}огурт, cafe\u{301}?", None, Alphabet::Russian),
        ("\u{FEFF}cafe\u{301}, Zoë.", None, Alphabet::Latin),
        ("ガギグ、ぱぴぷ。", Some(Alphabet::Japanese), Alphabet::Japanese),
        ("か\u{3099}は\u{309A}", None, Alphabet::Japanese),
    ] {
        let back = match (text, alphabet) {
            (_, Alphabet::Latin) => "CAFÉ, ZOE.".to_owned(),
            ("и\u{306}огурт, cafe\u{301}?", _) => "ЙОГУРТ, ЦАФЭ?".to_owned(),
            ("か\u{3099}は\u{309A}", _) => "ガパ".to_owned(),
            (_, Alphabet::Japanese) => "ガギグ、パピプ。".to_owned(),
            _ => text.to_uppercase().replace('Ё', "Е").replace(['«', '»'], "\""),
        };
        for tier in tiers::tested() {
            let encoder = match encoded_as {
                None => Encoder::new(tier, OnError::Fail),
                Some(alphabet) => Encoder::of_alphabet(tier, alphabet, OnError::Fail),
            };
            let (code, error) = run(encoder, &[text.as_bytes()]);
            assert_eq!(error, None, "{tier} {text}");
            let (decoded, error) = run(Decoder::new(tier, alphabet, OnError::Fail), &[&code]);
            assert_eq!(error, None, "{tier} {text}");
            assert_eq!(String::from_utf8(decoded).unwrap(), back, "{tier} {alphabet}");
        }
    }
}

/// Of the alphabets, the Russian telegraph code alone has a sign for a dash; Wabun code has no full stop to spell an
/// ellipsis with.
#[test]
fn dashes_and_ellipses_have_the_codes_that_the_document_says() {
    for encoded_as in Alphabet::ALL.map(Some).into_iter().chain([None]) {
        let (dash, stop) = match encoded_as {
            Some(Alphabet::RussianTelegraph) => ("—", "......"),
            _ => ("-", ".-.-.-"),
        };
        let stops = [stop; 3].join(" ");
        for (text, code, back) in
            [("—", "-....-", dash), ("–", "-....-", dash), ("…", &stops, "...")]
        {
            let is_refused = encoded_as == Some(Alphabet::Japanese) && text == "…";
            for tier in tiers::tested() {
                let encoder = match encoded_as {
                    None => Encoder::new(tier, OnError::Fail),
                    Some(alphabet) => Encoder::of_alphabet(tier, alphabet, OnError::Fail),
                };
                let (found, error) = run(encoder, &[text.as_bytes()]);
                assert_eq!(error.is_some(), is_refused, "{tier} {encoded_as:?} {text}: {error:?}");
                if is_refused {
                    continue;
                }
                assert_eq!(String::from_utf8(found).unwrap(), code, "{tier} {encoded_as:?} {text}");
                let alphabet = encoded_as.unwrap_or(Alphabet::Latin);
                let decoder = Decoder::new(tier, alphabet, OnError::Fail);
                let (decoded, error) = run(decoder, &[code.as_bytes()]);
                assert_eq!(error, None, "{tier} {alphabet} {text}");
                assert_eq!(String::from_utf8(decoded).unwrap(), back, "{tier} {alphabet} {text}");
            }
        }
    }
}

#[test]
fn a_character_that_an_alphabet_cannot_give_back_is_refused_by_name() {
    for (alphabet, text, refused) in [
        (Alphabet::Latin, "Mир", 'и'),
        (Alphabet::Russian, "мир & Ko", '&'),
        (Alphabet::Japanese, "テ.ン", '.'),
        (Alphabet::Japanese, "(テ)", '('),
        (Alphabet::RussianTelegraph, "1+1=2", '='),
        (Alphabet::Greek, "Ω≈ς", '≈'),
        (Alphabet::Latin, "x\u{301}", '\u{301}'),
    ] {
        for tier in tiers::tested() {
            let encoder = Encoder::of_alphabet(tier, alphabet, OnError::Fail);
            let (_, error) = run(encoder, &[text.as_bytes()]);
            let said = error.unwrap().to_string();
            let number = format!("(U+{:04X})", u32::from(refused));
            assert!(said.contains(&number), "{alphabet} {text}: {said}");
        }
    }
}
