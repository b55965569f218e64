//! Which paths occur in documents, and what is there.

use crate::group::{Groups, Value as TableValue};
use crate::json::query::{Kind, Path, Step, Value, skip_space, skip_value};

/// How many kinds of values there are.
const KINDS: usize = 7;

/// The kinds in their order.
const ALL_KINDS: [Kind; KINDS] =
    [Kind::Null, Kind::False, Kind::True, Kind::Number, Kind::String, Kind::Array, Kind::Object];

/// Most characters of an example.
pub const EXAMPLE_CHARACTERS: usize = 40;

/// Bytes of a value that are looked at for an example; a character has up to 12 in JSON (`\ud83d\ude00`).
const EXAMPLE_BYTES: usize = 12 * (EXAMPLE_CHARACTERS + 2);

/// There are more paths than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyPaths;

/// The number of a path, from 1; 0 for one that is new.
#[derive(Clone, Copy, Debug, Default)]
struct Slot(u32);

impl TableValue for Slot {
    fn absorb(&mut self, other: Self) {
        *self = other;
    }
}

/// One path.
#[derive(Clone, Debug)]
struct Node {
    parent: u32,
    step: Option<Step>,
    kinds: [u64; KINDS],
    documents: u64,
    last_document: u64,
    example: Example,
}

/// The first value of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Example {
    /// The number of its block, which orders it.
    block: u64,
    /// As it stands, or the beginning of it.
    text: Box<[u8]>,
    is_whole: bool,
}

/// Which paths occur in documents: how often each kind of value is there, in how many documents, and the first value.
///
/// Several threads fill outlines of their own, which are then joined. The elements of an array have one path.
#[derive(Clone, Debug)]
pub struct Outline {
    table: Groups<Slot>,
    nodes: Vec<Node>,
    most: usize,
    documents: u64,
    block: u64,
    key: Vec<u8>,
    stack: Vec<(u32, bool)>,
}

/// A path with what was found there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlined {
    /// The path.
    pub path: Path,
    /// The kinds of its values and how many there are, the most frequent first.
    pub kinds: Vec<(Kind, u64)>,
    /// How many documents have it.
    pub documents: u64,
    /// The text of the first value, or the beginning of it if it is long.
    pub example: Box<[u8]>,
    /// Whether that is all of it.
    pub is_whole: bool,
}

