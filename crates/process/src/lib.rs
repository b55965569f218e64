//! Everything process-wide: what the process inherited, who adopts its orphans, its limits, and handles to other
//! processes.
//!
//! Every function here changes or reads something that all code of the process shares, so linking this crate runs no
//! code; only calls do. A program that needs to know what it inherited also depends on `fullbore-before-main`, which
//! calls [`note_start`] before the language's runtime changes the answers.
//!
//! | question | answer |
//! |---|---|
//! | Which descriptors did this process inherit? | [`inherited_numbers`], [`inherited`], [`stdin_was_closed`], [`stdout_was_closed`] |
//! | Did it inherit an ignored SIGPIPE? | [`sigpipe_was_ignored`] |
//! | Which signals does what it starts ignore? | [`hand_on_ignored_signals`] |
//! | Which signals wait? | [`hold_signals`] |
//! | How does it end by a signal? | [`raise_unhandled`] |
//! | How does it start a program fast, which may end with it? | [`spawn()`] |
//! | How does it close them? | [`let_go_of_inherited`], [`hand_on_closed_descriptors`] |
//! | Who adopts its orphans? | [`adopt_orphans`] |
//! | How many files may it open? | [`raise_file_limit`] |
//! | How exactly does it wake, and how soon does it get a CPU then? | [`wake_on_time`], [`run_in_short_slices`] |
//! | How does a thread of it keep out of the way of everything else? | [`run_only_when_idle`] |
//! | How does it refer to another process, and send it a signal? | [`Pidfd`], [`send_signal`], [`send_signal_to_child`] |
//! | How much CPU time did its children use? | [`children_cpu_time`] |

mod pidfd;
mod settings;
mod signals;
mod slice;
mod spawn;
mod start;
mod usage;

pub use pidfd::Pidfd;
pub use settings::{adopt_orphans, raise_file_limit, wake_on_time};
pub use signals::{
    HeldSignals, hand_on_ignored_signals, hold_signals, raise_unhandled, send_signal,
    send_signal_to_child,
};
pub use slice::{run_in_short_slices, run_only_when_idle};
pub use spawn::spawn;
pub use start::{
    hand_on_closed_descriptors, inherited, inherited_numbers, let_go_of_inherited, note_start,
    sigpipe_was_ignored, stdin_was_closed, stdout_was_closed, was_ignored,
};
pub use usage::children_cpu_time;
