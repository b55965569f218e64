//! The file of something that a process has mapped.

use std::fs;
use std::ops::Range;
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
        return vdso(root, pid, mapped.start..mapped.end).or_else(|| own_vdso(root));
    }
    if !mapped.path.starts_with('/') {
        return None;
    }
    candidates(root, pid, mapped).into_iter().find_map(|path| {
        let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        (size <= LARGEST_BYTES).then(|| fs::read(path).ok()).flatten()
    })
}

fn vdso(root: &Root, pid: i32, addresses: Range<u64>) -> Option<Vec<u8>> {
    let length = addresses.end.checked_sub(addresses.start)?;
    let length = usize::try_from(length).ok().filter(|length| *length < 1 << 20)?;
    let mut memory = vec![0; length];
    let read = root.try_memory(pid, addresses.start, &mut memory).ok().filter(|read| *read > 0)?;
    memory.truncate(read);
    Some(memory)
}

/// Linux gives every 64-bit process the same, and that process may have ended.
fn own_vdso(root: &Root) -> Option<Vec<u8>> {
    let own = std::process::id().cast_signed();
    let code = root.try_mapped_code(own).ok()?.into_iter().find(|code| code.path == "[vdso]")?;
    vdso(root, own, code.start..code.end)
}

/// Where it may be found, the surest place first: while the process lives, `/proc` has its own files, whatever their paths name
/// by now. A process may have another root than this one.
fn candidates(root: &Root, pid: i32, mapped: &Mapped) -> Vec<PathBuf> {
    let own = root.path().join(pid.to_string());
    let (exe, path) = (own.join("exe"), Path::new(&mapped.path));
    let has_name = !mapped.path.ends_with(DELETED);
    let deleted = format!("{}{}", mapped.path, if has_name { DELETED } else { "" });
    let is_program = |link: PathBuf| link == path || link == Path::new(&deleted);
    let mut found = Vec::new();
    if fs::read_link(&exe).is_ok_and(is_program) {
        found.push(exe);
    }
    found.push(own.join(format!("map_files/{:x}-{:x}", mapped.start, mapped.end)));
    if has_name {
        found.extend(path.strip_prefix("/").map(|path| own.join("root").join(path)));
        found.push(path.to_owned());
    }
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
            let (start, end, path) = (vdso.start, vdso.end, vdso.path.clone());
            let of_nobody = file_of(&root, i32::MAX, &Mapped { start, end, offset: 0, path });
            assert_eq!(of_nobody, file(vdso), "of a process that has ended");
        }
        let none = Mapped { start: 0, end: 1, offset: 0, path: "/none".to_owned() };
        assert_eq!(file_of(&root, own, &none), None);
    }
}
