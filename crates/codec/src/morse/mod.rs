//! Morse code: text to signs and back, in seven alphabets, one of them with two sets of marks.
//!
//! One space joins letters and ` / ` joins words (every space of the text is one `/`); line ends and tabs stay as they
//! are. [`Encoder`] finds the script of each character by itself, or accepts only what one [`Alphabet`] can give back.
//! [`Decoder`] needs the alphabet, because all alphabets use the same signs. What an alphabet accepts comes back in
//! capitals, except characters that share a sign (docs/morse.md). The codes are in `tables/`, with their sources.
//!
//! The crate `ripmors` gives a second opinion (`tests/text/peer.rs`). We differ from it on purpose:
//!
//! | what | here | `ripmors` | why |
//! |---|---|---|---|
//! | input without a code, invalid UTF-8, unknown signs | [`OnError`], default: stop and say where | dropped | loss must be asked for |
//! | `/` right after a sign, without a space | ends the letter and the word | loses the letter | ITU-R M.1677-1 knows only gaps |
//! | Ω, accented Greek letters | encoded | Ω dropped, few accents | Wikipedia, "Morse code for non-Latin alphabets" |
//! | figures and punctuation in Greek, Hebrew, Arabic, Japanese, Korean | decoded as international ones unless a letter has the sign | dropped | ITU-R M.1677-1, 1.1.2 |
//! | Arabic kaf and yeh | decode to U+0643, U+064A | U+06AA, U+06D2 | The Unicode Standard: those are a Sindhi and an Urdu letter |
//! | Ź and Ż | `--..-.` and `--..-` | one sign for both; decodes the other | Wikipedia, "Morse code" |
//! | Russian marks | international ones; those of the telegraph are an alphabet of their own | decodes those of the telegraph, encodes international ones | text must come back |
//! | Russian `-..-`, `--.--` | Ь, Ъ | Ъ for both | Russian Wikipedia, "Азбука Морзе" |
//! | decomposed letters, byte order marks | composed; left out | dropped | both are ways to write a text, no part of it |
//! | voiced kana | decoded as one character | as kana and mark | they come back as they were written |
//! | Russian `..-..` | Э | Ѣ | the letter Ѣ was abolished in 1918 |
//! | Hangul syllables, doubled jamo | spelled by jamo | dropped | Wikipedia, "SKATS" |
//! | typographic dashes, apostrophes, ellipsis, no-break space, small kana | as their plain forms | dropped | they fill real text |

mod alphabet;
pub mod audio;
mod decode;
#[cfg(target_arch = "x86_64")]
mod decode_avx2;
#[cfg(target_arch = "x86_64")]
mod decode_avx512;
#[cfg(target_arch = "aarch64")]
mod decode_neon;
mod decode_portable;
mod encode;
#[cfg(target_arch = "x86_64")]
mod encode_avx2;
#[cfg(target_arch = "x86_64")]
mod encode_avx512;
mod encode_portable;
mod error;
mod kana;
mod letters;
pub mod naive;
mod pages;
#[cfg(target_arch = "x86_64")]
mod plain_avx512;
#[cfg(target_arch = "x86_64")]
mod stage_avx512;
mod tables;
mod written;

pub use alphabet::{Alphabet, OnError, UnknownName};
pub use decode::Decoder;
pub use encode::Encoder;
pub use error::{DecodeCause, DecodeError, Elements, EncodeCause, EncodeError};
