//! The view of a made-up pipeline whose stages print messages: `cargo run -p fullbore-dash --example demo -- [FRAMES [pinned]]`.

use std::io::{Write, stderr};
use std::thread::sleep;
use std::time::Duration;

use fullbore_dash::{Palette, Placement, TerminalSize, View, terminal_size};

#[path = "../tests/sample/mod.rs"]
mod sample;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let frames: usize = std::env::args().nth(1).map_or(Ok(60), |count| count.parse())?;
    let palette = Palette::suiting(
        std::env::var_os("TERM").as_deref(),
        std::env::var_os("NO_COLOR").as_deref(),
    )?;
    let size = || terminal_size(stderr()).unwrap_or(TerminalSize { columns: 80, rows: 24 });
    let placement = match std::env::args().nth(2).as_deref() {
        Some("pinned") => Placement::Pinned,
        _ => Placement::Floating,
    };
    let mut view = View::start(stderr(), size, palette)?.placed(placement);
    for frame in 1..=frames {
        let mut snapshot = sample::pipeline(frame);
        if frame > frames / 2 {
            sample::end(&mut snapshot, &[(0, 0)]);
        }
        if frame > frames * 3 / 4 {
            sample::end(&mut snapshot, &[(1, 5), (2, 141)]);
        }
        view.show(&snapshot);
        sleep(Duration::from_millis(125));
        if frame % 10 == 0 {
            writeln!(stderr(), "jq: error (at <stdin>:{frame}): Cannot index number with \"id\"")?;
        }
        sleep(Duration::from_millis(125));
    }
    view.clear();
    writeln!(stderr(), "fullbore: done")?;
    Ok(())
}
