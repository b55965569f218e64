//! The file of something that a process has mapped.

use std::fs;
use std::path::{Path, PathBuf};

use fullbore_proc::Root;
use fullbore_profile::Mapped;

/// A larger program is not read: its functions have no names.
const LARGEST_BYTES: u64 = 1 << 30;

/// What Linux adds to the path of a file that has no name any more.
const DELETED: &str = " (deleted)";

/// Reads the file; `None` when that is not possible.
pub(super) fn file_of(root: &Root, pid: i32, mapped: &Mapped) -> Option<Vec<u8>> {
    if mapped.path == "[vdso]" {
        let length =
            usize::try_from(mapped.end - mapped.start).ok().filter(|length| *length < 1 << 20)?;
        let mut memory = vec![0; length];
        let read = root.try_memory(pid, mapped.start, &mut memory).ok()?;
        memory.truncate(read);
        return Some(memory);
    }
    if !mapped.path.starts_with('/') {
        return None;
    }
    candidates(root, pid, mapped).into_iter().find_map(|path| {
        let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        (size <= LARGEST_BYTES).then(|| fs::read(path).ok()).flatten()
    })
}

/// Where it may be found. A process may have another root than this one, and what was deleted is still the process's own.
fn candidates(root: &Root, pid: i32, mapped: &Mapped) -> Vec<PathBuf> {
    let own = root.path().join(pid.to_string());
    let name = mapped.path.strip_suffix(DELETED);
    let (exe, path) = (own.join("exe"), Path::new(&mapped.path));
    let mut found = Vec::new();
    if name.is_none() {
        found.extend(path.strip_prefix("/").map(|path| own.join("root").join(path)));
        found.push(path.to_owned());
    }
    let deleted = format!("{}{DELETED}", name.unwrap_or(&mapped.path));
    if fs::read_link(&exe).is_ok_and(|link| link == Path::new(&deleted)) {
        found.push(exe);
    }
    found.push(own.join(format!("map_files/{:x}-{:x}", mapped.start, mapped.end)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_this_process_is_found_under_every_name() {
        let root = Root::system();
        let own = std::process::id().cast_signed();
        let code = root.try_mapped_code(own).unwrap();
        let file = |code: &fullbore_proc::MappedCode| {
            let (start, end, offset) = (code.start, code.end, code.offset);
            file_of(&root, own, &Mapped { start, end, offset, path: code.path.clone() })
        };
        let program = code.iter().find(|code| code.path.starts_with('/')).unwrap();
        assert!(file(program).unwrap().starts_with(b"\x7fELF"));
        if let Some(vdso) = code.iter().find(|code| code.path == "[vdso]") {
            assert!(file(vdso).unwrap().starts_with(b"\x7fELF"));
        }
        let none = Mapped { start: 0, end: 1, offset: 0, path: "/none".to_owned() };
        assert_eq!(file_of(&root, own, &none), None);
    }
}
