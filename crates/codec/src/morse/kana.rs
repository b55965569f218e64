//! Joins voiced kana, which Wabun code spells as a kana and a mark.

use unicode_normalization::char::compose;

/// Length in bytes of a kana, and of a mark.
pub(super) const KANA_BYTES: usize = 3;

/// The first two bytes of ゛ and ゜.
const MARK: [u8; 2] = [0xE3, 0x82];
const LAST: [u8; 2] = [0x9B, 0x9C];
/// The combining forms of the marks.
const COMBINING: [char; 2] = ['\u{3099}', '\u{309A}'];

/// Joins every mark in `text`, which is UTF-8, with the kana before it where that has a voiced form; returns the new
/// length.
pub(super) fn join(text: &mut [u8]) -> usize {
    let (mut written, mut read, mut searched) = (0, 0, 0);
    while let Some(found) = memchr::memchr2(LAST[0], LAST[1], &text[searched..]) {
        let last = searched + found;
        searched = last + 1;
        let Some(begin) = last.checked_sub(2).filter(|begin| text[*begin..last] == MARK) else {
            continue;
        };
        let mark = COMBINING[usize::from(text[last] == LAST[1])];
        text.copy_within(read..begin, written);
        written += begin - read;
        read = searched;
        if let Some(voiced) = last_kana(&text[..written]).and_then(|base| compose(base, mark)) {
            voiced.encode_utf8(&mut text[written - KANA_BYTES..written]);
        } else {
            text.copy_within(begin..read, written);
            written += KANA_BYTES;
        }
    }
    text.copy_within(read.., written);
    written + text.len() - read
}

/// Returns the kana at the end of `text` if a mark may follow that changes it.
pub(super) fn open_end(text: &[u8]) -> Option<[u8; KANA_BYTES]> {
    let is_open = |base| COMBINING.iter().any(|mark| compose(base, *mark).is_some());
    last_kana(text).filter(|base| is_open(*base))?;
    text.last_chunk().copied()
}

/// Returns the three-byte character at the end of `text`.
fn last_kana(text: &[u8]) -> Option<char> {
    let bytes = text.last_chunk::<KANA_BYTES>().filter(|bytes| bytes[0] == MARK[0])?;
    std::str::from_utf8(bytes).ok()?.chars().next()
}
