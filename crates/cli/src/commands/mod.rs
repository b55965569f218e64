//! One file for each command.

pub(crate) mod attach;
pub(crate) mod auto;
mod auto_hint;
pub(crate) mod buffer;
pub(crate) mod count;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod flame;
pub(crate) mod gather;
pub(crate) mod generate;
pub(crate) mod gost;
pub(crate) mod json;
pub(crate) mod lab;
pub(crate) mod memory;
pub(crate) mod morse;
pub(crate) mod par;
pub(crate) mod reindexer;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod sh;
mod sound;
mod stage;
pub(crate) mod top;
pub(crate) mod tune;
pub(crate) mod utf8;
pub(crate) mod version;
pub(crate) mod what_if;
