//! Memory of an experiment: huge pages or none, as asked.

use fullbore_apparatus::{PageSize, TrialPages};

use super::peers::failed;
use crate::EngineError;

const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Maps `len` bytes and touches each page; with `huge` on huge pages, otherwise never on them.
///
/// # Errors
/// Memory is short; huge pages are wanted and switched off.
pub(super) fn map(len: usize, huge: bool) -> Result<TrialPages, EngineError> {
    let setting = std::fs::read_to_string(THP).unwrap_or_default();
    if huge && (setting.is_empty() || setting.contains("[never]")) {
        return Err(EngineError::Unavailable {
            what: "transparent huge pages".to_owned(),
            remedy: format!("echo madvise > {THP}"),
        });
    }
    let size = if huge { PageSize::Huge } else { PageSize::Base };
    TrialPages::map(len, size).map_err(|error| failed(&format!("{len} bytes of memory"), &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_short_is_named_with_its_size() {
        let error = map(usize::MAX, false).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{} bytes of memory: ", usize::MAX)), "{error}");
    }
}
