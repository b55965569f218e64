//! From the values that a [`Scanner`](super::Scanner) found to the values at the ends of paths.

use std::ops::{ControlFlow, Range};

use super::path::{Path, Step};
use super::value::{Duplicates, Repeated, Value};

/// Finds the values to which paths lead, as rows of cells: one row for each record, or one for each element of the array that
/// the paths go through.
///
/// A cell is the range of a value in the text; it is empty if the value is missing.
#[derive(Clone, Debug)]
pub struct Rows {
    duplicates: Duplicates,
    members: Vec<Vec<String>>,
    array: Option<Source>,
    cells: Vec<Source>,
    /// Whether the cells are the values that a scanner found, in the same order.
    is_direct: bool,
}

/// Where the search for a value begins, and how it goes on.
#[derive(Clone, Debug)]
struct Source {
    from: Origin,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// A value that the scanner found.
    Column(usize),
    /// An element of the array.
    Element,
}

/// Two paths go through two different arrays; how many paths are before each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoArrays {
    /// The first path with an array.
    pub first: usize,
    /// The first path with another array.
    pub second: usize,
}

impl Rows {
    /// Prepares the search for these paths.
    ///
    /// # Errors
    /// [`TwoArrays`]: all paths with `[]` must be the same up to the last `[]`.
    pub fn new(paths: &[Path], duplicates: Duplicates) -> Result<Self, TwoArrays> {
        let mut members = Vec::new();
        let first = paths.iter().position(|path| path.array().is_some());
        let array = first.and_then(|first| paths[first].array());
        let mut cells = Vec::new();
        for (second, path) in paths.iter().enumerate() {
            let source = match (path.array(), array) {
                (Some(one), Some(other)) if one == other => {
                    Source { from: Origin::Element, steps: path.steps[one.len()..].to_vec() }
                }
                (Some(_), _) => {
                    return Err(TwoArrays { first: first.unwrap_or_default(), second });
                }
                (None, _) => Source::of(&path.steps, &mut members),
            };
            cells.push(source);
        }
        let array = array.map(|steps| Source::of(steps, &mut members));
        let is_direct = cells.iter().enumerate().all(|(column, source)| {
            source.from == Origin::Column(column) && source.steps.is_empty()
        });
        Ok(Self { duplicates, members, array, cells, is_direct })
    }

    /// Returns the members for which the scanner must look, each given by names.
    #[must_use]
    pub fn members(&self) -> &[Vec<String>] {
        &self.members
    }

    /// Whether there is a row for each element of an array, and not for each record.
    #[must_use]
    pub fn goes_through_array(&self) -> bool {
        self.array.is_some()
    }

