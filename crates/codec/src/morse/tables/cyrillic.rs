//! Russian. Sources: Wikipedia, "Russian Morse code" (letters), after the Full Collection of Laws of the Russian Empire,
//! second collection; Russian Wikipedia, "Азбука Морзе" (Ъ and Ь, marks). Letters of other Cyrillic alphabets take the code of the letter they look like,
//! or are spelled by sound.

use super::row::Row;

pub(super) const LETTERS: &[Row] = &[
    ("Аа", ".-"),
    ("Бб", "-..."),
    ("Вв", ".--"),
    ("Гг", "--."),
    ("Дд", "-.."),
    ("Ее", "."),
    ("Жж", "...-"),
    ("Зз", "--.."),
    ("Ии", ".."),
    ("Йй", ".---"),
    ("Кк", "-.-"),
    ("Лл", ".-.."),
    ("Мм", "--"),
    ("Нн", "-."),
    ("Оо", "---"),
    ("Пп", ".--."),
    ("Рр", ".-."),
    ("Сс", "..."),
    ("Тт", "-"),
    ("Уу", "..-"),
    ("Фф", "..-."),
    ("Хх", "...."),
    ("Цц", "-.-."),
    ("Чч", "---."),
    ("Шш", "----"),
    ("Щщ", "--.-"),
    ("Ьь", "-..-"), // in the law of 1857, Ъ
    ("Ъъ", "--.--"),
    ("Ыы", "-.--"),
    ("ЭэѢѣ", "..-.."), // Ѣ in the law, Э since its abolition
    ("Юю", "..--"),
    ("Яя", ".-.-"),
];

/// The sign for either parenthesis. Decoding gives them in turn, the opening one first in every line.
pub(in super::super) const PARENTHESIS: &str = "-.--.-";

/// The marks of the Russian telegraph code. Several of its signs are other marks in International Morse code, so encode
/// and decode a text by the same one of the two.
pub(super) const TELEGRAPH: &[Row] = &[
    (".", "......"),
    (",", ".-.-.-"),
    (":", "---..."),
    (";", "-.-.-"),
    ("()[]{}<>", PARENTHESIS),
    ("'", ".----."),
    ("\"“”„«»", ".-..-."),
    ("—–", "-....-"),
    ("/", "-..-."),
    ("?", "..--.."),
    ("!", "--..--"),
    ("-‐‑−", "-...-"),
    ("@", ".--.-."),
];

pub(super) const ALSO: &[Row] = &[
    ("ЀѐЁёЄє", "."),
    ("ІіЇїЍѝ", ".."),
    ("Јј", ".---"),
    ("Ћћ", "-.-."),
    ("Ўў", "..-"),
    ("Ґґ", "--."),
    ("Ђђ", "-.. .---"),
    ("Ѓѓ", "--. .---"),
    ("Ѕѕ", "-.. --.."),
    ("Љљ", ".-.. .---"),
    ("Њњ", "-. .---"),
    ("Ќќ", "-.- .---"),
    ("Џџ", "-.. --.."),
];
