//! A program or library: where its code, its tables for unwinding and its functions are.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use framehop::ExplicitModuleSectionInfo;
use gimli::{
    BaseAddresses, CieOrFde, EhFrame, EhFrameHdr, FrameDescriptionEntry, LittleEndian,
    UnwindSection,
};
use object::{Object, ObjectSection, ObjectSegment, SegmentFlags};

use crate::frame::BinaryId;

/// A part of a file that several unwinders share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    file: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Deref for Section {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.file[self.range.clone()]
    }
}

/// Where something is: in the addresses of the file, and in the file.
type Place = (Range<u64>, Range<usize>);

/// A program or library.
#[derive(Debug)]
pub(crate) struct Binary {
    pub(crate) path: String,
    /// The file; `None` when it could not be read.
    pub(crate) file: Option<Arc<Vec<u8>>>,
    /// Code: where in the file, at which address, how many bytes.
    segments: Vec<(u64, u64, u64)>,
    sections: HashMap<&'static str, Place>,
    /// Its functions in the order of addresses, if its tables have no index.
    functions: OnceLock<Vec<Range<u64>>>,
}

/// So much of a file is compared at once.
const COMPARED_BYTES: usize = 1 << 20;

const SECTIONS: [&str; 5] = [".text", ".got", ".eh_frame", ".eh_frame_hdr", ".debug_frame"];

impl Binary {
    fn new(path: String, file: Option<Vec<u8>>) -> Self {
        let file = file.map(Arc::new);
        let (segments, sections, functions) = (Vec::new(), HashMap::new(), OnceLock::new());
        let mut binary = Self { path, file, segments, sections, functions };
        let Some(file) = binary.file.clone() else { return binary };
        let Ok(object) = object::File::parse(file.as_slice()) else { return binary };
        for segment in object.segments() {
            let is_code =
                matches!(segment.flags(), SegmentFlags::Elf { p_flags, .. } if p_flags.0 & 1 != 0);
            let (offset, length) = segment.file_range();
            if is_code {
                binary.segments.push((offset, segment.address(), length));
            }
        }
        for name in SECTIONS {
            let Some(section) = object.section_by_name(name) else { continue };
            let Some((offset, length)) = section.file_range() else { continue };
            let end = offset.saturating_add(length);
            let (Ok(from), Ok(to)) = (usize::try_from(offset), usize::try_from(end)) else {
                continue;
            };
            if to <= file.len() && from <= to {
                let addresses = section.address()..section.address().saturating_add(length);
                binary.sections.insert(name, (addresses, from..to));
            }
        }
        binary
    }

    /// The address, as the file counts them, of what is at this place in the file.
    pub(crate) fn address_of(&self, offset: u64) -> Option<u64> {
        let holds = |(start, _, length): &&(u64, u64, u64)| {
            *start <= offset && offset < start.saturating_add(*length)
        };
        let (start, address, _) = self.segments.iter().find(holds)?;
        Some(address.wrapping_add(offset - start))
    }

    /// The address in memory of what has address 0 in the file, if its byte `offset` is mapped at `start`. Linux maps whole
    /// pages, so a segment may begin within one.
    pub(crate) fn base_of(&self, start: u64, offset: u64, end: u64) -> Option<u64> {
        let length = end - start;
        let overlaps = |(from, _, bytes): &&(u64, u64, u64)| {
            *from < offset.saturating_add(length) && offset < from.saturating_add(*bytes)
        };
        let (from, address, _) = self.segments.iter().find(overlaps)?;
        Some(start.wrapping_sub(address.wrapping_add(offset.wrapping_sub(*from))))
    }

    /// So many bytes at this place of the file.
    pub(crate) fn code(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let from = usize::try_from(offset).ok()?;
        self.file.as_deref()?.get(from..from.checked_add(length)?)
    }

    /// Whether the path still names the file that was read: it may have been replaced while the program ran, or after.
    pub(crate) fn is_still_there(&self) -> bool {
        let path = Path::new(&self.path);
        if !path.is_absolute() {
            return false;
        }
        let Some(file) = self.file.as_deref() else { return path.exists() };
        File::open(path).is_ok_and(|now| is_same(now, file))
    }

    fn section(&self, name: &str) -> Option<(Range<u64>, Section)> {
        let (addresses, range) = self.sections.get(name)?;
        let section = Section { file: self.file.clone()?, range: range.clone() };
        Some((addresses.clone(), section))
    }

