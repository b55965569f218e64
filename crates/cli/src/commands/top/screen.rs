//! `fullbore top` on the whole screen: keys in, frames out.

use std::fs::File;
use std::io::{self, IsTerminal, Stdout, stdin, stdout};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use fullbore_dash::{Palette, Request, Signal, Top, draw_top};
use fullbore_pipeline::Survey;
use fullbore_process::send_signal;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use signal_hook::consts::signal::{SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGSTOP, SIGTERM};
use signal_hook::low_level::raise;

use super::which::narrowed;
use crate::args::top::TopOptions;
use crate::exit::Exit;

/// The first screen comes after this time, so that it has something to show.
const FIRST: Duration = Duration::from_millis(150);

/// Shows every pipeline until somebody quits.
pub(super) fn run(options: &TopOptions, palette: Palette) -> Result<Exit> {
    let is_told_to_end = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&is_told_to_end))?;
    }
    let mut survey = Survey::new(options.delay.min(Duration::from_millis(500)));
    let mut top = Top::new(palette).with(&options.which.filter, options.which.idle);
    let mut screen = Screen::enter()?;
    let mut next_show = Instant::now() + FIRST;
    while !is_told_to_end.load(Ordering::Relaxed) {
        let due = survey.step();
        if Instant::now() >= next_show {
            survey.take_stock();
            top.update(narrowed(survey.overview(), options));
            screen.draw(&mut top)?;
            // Where there are thousands of processes, the first screens lack some.
            let pause = if survey.is_complete() { options.delay } else { options.delay.min(FIRST) };
            next_show = Instant::now() + pause;
        }
        let wait = due.min(next_show).saturating_duration_since(Instant::now());
        match screen.listen(wait)? {
            Heard::Nothing => continue,
            Heard::Event => {}
            Heard::HungUp => break,
        }
        let request = match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => top.key(key),
            _ => None,
        };
        match request {
            Some(Request::Quit) => break,
            Some(Request::Suspend) => screen.suspend()?,
            Some(request) => fulfil(request, &mut survey, &mut top),
            None => {}
        }
        screen.draw(&mut top)?;
    }
    Ok(Exit::Done)
}

/// Does what a key asked for.
fn fulfil(request: Request, survey: &mut Survey, top: &mut Top) {
    match request {
        Request::BeginAnew => {
            survey.begin_anew();
            top.say("everything counts from now on");
        }
        Request::Widen { pid, pipe, to } => match survey.adjust(pid, pipe, to) {
            Ok(done) => top.say(format!(
                "pipe {pipe} holds {} now, {} before; undo: fullbore tune {pid} {pipe}={}K",
                done.to,
                done.from,
                done.from.0 >> 10,
            )),
            Err(error) => top.say(error.to_string()),
        },
        Request::Send { pids, signal } => {
            let sent = pids.iter().map(|pid| send(*pid, signal, survey));
            let failed: Vec<String> = sent.filter_map(Result::err).collect();
            top.say(match failed.first() {
                None => format!("sent {} to {} processes", signal.name(), pids.len()),
                Some(why) => why.clone(),
            });
        }
        Request::Quit | Request::Suspend => {}
    }
}

/// Sends a signal to a process, unless another one has its number by now.
fn send(pid: i32, signal: Signal, survey: &Survey) -> Result<(), String> {
    let gone = || format!("process {pid} has ended");
    let number = Pid::from_raw(pid).ok_or_else(gone)?;
    let process = pidfd_open(number, PidfdFlags::empty()).map_err(|_| gone())?;
    // Asked after the process is held: if it is the same now, the signal goes to it.
    if !survey.is_same(pid) {
        return Err(gone());
    }
    let number = match signal {
        Signal::Terminate => SIGTERM,
        Signal::Interrupt => SIGINT,
        Signal::Kill => SIGKILL,
        Signal::Stop => SIGSTOP,
        Signal::Continue => SIGCONT,
        Signal::HangUp => SIGHUP,
        _ => return Err("this signal cannot be sent".to_owned()),
    };
    let sent = send_signal(std::os::fd::AsFd::as_fd(&process), number);
    sent.map_err(|error| format!("process {pid}: {}", crate::messages::plain(&error)))
}

/// The terminal while it shows nothing but this; what it showed before comes back in the end, also after a panic.
struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// Where keys come from.
    keys: File,
}

/// What came from the keyboard.
enum Heard {
    Nothing,
    Event,
    /// The terminal is gone.
    HungUp,
}

impl Screen {
    fn enter() -> io::Result<Self> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            before(panic);
        }));
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen)?;
        // As crossterm does it.
        let keys = match stdin().is_terminal() {
            true => File::from(stdin().as_fd().try_clone_to_owned()?),
            false => File::open("/dev/tty")?,
        };
        Ok(Self { terminal: Terminal::new(CrosstermBackend::new(stdout()))?, keys })
    }

    /// Waits for a key, a new size or a signal. crossterm would read from a terminal that is gone for ever.
    fn listen(&self, wait: Duration) -> io::Result<Heard> {
        let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
        let mut fds = [PollFd::new(&self.keys, PollFlags::IN)];
        match poll(&mut fds, Some(&wait)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) {
            return Ok(Heard::HungUp);
        }
        Ok(if event::poll(Duration::ZERO)? { Heard::Event } else { Heard::Nothing })
    }

    fn draw(&mut self, top: &mut Top) -> io::Result<()> {
        self.terminal.draw(|frame| draw_top(frame, top)).map(|_| ())
    }

    /// Stops the program, as Ctrl-Z does elsewhere.
    fn suspend(&mut self) -> io::Result<()> {
        leave();
        raise(SIGSTOP)?;
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen)?;
        self.terminal.clear()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// Gives the terminal back. If it is gone, nobody needs it.
fn leave() {
    let _ = execute!(stdout(), LeaveAlternateScreen, ratatui::crossterm::cursor::Show);
    let _ = disable_raw_mode();
}
