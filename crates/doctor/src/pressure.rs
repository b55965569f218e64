//! How long tasks waited lately, and what the host took.

use fullbore_proc::CpuTimes;

use crate::{Finding, Level, Places};

/// Shares of the last minute, in percent, from which on a pipeline is noticeably slower: so much longer at least does a task
/// take that is affected all the time.
const CPU_PERCENT: f64 = 25.0;
const MEMORY_PERCENT: f64 = 5.0;
const DISK_PERCENT: f64 = 20.0;
/// Time taken by the host since the machine started, in percent of all time.
const STOLEN_PERCENT: f64 = 5.0;

/// Shows who uses the CPUs now: the second screen of top, because the first one counts since each program began, as ps does.
const BUSIEST: &str = "top -b -d 1 -n 2 | awk '/^top/ {n++} n == 2' | head -16";

/// How long tasks waited lately, in percent of the last minute; `None` where Linux does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pressure {
    /// Some task waited for a CPU.
    pub cpu_percent: Option<f64>,
    /// Some task waited for memory.
    pub memory_percent: Option<f64>,
    /// All tasks that had something to do waited for a disk.
    pub disk_percent: Option<f64>,
    /// Since the machine started: its CPUs had work, and its host ran something else.
    pub stolen_percent: Option<f64>,
}

impl Pressure {
    pub(crate) fn read(from: &mut Places) -> Self {
        let times = from.proc("stat");
        let times = times.and_then(|text| from.understood("/proc/stat", CpuTimes::parse(&text)));
        Self {
            cpu_percent: last_minute(from, "cpu", "some"),
            memory_percent: last_minute(from, "memory", "some"),
            disk_percent: last_minute(from, "io", "full"),
            stolen_percent: times.and_then(|times| times.stolen_percent_since(CpuTimes::default())),
        }
    }

    pub(crate) fn examine(&self, findings: &mut Vec<Finding>) {
        let percent = |share: Option<f64>, least: f64| share.filter(|share| *share >= least);
        let mut add = |name, what: String, so: &str, command: &str| {
            findings.push(Finding::new(name, Level::Costs, what).so(so).command(command));
        };
        if let Some(share) = percent(self.cpu_percent, CPU_PERCENT) {
            let what = format!("programs waited for a CPU in {share:.0} % of the last minute");
            let so =
                "A pipeline shares the CPUs with them, and its times vary. These use most now:";
            add("cpu_pressure", what, so, BUSIEST);
        }
        if let Some(share) = percent(self.memory_percent, MEMORY_PERCENT) {
            let what = format!("programs waited for memory in {share:.0} % of the last minute");
            let so = "Linux takes memory back while they wait. These use most:";
            add("memory_pressure", what, so, "ps -eo rss,pid,args --sort=-rss | head -6");
        }
        if let Some(share) = percent(self.disk_percent, DISK_PERCENT) {
            let what = format!("everything waited for a disk in {share:.0} % of the last minute");
            let so = "Stages that read or write files wait, too. These wait for a disk now:";
            add("disk_pressure", what, so, "ps -eo state,pid,args | grep '^D'");
        }
        if let Some(share) = percent(self.stolen_percent, STOLEN_PERCENT) {
            let what = format!(
                "the host of this virtual machine took {share:.0} % of the CPUs' time since it started"
            );
            let so = "Stages stand still meanwhile, and their times vary. The column st shows what it takes now:";
            add("stolen_time", what, so, "vmstat 1 5");
        }
    }
}

/// A share of the last minute, from a file such as `some avg10=0.00 avg60=1.50 avg300=0.10 total=7`.
///
/// Source: Documentation/accounting/psi.rst.
fn last_minute(from: &mut Places, of: &str, which: &str) -> Option<f64> {
    let name = format!("pressure/{of}");
    let text = from.proc(&name)?;
    let line = text.lines().find_map(|line| line.strip_prefix(which)?.strip_prefix(' '));
    let word = line.and_then(|line| line.split(' ').find_map(|word| word.strip_prefix("avg60=")));
    let share =
        word.and_then(|word| word.parse().ok()).filter(|share| (0.0..=100.0).contains(share));
    from.understood(&format!("/proc/{name}"), share)
}
