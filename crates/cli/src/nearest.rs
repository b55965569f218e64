//! The name that was probably meant.

/// A name less similar than this is not suggested; clap uses the same limit for options.
const LEAST_SIMILARITY: f64 = 0.7;

/// How similar words are that differ by one slip of the finger, if nothing else says more.
const ONE_SLIP: f64 = 0.75;

/// The name most similar to a mistyped one, if any is similar enough.
pub(crate) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let similar = names.map(|name| {
        // In a short word, two letters in each other's place are much for jaro.
        let is_swapped = word.len() > 2 && strsim::osa_distance(word, name) == 1;
        let least = if is_swapped { ONE_SLIP } else { 0.0 };
        (strsim::jaro(word, name).max(least), name)
    });
    let likely = similar.filter(|(similarity, _)| *similarity > LEAST_SIMILARITY);
    likely.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_name_and_another_word_finds_none() {
        let names = || ["pipe", "memory", "stages", "list"].into_iter();
        assert_eq!(nearest("memroy", names()), Some("memory"));
        assert_eq!(nearest("stage", names()), Some("stages"));
        assert_eq!(nearest("smu", ["count", "sum", "min"].into_iter()), Some("sum"));
        assert_eq!(nearest("quux", names()), None);
        assert_eq!(nearest("", names()), None);
    }
}
