//! Memory for tables: several rooms of one mapping, in huge pages, given back one by one.
#![allow(unsafe_code)]

use std::alloc::{Layout, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use super::bucket::Bucket;
use super::error::NoMemory;

/// Size of a huge page. A table in huge pages misses the CPU's cache of addresses less often: words of source code,
/// 122,000 of them distinct, took 10.2 ns a line instead of 13.9 ns in a loop of this layout (a virtual machine, where
/// a miss costs most).
const HUGE_BYTES: usize = 2 << 20;

/// Size of an ordinary page.
const PAGE_BYTES: usize = 4096;

/// Rooms of this size give their pages back when they are dropped; smaller ones, when all rooms of the mapping are.
const RELEASED_BYTES: usize = 32 << 10;

/// Pages of this process, zero at first.
#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to nobody else, and each of its bytes to one room.
unsafe impl Send for Mapping {}
// SAFETY: shared references give no access to the bytes.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps at least `len` bytes, from a boundary of huge pages where they pay.
    fn new(len: usize) -> Result<Self, NoMemory> {
        let is_huge = len >= HUGE_BYTES;
        let len = if is_huge { len.checked_next_multiple_of(HUGE_BYTES) } else { Some(len) };
        let len = len.ok_or(NoMemory)?;
        let spare = if is_huge { HUGE_BYTES } else { 0 };
        let whole = len.checked_add(spare).ok_or(NoMemory)?;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping at an address Linux chooses changes no memory in use.
        let base = unsafe { mmap_anonymous(ptr::null_mut(), whole, access, flags) };
        let base = NonNull::new(base.map_err(|_| NoMemory)?.cast::<u8>()).ok_or(NoMemory)?;
        if !is_huge {
            return Ok(Self { base, len });
        }
        let before = base.as_ptr().align_offset(HUGE_BYTES);
        let aligned = base.as_ptr().wrapping_add(before);
        let behind = aligned.wrapping_add(len);
        for (part, part_len) in [(base.as_ptr(), before), (behind, spare - before)] {
            if part_len > 0 {
                // SAFETY: the part lies in the mapping made above, and nothing refers to it.
                let _ = unsafe { munmap(part.cast(), part_len) };
            }
        }
        // SAFETY: the range is what is left of the mapping; the advice does not change its bytes.
        let _ = unsafe { madvise(aligned.cast(), len, Advice::LinuxHugepage) };
        Ok(Self { base: NonNull::new(aligned).ok_or(NoMemory)?, len })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is the whole of a mapping of our own; its rooms hold it, so none is left.
        let done = unsafe { munmap(self.base.as_ptr().cast(), self.len) };
        debug_assert_eq!(done, Ok(()), "munmap of a mapping of our own");
    }
}

/// A fixed number of values in a part of a mapping.
#[derive(Debug)]
pub(super) struct Room<T> {
    base: NonNull<T>,
    len: usize,
    mapping: Arc<Mapping>,
}

// SAFETY: this value alone owns its part of the mapping, as a Box<[T]> does.
unsafe impl<T: Send> Send for Room<T> {}
// SAFETY: shared references only read.
unsafe impl<T: Sync> Sync for Room<T> {}

impl<T> Deref for Room<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `Rooms` initialized these values, and the mapping lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Room<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; the room is borrowed mutably, and no other room has these values.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }
}

impl<T> Drop for Room<T> {
    fn drop(&mut self) {
        let bytes = self.len * size_of::<T>();
        if bytes < RELEASED_BYTES || Arc::strong_count(&self.mapping) == 1 {
            return;
        }
        let base = self.base.as_ptr().cast::<u8>();
        let before = base.align_offset(PAGE_BYTES);
        let whole = (bytes - before) / PAGE_BYTES * PAGE_BYTES;
        // SAFETY: these pages lie inside this room, to which nothing refers any more.
        let _ = unsafe { madvise(base.wrapping_add(before).cast(), whole, Advice::LinuxDontNeed) };
    }
}

