//! Cuts blocks on a thread of its own, because reading the input may wait.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use rustix::event::{EventfdFlags, eventfd};

use super::cut::{Block, CutError, Cutter};
use super::store::Part;

/// Messages that wait to be taken, besides the one that is being made.
const AHEAD: usize = 1;

/// Small blocks come together, until they have so many bytes: each message wakes somebody.
const MESSAGE_BYTES: u64 = 1 << 20;

/// What the reading thread has to tell.
#[derive(Debug)]
pub(super) enum Cut {
    /// The first lines, which every copy gets; comes before all blocks.
    Header(Part),
    /// At least one block.
    Blocks(Vec<Block>),
    Failed(CutError),
}

/// The reading thread, as seen from outside.
#[derive(Debug)]
pub(super) struct Reader {
    cuts: Receiver<Cut>,
    /// Readable when there is something new.
    news: Arc<OwnedFd>,
    has_ended: bool,
}

impl Reader {
    /// Starts the thread.
    pub(super) fn start(mut cutter: Cutter, header_lines: u64) -> io::Result<Self> {
        let news = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (sender, cuts) = sync_channel(AHEAD);
        let bell = Arc::clone(&news);
        let work = move || {
            // The other side may have ended, and listens no more.
            let send = |cut| {
                let is_heard = sender.send(cut).is_ok();
                ring(&bell);
                is_heard
            };
            if header_lines > 0 {
                let first = cutter.header(header_lines).map_or_else(Cut::Failed, Cut::Header);
                let has_failed = matches!(first, Cut::Failed(_));
                if !send(first) || has_failed {
                    return;
                }
            }
            while let Some(next) = blocks(&mut cutter).transpose() {
                let next = next.map_or_else(Cut::Failed, Cut::Blocks);
                let has_failed = matches!(next, Cut::Failed(_));
                if !send(next) || has_failed {
                    break;
                }
            }
            drop(sender);
            ring(&bell);
        };
        thread::Builder::new().name("reading".to_owned()).spawn(work)?;
        Ok(Self { cuts, news, has_ended: false })
    }

    /// Whether everything was taken.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Readable when there may be something to take.
    pub(super) fn news(&self) -> BorrowedFd<'_> {
        self.news.as_fd()
    }

    /// What was cut next, without waiting.
    pub(super) fn take(&mut self) -> Option<Cut> {
        let mut count = [0; 8];
        // Empty when nothing was announced since.
        let _ = rustix::io::read(&self.news, &mut count);
        match self.cuts.try_recv() {
            Ok(cut) => Some(cut),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                self.has_ended = true;
                None
            }
        }
    }
}

/// Waits for the next block, and cuts what else is at hand.
fn blocks(cutter: &mut Cutter) -> Result<Option<Vec<Block>>, CutError> {
    let Some(first) = cutter.next()? else { return Ok(None) };
    let mut bytes = first.part.len();
    let mut blocks = vec![first];
    while bytes < MESSAGE_BYTES
        && let Some(next) = cutter.at_hand()?
    {
        bytes += next.part.len();
        blocks.push(next);
    }
    Ok(Some(blocks))
}

fn ring(bell: &OwnedFd) {
    // It rings already when Linux has no room for one more.
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}
