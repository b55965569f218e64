//! A workload and where and how long it runs → the job file that fio gets, to the last option.

use super::{DiskSuite, Options, Workload};

/// What fio works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ground {
    /// File or device.
    pub filename: String,
    /// Bytes of it that the jobs work on; `None` where a profile gives a percentage.
    pub size_bytes: Option<u64>,
    /// Whether direct I/O is possible there.
    pub is_direct: bool,
}

/// One job of fio: a section of a job file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Name of the section: that of the workload.
    pub name: String,
    /// Heading of the workload.
    pub title: String,
    /// What the workload stands for.
    pub stands_for: String,
    /// Everything, place and time included.
    pub options: Options,
}

/// Base name of the logs of a pass, in the folder where fio runs.
pub const LOGS: &str = "log";

/// The smallest part of a file that a sequential job gets: the largest block of the suite.
const GRAIN: u64 = 1 << 20;

/// The jobs of a suite on some ground.
#[must_use]
pub fn jobs(suite: &DiskSuite, ground: &Ground) -> Vec<Job> {
    suite.workloads.iter().map(|workload| job(suite, workload, ground)).collect()
}

fn job(suite: &DiskSuite, workload: &Workload, ground: &Ground) -> Job {
    let mut options = workload.options.clone();
    let timing = &suite.timing;
    if !ground.is_direct {
        options.set("direct", "0");
        options.set("invalidate", "1");
    }
    options.set("filename", &escaped(&ground.filename));
    let size = ground.size_bytes.map_or(timing.size.clone(), |bytes| bytes.to_string());
    options.set("size", &size);
    if let Some(bytes) =
        ground.size_bytes.filter(|_| suite.has_own_parts && is_sequential(&options))
    {
        let jobs =
            options.get("numjobs").and_then(|jobs| jobs.parse().ok()).unwrap_or(1_u64).max(1);
        let part = (bytes / jobs / GRAIN * GRAIN).max(GRAIN);
        options.set("size", &part.to_string());
        options.set("offset_increment", &part.to_string());
    }
    options.set("runtime", &timing.runtime_s.to_string());
    if timing.ramp_s > 0 {
        options.set("ramp_time", &timing.ramp_s.to_string());
    }
    for log in ["write_bw_log", "write_iops_log", "write_lat_log"] {
        options.set(log, LOGS);
    }
    options.set("log_avg_msec", &timing.log_ms.to_string());
    options.set("per_job_logs", "0");
    Job {
        name: workload.name.clone(),
        title: workload.title.clone(),
        stands_for: workload.stands_for.clone(),
        options,
    }
}

/// The job that writes at random until the rate no longer changes; `None` when the suite wants none.
#[must_use]
pub fn steady(suite: &DiskSuite, jobs: &[Job]) -> Option<Job> {
    let writing = jobs.iter().find(|job| job.options.get("rw") == Some("randwrite"))?;
    if suite.timing.steady.0.is_empty() {
        return None;
    }
    let mut job = Job { name: "steady-state".to_owned(), ..writing.clone() };
    job.options.drop(&["ramp_time".to_owned()]);
    job.options.set("runtime", &suite.timing.steady_limit_s.to_string());
    job.options.set_all(&suite.timing.steady);
    Some(job)
}

/// The job that removes the file on other hosts.
#[must_use]
pub fn removal(ground: &Ground) -> Job {
    let filename = escaped(&ground.filename);
    let lines = ["rw=read", "bs=4k", "size=4k", "ioengine=psync", "unlink=1"];
    let mut options = Options(lines.map(str::to_owned).to_vec());
    options.set("filename", &filename);
    Job {
        name: "remove".to_owned(),
        title: "Remove the file".to_owned(),
        stands_for: String::new(),
        options,
    }
}

/// Whether a job goes through its blocks in order.
#[must_use]
pub fn is_sequential(options: &Options) -> bool {
    matches!(options.get("rw"), Some("read" | "write" | "rw" | "readwrite" | "trim"))
}

