//! The view on a terminal: one write a frame, and nothing left behind.

use std::io::Write;
use std::panic;
use std::sync::{Arc, Mutex, PoisonError};

use fullbore_record::Snapshot;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use crate::terminal::{recovering_bytes, wiping_bytes};
use crate::{Event, InlineBackend, Palette, Placement, State, TerminalSize, Unsuitable, draw};

/// Smallest terminal on which the view starts; it survives becoming smaller later.
const SMALLEST: TerminalSize = TerminalSize { columns: 10, rows: 3 };

/// The live view of a pipeline, in place on a terminal that the pipeline uses too.
///
/// A failure to write ends the view, silently: the pipeline does not depend on being watched.
/// Dropping the view, or a panic anywhere in the program, wipes it.
pub struct View<W: Write + Send + 'static> {
    screen: Arc<Mutex<Screen<W>>>,
    size: Box<dyn Fn() -> TerminalSize + Send>,
    state: State,
    placement: Placement,
}

/// Where the view is written to, and whether it can be seen there.
struct Screen<W> {
    out: W,
    /// Where the last frame was put, while it can be seen.
    drawn: Option<Placement>,
    is_lost: bool,
}

impl<W: Write + Send + 'static> View<W> {
    /// Starts a view that writes each frame to `out` (a terminal: usually stderr, never stdout) in one piece and asks
    /// `size` before each for the size of that terminal. Nothing is drawn yet.
    ///
    /// Puts a hook before the panic hook of the program that wipes the view first.
    /// # Errors
    /// [`Unsuitable::TooSmall`] under 10 columns or 3 rows.
    pub fn start(
        out: W,
        size: impl Fn() -> TerminalSize + Send + 'static,
        palette: Palette,
    ) -> Result<Self, Unsuitable> {
        let now = size();
        if now.columns < SMALLEST.columns || now.rows < SMALLEST.rows {
            return Err(Unsuitable::TooSmall(now));
        }
        let screen = Arc::new(Mutex::new(Screen { out, drawn: None, is_lost: false }));
        wipe_on_panic(&screen);
        Ok(Self {
            screen,
            size: Box::new(size),
            state: State::new(now, palette),
            placement: Placement::default(),
        })
    }

    /// The view, placed as told.
    #[must_use]
    pub fn placed(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// Draws what is known now. While suspended, only remembers it.
    ///
    /// May block while the terminal is stopped (Ctrl-S): ask [`is_writable`](crate::is_writable) before, and
    /// [`is_foreground`](crate::is_foreground) and [`is_line_mode`](crate::is_line_mode).
    pub fn show(&mut self, snapshot: &Snapshot) {
        self.state.update(Event::Snapshot(snapshot));
        self.draw();
    }

    /// Wipes the view and draws nothing until [`resume`](Self::resume): before the program is stopped (SIGTSTP).
    pub fn suspend(&mut self) {
        self.state.update(Event::Suspend);
        self.clear();
    }

    /// Draws again, after [`suspend`](Self::suspend).
    pub fn resume(&mut self) {
        self.state.update(Event::Resume);
        self.draw();
    }

    /// Wipes the view; the cursor stays where the view began, so that what is printed next takes its place.
    pub fn clear(&mut self) {
        lock(&self.screen).wipe();
    }

    /// Whether writing failed; such a view draws no more.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        lock(&self.screen).is_lost
    }

    fn draw(&mut self) {
        let size = (self.size)();
        self.state.update(Event::Resize(size));
        let height = self.state.height();
        if height == 0 {
            self.clear();
            return;
        }
        // A scroll region has at least two lines.
        let placement = if size.rows < height + 2 { Placement::Floating } else { self.placement };
        let backend = match placement {
            Placement::Floating => InlineBackend::floating(self.state.width(), height),
            Placement::Pinned => InlineBackend::pinned(self.state.width(), height, size.rows),
        };
        // Drawn before the screen is locked: if this panicked, the hook could still wipe.
        let frame = frame_bytes(backend, &self.state);
        let mut screen = lock(&self.screen);
        if screen.drawn.is_some_and(|before| before != placement) {
            screen.wipe();
        }
        screen.drawn = Some(placement);
        screen.write(&frame);
    }
}

impl<W: Write + Send + 'static> Drop for View<W> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// One frame of `state` as bytes for the terminal.
fn frame_bytes(backend: InlineBackend, state: &State) -> Vec<u8> {
    let area = Rect::new(0, 0, state.width(), state.height());
    let Ok(mut terminal) =
        Terminal::with_options(backend, TerminalOptions { viewport: Viewport::Fixed(area) });
    let Ok(_) = terminal.draw(|frame| draw(frame, state));
    terminal.backend().clone().into_bytes()
}

/// The screen, also when a thread panicked while it held it: it has no state that could be half-changed.
fn lock<W>(screen: &Mutex<Screen<W>>) -> std::sync::MutexGuard<'_, Screen<W>> {
    screen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wipes the screen before the message of a panic is printed. Does nothing once the view is gone.
fn wipe_on_panic<W: Write + Send + 'static>(screen: &Arc<Mutex<Screen<W>>>) {
    let screen = Arc::downgrade(screen);
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if let Some(screen) = screen.upgrade()
            && let Ok(mut screen) = screen.try_lock()
        {
            screen.wipe();
        }
        previous(panic);
    }));
}

impl<W: Write> Screen<W> {
    fn write(&mut self, bytes: &[u8]) {
        if self.is_lost {
            return;
        }
        if self.out.write_all(bytes).and_then(|()| self.out.flush()).is_err() {
            self.is_lost = true;
            let placement = self.drawn.take().unwrap_or_default();
            // Whether this arrives matters to nobody but the terminal.
            let _ = self.out.write_all(&recovering_bytes(placement));
        }
    }

    fn wipe(&mut self) {
        if let Some(placement) = self.drawn.take() {
            self.write(&wiping_bytes(placement));
        }
    }
}
