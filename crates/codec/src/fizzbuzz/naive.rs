//! The naive version, which the tests compare with.

/// Returns the lines of the numbers from `begin` to `end`, both included.
#[must_use]
pub fn lines(begin: u128, end: u128) -> Vec<u8> {
    let line = |number: u128| match (number % 3, number % 5) {
        (0, 0) => "FizzBuzz\n".to_owned(),
        (0, _) => "Fizz\n".to_owned(),
        (_, 0) => "Buzz\n".to_owned(),
        _ => format!("{number}\n"),
    };
    (begin..=end).map(line).collect::<String>().into_bytes()
}
