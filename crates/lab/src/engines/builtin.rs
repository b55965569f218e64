//! An engine by name, and what engines have in common.

use super::spec::{Spec, complete};
use crate::{EngineError, Parameters, TrialResult};

/// An engine by name.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name in suite files.
    pub name: &'static str,
    /// One line on what it does.
    pub about: &'static str,
    /// What it may be told.
    pub parameters: &'static [Spec],
    /// Runs one trial; every parameter is there and within its range.
    pub(super) run: fn(&Parameters) -> Result<TrialResult, EngineError>,
}

impl Builtin {
    /// The same parameters with the defaults filled in.
    ///
    /// # Errors
    /// A name that no parameter of this engine has (the known ones are listed), or a value that it cannot have.
    pub fn complete(&self, given: &Parameters) -> Result<Parameters, EngineError> {
        complete(self.name, self.parameters, given)
    }

    /// Of the parameters of a point those that this engine knows, then its own, whether it knows them or not.
    #[must_use]
    pub fn told(&self, point: &Parameters, own: &Parameters) -> Parameters {
        let is_known = |name: &String| self.parameters.iter().any(|spec| spec.name == *name);
        let of_point = point.0.iter().filter(|(name, _)| is_known(name));
        let all = of_point.chain(&own.0).map(|(name, value)| (name.clone(), value.clone()));
        Parameters(all.collect())
    }
}

/// Parameter of every engine with two processes.
pub(super) const LIMIT: Spec =
    Spec::number("limit", "seconds", (1, 3600), 120, "a trial that takes longer is ended");
/// Parameter of every engine with two processes.
pub(super) const PIN: Spec = Spec::text(
    "pin",
    &["none", "same", "neighbours"],
    "where the processes run: where Linux likes, both on one CPU, on two neighbouring CPUs",
);

/// Parameter of the engines that can count.
pub(super) const COUNTERS: Spec = Spec::flag(
    "counters",
    "counters of the processor are read, too; they make every switch dearer",
);

/// A parameter or a combination that makes no sense.
pub(super) fn wrong(why: impl Into<String>) -> EngineError {
    EngineError::Failed(why.into())
}

/// A size of memory or of a count of loops on this machine.
pub(super) fn size(number: u64) -> Result<usize, EngineError> {
    usize::try_from(number).map_err(|_| wrong(format!("{number}: too large for this machine")))
}
