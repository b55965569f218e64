//! Compares the tables with their sources, and with themselves.

use std::collections::BTreeMap;

use fullbore_codec::morse::{Alphabet, naive};

fn assert_codes(table: &[(&str, &str)]) {
    for (characters, codes) in table {
        for (character, code) in characters.chars().zip(codes.split_whitespace()) {
            assert_eq!(naive::code(character).as_deref(), Some(code), "{character}");
        }
    }
}

#[test]
fn letters_figures_and_punctuation_are_those_of_itu_r_m_1677_1() {
    assert_codes(&[
        ("abcdefghi", ".- -... -.-. -.. . ..-. --. .... .."),
        ("jklmnopqr", ".--- -.- .-.. -- -. --- .--. --.- .-."),
        ("stuvwxyz", "... - ..- ...- .-- -..- -.-- --.."),
        ("é", "..-.."),
        ("12345", ".---- ..--- ...-- ....- ....."),
        ("67890", "-.... --... ---.. ----. -----"),
        (".,:?'-", ".-.-.- --..-- ---... ..--.. .----. -....-"),
        ("/()\"=+×@", "-..-. -.--. -.--.- .-..-. -...- .-.-. -..- .--.-."),
    ]);
    assert_eq!(naive::code('%').as_deref(), Some("----- -..-. -----"));
    assert_eq!(naive::code('″').as_deref(), Some(".----. .----."));
}

#[test]
fn words_of_every_script_are_those_of_their_sources() {
    let words = [
        ("τηλεγραφία", "- .... .-.. . --. .-. .- ..-. .. .-", Alphabet::Greek, "ΤΗΛΕΓΡΑΦΙΑ"),
        ("телеграфия", "- . .-.. . --. .-. .- ..-. .. .-.-", Alphabet::Russian, "ТЕЛЕГРАФИЯ"),
        ("تلغراف", "- .-.. --. .-. .- ..-.", Alphabet::Arabic, "تلغراف"),
        ("שלום", "... .-.. . --", Alphabet::Hebrew, "שלומ"),
        ("でんしん", ".-.-- .. .-.-. --.-. .-.-.", Alphabet::Japanese, "デンシン"),
        ("パリ", "-... ..--. --.", Alphabet::Japanese, "パリ"),
        ("한글", ".--- . ..-. .-.. -.. ...-", Alphabet::Korean, "ㅎㅏㄴㄱㅡㄹ"),
        (
            "télégraphie",
            "- ..-.. .-.. ..-.. --. .-. .- .--. .... .. .",
            Alphabet::Latin,
            "TÉLÉGRAPHIE",
        ),
    ];
    for (text, code, alphabet, back) in words {
        assert_eq!(naive::encode(text.as_bytes(), Default::default()), (code.into(), None));
        let decoded = naive::decode(code.as_bytes(), alphabet, Default::default());
        assert_eq!(decoded, (back.into(), None));
    }
}

#[test]
fn every_letter_that_decoding_gives_encodes_to_the_sign_it_came_from() {
    for alphabet in Alphabet::ALL {
        let mut signs = BTreeMap::new();
        for length in 1..=7 {
            for bits in 0..1u32 << length {
                let element = |bit: u32| if bits >> bit & 1 == 1 { '-' } else { '.' };
                let sign: String = (0..length).map(element).collect();
                if let Some(character) = naive::character(&sign, alphabet) {
                    // The telegraph code has signs of its own for some marks; it also decodes those of the other code.
                    let own = naive::code_in(Some(alphabet), character);
                    if alphabet != Alphabet::RussianTelegraph || own.as_ref() == Some(&sign) {
                        assert_eq!(signs.insert(character, sign), None, "{character} twice");
                    }
                }
            }
        }
        assert!(signs.len() >= 40, "{alphabet}: {signs:?}");
        for (character, sign) in signs {
            assert_eq!(
                naive::code_in(Some(alphabet), character),
                Some(sign),
                "{alphabet} {character}"
            );
        }
    }
}
