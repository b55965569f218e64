//! The symbols of a file that is only in memory, and those of the kernel.

use object::{Object, ObjectSymbol, SymbolKind};

/// Functions with names, in the order of their addresses.
///
/// The names stand in one text: a kernel has some hundred thousand, and an allocation for each took longer than reading them.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    names: String,
    functions: Vec<Function>,
}

/// Where a function begins, how long it is (0: unknown), and where its name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    start: u64,
    size: u64,
    name: (usize, usize),
}

impl Symbols {
    /// Those of a program or library.
    pub(crate) fn of_file(file: &[u8]) -> Self {
        let Ok(object) = object::File::parse(file) else { return Self::default() };
        let mut all = Self::default();
        let symbols = object.symbols().chain(object.dynamic_symbols());
        for symbol in symbols.filter(|symbol| symbol.kind() == SymbolKind::Text) {
            if let Some(name) = symbol.name().ok().filter(|name| !name.is_empty()) {
                all.add(symbol.address(), symbol.size(), name);
            }
        }
        all.sorted()
    }

    /// Those of the text of `/proc/kallsyms` (proc_kallsyms(5)); none where Linux shows every address as 0
    /// (`kernel.kptr_restrict`).
    pub(crate) fn of_kernel(text: &str) -> Self {
        let mut all = Self::default();
        for line in text.lines() {
            // An address, a blank, one letter, a blank, and the name, behind which a tab and a module may stand.
            let Some((address, rest)) = line.split_once(' ') else { continue };
            let Some((kind, rest)) = rest.split_once(' ') else { continue };
            if !matches!(kind, "t" | "T" | "w" | "W") {
                continue;
            }
            let name = rest.split_once('\t').map_or(rest, |(name, _)| name);
            if let Some(address) = u64::from_str_radix(address, 16).ok().filter(|at| *at != 0) {
                all.add(address, 0, name);
            }
        }
        all.sorted()
    }

    fn add(&mut self, start: u64, size: u64, name: &str) {
        let begin = self.names.len();
        self.names.push_str(name);
        self.functions.push(Function { start, size, name: (begin, self.names.len()) });
    }

    fn sorted(mut self) -> Self {
        self.functions.sort();
        self.functions.dedup_by_key(|function| function.start);
        self
    }

    pub(crate) fn find(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|function| function.start <= address);
        let Function { start, size, name } = *self.functions.get(after.checked_sub(1)?)?;
        let is_inside = size == 0 || address < start.saturating_add(size);
        is_inside.then(|| self.names.get(name.0..name.1)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_the_function_before_it() {
        let text = "0000000000000000 A nothing\nffffffff81000000 T start\nffffffff81000100 t pipe_read\n\
                    ffffffff81000200 D data\nffffffff81000300 T pipe_write\t[pipes]\n";
        let symbols = Symbols::of_kernel(text);
        assert_eq!(symbols.find(0xffff_ffff_8100_01ff), Some("pipe_read"));
        assert_eq!(symbols.find(0xffff_ffff_8100_0300), Some("pipe_write"));
        assert_eq!(symbols.find(0xffff_ffff_80ff_ffff), None);
        assert_eq!(Symbols::of_kernel("0000000000000000 T hidden\n").find(5), None);
    }

    #[test]
    fn behind_the_end_of_a_function_there_is_none() {
        let mut symbols = Symbols::default();
        symbols.add(200, 0, "g");
        symbols.add(100, 10, "f");
        let symbols = symbols.sorted();
        assert_eq!([symbols.find(109), symbols.find(110)], [Some("f"), None]);
        assert_eq!(symbols.find(250), Some("g"));
    }
}
