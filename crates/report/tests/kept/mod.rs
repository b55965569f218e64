//! What is expected, in files of `tests/golden`.

use std::path::PathBuf;

/// Characters that are shown before and after the first difference: a page has some hundred thousand.
const SHOWN: usize = 200;

/// Compares `actual` with a file in `tests/golden`; with `FULLBORE_BLESS=1`, rewrites that file.
pub(crate) fn expect(file: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    if std::env::var_os("FULLBORE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, actual).expect("the golden file can be written");
        return;
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; FULLBORE_BLESS=1 writes it", path.display()));
    let same = expected.chars().zip(actual.chars()).take_while(|(old, new)| old == new).count();
    let around = |text: &str| -> String {
        text.chars().skip(same.saturating_sub(SHOWN)).take(2 * SHOWN).collect()
    };
    assert!(
        expected == actual,
        "{file} differs from character {same} on; FULLBORE_BLESS=1 rewrites it. Before:\n{}\nNow:\n{}",
        around(&expected),
        around(actual)
    );
}
