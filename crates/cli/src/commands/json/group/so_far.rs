//! The answer before the input has ended.

use fullbore_codec::aggregate::{Grouped, Rows};

use super::columns::{Answers, Print};
use super::words::NAME;
use crate::commands::json::sheet;
use crate::messages::complain;

/// Prints on standard error what the workers know, if a copy of it does not take more memory than the limit.
pub(super) fn say<'a>(
    print: &Print,
    limit: usize,
    tables: impl Iterator<Item = &'a Grouped> + Clone,
) {
    let bytes: usize = tables.clone().map(Grouped::bytes).sum();
    if bytes > limit / 2 {
        return complain(&format!("{NAME}: there is not enough memory for an answer so far"), "");
    }
    let joined = tables.cloned().reduce(|mut all, more| {
        all.absorb(more, |_| true);
        all
    });
    let Some(all) = joined else { return };
    let answers = Answers::new(Rows::new(all, print.sort), print);
    let mut text = Vec::new();
    let printed = sheet::print(&answers, print.format, |piece| {
        text.extend_from_slice(piece);
        Ok::<(), std::convert::Infallible>(())
    });
    let Ok(()) = printed;
    crate::messages::say(&String::from_utf8_lossy(&text));
}
