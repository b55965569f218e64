//! The job that a run belonged to, as far as environment variables tell.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Variables that are recorded. Only documented ones, and none that may hold a secret (`MAKEFLAGS` does).
///
/// Sources: GNU make manual, "Communicating Options to a Sub-make" and "Recursion"; sbatch(1) and srun(1), "OUTPUT
/// ENVIRONMENT VARIABLES"; Nextflow reference, "Environment variables"; Snakemake, "Profiles"; Spark, "Configuration";
/// parallel(1), "ENVIRONMENT VARIABLES"; Jenkins, "Using environment variables"; GitHub Actions, "Variables reference".
/// Nextflow, Snakemake and Spark document no variable of a single job, only settings that reach it.
const VARIABLES: [&str; 37] = [
    "MAKELEVEL",
    "MAKE_TERMOUT",
    "MAKE_TERMERR",
    "SLURM_CLUSTER_NAME",
    "SLURM_JOB_ID",
    "SLURM_JOB_NAME",
    "SLURM_ARRAY_JOB_ID",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_STEP_ID",
    "SLURM_PROCID",
    "SLURM_NODEID",
    "SLURM_RESTART_COUNT",
    "SNAKEMAKE_PROFILE",
    "NXF_HOME",
    "NXF_VER",
    "NXF_WORK",
    "SPARK_HOME",
    "SPARK_CONF_DIR",
    "SPARK_LOCAL_DIRS",
    "SPARK_USER",
    "PARALLEL_JOBSLOT",
    "PARALLEL_PID",
    "PARALLEL_SEQ",
    "BUILD_TAG",
    "BUILD_NUMBER",
    "EXECUTOR_NUMBER",
    "JOB_NAME",
    "NODE_NAME",
    "STAGE_NAME",
    "GITHUB_ACTION",
    "GITHUB_JOB",
    "GITHUB_REPOSITORY",
    "GITHUB_RUN_ATTEMPT",
    "GITHUB_RUN_ID",
    "GITHUB_SHA",
    "GITHUB_WORKFLOW",
    "RUNNER_NAME",
];

/// The job of a program that starts jobs: make, GNU parallel, Snakemake, Nextflow, Slurm, Spark, Jenkins, GitHub Actions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Job {
    /// The variables of these programs that were set, by name.
    pub variables: BTreeMap<String, String>,
}

impl Job {
    /// The job that these environment variables tell of; `None` when none of them is set by such a program.
    #[must_use]
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Option<Self> {
        let variables: BTreeMap<_, _> = variables
            .into_iter()
            .filter(|(name, value)| VARIABLES.contains(&name.as_str()) && !value.is_empty())
            .collect();
        (!variables.is_empty()).then_some(Self { variables })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(pairs: &[(&str, &str)]) -> Option<Job> {
        Job::of(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn the_variables_of_a_job_are_kept_and_no_others() {
        let found = job(&[
            ("PATH", "/bin"),
            ("SLURM_JOB_ID", "4711"),
            ("SLURM_ARRAY_TASK_ID", "3"),
            ("MAKEFLAGS", " -- TOKEN=secret"),
        ]);
        let found = found.unwrap();
        let names: Vec<_> =
            found.variables.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        assert_eq!(names, [("SLURM_ARRAY_TASK_ID", "3"), ("SLURM_JOB_ID", "4711")]);
    }

    #[test]
    fn an_environment_without_such_variables_is_no_job() {
        assert_eq!(job(&[("HOME", "/root"), ("MAKELEVEL", "")]), None);
    }
}
