//! The suite as it is written in suites/disk.toml, with one effort and one profile chosen.

use std::collections::BTreeMap;
use std::str::FromStr;

use fullbore_measure::Bytes;
use serde::Deserialize;

use super::Options;
use crate::record::Effort;

/// The text of the suite in the binary.
const TEXT: &str = include_str!("../../../../suites/disk.toml");

/// What `lab disk` measures.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskSuite {
    /// What it is about.
    pub about: String,
    /// How long, how often.
    pub timing: Timing,
    /// Name of the profile; empty for the suite's own parameters.
    pub profile: String,
    /// What must be known about the profile's numbers.
    pub warning: Option<String>,
    /// Whether sequential jobs each have a part of the file of their own.
    pub has_own_parts: bool,
    /// The workloads, in order.
    pub workloads: Vec<Workload>,
}

/// How much is measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Bytes that the jobs work on, as text; a percentage is fio's: of the file or device.
    pub size: String,
    /// What counts of each pass.
    pub runtime_s: u64,
    /// What comes before and does not count.
    pub ramp_s: u64,
    /// How often each workload runs.
    pub passes: u32,
    /// Width of a step of the logs.
    pub log_ms: u64,
    /// Options of the job that brings the device to a steady state; empty for none.
    #[serde(default)]
    pub steady: Options,
    /// Time after which no further pass begins.
    #[serde(default)]
    pub limit_s: Option<u64>,
    /// Most time for the steady state.
    #[serde(default)]
    pub steady_limit_s: u64,
}

/// One workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// The use it stands for.
    pub stands_for: String,
    /// All its options but those of place and time.
    pub options: Options,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    about: String,
    options: Options,
    effort: BTreeMap<String, Timing>,
    profile: BTreeMap<String, Profile>,
    workload: Vec<TextWorkload>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextWorkload {
    name: String,
    title: String,
    stands_for: String,
    options: Options,
}

#[derive(Deserialize)]
struct Profile {
    warning: String,
    #[serde(flatten)]
    timing: TimingOfProfile,
    drop: Vec<String>,
    #[serde(default)]
    workload: BTreeMap<String, Options>,
}

#[derive(Deserialize)]
struct TimingOfProfile {
    size: String,
    runtime_s: u64,
    ramp_s: u64,
    passes: u32,
    log_ms: u64,
}

/// The suite in the binary, with the parameters of a profile where one is named.
///
/// # Errors
/// One line that says what is wrong with the name.
pub fn suite(effort: Effort, profile: Option<&str>) -> Result<DiskSuite, String> {
    DiskSuite::read(TEXT, effort, profile)
}

impl DiskSuite {
    /// Reads the text of a suite.
    ///
    /// # Errors
    /// One line that says what is wrong with it.
    pub fn read(text: &str, effort: Effort, profile: Option<&str>) -> Result<Self, String> {
        let mut text: Text = toml::from_str(text).map_err(|error| error.to_string())?;
        let profile = profile.map(|name| named(&mut text.profile, name)).transpose()?;
        let workloads = text.workload.into_iter().map(|own| {
            let mut options = text.options.clone();
            options.set_all(&own.options);
            if let Some((_, profile)) = &profile {
                options.drop(&profile.drop);
                profile.workload.get(&own.name).into_iter().for_each(|more| options.set_all(more));
            }
            let TextWorkload { name, title, stands_for, .. } = own;
            Workload { name, title, stands_for, options }
        });
        let workloads: Vec<Workload> = workloads.collect();
        let name = if effort == Effort::Quick { "quick" } else { "usual" };
        let mut timing = text.effort.remove(name).ok_or(format!("no effort '{name}'"))?;
        if let Effort::Runs(passes) = effort {
            timing.passes = passes;
        }
        let drops = |option: &str| {
            profile.as_ref().is_some_and(|(_, profile)| profile.drop.iter().any(|d| d == option))
        };
        let has_own_parts = !drops("offset_increment");
        if let Some((_, profile)) = &profile {
            timing = timing_of(&profile.timing);
        }
        let (profile, warning) =
            profile.map_or((String::new(), None), |(name, profile)| (name, Some(profile.warning)));
        Ok(Self { about: text.about, timing, profile, warning, has_own_parts, workloads })
    }
}

fn named(all: &mut BTreeMap<String, Profile>, name: &str) -> Result<(String, Profile), String> {
    all.remove_entry(name).ok_or_else(|| {
        let known: Vec<_> = all.keys().map(String::as_str).collect();
        format!("no profile '{name}'; the profiles are {}", known.join(", "))
    })
}

fn timing_of(profile: &TimingOfProfile) -> Timing {
    Timing {
        size: profile.size.clone(),
        runtime_s: profile.runtime_s,
        ramp_s: profile.ramp_s,
        passes: profile.passes,
        log_ms: profile.log_ms,
        ..Timing::default()
    }
}

impl Timing {
    /// The size in bytes; `None` for a percentage.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        Bytes::from_str(&self.size).ok().map(|bytes| bytes.0)
    }

    /// Seconds of one pass of one workload.
    #[must_use]
    pub fn pass_s(&self) -> u64 {
        self.ramp_s + self.runtime_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_six_workloads_have_eight_jobs_of_depth_32_and_no_two_ask_the_same() {
        let suite = suite(Effort::Quick, None).unwrap();
        assert_eq!(suite.workloads.len(), 6);
        let mut questions: Vec<_> = suite
            .workloads
            .iter()
            .map(|workload| {
                let option = |name| workload.options.get(name).unwrap().to_owned();
                assert_eq!((option("numjobs"), option("iodepth")), ("8".into(), "32".into()));
                (option("rw"), option("bs"))
            })
            .collect();
        questions.sort();
        questions.dedup();
        assert_eq!(questions.len(), 6);
        assert!(suite.has_own_parts && suite.timing.passes % 2 == 1);
    }

    #[test]
    fn six_workloads_of_a_quick_run_take_less_than_three_minutes() {
        let suite = suite(Effort::Quick, None).unwrap();
        let each = suite.timing.pass_s() + 1; // fio starts and ends
        let whole = each * u64::from(suite.timing.passes) * suite.workloads.len() as u64;
        assert!(whole <= 170, "{whole} s");
    }

    #[test]
    fn the_profile_of_the_source_has_its_parameters_and_its_warning() {
        let first = suite(Effort::Usual, Some("seed")).unwrap();
        assert_eq!(
            (first.timing.runtime_s, first.timing.ramp_s, first.timing.passes),
            (3600, 420, 1)
        );
        assert!(!first.has_own_parts && first.warning.unwrap().contains("offset_increment"));
        let second = suite(Effort::Usual, Some("seed-second")).unwrap();
        let shape: Vec<_> = second
            .workloads
            .iter()
            .map(|w| (w.options.get("iodepth").unwrap(), w.options.get("numjobs").unwrap()))
            .collect();
        let expected =
            [("64", "2"), ("16", "2"), ("128", "16"), ("128", "16"), ("128", "16"), ("16", "2")];
        assert_eq!(shape, expected);
        assert_eq!((second.timing.runtime_s, second.timing.log_ms), (2400, 30_000));
    }

    #[test]
    fn an_unknown_profile_is_answered_with_the_known_ones() {
        let error = suite(Effort::Usual, Some("sead")).unwrap_err();
        assert_eq!(error, "no profile 'sead'; the profiles are seed, seed-second");
    }
}