    /// What the unwinder has to know.
    pub(crate) fn unwind_info(&self) -> ExplicitModuleSectionInfo<Section> {
        let (addresses_of, bytes_of) = (
            |name| self.section(name).map(|(addresses, _)| addresses),
            |name| self.section(name).map(|(_, bytes)| bytes),
        );
        ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: addresses_of(".text"),
            text: bytes_of(".text"),
            got_svma: addresses_of(".got"),
            eh_frame_svma: addresses_of(".eh_frame"),
            eh_frame: bytes_of(".eh_frame"),
            eh_frame_hdr_svma: addresses_of(".eh_frame_hdr"),
            eh_frame_hdr: bytes_of(".eh_frame_hdr"),
            debug_frame: bytes_of(".debug_frame"),
            ..ExplicitModuleSectionInfo::default()
        }
    }

    /// The function that has this address, from the tables for unwinding, which stripped programs have, too.
    pub(crate) fn function_at(&self, address: u64) -> Option<Range<u64>> {
        let Some((header_at, header)) = self.section(".eh_frame_hdr") else {
            return self.function_without_index(address);
        };
        let (frames_at, frames) = self.section(".eh_frame")?;
        let bases = self.bases(&frames_at).set_eh_frame_hdr(header_at.start);
        let header = EhFrameHdr::new(&header, LittleEndian).parse(&bases, 8).ok()?;
        let frames = EhFrame::new(&frames, LittleEndian);
        let entry =
            header.table()?.fde_for_address(&frames, &bases, address, EhFrame::cie_from_offset);
        Some(range_of(&entry.ok()?))
    }

    /// The same where the tables have no index, as in static programs: all of them are read once.
    fn function_without_index(&self, address: u64) -> Option<Range<u64>> {
        let functions = self.functions.get_or_init(|| self.all_functions().unwrap_or_default());
        let after = functions.partition_point(|function| function.start <= address);
        functions.get(after.checked_sub(1)?).filter(|function| function.contains(&address)).cloned()
    }

    fn all_functions(&self) -> Option<Vec<Range<u64>>> {
        let (frames_at, section) = self.section(".eh_frame")?;
        let bases = self.bases(&frames_at);
        let frames = EhFrame::new(&section, LittleEndian);
        let mut entries = frames.entries(&bases);
        let mut functions = Vec::new();
        while let Ok(Some(entry)) = entries.next() {
            if let CieOrFde::Fde(partial) = entry
                && let Ok(entry) = partial.parse(EhFrame::cie_from_offset)
            {
                functions.push(range_of(&entry));
            }
        }
        functions.sort_by_key(|function| function.start);
        Some(functions)
    }

    fn bases(&self, frames_at: &Range<u64>) -> BaseAddresses {
        let mut bases = BaseAddresses::default().set_eh_frame(frames_at.start);
        if let Some((text, _)) = self.section(".text") {
            bases = bases.set_text(text.start);
        }
        if let Some((got, _)) = self.section(".got") {
            bases = bases.set_got(got.start);
        }
        bases
    }
}

fn range_of<R: gimli::Reader<Offset = usize>>(entry: &FrameDescriptionEntry<R>) -> Range<u64> {
    entry.initial_address()..entry.initial_address().saturating_add(entry.len())
}

/// Whether a file has this text.
fn is_same(mut file: File, text: &[u8]) -> bool {
    let is_as_long = file.metadata().is_ok_and(|now| now.len() == text.len() as u64);
    let mut part = vec![0; COMPARED_BYTES];
    is_as_long
        && text.chunks(COMPARED_BYTES).all(|expected| {
            let part = &mut part[..expected.len()];
            file.read_exact(part).is_ok() && part == expected
        })
}

/// Every program and library that was met, each read once.
#[derive(Debug, Default)]
pub(crate) struct Binaries {
    all: Vec<Arc<Binary>>,
    by_path: HashMap<String, BinaryId>,
}

impl Binaries {
    /// The binary of a path; `read` gives its file when it is met first.
    pub(crate) fn of(&mut self, path: &str, read: impl FnOnce() -> Option<Vec<u8>>) -> BinaryId {
        if let Some(id) = self.by_path.get(path) {
            return *id;
        }
        let id = BinaryId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(Arc::new(Binary::new(path.to_owned(), read())));
        self.by_path.insert(path.to_owned(), id);
        id
    }

    pub(crate) fn known(&self, path: &str) -> Option<BinaryId> {
        self.by_path.get(path).copied()
    }

    pub(crate) fn get(&self, id: BinaryId) -> &Arc<Binary> {
        &self.all[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_program_has_nothing() {
        for file in [None, Some(Vec::new()), Some(b"#!/bin/sh\n".to_vec()), Some(vec![0x7f; 4096])]
        {
            let binary = Binary::new("/x".to_owned(), file);
            assert_eq!(binary.address_of(0), None);
            assert_eq!(binary.function_at(0), None);
            assert_eq!(binary.base_of(0x1000, 0, 0x2000), None);
        }
    }

    #[test]
    fn a_program_cut_anywhere_does_no_harm() {
        let own = std::fs::read("/proc/self/exe").unwrap();
        for length in (0..4096).step_by(97).chain([own.len() / 2, own.len() - 1]) {
            let binary = Binary::new("/x".to_owned(), Some(own[..length].to_vec()));
            let _ = (binary.function_at(0x4000), binary.unwind_info());
        }
    }
}
