//! `fullbore gost`.

mod bare;
mod keygen;
mod keys;
mod mac;
mod memory;
mod sealed;
mod secrecy;

use anyhow::Result;
use fullbore_codec::gost::modes::Direction;

use crate::args::gost::GostTask;
use crate::exit::Exit;

/// Runs the command, after it has made sure that no core dump contains secrets.
pub(crate) fn run(task: &GostTask) -> Result<Exit> {
    secrecy::keep_out_of_core_dumps()?;
    match task {
        GostTask::Keygen(options) => keygen::run(options),
        GostTask::Seal(options) => sealed::seal(options),
        GostTask::Open(options) => sealed::open(options),
        GostTask::Encrypt(options) => bare::run(options, Direction::Encrypt),
        GostTask::Decrypt(options) => bare::run(options, Direction::Decrypt),
        GostTask::Mac(options) => mac::run(options),
    }
}