impl Job {
    /// The text of the job file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("; {}: {}\n[{}]\n", self.title, self.stands_for, self.name);
        for line in &self.options.0 {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    /// A section for a job file with all workloads: one after the other, each with logs of its own.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut job = self.clone();
        let logs =
            job.options.iter().filter(|(_, value)| *value == LOGS).map(|(name, _)| name.to_owned());
        for log in logs.collect::<Vec<_>>() {
            job.options.set(&log, &self.name);
        }
        job.options.set("stonewall", "");
        job.text()
    }

    /// The command that does the same without a job file, to paste.
    #[must_use]
    pub fn command(&self) -> String {
        let mut words =
            vec!["fio --output-format=json+".to_owned(), format!("--name={}", self.name)];
        words.extend(self.options.0.iter().map(|line| quoted(&format!("--{line}"))));
        words.join(" ")
    }
}

/// A file name as fio wants it: `:` parts names, unless there is a backslash before it.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace(':', "\\:")
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=,:%+@".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::suite;
    use crate::record::Effort;

    fn ground(bytes: Option<u64>) -> Ground {
        Ground { filename: "/mnt/a b:c/data".to_owned(), size_bytes: bytes, is_direct: true }
    }

    #[test]
    fn sequential_jobs_share_no_block_and_fill_the_file() {
        let suite = suite(Effort::Quick, None).unwrap();
        for job in jobs(&suite, &ground(Some(1 << 30))) {
            let number = |name| job.options.get(name).map(|text| text.parse::<u64>().unwrap());
            if is_sequential(&job.options) {
                let (size, step) = (number("size").unwrap(), number("offset_increment").unwrap());
                assert_eq!((size, step * 8), (step, 1 << 30), "{}", job.name);
            } else {
                assert_eq!((number("size"), number("offset_increment")), (Some(1 << 30), None));
            }
        }
    }

    #[test]
    fn the_profile_of_the_source_gets_nothing_that_it_does_not_have() {
        let suite = suite(Effort::Usual, Some("seed")).unwrap();
        for job in jobs(&suite, &ground(None)) {
            assert_eq!(job.options.get("size"), Some("80%"));
            for absent in ["offset_increment", "refill_buffers", "norandommap"] {
                assert_eq!(job.options.get(absent), None, "{}", job.name);
            }
        }
    }

    #[test]
    fn the_job_file_is_what_it_was() {
        let suite = suite(Effort::Quick, None).unwrap();
        let job = &jobs(&suite, &ground(Some(1 << 30)))[2];
        assert_eq!(
            job.text(),
            "; Sequential read, 4 KiB: analytics: a scan of a table in the pages of a database\n\
             [sequential-read]\nioengine=libaio\ndirect=1\nnumjobs=8\niodepth=32\ntime_based=1\ngroup_reporting=1\n\
             refill_buffers=1\nrandrepeat=0\nnorandommap=1\nrw=read\nbs=4k\nfilename=/mnt/a b\\:c/data\nsize=134217728\n\
             offset_increment=134217728\nruntime=3\nramp_time=1\nwrite_bw_log=log\nwrite_iops_log=log\nwrite_lat_log=log\n\
             log_avg_msec=250\nper_job_logs=0\n"
        );
        assert!(job.command().contains("'--filename=/mnt/a b\\:c/data'"), "{}", job.command());
    }

    #[test]
    fn a_steady_state_is_reached_by_writing_at_random() {
        let usual = suite(Effort::Usual, None).unwrap();
        let job = steady(&usual, &jobs(&usual, &ground(Some(1 << 30)))).unwrap();
        assert_eq!(job.options.get("rw"), Some("randwrite"));
        assert_eq!(job.options.get("steadystate"), Some("iops_slope:2%"));
        assert_eq!(job.options.get("ramp_time"), None);
        let quick = suite(Effort::Quick, None).unwrap();
        assert_eq!(steady(&quick, &jobs(&quick, &ground(Some(1 << 30)))), None);
    }
}
