//! Inputs that are hard on programs, and where they can be cut.

use fullbore_rules::Ends;

/// What a command can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any bytes.
    Any,
    /// Valid UTF-8 without NUL bytes.
    Text,
    /// Only ASCII, without NUL bytes, quotes and backslashes.
    Plain,
    /// Some of these.
    Lines,
    /// Some of any bytes, for programs that take long to start.
    Few,
    /// Text for programs that need its encoding to be the locale's.
    Utf8,
    /// Records that end in NUL bytes.
    Zeros,
    /// One JSON value a line.
    Json,
    /// Lines of numbers.
    Numbers,
    /// Lines of dates.
    Dates,
    /// Lines of comma-separated fields below a header.
    Csv,
}

impl Kind {
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "any" => Self::Any,
            "text" => Self::Text,
            "plain" => Self::Plain,
            "lines" => Self::Lines,
            "few" => Self::Few,
            "utf8" => Self::Utf8,
            "zeros" => Self::Zeros,
            "json" => Self::Json,
            "numbers" => Self::Numbers,
            "dates" => Self::Dates,
            "csv" => Self::Csv,
            other => panic!("no kind of input is called {other}"),
        }
    }
}

/// Splits an input where a rule says that it may be cut.
pub(crate) fn records(input: &[u8], ends: Ends) -> Vec<&[u8]> {
    match ends {
        Ends::Lines => input.split_inclusive(|byte| *byte == b'\n').collect(),
        Ends::Zeros => input.split_inclusive(|byte| *byte == 0).collect(),
        // Pieces of 3 bytes cut lines and characters; of long inputs, fewer.
        Ends::Bytes => input.chunks(3.max(input.len() / 8)).collect(),
    }
}

const PLAIN: &[&str] = &[
    "",
    "\n\n\n",
    "a",
    "a\na\na\nA\na\n",
    "b 2\nb 1\na 1\na 1\nb 1\nc",
    "one two  three\n\n\n  lead\ttab\ntrail  \nfoo=bar, baz\nfoo\n\nx",
    " a\n  a\na \n\ta\n  \n,a,\n,,\n",
    "k1\tv1\tx\nk1\tv2\ty\n\t\t\nk2\tv0\tx\nk1\nx=5\nx\n",
    "10\n9\n-3\n 07\n1e2\n9\n1K\n2M\nx9\nx10",
    "foo bar\nbar foo\nERROR 1\nfoo\nfoofoo\nGET /x 200\n127.0.0.1 - GET 404",
    "aa\r\nbb\r\n\r\naa\r\ncc",
];

const TEXT: &[&str] = &[
    "é\nÉ\nе́\n日本語 テキスト\n\u{1f600} x\nnaïve café\n",
    "ß\n\u{2028}x\u{85}y\n\u{a0}z\nπ=3,14\n",
    "\"q\" 'r' \\s\nit's\n\\\n\"\n\u{7}\u{8}\u{b}\u{c}\u{1b}[1m\n",
];

const BYTES: &[&[u8]] = &[
    b"a\0b\nc\0\n\0\n\0\0a\nend\0",
    b"\xff\xfe\nab\xc3\n\xa9x\n\x80\x81 foo\nok\n\xf0\x9f\n\x98\x80",
    b"foo\xff bar\nfoo bar\n\0foo\nfoo\n",
];

const JSON: &[&str] = &[
    "",
    "{\"a\":1,\"b\":\"x\",\"c\":[1,2]}\n{\"a\":2,\"b\":\"y\\n\"}\n{}\n{\"a\":null,\"b\":\"\\u00e9\"}\n",
    "{\"a\":3,\"name\":\"q\",\"tags\":[\"t\",\"u\"]}\n{\"a\":3}\n  {\"b\":\"日本\",\"a\":1.50}\n{\"a\":-0,\"b\":\"last\"}",
];

const NUMBERS: &[&str] =
    &["", "1\n", "12\n1500\n7\n0\n1048576\n", "  5\n10000\n 33 44\n999999999999"];

const DATES: &[&str] = &["2024-02-29\n1970-01-01 00:00:01\n@86400\n2001-09-09 UTC\n"];

const CSV: &[&str] = &["a,b,c\n1,2,3\n4,5,6\n7,8,9\n1,2,4\n", "a,b,c\n1,x,3\n"];

/// All inputs of a kind.
pub(crate) fn inputs(kind: Kind) -> Vec<Vec<u8>> {
    let texts =
        |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    let plain = || {
        let mut all = texts(PLAIN);
        let long = |byte: u8, count: usize| vec![byte; count];
        all.push(
            [long(b'x', 70_000), b"\nfoo\n".to_vec(), long(b'a', 5_000), b" b\n".to_vec()].concat(),
        );
        all
    };
    match kind {
        Kind::Plain => plain(),
        Kind::Text | Kind::Utf8 => [plain(), texts(TEXT)].concat(),
        Kind::Lines => [texts(&PLAIN[4..6]), texts(&PLAIN[9..]), texts(&TEXT[..1])].concat(),
        Kind::Few => {
            let bytes = BYTES.iter().map(|bytes| bytes.to_vec()).collect();
            [texts(&PLAIN[..1]), texts(&PLAIN[5..6]), texts(&PLAIN[9..]), bytes].concat()
        }
        Kind::Any => {
            let bytes = BYTES.iter().map(|bytes| bytes.to_vec()).collect();
            [plain(), texts(TEXT), bytes].concat()
        }
        Kind::Zeros => {
            let mut all = [plain(), texts(TEXT)].concat();
            for input in &mut all {
                // Lines become records, and some newlines stay inside of them.
                let mut count = 0;
                for byte in input.iter_mut().filter(|byte| **byte == b'\n') {
                    count += 1;
                    *byte = if count % 4 == 3 { b'\n' } else { 0 };
                }
            }
            all
        }
        Kind::Json => texts(JSON),
        Kind::Numbers => texts(NUMBERS),
        Kind::Dates => texts(DATES),
        Kind::Csv => texts(CSV),
    }
}
