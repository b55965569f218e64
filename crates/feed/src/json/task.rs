//! What a command does with records.

use fullbore_codec::json::query::Table;

/// What happens to the records of a stream, block by block. Several workers may do it at the same time, each with a state of its
/// own.
pub trait Task: Sync {
    /// What one worker keeps between blocks: what it counted, and memory to use again.
    type State: Send;

    /// Makes the state of a worker.
    fn state(&self) -> Self::State;

    /// Is called before the records of a block with the number of the block: what is in a block with a smaller number comes before
    /// it in the input.
    fn begin(&self, state: &mut Self::State, number: u64) {
        let _ = (state, number);
    }

    /// Takes the records of a block: `table` says where in `text` they and their members are. Appends to `output` what they
    /// become; the outputs of all blocks are written in the order of the input. A block that other workers have to repeat
    /// never comes here: each record comes exactly once.
    ///
    /// # Errors
    /// [`RecordError`] ends the run after the output for the records before it.
    fn block(
        &self,
        state: &mut Self::State,
        text: &[u8],
        table: &Table,
        output: &mut Vec<u8>,
    ) -> Result<(), RecordError>;

    /// Is called between two blocks, on any thread, when somebody asked for the answer so far
    /// ([`Control::ask`](super::Control::ask)): with the states of all workers that have begun.
    fn so_far(&self, states: &[&Self::State]) {
        let _ = states;
    }
}

/// A record that the task refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// Bytes of the text before the place that is wrong.
    pub at: usize,
    /// What is wrong, for the message.
    pub what: String,
}
