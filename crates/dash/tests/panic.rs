//! The panic hook, alone in its process because it is the whole program's.

#![allow(clippy::unwrap_used, reason = "a test's terminal")]

mod sample;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use fullbore_dash::{Palette, TerminalSize, View};

#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_panic_wipes_the_view_before_its_message_and_asks_the_previous_hook() {
    let terminal = Bytes::default();
    let printed = terminal.clone();
    std::panic::set_hook(Box::new(move |_| printed.0.lock().unwrap().extend(b"panicked")));
    let size = || TerminalSize { columns: 80, rows: 24 };
    let mut view = View::start(terminal.clone(), size, Palette::Plain).unwrap();
    view.show(&sample::pipeline(60));
    std::thread::spawn(|| panic!("expected by this test")).join().unwrap_err();
    let _ = std::panic::take_hook();

    let mut parser = vt100::Parser::new(24.try_into().unwrap(), 80.try_into().unwrap(), 0);
    parser.process(&terminal.0.lock().unwrap());
    assert_eq!(parser.screen().contents().trim_end(), "panicked");
}
