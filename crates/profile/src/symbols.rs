//! The symbols of a file that is only in memory, and those of the kernel.

use object::{Object, ObjectSymbol, SymbolKind};

/// Functions with names, in the order of their addresses.
#[derive(Debug, Default)]
pub(crate) struct Symbols(Vec<(u64, u64, String)>);

impl Symbols {
    /// Those of a program or library.
    pub(crate) fn of_file(file: &[u8]) -> Self {
        let Ok(object) = object::File::parse(file) else { return Self::default() };
        let all = object.symbols().chain(object.dynamic_symbols());
        let functions = all.filter(|symbol| symbol.kind() == SymbolKind::Text);
        let named = functions.filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| !name.is_empty())?;
            Some((symbol.address(), symbol.size(), name.to_owned()))
        });
        Self::sorted(named.collect())
    }

    /// Those of the text of `/proc/kallsyms` (proc_kallsyms(5)); none where Linux shows every address as 0
    /// (`kernel.kptr_restrict`).
    pub(crate) fn of_kernel(text: &str) -> Self {
        let line = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            let kind = words.next()?;
            let name = words.next()?;
            let is_code = matches!(kind, "t" | "T" | "w" | "W");
            (is_code && address != 0).then(|| (address, 0, name.to_owned()))
        };
        Self::sorted(text.lines().filter_map(line).collect())
    }

    fn sorted(mut all: Vec<(u64, u64, String)>) -> Self {
        all.sort();
        all.dedup_by_key(|(address, ..)| *address);
        Self(all)
    }

    pub(crate) fn find(&self, address: u64) -> Option<&str> {
        let after = self.0.partition_point(|(start, ..)| *start <= address);
        let (start, size, name) = self.0.get(after.checked_sub(1)?)?;
        (*size == 0 || address < start.saturating_add(*size)).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_the_function_before_it() {
        let text = "0000000000000000 A nothing\nffffffff81000000 T start\nffffffff81000100 t pipe_read\n\
                    ffffffff81000200 D data\nffffffff81000300 T pipe_write [pipes]\n";
        let symbols = Symbols::of_kernel(text);
        assert_eq!(symbols.find(0xffff_ffff_8100_01ff), Some("pipe_read"));
        assert_eq!(symbols.find(0xffff_ffff_8100_0300), Some("pipe_write"));
        assert_eq!(symbols.find(0xffff_ffff_80ff_ffff), None);
        assert_eq!(Symbols::of_kernel("0000000000000000 T hidden\n").find(5), None);
    }

    #[test]
    fn behind_the_end_of_a_function_there_is_none() {
        let symbols = Symbols::sorted(vec![(100, 10, "f".to_owned()), (200, 0, "g".to_owned())]);
        assert_eq!([symbols.find(109), symbols.find(110)], [Some("f"), None]);
        assert_eq!(symbols.find(250), Some("g"));
    }
}
