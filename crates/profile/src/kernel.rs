//! The kernel's list of its functions, read ahead: that takes 50 ms, in which nobody has to wait.

use std::thread::{Builder, JoinHandle};

use crate::symbols::Symbols;

/// Symbols of the kernel, which a thread reads.
#[derive(Debug, Default)]
pub struct KernelSymbols(Option<JoinHandle<Symbols>>);

impl KernelSymbols {
    /// Begins to read them in a thread, which first calls `prepare`, for instance to keep out of the way of others.
    #[must_use]
    pub fn ahead(prepare: impl FnOnce() + Send + 'static) -> Self {
        let read_them = || {
            prepare();
            read()
        };
        Self(Builder::new().name("kernel symbols".to_owned()).spawn(read_them).ok())
    }

    /// The symbols. They are read now if the thread has not come to the end, or never began.
    pub(crate) fn get(self) -> Symbols {
        let done = self.0.filter(JoinHandle::is_finished);
        done.and_then(|thread| thread.join().ok()).unwrap_or_else(read)
    }
}

fn read() -> Symbols {
    Symbols::of_kernel(&std::fs::read_to_string("/proc/kallsyms").unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_the_same_whoever_reads_them() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let ahead = KernelSymbols::ahead(move || sender.send(()).unwrap());
        receiver.recv().unwrap();
        while !ahead.0.as_ref().unwrap().is_finished() {
            std::thread::yield_now();
        }
        let never = KernelSymbols::default();
        assert_eq!(format!("{:?}", ahead.get()), format!("{:?}", never.get()));
    }
}
