//! The suites that come with the program.

/// Name and text of every suite in the binary, in the order they are listed.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("memory", include_str!("../../../../suites/memory.toml")),
    ("pipe", include_str!("../../../../suites/pipe.toml")),
    ("transports", include_str!("../../../../suites/transports.toml")),
    ("overlap", include_str!("../../../../suites/overlap.toml")),
    ("tracers", include_str!("../../../../suites/tracers.toml")),
    ("stages", include_str!("../../../../suites/stages.toml")),
];

/// The text of a suite in the binary.
#[must_use]
pub fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
