//! The files that a process reads, as far as its descriptors and its words tell.

use std::path::Path;

use fullbore_proc::{OpenFile, Root};

/// A file smaller than this is read before anybody could look.
const SMALLEST_BYTES: u64 = 1 << 20;

/// How far a process has read its input, and how much that is: the file it reads, together with the files that its words name before
/// and after it (`cat a b c`). `None` if it reads no file, or if the position does not tell (mmap, pread).
pub(super) fn position(root: &Root, pid: i32) -> Option<(u64, u64)> {
    let files = root.open_files(pid);
    let is_read = |file: &&OpenFile| {
        file.size_bytes >= SMALLEST_BYTES && (1..=file.size_bytes).contains(&file.position_bytes)
    };
    let file = files.iter().filter(is_read).max_by_key(|file| file.size_bytes)?;
    let words = root.command_line(pid);
    let named = words.iter().skip(1).filter_map(|word| root.file_named_by(pid, Path::new(word)));
    let named: Vec<((u64, u64), u64)> = named.collect();
    let Some(place) = named.iter().position(|(id, _)| *id == file.id) else {
        return Some((file.position_bytes, file.size_bytes));
    };
    let sum = |files: &[((u64, u64), u64)]| files.iter().map(|(_, size)| size).sum::<u64>();
    Some((sum(&named[..place]) + file.position_bytes, sum(&named)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn files_named_before_and_after_count() {
        let folder = tempfile::tempdir().unwrap();
        for (name, size) in [("a", 2_000_000), ("b", 5_000_000), ("c", 3_000_000)] {
            std::fs::File::create(folder.path().join(name)).unwrap().set_len(size).unwrap();
        }
        // It stands still as soon as the pipe is full.
        let mut cat = Command::new("cat");
        cat.args(["a", "b", "c"]).current_dir(folder.path()).stdout(Stdio::piped());
        let mut child = cat.spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        std::io::copy(&mut std::io::Read::take(&mut output, 4_000_000), &mut std::io::sink())
            .unwrap();
        let pid = child.id().cast_signed();
        let (at, of) = position(&Root::system(), pid).expect("it reads b");
        assert_eq!(of, 10_000_000);
        assert!((4_000_000..4_500_000).contains(&at), "{at}");
        drop(output);
        child.wait().unwrap();
    }
}
