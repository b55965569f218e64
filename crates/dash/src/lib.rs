//! The live view of a running pipeline, drawn in place on the terminal that the pipeline itself uses.
//!
//! Flow: [`Snapshot`](fullbore_record::Snapshot) → [`Event`] → [`State`] (pure) → [`draw()`] → [`InlineBackend`] → bytes → [`View`].
//! It never reads from the terminal, never changes its mode and never asks it where the cursor is; it measures nothing.
//! What a stage prints meanwhile stays readable above the view, and a failure to show never fails the pipeline.
//!
//! ```
//! use fullbore_dash::{Palette, TerminalSize, View};
//! let size = || TerminalSize { columns: 80, rows: 24 };
//! let mut view = View::start(Vec::new(), size, Palette::Plain)?;
//! view.show(&fullbore_record::Snapshot::default());
//! view.clear();
//! # Ok::<(), fullbore_dash::Unsuitable>(())
//! ```
#![forbid(unsafe_code)]

mod draw;
mod error;
mod event;
mod layout;
mod palette;
mod recent;
mod shown;
mod state;
mod terminal;
mod text;
mod top;
mod view;
mod widgets;

pub use draw::draw;
pub use error::Unsuitable;
pub use event::Event;
pub use palette::Palette;
pub use state::State;
pub use terminal::{
    InlineBackend, Placement, TerminalSize, is_foreground, is_line_mode, is_writable, shows_keys,
    terminal_size,
};
pub use top::{Key, Request, Signal, Top, draw_top};
pub use view::View;
