//! What the lines of the list are, and by what they are sorted.

/// A line of the list on which the cursor can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A pipeline, by its process.
    Pipeline(i32),
    /// A stage of it, by its number.
    Stage(i32, u32),
}

impl Line {
    pub(super) fn pid(self) -> i32 {
        match self {
            Self::Pipeline(pid) | Self::Stage(pid, _) => pid,
        }
    }
}

/// By what the pipelines are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SortBy {
    /// The one that uses most CPU time first.
    #[default]
    Cpu,
    /// The one that moves most bytes first.
    Rate,
    /// The oldest first.
    Age,
    /// The one that ends next first.
    Left,
    /// By unit, terminal and session.
    Place,
}

impl SortBy {
    const ALL: [Self; 5] = [Self::Cpu, Self::Rate, Self::Age, Self::Left, Self::Place];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Rate => "rate",
            Self::Age => "age",
            Self::Left => "time left",
            Self::Place => "unit",
        }
    }

    /// The next one, or the one before.
    pub(super) fn turned(self, by: isize) -> Self {
        let place = Self::ALL.iter().position(|one| *one == self).unwrap_or(0);
        let turned = place.cast_signed() + by;
        Self::ALL[turned.rem_euclid(Self::ALL.len().cast_signed()).cast_unsigned()]
    }
}
