//! No file of a crate needs a file that needs it in turn, so each can be read after those it rests on.
//!
//! What a file needs is told from its text: paths that begin with `crate`, `super`, `self` or the name of a module below
//! it, followed through re-exports to the file that has the thing. A re-export itself needs nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{ARROWS, code_of, collect_sources, crates};

/// A module by the names on the way to it; the root of a crate has none.
type Module = Vec<String>;

/// The files of one crate.
#[derive(Default)]
struct Files {
    code: BTreeMap<Module, String>,
    /// What a module brings into scope: the name, and the path it stands for from the root.
    imports: BTreeMap<Module, BTreeMap<String, Module>>,
}

impl Files {
    fn read(name: &str) -> Self {
        let source = crates().join(name).join("src");
        let mut paths = Vec::new();
        collect_sources(&source, &mut paths);
        assert!(!paths.is_empty(), "no sources of {name}");
        let mut files = Self::default();
        for path in paths {
            let place = path.strip_prefix(&source).unwrap().with_extension("");
            let mut module: Module =
                place.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            if ["lib", "main", "mod"].contains(&module.last().unwrap().as_str()) {
                module.pop();
            }
            files.add(module, &fs::read_to_string(path).unwrap());
        }
        files.find_imports();
        files
    }

    /// Adds a file; a library and its program share the root.
    fn add(&mut self, module: Module, source: &str) {
        let code = code_of(source);
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        self.code.entry(module).or_default().push_str(code);
    }

    fn find_imports(&mut self) {
        for (module, code) in &self.code {
            let mut names = BTreeMap::new();
            for statement in statements(code) {
                let mut leaves = Vec::new();
                collect_leaves(statement.tree, &[], &mut leaves);
                for (path, name) in leaves {
                    if let Some(path) = self.resolved(module, &path) {
                        names.insert(name, path);
                    }
                }
            }
            self.imports.insert(module.clone(), names);
        }
    }

    /// A path written in `module`, from the root; `None` when it leads out of the crate.
    fn resolved(&self, module: &Module, path: &[String]) -> Option<Module> {
        let mut base = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "self" => module.clone(),
            "super" => module.split_last()?.1.to_vec(),
            child => {
                let child = [&module[..], &[child.to_owned()]].concat();
                return self.code.contains_key(&child).then(|| [&child[..], &path[1..]].concat());
            }
        };
        for name in &path[1..] {
            if name == "super" {
                base.pop()?;
            } else {
                base.push(name.clone());
            }
        }
        Some(base)
    }

    /// The file that has what a path from the root names.
    fn owner(&self, path: &[String], steps: usize) -> Module {
        let depth = (0..=path.len()).rev().find(|depth| self.code.contains_key(&path[..*depth]));
        let depth = depth.unwrap_or(0);
        let (module, rest) = path.split_at(depth);
        let imported = rest.first().and_then(|name| self.imports.get(module)?.get(name));
        match imported {
            Some(path) if steps > 0 => self.owner(path, steps - 1),
            _ => module.to_vec(),
        }
    }

    /// The files that each file needs.
    fn needs(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let of = |module: &Module, code: &str| {
            let mut paths = Vec::new();
            let mut rest = code.to_owned();
            for statement in statements(code) {
                if !statement.is_exported {
                    let mut leaves = Vec::new();
                    collect_leaves(statement.tree, &[], &mut leaves);
                    paths.extend(leaves.into_iter().map(|(path, _)| path));
                }
                rest = rest.replacen(statement.tree, "", 1);
            }
            paths.extend(paths_in(&rest));
            let roots = paths.iter().filter_map(|path| self.resolved(module, path));
            roots.map(|path| self.owner(&path, 8)).filter(|owner| owner != module).collect()
        };
        self.code.iter().map(|(module, code)| (module, of(module, code))).collect()
    }
}

/// A `use` in the text of a file.
struct Statement<'a> {
    tree: &'a str,
    is_exported: bool,
}

fn statements(code: &str) -> Vec<Statement<'_>> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let before = code[..at].rsplit('\n').next().unwrap_or_default().trim();
        let is_statement = before.is_empty() || before == "pub" || before.starts_with("pub(");
        let Some(end) = code[at..].find(';').filter(|_| is_statement) else { continue };
        let tree = code[at + 4..at + end].trim();
        found.push(Statement { tree, is_exported: !before.is_empty() });
    }
    found
}

