//! What is watched, and how it ends: starting it, hearing of its end, passing signals on.

mod end;
mod events;
mod passing;
mod spawn;

pub(crate) use end::as_shell_reports;
pub use end::die_of;
pub(crate) use events::{Event, Events, Sender, collect_ended};
pub(crate) use passing::Doubt;
pub use spawn::Exact;
pub(crate) use spawn::{Started, start};