    /// Calls `visit` with each row of a record: the cells in the order of the paths. `values` are those that the scanner found
    /// for the record. What is in `cells` does not matter; it is memory that the next record can use again.
    ///
    /// Returns what `visit` broke with.
    ///
    /// # Errors
    /// [`Repeated`], if that is to be an error; its place is counted from the beginning of the text.
    pub fn visit<B>(
        &self,
        text: &[u8],
        values: &[Range<usize>],
        cells: &mut Vec<Range<usize>>,
        mut visit: impl FnMut(&[Range<usize>]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Repeated> {
        if self.is_direct && self.array.is_none() {
            return Ok(visit(values));
        }
        self.without_elements(text, values, cells)?;
        let Some(array) = &self.array else { return Ok(visit(cells)) };
        let Origin::Column(column) = array.from else { return Ok(ControlFlow::Continue(())) };
        self.each(text, values[column].clone(), &array.steps, &mut |element| {
            for (source, cell) in self.cells.iter().zip(&mut *cells) {
                if source.from == Origin::Element {
                    *cell = follow(text, element.clone(), &source.steps, self.duplicates)?;
                }
            }
            Ok(visit(cells))
        })
    }

    /// Finds the cells that do not depend on an element of the array; the others are missing.
    ///
    /// # Errors
    /// As [`visit`](Self::visit).
    pub fn without_elements(
        &self,
        text: &[u8],
        values: &[Range<usize>],
        cells: &mut Vec<Range<usize>>,
    ) -> Result<(), Repeated> {
        cells.clear();
        for source in &self.cells {
            let cell = match source.from {
                Origin::Column(column) => {
                    follow(text, values[column].clone(), &source.steps, self.duplicates)?
                }
                Origin::Element => 0..0,
            };
            cells.push(cell);
        }
        Ok(())
    }

    /// Calls `visit` with each element at the end of the steps, of which the last is [`Step::Each`].
    fn each<B>(
        &self,
        text: &[u8],
        within: Range<usize>,
        steps: &[Step],
        visit: &mut impl FnMut(Range<usize>) -> Result<ControlFlow<B>, Repeated>,
    ) -> Result<ControlFlow<B>, Repeated> {
        let next = steps.iter().position(|step| *step == Step::Each);
        let Some(next) = next else { return visit(within) };
        let array = follow(text, within, &steps[..next], self.duplicates)?;
        for element in Value::new(&text[array.clone()]).elements() {
            let element = array.start + element.start..array.start + element.end;
            // No deeper than the document is nested.
            let flow = self.each(text, element, &steps[next + 1..], visit)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Source {
    /// Begins with the names at the beginning of the steps, for which the scanner looks.
    fn of(steps: &[Step], members: &mut Vec<Vec<String>>) -> Self {
        let path = Path { steps: steps.to_vec() };
        let names: Vec<String> = path.names().into_iter().map(str::to_owned).collect();
        let column = members.iter().position(|member| *member == names);
        let column = column.unwrap_or_else(|| {
            members.push(names);
            members.len() - 1
        });
        Self { from: Origin::Column(column), steps: path.rest().to_vec() }
    }
}

/// Returns the value at the end of the steps, none of which is [`Step::Each`]; an empty range if it is missing.
fn follow(
    text: &[u8],
    mut range: Range<usize>,
    steps: &[Step],
    duplicates: Duplicates,
) -> Result<Range<usize>, Repeated> {
    for step in steps {
        let value = Value::new(&text[range.clone()]);
        let begin = range.start;
        let found = match step {
            Step::Name(name) => value
                .member(name, duplicates)
                .map_err(|Repeated { at }| Repeated { at: begin + at })?,
            Step::Index(index) => element(value, *index),
            Step::Each => None,
        };
        let Some(found) = found else { return Ok(0..0) };
        range = begin + found.start..begin + found.end;
    }
    Ok(range)
}

/// Returns the element of an array; a negative index counts from the end.
fn element(value: Value<'_>, index: i64) -> Option<Range<usize>> {
    let from_end = usize::try_from(index.unsigned_abs()).ok()?;
    match index {
        0.. => value.elements().nth(from_end),
        -1 => value.elements().last(),
        _ => value.elements().nth(value.elements().count().checked_sub(from_end)?),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Tree;

    use super::*;
    use crate::Tier;
    use crate::json::query::{Scanner, Table};

    fn paths(texts: &[&str]) -> Vec<Path> {
        texts.iter().map(|text| Path::parse(text).unwrap()).collect()
    }

    fn rows(document: &str, texts: &[&str], duplicates: Duplicates) -> Result<Vec<String>, usize> {
        let rows = Rows::new(&paths(texts), duplicates).unwrap();
        let mut scanner = Scanner::new(Tier::Portable, rows.members().to_vec(), duplicates);
        let mut table = Table::default();
        scanner.scan(document.as_bytes(), true, &mut table).unwrap();
        let mut lines = Vec::new();
        let flow = rows.visit::<()>(document.as_bytes(), &table.values, &mut Vec::new(), |cells| {
            let cells: Vec<&str> = cells.iter().map(|cell| &document[cell.clone()]).collect();
            lines.push(cells.join("|"));
            ControlFlow::Continue(())
        });
        flow.map(|_| lines).map_err(|Repeated { at }| at)
    }

    #[test]
    fn a_record_has_one_row_or_one_for_each_element() {
        let document = r#" {"a":[10,{"b":[1,2,3]}], "id":7, "items":[{"id":1,"n":"x"},{"n":2},3,{"id":{"k":4}}], "e":[]}"#;
        for (texts, expected) in [
            (
                &[".id", ".a[0]", ".a[-1].b[-2]", ".a[2]", ".id.x", ".id[0]"] as &[_],
                &["7|10|2|||"] as &[_],
            ),
            (&[".items[].id", ".id", ".items[].n"], &["1|7|\"x\"", "|7|2", "|7|", "{\"k\":4}|7|"]),
            (
                &[".items[].id.k", ".items[]"],
                &["|{\"id\":1,\"n\":\"x\"}", "|{\"n\":2}", "|3", "4|{\"id\":{\"k\":4}}"],
            ),
            (&[".e[]"], &[]),
            (&[".none[].x"], &[]),
            (&[".id[]"], &[]),
            (&[".a[].b[]"], &["1", "2", "3"]),
            (&[".a[1].b[]", ".id"], &["1|7", "2|7", "3|7"]),
            (&[".id", ".id"], &["7|7"]),
            (&[".a[-3]", ".a[-9223372036854775808]"], &["|"]),
        ] {
            assert_eq!(rows(document, texts, Duplicates::Last).unwrap(), expected, "{texts:?}");
        }
    }

    #[test]
    fn names_are_compared_decoded_and_the_last_one_counts() {
        let document = r#"[{"a":1,"\u0061":2,"b":3}]"#;
        let row = |duplicates| rows(document, &[".[0].a", ".[0].b"], duplicates);
        assert_eq!(row(Duplicates::Last).unwrap(), ["2|3"]);
        assert_eq!(row(Duplicates::First).unwrap(), ["1|3"]);
        assert_eq!(row(Duplicates::Refuse), Err(8));
        assert_eq!(rows(document, &[".[].a"], Duplicates::Refuse), Err(8));
    }

    #[test]
    fn paths_through_two_arrays_are_refused() {
        let refused = |texts: &[&str]| Rows::new(&paths(texts), Duplicates::Last).err();
        let two = |first, second| Some(TwoArrays { first, second });
        assert_eq!(refused(&[".x", ".a[].b", ".a[].c", ".b[].c"]), two(1, 3));
        assert_eq!(refused(&[".a[]", ".a[].b[]"]), two(0, 1));
        assert_eq!(refused(&[".a[0][]", ".a[0][].b[1]", ".c"]), None);
    }

    fn tree() -> impl Strategy<Value = Tree> {
        let leaf = prop_oneof![Just(Tree::Null), any::<i8>().prop_map(Tree::from)];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let object = proptest::collection::btree_map("[ab\"]", inner.clone(), 0..4);
            prop_oneof![
                proptest::collection::vec(inner, 0..4).prop_map(Tree::from),
                object.prop_map(|members| Tree::Object(members.into_iter().collect())),
            ]
        })
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            "[ab\"]".prop_map(Step::Name),
            (-3..3_i64).prop_map(Step::Index),
            Just(Step::Each),
        ];
        proptest::collection::vec(step, 0..4)
    }

    /// All values at the end of the steps.
    fn naive<'a>(tree: &'a Tree, steps: &[Step]) -> Vec<&'a Tree> {
        let Some((step, rest)) = steps.split_first() else { return vec![tree] };
        let next: Vec<&Tree> = match step {
            Step::Name(name) => tree.get(name).into_iter().collect(),
            Step::Index(index) => {
                let elements = tree.as_array().map_or(&[][..], Vec::as_slice);
                let length = i64::try_from(elements.len()).unwrap();
                let at = if *index < 0 { length + index } else { *index };
                usize::try_from(at).ok().and_then(|at| elements.get(at)).into_iter().collect()
            }
            Step::Each => tree.as_array().into_iter().flatten().collect(),
        };
        next.into_iter().flat_map(|tree| naive(tree, rest)).collect()
    }

    proptest! {
        #[test]
        fn values_are_those_that_serde_json_has(tree in tree(), steps in steps(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&tree) } else { serde_json::to_string(&tree) };
            let path = Path { steps };
            let found = rows(&text.unwrap(), &[&path.to_string()], Duplicates::Last).unwrap();
            let found = found.iter().filter(|text| !text.is_empty());
            let found: Vec<Tree> = found.map(|text| serde_json::from_str(text).unwrap()).collect();
            let expected: Vec<Tree> = naive(&tree, &path.steps).into_iter().cloned().collect();
            prop_assert_eq!(found, expected);
        }
    }
}
