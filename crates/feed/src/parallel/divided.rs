//! Splits input into pieces at boundaries where a codec's state resets.

use std::os::fd::AsFd;

use fullbore_codec::{Divisible, Fault};
use fullbore_pipe::PipeWriter;

use super::Parallel;
use super::line::Line;
use crate::{FeedError, Input, InputError, Moved};

/// Size of a piece, which fits in the L2 cache together with its output.
const PIECE_BYTES: usize = 128 << 10;

/// Sends the rest of an input through `codec`, which may be in the middle of it, on this many `workers`.
///
/// A piece ends where the codec can be split, or where no more input is waiting; in that case the next piece waits for
/// this one. So the stage writes everything it has before it waits for more.
pub(crate) fn in_pieces<C: Divisible, F: AsFd + Send + 'static>(
    input: Input,
    codec: C,
    writer: PipeWriter<F>,
    workers: usize,
) -> Result<Moved, FeedError<C::Error>> {
    let stage = Divided { fresh: codec.fresh() };
    let source = Source { input, beyond: Vec::new(), begins_fresh: false, is_over: false };
    Line::new(stage, source, codec, writer).run_on_threads(workers)
}

struct Divided<C> {
    fresh: C,
}

struct Source {
    input: Input,
    /// Bytes of the next piece that were already read.
    beyond: Vec<u8>,
    /// Whether the codec's state is reset before the next piece.
    begins_fresh: bool,
    is_over: bool,
}

struct Piece {
    bytes: usize,
    begins_fresh: bool,
    is_last: bool,
}

impl<C: Divisible + Sync + 'static> Parallel for Divided<C> {
    type Source = Source;
    type Piece = Piece;
    type Worker = ();
    /// Output of a piece, or `None` for a piece that needs the codec's state from the one before.
    type Made = Option<(Result<usize, Fault<C::Error>>, C)>;
    type State = C;
    type Error = C::Error;

    fn input_bytes(&self) -> usize {
        PIECE_BYTES
    }

    fn output_bytes(&self) -> usize {
        self.fresh.output_bound(PIECE_BYTES) + self.fresh.output_bound(0)
    }

    fn worker(&self) {}

    fn take(&self, source: &mut Source, block: &mut [u8]) -> Result<Option<Piece>, InputError> {
        if source.is_over {
            return Ok(None);
        }
        let mut len = source.beyond.len();
        block[..len].copy_from_slice(&source.beyond);
        source.beyond.clear();
        let mut is_dry = false;
        while len < block.len() && !source.is_over && !is_dry {
            let count = source.input.read(&mut block[len..])?;
            len += count;
            source.is_over = count == 0;
            is_dry = len < block.len() && source.input.is_dry();
        }
        let divides = C::divide(&block[..len]);
        // When the input is dry, send what is there.
        let bytes = if source.is_over || is_dry || divides == 0 { len } else { divides };
        source.beyond.extend_from_slice(&block[bytes..len]);
        let piece = Piece { bytes, begins_fresh: source.begins_fresh, is_last: source.is_over };
        source.begins_fresh = divides == bytes;
        Ok(Some(piece))
    }

    fn is_last(piece: &Piece) -> bool {
        piece.is_last
    }

    fn make(&self, (): &mut (), piece: &Piece, input: &[u8], output: &mut [u8]) -> Self::Made {
        piece.begins_fresh.then(|| {
            let mut codec = self.fresh.fresh();
            (codec.push(&input[..piece.bytes], output), codec)
        })
    }

    fn needs_the_one_before(made: &Self::Made) -> bool {
        made.is_none()
    }

    fn settle(
        &self,
        codec: &mut C,
        piece: &mut Piece,
        made: Self::Made,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, Fault<C::Error>> {
        let written = match made {
            None => codec.push(&input[..piece.bytes], output)?,
            Some((Ok(written), later)) => {
                codec.append(later);
                written
            }
            Some((Err(fault), _)) => {
                return Err(Fault { error: codec.after_this(fault.error), ..fault });
            }
        };
        if !piece.is_last {
            return Ok(written);
        }
        match codec.finish(&mut output[written..]) {
            Ok(more) => Ok(written + more),
            Err(fault) => Err(Fault { written: written + fault.written, ..fault }),
        }
    }

    fn bytes_read(source: &Source) -> u64 {
        source.input.bytes_read()
    }
}
