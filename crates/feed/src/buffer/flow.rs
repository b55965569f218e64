//! The way of the bytes, in the order in which it happens: what each of the two threads does.

use super::ends::Woken;
use super::error::Error;
use super::handoff::Room;
use super::queue::Job;
use super::reader::{Reader, Step};
use super::writer::Writer;

/// The reading thread: works until the input ends or fails, or the buffer stops.
pub(super) fn take_in(mut reader: Reader) {
    let result = loop {
        if reader.is_stopped() {
            break Ok(());
        }
        match take_in_some(&mut reader) {
            Ok(Step::More) => {}
            Ok(Step::End) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    reader.finish(result);
}

fn take_in_some(reader: &mut Reader) -> Result<Step, Error> {
    // While nothing waits: straight from pipe to pipe.
    if let Some(step) = reader.pass() {
        return Ok(step);
    }
    // Otherwise into a block, once there is room for it in memory or on disk.
    if reader.wait_for_room() == Room::Stopped || reader.wait_for_input() == Woken::Stop {
        return Ok(Step::More);
    }
    if reader.read()? == 0 {
        return Ok(Step::End);
    }
    // While nothing waits, the output takes what it can at once.
    reader.write_at_once()?;
    // The rest waits in the queue: in memory, or in the spill file.
    reader.store();
    Ok(Step::More)
}

/// The writing thread: works until the input has ended and everything is written, or the output fails.
pub(super) fn hand_on(mut writer: Writer) {
    let result = hand_on_all(&mut writer);
    writer.finish(result);
}

fn hand_on_all(writer: &mut Writer) -> Result<(), Error> {
    while let Some(job) = writer.wait_for_data() {
        match job {
            Job::Memory(block) => {
                writer.write_all(&block.bytes)?;
                writer.put_back(block);
            }
            Job::Spill { offset, bytes } => writer.write_spilled(offset, bytes)?,
        }
    }
    Ok(())
}
