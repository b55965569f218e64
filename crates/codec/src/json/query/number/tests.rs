use proptest::prelude::*;

use super::*;

fn number(text: &str) -> Number<'_> {
    Number::new(text.as_bytes())
}

#[test]
fn numbers_are_compared_by_value() {
    let sorted = [
        "-1e99999999999999999999999999999999999999999999999",
        "-1e1000000000",
        "-1E400",
        "-123456789012345678901234567890",
        "-10.5",
        "-1",
        "-0.5",
        "-1e-99999999999999999999999999999999999999999999999",
        "0",
        "1e-99999999999999999999999999999999999999999999999",
        "1e-1000000001",
        "1e-1000000000",
        "0.1",
        "0.10000000000000000000000000000000001",
        "0.2",
        "0.9e0",
        "1",
        "1.5",
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.5",
        "12345678901234567890123456789",
        "12345678901234567890123456790",
        "1E400",
        "2E400",
        "1e401",
        "1e1000000000",
        "10e1000000000",
        "99999999999999999999999999999999999999999999999e999999999999999999999999999999999999999999",
        "1e1000000000000000000000000000000000000000088",
    ];
    for (at, one) in sorted.iter().enumerate() {
        for (other_at, other) in sorted.iter().enumerate() {
            let order = number(one).cmp(&number(other));
            assert_eq!(order, at.cmp(&other_at), "{one} and {other}");
        }
    }
}

#[test]
fn one_value_has_many_texts() {
    for (one, two) in [
        ("1", "1.0"),
        ("0", "-0"),
        ("0", "0e999999999999999999999999"),
        ("0.0", "-0.000E-5"),
        ("100", "1e2"),
        ("100", "1E+2"),
        ("1e-2", "0.01"),
        ("1200.0e-2", "12"),
        ("0.00120e3", "1.2"),
        ("123456789012345678901234567890", "1.2345678901234567890123456789e29"),
        (
            "1e1000000000000000000000000000000000000000088",
            "0.01e1000000000000000000000000000000000000000090",
        ),
        ("1e0000000000000000000000000000000000000000000", "1"),
    ] {
        assert_eq!(number(one), number(two), "{one} and {two}");
    }
}

#[test]
fn decimals_are_exact() {
    let decimal = |text| number(text).decimal();
    let expected = |coefficient, exponent| Some(Decimal { coefficient, exponent });
    assert_eq!(decimal("-0"), expected(0, 0));
    assert_eq!(decimal("0.0e99999999999999999999999"), expected(0, 0));
    assert_eq!(decimal("1200"), expected(12, 2));
    assert_eq!(decimal("-12.50"), expected(-125, -1));
    assert_eq!(decimal("0.00125e-3"), expected(125, -8));
    assert_eq!(decimal("10.01e1000000000"), expected(1001, 999_999_998));
    let most = i128::MAX.to_string();
    assert_eq!(decimal(&most), expected(i128::MAX, 0));
    assert_eq!(decimal("170141183460469231731687303715884105728"), None);
    assert_eq!(decimal("1e99999999999999999999"), None);
}

#[test]
fn integers_of_18_digits_are_read_at_once() {
    assert_eq!(number("-0").integer(), Some(0));
    assert_eq!(number("-12").integer(), Some(-12));
    assert_eq!(number("999999999999999999").integer(), Some(999_999_999_999_999_999));
    for text in ["1000000000000000000", "1.0", "1e3", "-", ""] {
        assert_eq!(number(text).integer(), None, "{text}");
    }
}

#[test]
fn floats_are_the_nearest_ones() {
    assert_eq!(number("0.1").to_f64().to_bits(), 0.1_f64.to_bits());
    assert_eq!(number("9007199254740993").to_f64().to_bits(), 9_007_199_254_740_992_f64.to_bits());
    assert_eq!(number("1E400").to_f64().to_bits(), f64::INFINITY.to_bits());
    assert_eq!(number("-1e-400").to_f64().to_bits(), (-0.0_f64).to_bits());
    assert!(number("1e99999999999999999999999").to_f64().is_infinite());
}

#[test]
fn few_digits_may_be_written_with_an_exponent() {
    let small = |text| number(text).decimal().and_then(Small::of_decimal);
    for (text, same) in
        [("1e3", "1000"), ("-12.5E-1", "-1.25"), ("0e99", "0"), ("1e17", "100000000000000000")]
    {
        assert!(
            small(text).is_some_and(|value| value.compare(number(same).small().unwrap()).is_eq()),
            "{text}"
        );
    }
    for text in ["1e18", "1e-19", "1e99", "1e1000000000", "1e-1000000000", "1234567890123456789"] {
        assert_eq!(small(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn the_order_is_that_of_long_integers(
        one in any::<i64>(), two in any::<i64>(), zeros in 0..6_usize, places in 0..6_u32,
    ) {
        let scaled = |value: i64| i128::from(value) * 10_i128.pow(places);
        let text = format!("{two}.{}e{places}", "0".repeat(zeros + 1));
        let one_text = scaled(one).to_string();
        prop_assert_eq!(number(&one_text).cmp(&number(&text)), one.cmp(&two));
        prop_assert_eq!(number(&text).cmp(&number(&one_text)), two.cmp(&one));
        prop_assert_eq!(number(&one_text).compare_digits(number(&text)), one.cmp(&two));
    }

    #[test]
    fn short_ways_agree_with_the_long_one(
        one in "-?(0|[1-9][0-9]{0,3})([.][0-9]{1,3})?", two in "-?(0|[1-9][0-9]{0,3})([.][0-9]{1,3})?",
    ) {
        let (one, two) = (number(&one), number(&two));
        prop_assert!(one.small().is_some());
        prop_assert_eq!(one.cmp(&two), one.compare_digits(two));
        let floats = one.to_f64().partial_cmp(&two.to_f64());
        prop_assert_eq!(Some(one.cmp(&two)), floats);
    }

    #[test]
    fn any_text_is_read_without_a_panic(one in ".{0,12}", two in "[-+.eE0-9]{0,24}") {
        let (one, two) = (number(&one), number(&two));
        let _ = (one.cmp(&two), two.cmp(&one), one.integer(), one.to_f64());
        let _ = (one.decimal(), two.decimal());
    }
}