impl Outline {
    /// Makes an outline without documents, for at most so many paths. A seed that nobody can foresee protects from names that
    /// are made to collide.
    #[must_use]
    pub fn new(most: usize, seed: u64) -> Self {
        Self {
            table: Groups::new(seed),
            nodes: Vec::new(),
            most,
            documents: 0,
            block: 0,
            key: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// Says that the documents that follow come from the block with this number. Numbers tell what comes first when outlines
    /// are joined; they must not become smaller.
    pub fn begin_block(&mut self, number: u64) {
        self.block = number;
    }

    /// Takes in a document, which is valid and has no white space around it.
    ///
    /// # Errors
    /// [`TooManyPaths`]
    pub fn add(&mut self, document: &[u8]) -> Result<(), TooManyPaths> {
        self.documents += 1;
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        let mut node = self.child(0, None)?;
        let mut at = 0;
        loop {
            let kind = Value::new(&document[at..]).kind();
            self.note(node, kind, &document[at..]);
            let is_object = kind == Kind::Object;
            if is_object || kind == Kind::Array {
                at = skip_space(document, at + 1);
                stack.push((node, is_object));
                // An empty one ends at once.
                let is_empty = matches!(document.get(at), Some(b']' | b'}') | None);
                if !is_empty {
                    (node, at) = self.enter(node, is_object, document, at)?;
                    continue;
                }
            } else {
                at = skip_value(document, at).unwrap_or(document.len());
            }
            // Where a value ends, the next one follows, or the array or object ends.
            loop {
                let Some((parent, is_object)) = stack.last().copied() else {
                    self.stack = stack;
                    return Ok(());
                };
                at = skip_space(document, at);
                match document.get(at) {
                    Some(b',') => {
                        at = skip_space(document, at + 1);
                        (node, at) = self.enter(parent, is_object, document, at)?;
                        break;
                    }
                    _ => {
                        at += 1;
                        stack.pop();
                    }
                }
            }
        }
    }

    /// Returns the path of the next value in an array or object, and where the value begins.
    fn enter(
        &mut self,
        parent: u32,
        is_object: bool,
        document: &[u8],
        at: usize,
    ) -> Result<(u32, usize), TooManyPaths> {
        if !is_object {
            return Ok((self.child(parent, Some(None))?, at));
        }
        let end = skip_value(document, at).unwrap_or(document.len());
        let name = Value::new(&document[at..end]).decoded();
        let node = self.child(parent, Some(Some(&name)))?;
        let colon = skip_space(document, end);
        Ok((node, skip_space(document, colon + 1)))
    }

    /// Returns the path that goes on from another one with this name, or with the elements of an array.
    fn child(&mut self, parent: u32, step: Option<Option<&[u8]>>) -> Result<u32, TooManyPaths> {
        self.key.clear();
        self.key.extend_from_slice(&parent.to_le_bytes());
        match step {
            None => {}
            Some(None) => self.key.push(b'['),
            Some(Some(name)) => {
                self.key.push(b'.');
                self.key.extend_from_slice(name);
            }
        }
        let slot = self.table.entry(&self.key);
        if slot.0 == 0 {
            let number = self.nodes.len() + 1;
            if number > self.most {
                return Err(TooManyPaths);
            }
            slot.0 = u32::try_from(number).map_err(|_| TooManyPaths)?;
            let step = step.map(|name| match name {
                Some(name) => Step::Name(String::from_utf8_lossy(name).into_owned()),
                None => Step::Each,
            });
            let example = Example { block: u64::MAX, text: Box::default(), is_whole: false };
            let kinds = [0; KINDS];
            let node = Node { parent, step, kinds, documents: 0, last_document: 0, example };
            self.nodes.push(node);
        }
        Ok(slot.0 - 1)
    }

    /// Counts a value that begins here.
    fn note(&mut self, node: u32, kind: Kind, text: &[u8]) {
        let node = &mut self.nodes[node as usize];
        node.kinds[kind as usize] += 1;
        if node.last_document != self.documents {
            node.last_document = self.documents;
            node.documents += 1;
        }
        if node.example.block == u64::MAX {
            let window = &text[..text.len().min(EXAMPLE_BYTES)];
            let end = skip_value(window, 0);
            // A number may end with its document.
            let is_whole = end.is_some() || window.len() == text.len();
            let text = window[..end.unwrap_or(window.len())].into();
            node.example = Example { block: self.block, text, is_whole };
        }
    }

    /// Takes in what another outline has.
    ///
    /// # Errors
    /// [`TooManyPaths`]
    pub fn absorb(&mut self, other: &Self) -> Result<(), TooManyPaths> {
        // A path comes after the one from which it goes on, so that one already has its number here.
        let mut numbers = Vec::with_capacity(other.nodes.len());
        for node in &other.nodes {
            let parent = numbers.get(node.parent as usize).copied().unwrap_or(0);
            let step = node.step.as_ref().map(|step| match step {
                Step::Name(name) => Some(name.as_bytes()),
                Step::Index(_) | Step::Each => None,
            });
            let number = self.child(parent, step)?;
            let kept = &mut self.nodes[number as usize];
            kept.kinds.iter_mut().zip(node.kinds).for_each(|(kept, more)| *kept += more);
            kept.documents += node.documents;
            if node.example.block < kept.example.block {
                kept.example = node.example.clone();
            }
            numbers.push(number);
        }
        Ok(())
    }

    /// Returns all paths, sorted by their texts.
    #[must_use]
    pub fn paths(&self) -> Vec<Outlined> {
        let mut paths: Vec<(String, Outlined)> = (0..self.nodes.len())
            .map(|number| {
                let outlined = self.outlined(number);
                (outlined.path.to_string(), outlined)
            })
            .collect();
        paths.sort_by(|(one, _), (other, _)| one.cmp(other));
        paths.into_iter().map(|(_, outlined)| outlined).collect()
    }

    fn outlined(&self, number: usize) -> Outlined {
        let node = &self.nodes[number];
        let mut steps = Vec::new();
        let mut at = node;
        while let Some(step) = &at.step {
            steps.push(step.clone());
            at = &self.nodes[at.parent as usize];
        }
        steps.reverse();
        let kinds = ALL_KINDS.into_iter().zip(node.kinds).filter(|(_, count)| *count > 0);
        let mut kinds: Vec<(Kind, u64)> = kinds.collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let Example { text, is_whole, .. } = node.example.clone();
        Outlined { path: Path { steps }, kinds, documents: node.documents, example: text, is_whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(documents: &[&str]) -> Outline {
        let mut outline = Outline::new(100, 1);
        for (number, document) in documents.iter().enumerate() {
            outline.begin_block(number as u64);
            outline.add(document.as_bytes()).unwrap();
        }
        outline
    }

    fn shown(outline: &Outline) -> Vec<String> {
        let shown = |one: Outlined| {
            let Outlined { path, kinds, documents, example, .. } = one;
            format!("{path} {kinds:?} {documents} {}", String::from_utf8_lossy(&example))
        };
        outline.paths().into_iter().map(shown).collect()
    }

    #[test]
    fn every_path_has_its_kinds_documents_and_first_value() {
        let documents = [
            r#"{"a":[1, "x" ,{"b":null}], "c" : {} ,"\u0063":[]}"#,
            r#"{"a":[],"c":{"d e":true}}"#,
            "7",
            r#"{ "a" : [[ ] , {"b":2}] }"#,
        ];
        let expected = [
            r#". [(Object, 3), (Number, 1)] 4 {"a":[1, "x" ,{"b":null}], "c" : {} ,"\u0063":[]}"#,
            r#".a [(Array, 3)] 3 [1, "x" ,{"b":null}]"#,
            ".a[] [(Object, 2), (Number, 1), (String, 1), (Array, 1)] 2 1",
            ".a[].b [(Null, 1), (Number, 1)] 2 null",
            ".c [(Object, 2), (Array, 1)] 2 {}",
            ".c.\"d e\" [(True, 1)] 1 true",
        ];
        assert_eq!(shown(&outline(&documents)), expected);
    }

    #[test]
    fn joined_outlines_are_as_one() {
        let documents =
            [r#"{"b":1,"a":{"x":[1]}}"#, r#"{"a":{"x":"2"}}"#, r#"{"a":[3],"b":4}"#, "[5]"];
        let whole = shown(&outline(&documents));
        for mask in 0..16 {
            let mut halves = [Outline::new(100, 1), Outline::new(100, 1)];
            for (number, document) in documents.iter().enumerate() {
                let half = &mut halves[mask >> number & 1];
                half.begin_block(number as u64);
                half.add(document.as_bytes()).unwrap();
            }
            let [one, mut other] = halves;
            other.absorb(&one).unwrap();
            assert_eq!(shown(&other), whole, "{mask:b}");
        }
    }

    #[test]
    fn more_paths_than_the_limit_are_an_error_and_depth_is_none() {
        let mut outline = Outline::new(3, 1);
        assert_eq!(outline.add(br#"{"a":1,"b":2}"#), Ok(()));
        assert_eq!(outline.add(br#"{"c":1}"#), Err(TooManyPaths));
        let deep = format!("{}{}", "[".repeat(90_000), "]".repeat(90_000));
        let mut outline = Outline::new(100_000, 1);
        assert_eq!(outline.add(deep.as_bytes()), Ok(()));
        assert_eq!(outline.nodes.len(), 90_000);
    }
}
