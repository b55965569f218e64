//! Rewrites a shell line so that its slow commands use all CPUs, with the same bytes.
//!
//! Flow: line ─[`shell::places`](fullbore_shell::places)─▶ stages ─[`rewrite()`]─▶ line'. A stage that is a simple command
//! with a plain program word known to the table of rules gets `fullbore par --auto --` before it; that program decides
//! when it runs, on its real arguments, and otherwise becomes the command. Neighbours that are one question, such as
//! `sort | uniq -c`, become one stage ([`fusion`]). What is known to read little stays as it is. Everything else of the text stays as it is. Nothing is ever run here.

#![forbid(unsafe_code)]

mod deal;
mod fuse;
mod little;
mod redirection;
mod rewrite;
mod unsure;

pub use deal::{Plan, Why};
pub use fuse::{Few, Form, Fusion, Key, Question, fusion, fusion_of_line};
pub use little::{FileBytes, WORTH_DEALING, WORTH_FUSING};
pub use rewrite::{Change, Context, Rewritten, rewrite};