/// Copies the values into a mapping of its own. Without memory for it, the process ends, as for a copy of a Vec.
impl<T: Clone> Clone for Room<T> {
    fn clone(&self) -> Self {
        let bytes = size_of_val(&**self).max(1);
        let Ok(mapping) = Mapping::new(bytes) else {
            handle_alloc_error(Layout::for_value(&**self));
        };
        let base = mapping.base.cast::<T>();
        for (at, value) in self.iter().enumerate() {
            // SAFETY: the new mapping has room for as many values, and nobody else has it.
            let place = unsafe { base.add(at) };
            // SAFETY: as above; a page, and so every value, is aligned.
            unsafe { place.write(value.clone()) };
        }
        Self { base, len: self.len, mapping: Arc::new(mapping) }
    }
}

/// Makes rooms of the same size that follow each other in one mapping. A room touches its memory when it is made, or
/// later.
#[derive(Debug)]
pub(super) struct Rooms<T> {
    mapping: Arc<Mapping>,
    made: usize,
    count: usize,
    len: usize,
    /// What the rooms are filled with; `None`: zeros are valid values.
    value: Option<T>,
}

impl Rooms<Bucket> {
    /// Maps rooms of free buckets.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub(super) fn free(count: usize, len: usize) -> Result<Self, NoMemory> {
        // A bucket is 64 bytes of any value.
        Self::of(count, len, None)
    }
}

impl<T: Copy> Rooms<T> {
    /// Maps rooms of `value`.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub(super) fn filled(count: usize, len: usize, value: T) -> Result<Self, NoMemory> {
        Self::of(count, len, Some(value))
    }

    fn of(count: usize, len: usize, value: Option<T>) -> Result<Self, NoMemory> {
        const { assert!(size_of::<T>() > 0 && align_of::<T>() <= PAGE_BYTES) };
        let bytes = count.checked_mul(len).and_then(|all| all.checked_mul(size_of::<T>()));
        let mapping = Arc::new(Mapping::new(bytes.ok_or(NoMemory)?.max(1))?);
        Ok(Self { mapping, made: 0, count, len, value })
    }
}

impl<T: Copy> Iterator for Rooms<T> {
    type Item = Room<T>;

    fn next(&mut self) -> Option<Room<T>> {
        if self.made == self.count {
            return None;
        }
        let base = self.mapping.base.cast::<T>();
        // SAFETY: the mapping has `count` rooms of `len` values, and this is one of them.
        let base = unsafe { base.add(self.made * self.len) };
        self.made += 1;
        if let Some(value) = self.value {
            for at in 0..self.len {
                // SAFETY: the value lies in this room, which nobody else has.
                let place = unsafe { base.add(at) };
                // SAFETY: as above; a page, and so every room and value, is aligned.
                unsafe { place.write(value) };
            }
        }
        Some(Room { base, len: self.len, mapping: Arc::clone(&self.mapping) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_keep_what_is_theirs_until_they_are_dropped() {
        for len in [1, 3, 1000, 40_000] {
            let mut rooms: Vec<Room<u64>> = Rooms::filled(5, len, 7).unwrap().collect();
            assert_eq!(rooms.len(), 5);
            for (number, room) in rooms.iter_mut().enumerate() {
                assert!(room.len() == len && room.iter().all(|value| *value == 7));
                room.fill(number as u64);
            }
            let copies = rooms.clone();
            rooms[0].fill(9);
            assert!(copies[0].iter().all(|value| *value == 0) && copies[4][0] == 4);
            // The pages of a room in the middle go; its neighbours keep theirs.
            drop(rooms.remove(2));
            drop(rooms.remove(0));
            for (room, number) in rooms.iter().zip([1, 3, 4]) {
                assert!(room.iter().all(|value| *value == number), "{len}");
            }
        }
        let free = Rooms::free(64, 1000).unwrap();
        assert!(free.into_iter().all(|room| room.iter().all(|bucket| bucket.0 == [0; 64])));
    }

    #[test]
    fn too_much_memory_is_an_error() {
        for len in [usize::MAX, usize::MAX / 8, usize::MAX / 16, 1 << 48] {
            assert!(Rooms::<u64>::filled(1, len, 0).is_err() && Rooms::free(2, len).is_err());
        }
    }
}
