//! Writes as many zeros as the first argument says (`10G`; 1 GiB without one) to standard output: `zeros 10G | pv > /dev/null`.

use std::error::Error;
use std::process::ExitCode;

use fullbore_measure::Bytes;
use fullbore_pipe::{Options, OutputError, PipeWriter};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let wanted = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => Bytes(1 << 30),
    };
    match write_zeros(wanted.0) {
        // A reader that has enough is no failure; `cat` would die of SIGPIPE.
        Err(error) if error.is_broken_pipe() => Ok(ExitCode::SUCCESS),
        done => Ok(done.map(|()| ExitCode::SUCCESS)?),
    }
}

fn write_zeros(mut bytes_left: u64) -> Result<(), OutputError> {
    let mut writer = PipeWriter::new(std::io::stdout(), Options::default());
    while bytes_left > 0 {
        let most = writer.most_room();
        let room = writer.room(most)?;
        let filled = room.len().min(usize::try_from(bytes_left).unwrap_or(usize::MAX));
        room[..filled].fill(0);
        writer.commit(filled)?;
        bytes_left -= filled as u64;
    }
    writer.flush_all()
}
