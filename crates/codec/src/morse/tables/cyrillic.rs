//! Russian. Sources: Wikipedia, "Russian Morse code" (letters and punctuation), after the Full Collection of Laws of the
//! Russian Empire, second collection. Letters of other Cyrillic alphabets take the code of the letter they look like,
//! or are spelled by sound.

use super::Row;

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
    ("ЪъЬь", "-..-"), // one sign for both; the law of 1857 has only Ъ
    ("Ыы", "-.--"),
    ("ЭэѢѣ", "..-.."), // Ѣ in the law, Э since its abolition
    ("Юю", "..--"),
    ("Яя", ".-.-"),
];

/// How Russian punctuation differs from the international one; used by decoding only, because the figures and marks of
/// a text are International Morse whatever script its letters are.
pub(super) const PUNCTUATION: &[Row] = &[
    (".", "......"),
    (",", ".-.-.-"),
    (":", "---..."),
    (";", "-.-.-"),
    ("(", "-.--.-"),
    ("'", ".----."),
    ("\"", ".-..-."),
    ("—", "-....-"),
    ("/", "-..-."),
    ("?", "..--.."),
    ("!", "--..--"),
    ("-", "-...-"),
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