/// The paths in the tree of a `use`, each with the name it is known by.
fn collect_leaves(tree: &str, before: &[String], into: &mut Vec<(Module, String)>) {
    let tree = tree.trim();
    if let Some(group) = tree.strip_prefix('{') {
        let group = group.strip_suffix('}').unwrap_or(group);
        let (mut depth, mut start) = (0, 0);
        for (at, character) in group.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    collect_leaves(&group[start..at], before, into);
                    start = at + 1;
                }
                _ => {}
            }
        }
        return collect_leaves_of_rest(&group[start..], before, into);
    }
    match tree.split_once("::") {
        Some((name, rest)) => {
            collect_leaves(rest, &[before, &[name.trim().to_owned()]].concat(), into);
        }
        None => collect_leaves_of_rest(tree, before, into),
    }
}

/// What has no group and no more parts but one: a name, an alias or a glob.
fn collect_leaves_of_rest(leaf: &str, before: &[String], into: &mut Vec<(Module, String)>) {
    let leaf = leaf.trim();
    if leaf.contains("::") || leaf.starts_with('{') {
        return collect_leaves(leaf, before, into);
    }
    let (name, known_as) = leaf.split_once(" as ").unwrap_or((leaf, leaf));
    match name.trim() {
        "" => {}
        "self" => into.push((before.to_vec(), before.last().cloned().unwrap_or_default())),
        name => {
            let path = [before, &[name.to_owned()]].concat();
            into.push((path, known_as.trim().to_owned()));
        }
    }
}

/// The paths with at least two parts in code without `use`.
fn paths_in(code: &str) -> Vec<Module> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code.split(|c: char| !is_part(c)).filter(|word| word.contains("::"));
    let parts = words.map(|word| word.split("::").map(str::to_owned).collect::<Module>());
    parts.filter(|path| !path[0].is_empty() && !path[0].contains(':')).collect()
}

/// The files that can be reached from themselves.
fn in_circles<'a>(needs: &'a BTreeMap<&'a Module, BTreeSet<Module>>) -> Vec<&'a Module> {
    let mut found = Vec::new();
    for start in needs.keys() {
        let mut seen: BTreeSet<&Module> = BTreeSet::new();
        let mut next: Vec<&Module> = needs[start].iter().collect();
        while let Some(module) = next.pop() {
            if seen.insert(module) {
                next.extend(needs.get(module).into_iter().flatten());
            }
        }
        if seen.contains(start) {
            found.push(*start);
        }
    }
    found
}

#[test]
fn no_file_of_a_crate_needs_one_that_needs_it() {
    let mut found = BTreeSet::new();
    let mut arrows = 0;
    for (name, _) in ARROWS {
        let files = Files::read(name);
        let needs = files.needs();
        arrows += needs.values().map(BTreeSet::len).sum::<usize>();
        found.extend(in_circles(&needs).into_iter().map(|module| {
            let place = if module.is_empty() { "the root".to_owned() } else { module.join("/") };
            format!("{name}: {place}")
        }));
    }
    assert!(arrows > 100, "only {arrows} arrows were found");
    assert!(found.is_empty(), "these files stand in a circle: {found:#?}");
}

#[test]
fn a_circle_is_found_and_what_is_none_is_not() {
    let circle = |sources: &[(&str, &str)]| {
        let mut files = Files::default();
        for (module, source) in sources {
            let parts = module.split('/').filter(|part| !part.is_empty());
            files.add(parts.map(str::to_owned).collect(), source);
        }
        files.find_imports();
        let needs = files.needs();
        in_circles(&needs).into_iter().map(|module| module.join("/")).collect::<Vec<_>>()
    };
    let direct =
        [("a", "use crate::b::B;"), ("b", "fn f() { crate::a::f(); }"), ("c", "use crate::a;")];
    assert_eq!(circle(&direct), ["a", "b"]);
    // Through a name that the root exports; the root itself needs nothing.
    let exported = [
        ("", "mod a;\nmod b;\npub use a::{A, More};\npub use b::B;"),
        ("a", "use crate::{B};"),
        ("b", "use crate::{\n    A as Other,\n};"),
    ];
    assert_eq!(circle(&exported), ["a", "b"]);
    let parent = [("p", "mod c;\nfn f() { c::g(); }\nstruct P;"), ("p/c", "use super::P;")];
    assert_eq!(circle(&parent), ["p", "p/c"]);
    let siblings = [
        ("p", "mod c;\nmod d;\npub(crate) use d::P;\nfn f() { c::g(); }"),
        ("p/c", "use super::P;"),
        ("p/d", ""),
    ];
    assert_eq!(circle(&siblings), [""; 0]);
    let tests = [
        ("a", "use crate::b;\n"),
        ("b", "// crate::a\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n"),
    ];
    assert_eq!(circle(&tests), [""; 0]);
}
