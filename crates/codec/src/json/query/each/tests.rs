use proptest::prelude::*;
use serde_json::Value as Tree;

use super::*;
use crate::json::{Cause, JsonError};

type Outcome = (String, Result<(), EachError>, u64, bool);

const TIERS: [Tier; 3] = [Tier::Portable, Tier::Avx2, Tier::Avx512];

fn run(path: &str, duplicates: Duplicates, most: usize, blocks: &[&[u8]], tier: Tier) -> Outcome {
    let mut each = Each::new(tier, &Path::parse(path).unwrap(), duplicates, most).unwrap();
    let mut output = Vec::new();
    let read = blocks.iter().try_for_each(|block| each.push(block, &mut output));
    let read = read.and_then(|()| each.finish());
    (String::from_utf8(output).unwrap(), read, each.elements(), each.has_found())
}

/// In pieces of any one length, the outcome is the same.
fn outcome(path: &str, duplicates: Duplicates, most: usize, text: &[u8]) -> Outcome {
    let whole = run(path, duplicates, most, &[text], Tier::Portable);
    assert_eq!(run(path, duplicates, most, &[text], Tier::Avx512), whole);
    for length in 1..=text.len().min(20) {
        let blocks: Vec<&[u8]> = text.chunks(length).collect();
        assert_eq!(run(path, duplicates, most, &blocks, Tier::Avx512), whole, "{length}");
    }
    whole
}

fn elements(path: &str, text: &str) -> Vec<String> {
    let (output, read, elements, _) = outcome(path, Duplicates::Last, 1000, text.as_bytes());
    assert_eq!(read, Ok(()));
    assert_eq!(output.lines().count() as u64, elements);
    output.lines().map(str::to_owned).collect()
}

