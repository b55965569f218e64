//! The name of the rule that a job belongs to, where variables of its environment tell it.

use std::collections::BTreeMap;

/// Variables that name what is repeated, the best one first: Slurm (sbatch(1)), the stage of Jenkins, the job of GitHub Actions.
const NAMES: [&str; 4] = ["SLURM_JOB_NAME", "STAGE_NAME", "GITHUB_JOB", "JOB_NAME"];

/// Names that schedulers give to jobs without one.
const TELL_NOTHING: [&str; 8] =
    ["bash", "batch", "interactive", "job", "sbatch", "sh", "wrap", "zsh"];

/// The name; `None` when no variable tells it.
pub(crate) fn name(variables: &BTreeMap<String, String>) -> Option<String> {
    NAMES.iter().find_map(|variable| cleaned(variables.get(*variable)?))
}

/// The name without what differs between jobs of one rule: Nextflow calls jobs `nf-ALIGN_(sample7)`.
fn cleaned(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix("nf-").unwrap_or(text);
    let text = text.split_once('(').map_or(text, |(name, _)| name);
    let name = text.trim_end_matches(|c: char| c.is_ascii_digit() || "-_.:# []".contains(c));
    let is_random = text.len() >= 16 && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    (!name.is_empty() && !is_random && !TELL_NOTHING.contains(&name)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &str) -> Option<String> {
        name(&BTreeMap::from([("SLURM_JOB_NAME".to_owned(), value.to_owned())]))
    }

    #[test]
    fn the_name_of_a_job_is_that_of_its_rule() {
        for (value, wanted) in [
            ("align", Some("align")),
            ("align_17", Some("align")),
            ("nf-NFCORE_ALIGN_(sample7)", Some("NFCORE_ALIGN")),
            ("wrap", None),
            ("3f2b8c1e-9d4a-4c1b-8a77-0123456789ab", None),
            ("17", None),
            ("", None),
        ] {
            assert_eq!(of(value).as_deref(), wanted, "{value}");
        }
        assert_eq!(name(&BTreeMap::new()), None);
    }
}
