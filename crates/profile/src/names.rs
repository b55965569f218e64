//! Names of functions, from the symbols of programs, their debugging files, the kernel's list, and what runtimes write.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};

use crate::binary::Binary;
use crate::callers::Callers;
use crate::frame::{BinaryId, Frame};
use crate::kernel::KernelSymbols;
use crate::perf_map::PerfMap;
use crate::symbols::Symbols;
use crate::tally::Tally;

/// What a frame is called when its callers are not known.
pub(crate) const CUT: &str = "[callers unknown]";

/// The names of frames. Several for one where functions were inlined into it, the outermost first.
#[derive(Debug, Default)]
pub struct Names(pub(crate) HashMap<Frame, Vec<String>>);

impl Names {
    /// Finds the names of everything in a tally.
    ///
    /// A function without one is called by its program and where it begins, such as `sort+0x5a30`.
    #[must_use]
    pub fn of<K: Ord + Clone>(tally: &Tally<K>, callers: &Callers, kernel: KernelSymbols) -> Self {
        let frames: BTreeSet<Frame> = tally.frames().collect();
        let mut names = HashMap::new();
        let mut code: BTreeMap<BinaryId, Vec<u64>> = BTreeMap::new();
        let mut made: BTreeMap<i32, PerfMap> = BTreeMap::new();
        let mut ahead = Some(kernel);
        let mut kernel = None;
        for frame in frames {
            let name = match frame {
                Frame::Code { binary, offset } => {
                    code.entry(binary).or_default().push(offset);
                    continue;
                }
                Frame::Kernel(address) => {
                    let symbols =
                        kernel.get_or_insert_with(|| ahead.take().unwrap_or_default().get());
                    symbols.find(address).map_or_else(|| "[kernel]".to_owned(), str::to_owned)
                }
                Frame::Made { pid, address } => {
                    let map = made.entry(pid).or_insert_with(|| PerfMap::of(pid));
                    map.find(address).unwrap_or("[code made at run time]").to_owned()
                }
                Frame::Cut => CUT.to_owned(),
            };
            names.insert(frame, vec![name]);
        }
        let symbolizer = Symbolizer::builder().enable_code_info(false).build();
        for (id, offsets) in code {
            let found = names_in(&symbolizer, callers.binary(id), &offsets);
            let frames = offsets.into_iter().map(|offset| Frame::Code { binary: id, offset });
            names.extend(frames.zip(found));
        }
        Self(names)
    }

    pub(crate) fn get(&self, frame: Frame) -> &[String] {
        self.0.get(&frame).map_or(&[], Vec::as_slice)
    }
}

/// The names at these places of a file.
fn names_in(symbolizer: &Symbolizer, binary: &Binary, offsets: &[u64]) -> Vec<Vec<String>> {
    let path = Path::new(&binary.path);
    let source = Source::Elf(Elf::new(path));
    let known = if binary.is_still_there() {
        symbolizer.symbolize(&source, Input::FileOffset(offsets)).ok()
    } else {
        None
    };
    let own = known
        .is_none()
        .then(|| binary.file.as_deref().map(|file| Symbols::of_file(file)))
        .flatten();
    let name = |(place, offset): (usize, &u64)| -> Vec<String> {
        if let Some(Symbolized::Sym(symbol)) = known.as_ref().and_then(|known| known.get(place)) {
            let inlined = symbol.inlined.iter().map(|function| readable(&function.name));
            return std::iter::once(readable(&symbol.name)).chain(inlined).collect();
        }
        let address = binary.address_of(*offset);
        let of_own = own.as_ref().zip(address).and_then(|(own, address)| own.find(address));
        vec![of_own.map_or_else(|| unnamed(binary, *offset), readable)]
    };
    offsets.iter().enumerate().map(name).collect()
}

/// The name as it stands in the source, if it was made longer by a compiler of Rust or C++.
fn readable(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    // A name of C may be one of C++'s short names for types.
    if name.starts_with("_Z")
        && let Ok(symbol) = cpp_demangle::BorrowedSymbol::new(name.as_bytes())
        && let Ok(text) = symbol.demangle()
    {
        return text;
    }
    name.to_owned()
}

/// A function without a name: its file, and where in its addresses the function begins.
fn unnamed(binary: &Binary, offset: u64) -> String {
    let path = binary.path.trim_end_matches(" (deleted)");
    let file = path.rsplit('/').next().unwrap_or(path);
    match binary.address_of(offset) {
        Some(address) => {
            let start = binary.function_at(address).map_or(address, |function| function.start);
            format!("{file}+{start:#x}")
        }
        None => format!("{file}+{offset:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_rust_and_cpp_are_readable_and_those_of_c_stay() {
        let of = |name| readable(name);
        assert_eq!(
            of("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
            "core::fmt::Write::write_fmt"
        );
        assert_eq!(
            of("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back(int const&)"
        );
        assert_eq!([of("f"), of("h"), of("main")], ["f", "h", "main"]);
    }
}