#[test]
fn elements_are_written_one_a_line() {
    let text = r#"{"a":[1, {"b" : [2,3]} ,"x]\"",[ ]],"o":{"k":1e400,"l":{"m":null}},"s":"[1]"}"#;
    for (path, expected) in [
        (".a", &["1", r#"{"b" : [2,3]}"#, r#""x]\"""#, "[ ]"] as &[_]),
        (".a[1].b", &["2", "3"]),
        (".a[1]", &["[2,3]"]),
        (".a[].b", &["2", "3"]),
        (".a[3]", &[]),
        (".a[4]", &[]),
        (".o", &["1e400", r#"{"m":null}"#]),
        (".o.l", &["null"]),
        (".o[0]", &[]),
        (".o[]", &[]),
        (".s", &[]),
        (".none", &[]),
        (".a.b", &[]),
        (".a.b.c.d", &[]),
    ] {
        assert_eq!(elements(path, text), expected, "{path}");
    }
    let document = text.to_owned() + "\n";
    assert_eq!(elements(".", &document.repeat(2)).len(), 6);
}

#[test]
fn every_document_counts() {
    assert_eq!(
        elements(".", "\u{FEFF}[1]2[3]\"[9]\"[4\n]null\u{1E}[5]{\"a\":[6]}[]"),
        ["1", "3", "4", "5", "[6]"]
    );
    assert_eq!(elements(".[]", "[[1,2],3,[],{\"a\":4}]"), ["1", "2", "4"]);
    assert_eq!(elements(".", ""), [""; 0]);
    assert_eq!(
        elements(".", "[\"a\\\\\",\"\\\"\",\"\\\\\\\"\"]"),
        ["\"a\\\\\"", "\"\\\"\"", "\"\\\\\\\"\""]
    );
}

#[test]
fn an_element_that_spans_lines_is_written_on_one() {
    let text = "[{ \"a b\" : 1 },\n {\n  \"a b\" : [ 1 , 2 ] \r\n },\r\n 3\n]";
    assert_eq!(elements(".", text), ["{ \"a b\" : 1 }", "{\"a b\":[1,2]}", "3"]);
}

#[test]
fn names_are_compared_decoded() {
    let text = r#"{"\u0061b":[1],"abc":[2],"\u0061\u0062":[3],"a":[4],"a\\b":[5],"xxxxxxxxxxxxxxxxxxxxxxxxxxxx":[6]}"#;
    let found = |duplicates| outcome(".ab", duplicates, 100, text.as_bytes());
    assert_eq!(found(Duplicates::Last).0, "1\n3\n");
    assert_eq!(found(Duplicates::First).0, "1\n");
    let place = Place::default().after(&text.as_bytes()[..25]);
    assert_eq!(
        found(Duplicates::Refuse),
        ("1\n".to_owned(), Err(EachError::Repeated(place)), 1, true)
    );
    assert_eq!(elements(".\"a\\\\b\"", text), ["5"]);
}

#[test]
fn an_index_from_the_end_is_refused() {
    let path = Path::parse(".a[0][-1]").unwrap();
    let refused = Each::new(Tier::Portable, &path, Duplicates::Last, 1).err();
    assert_eq!(refused, Some(FromEnd { step: 2 }));
}

#[test]
fn an_element_may_not_be_too_large() {
    let text = b"[[1,2],\n [1,2 ],\"a\"]";
    assert_eq!(outcome(".", Duplicates::Last, 6, text).1, Ok(()));
    let place = Place { offset: 9, line: 2, column: 2 };
    let (output, read, ..) = outcome(".", Duplicates::Last, 5, text);
    assert_eq!((&*output, read), ("[1,2]\n", Err(EachError::TooLarge(place))));
    let (output, read, ..) = outcome(".", Duplicates::Last, 4, b"[1234,12345 ]");
    let place = Place { offset: 6, line: 1, column: 7 };
    assert_eq!((&*output, read), ("1234\n", Err(EachError::TooLarge(place))));
}

#[test]
fn what_is_no_container_is_noticed() {
    assert!(!outcome(".a", Duplicates::Last, 9, b"{\"a\":1}[]").3);
    assert!(outcome(".a", Duplicates::Last, 9, b"{\"a\":1}{\"a\":[]}").3);
}

#[test]
fn errors_are_those_of_the_validator() {
    let (output, read, ..) = outcome(".", Duplicates::Last, 9, b"[1,2,\n03,4]");
    let place = Place { offset: 7, line: 2, column: 2 };
    let error = EachError::Json(JsonError { place, cause: Cause::Number });
    assert_eq!((&*output, read), ("1\n2\n", Err(error)));
    let (output, read, ..) = outcome(".", Duplicates::Last, 9, b"[1,2,\n34");
    let place = Place { offset: 8, line: 2, column: 3 };
    let error = EachError::Json(JsonError { place, cause: Cause::End });
    assert_eq!((&*output, read), ("1\n2\n", Err(error)));
}

#[test]
fn it_goes_on_in_the_next_line() {
    let text = b"[1,{\"a\":x},5]]\n[2,\"\n\"]\n[6,7]";
    for length in 1..=text.len() {
        let mut each = Each::new(Tier::Portable, &Path::default(), Duplicates::Last, 9).unwrap();
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        for block in text.chunks(length) {
            let mut rest = block;
            let begin = each.place().offset;
            while let Err(EachError::Json(error)) = each.push(rest, &mut output) {
                errors.push(error.place.offset);
                rest = &block[usize::try_from(error.place.offset - begin).unwrap()..];
                each.skip_line();
            }
        }
        each.finish().unwrap();
        assert_eq!(output, b"1\n2\n6\n7\n");
        assert_eq!(errors, [8, 19, 22]);
    }
}

#[test]
fn memory_does_not_grow_with_the_document() {
    let mut each = Each::new(Tier::Avx512, &Path::default(), Duplicates::Last, 1000).unwrap();
    let block = br#"{"id":12345,"name":"somebody","list":[1,2,3]},"#.repeat(1000);
    let mut output = Vec::new();
    each.push(b"[", &mut output).unwrap();
    for _ in 0..200 {
        output.clear();
        each.push(&block[..block.len() - 7], &mut output).unwrap();
        each.push(&block[block.len() - 7..], &mut output).unwrap();
        assert!(output.len() <= block.len());
        assert!(each.walker.kept_bytes() <= 2000);
    }
    assert_eq!(each.elements(), 200_000);
}

#[test]
fn every_kernel_finds_the_end_of_every_value_at_every_alignment() {
    let nested = r#"{"a":[[[{"k\\":"]}\\\"","l":"\\\\"}]],{}],"b":"[[["}"#.to_owned();
    let long = format!("{{\"text\":\"{}\",\"z\":[]}}", "}\\\"x".repeat(40));
    let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
    let backslashes = format!("[\"{}\"]", "\\\\".repeat(70));
    for value in [nested, long, deep, backslashes] {
        for spaces in 0..70 {
            let text = format!("[{}{value},{value}{},3]", " ".repeat(spaces), " ".repeat(70));
            let expected = format!("{value}\n{value}\n3\n");
            for tier in TIERS {
                let whole = run(".", Duplicates::Last, 10_000, &[text.as_bytes()], tier);
                assert_eq!(whole, (expected.clone(), Ok(()), 3, true), "{tier} {text}");
                let (one, two) = text.as_bytes().split_at(text.len() * spaces / 70);
                assert_eq!(run(".", Duplicates::Last, 10_000, &[one, two], tier), whole);
            }
        }
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<i8>().prop_map(Tree::from),
        "[a\"\\\\é]{0,3}".prop_map(Tree::from)
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let object = proptest::collection::btree_map("[ab\"]{1,2}", inner.clone(), 0..4);
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(Tree::from),
            object.prop_map(|members| Tree::Object(members.into_iter().collect())),
        ]
    })
}

fn path() -> impl Strategy<Value = Path> {
    let step = prop_oneof![
        "[ab\"]".prop_map(Step::Name),
        (0..3_i64).prop_map(Step::Index),
        Just(Step::Each),
    ];
    proptest::collection::vec(step, 0..3).prop_map(|steps| Path { steps })
}

fn naive(tree: &Tree, steps: &[Step]) -> Vec<Tree> {
    let Some((step, rest)) = steps.split_first() else {
        return match tree {
            Tree::Array(elements) => elements.clone(),
            Tree::Object(members) => members.values().cloned().collect(),
            _ => Vec::new(),
        };
    };
    let next: Vec<&Tree> = match step {
        Step::Name(name) => tree.get(name).into_iter().collect(),
        Step::Index(index) => tree.get(usize::try_from(*index).unwrap()).into_iter().collect(),
        Step::Each => tree.as_array().into_iter().flatten().collect(),
    };
    next.into_iter().flat_map(|tree| naive(tree, rest)).collect()
}

proptest! {
    #[test]
    fn elements_are_those_that_serde_json_has(
        trees in proptest::collection::vec((tree(), any::<bool>()), 0..4), path in path(), length in 1..50_usize,
    ) {
        let texts = trees.iter().map(|(tree, pretty)| {
            let text = if *pretty { serde_json::to_string_pretty(tree) } else { serde_json::to_string(tree) };
            text.unwrap()
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        let expected: Vec<Tree> = trees.iter().flat_map(|(tree, _)| naive(tree, &path.steps)).collect();
        let blocks: Vec<&[u8]> = text.as_bytes().chunks(length).collect();
        let (output, read, ..) = run(&path.to_string(), Duplicates::Last, 1000, &blocks, Tier::Avx2);
        prop_assert_eq!(read, Ok(()));
        let found: Vec<Tree> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn the_verdict_is_that_of_the_validator(
        text in "([\\[\\]{},:0-9.e\"\\\\ \n]|\"a\":|[{]\"b\":|true|,1|\\[|\\]){0,40}", path in path(), length in 1..20_usize,
    ) {
        let mut validator = Validator::new(Tier::Portable);
        let expected = validator.push(text.as_bytes()).and_then(|()| validator.finish());
        let whole = run(&path.to_string(), Duplicates::Last, 1000, &[text.as_bytes()], Tier::Portable);
        prop_assert_eq!(whole.1, expected.map_err(EachError::Json));
        for tier in TIERS {
            let blocks: Vec<&[u8]> = text.as_bytes().chunks(length).collect();
            prop_assert_eq!(&run(&path.to_string(), Duplicates::Last, 1000, &blocks, tier), &whole);
        }
    }
}
