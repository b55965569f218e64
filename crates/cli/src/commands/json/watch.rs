//! Progress on a terminal, and signals, for commands that have an answer only at the end.

use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fullbore_codec::json::query::Table;
use fullbore_dash::{is_foreground, terminal_size};
use fullbore_feed::json::{Control, RecordError, Task};
use fullbore_measure::{Bytes, BytesPerSecond, seconds};
use fullbore_pipeline::die_of;
use fullbore_process::was_ignored;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::signal::{SIGINT, SIGUSR1};
use signal_hook::iterator::Signals;

/// How often the line on the terminal changes.
const INTERVAL: Duration = Duration::from_millis(250);

/// Shows progress and takes signals while records are read: SIGUSR1 asks for the answer so far, Ctrl-C ends the run, and a
/// second Ctrl-C the process.
pub(crate) struct Watch {
    bar: Option<ProgressBar>,
    /// Ends the thread that draws.
    over: Option<Sender<()>>,
    drawing: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins.
    ///
    /// # Errors
    /// If Linux refuses to tell of signals.
    pub(crate) fn start(name: &str, control: &Arc<Control>, files: &[PathBuf]) -> Result<Self> {
        listen(control).with_context(|| format!("{name}: listening for signals"))?;
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if is_dumb || !stderr().is_terminal() {
            return Ok(Self { bar: None, over: None, drawing: None });
        }
        let size = size(files);
        let bar = bar(size);
        let (over, is_over) = channel();
        let progress = Progress { control: Arc::clone(control), size, begun: Instant::now() };
        let shown = bar.clone();
        let draw = move || progress.draw(&shown, &is_over);
        // Without the thread nothing is drawn.
        let drawing = thread::Builder::new().name("progress".to_owned()).spawn(draw).ok();
        Ok(Self { bar: Some(bar), over: Some(over), drawing })
    }

    /// Erases the line, so that an answer can follow.
    pub(crate) fn finish(&mut self) {
        self.over = None;
        if let Some(drawing) = self.drawing.take() {
            // It draws at most one more time.
            let _ = drawing.join();
        }
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// A task whose answer so far leaves the line on the terminal whole.
pub(crate) struct Watched<'a, T> {
    pub(crate) task: &'a T,
    pub(crate) watch: &'a Watch,
}

impl<T: Task> Task for Watched<'_, T> {
    type State = T::State;

    fn state(&self) -> T::State {
        self.task.state()
    }

    fn begin(&self, state: &mut T::State, number: u64) {
        self.task.begin(state, number);
    }

    fn block(
        &self,
        state: &mut T::State,
        text: &[u8],
        table: &Table,
        output: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        self.task.block(state, text, table, output)
    }

    fn so_far(&self, states: &[&T::State]) {
        match &self.watch.bar {
            Some(bar) => bar.suspend(|| self.task.so_far(states)),
            None => self.task.so_far(states),
        }
    }
}

/// Takes signals until the process ends.
fn listen(control: &Arc<Control>) -> std::io::Result<()> {
    let mut wanted = vec![SIGUSR1];
    // If it is ignored (nohup, &), it stays ignored.
    if !was_ignored(SIGINT) {
        wanted.push(SIGINT);
    }
    let mut signals = Signals::new(wanted)?;
    let control = Arc::clone(control);
    let listen = move || {
        let mut interrupts = 0;
        for signal in signals.forever() {
            if signal == SIGUSR1 {
                control.ask();
                continue;
            }
            interrupts += 1;
            control.stop();
            if interrupts > 1 {
                die_of(signal);
            }
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(listen).map(drop)
}

/// What is shown.
struct Progress {
    control: Arc<Control>,
    size: Option<u64>,
    begun: Instant,
}

impl Progress {
    fn draw(&self, bar: &ProgressBar, is_over: &Receiver<()>) {
        while is_over.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            if is_foreground(stderr()) {
                let columns = terminal_size(stderr()).map_or(80, |size| usize::from(size.columns));
                bar.set_position(self.control.read_bytes());
                bar.set_message(self.text(columns.saturating_sub(BAR_COLUMNS)));
                bar.tick();
            }
        }
    }

    /// Bytes, rate, records, and time left, as far as they fit.
    fn text(&self, columns: usize) -> String {
        let read = self.control.read_bytes();
        let time = self.begun.elapsed();
        let rate = BytesPerSecond::over(Bytes(read), time);
        let left = self.size.filter(|_| rate.0 > 0.0).map(|size| {
            let left = Duration::from_secs_f64(size.saturating_sub(read) as f64 / rate.0);
            seconds(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX))
        });
        let left = left.map_or(String::new(), |left| format!("  {left} left"));
        let records = self.control.records();
        let read = Bytes(read);
        let long = format!("{read}  {rate}  {records} records{left}");
        if long.chars().count() <= columns { long } else { format!("{read}  {rate}") }
    }
}

/// Columns that the bar takes besides the text.
const BAR_COLUMNS: usize = 26;

fn bar(size: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(size, ProgressDrawTarget::stderr());
    let template =
        if size.is_some() { "[{bar:15}] {percent:>3} %  {wide_msg}" } else { "{wide_msg}" };
    // The templates are constants and valid; the default would do, too.
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    bar.with_style(style)
}

/// How many bytes all files have together, if all are regular files.
fn size(files: &[PathBuf]) -> Option<u64> {
    let of = |path: &Path| {
        let is_standard = path == Path::new("-");
        let path = if is_standard { Path::new("/proc/self/fd/0") } else { path };
        let file = std::fs::metadata(path).ok()?;
        file.is_file().then_some(file.len())
    };
    match files {
        [] => of(Path::new("-")),
        files => files.iter().map(|file| of(file)).sum(),
    }
}
