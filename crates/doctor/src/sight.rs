//! What a user may see of processes.

use fullbore_proc::{Fact, Status};

use crate::{Attempt, Attempts, Finding, Level, Places};

/// Bits of capabilities(7).
const SYS_PTRACE: u32 = 19;
const SYS_ADMIN: u32 = 21;
const SYS_RESOURCE: u32 = 24;

/// What a user may see of processes.
#[derive(Clone, Debug)]
pub struct Sight {
    /// The user; `None` where it cannot be read.
    pub uid: Option<u32>,
    /// Capabilities in effect: bit n for capability n.
    pub capabilities: u64,
    /// `kernel.yama.ptrace_scope`; `None` on a Linux without Yama.
    pub ptrace_scope: Option<i64>,
    /// The value of the option hidepid with which `/proc` is mounted, where it hides something from this user.
    pub hidepid: Option<String>,
    /// `kernel.perf_event_paranoid`; `None` on a Linux without perf events.
    pub perf_event_paranoid: Option<i64>,
    /// Files of its own process that this user cannot read, with the reasons.
    pub hidden_facts: Vec<(&'static str, String)>,
    /// Whether the CPU has counters that Linux can use; `None` where that is not known.
    pub has_counters: Option<bool>,
}

impl Sight {
    pub(crate) fn read(from: &mut Places) -> Self {
        let text = from.proc("self/status");
        let status = Status::parse(text.as_deref().unwrap_or_default());
        if text.is_some() {
            from.understood("/proc/self/status", status.effective_uid);
        }
        let text = text.unwrap_or_default();
        let capabilities = status.capabilities;
        let mounts = from.proc("self/mounts");
        let options =
            mounts.map(|text| from.understood("/proc/self/mounts", options_of_proc(&text)));
        let groups = text.lines().find_map(|line| line.strip_prefix("Groups:")).unwrap_or_default();
        let sees_all = capabilities >> SYS_PTRACE & 1 == 1;
        let devices = from.names("bus/event_source/devices");
        let counts = |name: &String| name.starts_with("cpu") || name.starts_with("arm");
        Self {
            uid: status.effective_uid,
            capabilities,
            ptrace_scope: from.number("sys/kernel/yama/ptrace_scope", false),
            hidepid: options
                .flatten()
                .and_then(|options| hidepid(&options, groups))
                .filter(|_| !sees_all),
            perf_event_paranoid: from.number("sys/kernel/perf_event_paranoid", false),
            hidden_facts: hidden_facts(from),
            has_counters: (!devices.is_empty()).then(|| devices.iter().any(counts)),
        }
    }

    fn may(&self, capability: u32) -> bool {
        self.capabilities >> capability & 1 == 1
    }

    /// Whether limits for all pipes of a user do not count. Source: pipe(7).
    pub(crate) fn may_exceed_resources(&self) -> bool {
        self.may(SYS_RESOURCE) || self.may(SYS_ADMIN)
    }

    pub(crate) fn examine(&self, attempts: &Attempts, findings: &mut Vec<Finding>) {
        self.ptrace(findings);
        if let Some(value) = &self.hidepid {
            let what = format!("/proc hides the processes of other users (hidepid={value})");
            let so =
                "fullbore cannot see stages that run as another user, such as those behind sudo.";
            let finding = Finding::new("hidepid", Level::Hides, what).so(so);
            findings.push(
                finding
                    .command("sudo mount -o remount,hidepid=0 /proc")
                    .undo(format!("sudo mount -o remount,hidepid={value} /proc")),
            );
        }
        for (file, why) in &self.hidden_facts {
            let what = format!("/proc/PID/{file} cannot be read: {why}");
            let so = format!("fullbore shows ? or estimates for {}.", lost(file));
            findings.push(Finding::new("process_facts", Level::Hides, what).so(so));
        }
        self.perf(attempts, findings);
        if let Attempt::Refused(why) = &attempts.lend_page {
            let what = format!("pages cannot be lent to pipes (vmsplice: {})", without_number(why));
            let so = "Stages such as gen and morse copy instead: into a reader that discards, lending is about 5 times as fast. A \
                      container can be started so that it may; that allows it all other system calls, too.";
            let finding =
                Finding::new("vmsplice", Level::Costs, what).so(so).source("docs/zero-copy.md");
            findings.push(finding.command("docker run --security-opt seccomp=unconfined IMAGE"));
        }
        if self.has_counters == Some(false) {
            let so = "fullbore lab shows no instructions, cycles and cache misses; no other command needs them.";
            let what = "this machine has no counters of the processor";
            findings.push(Finding::new("counters", Level::Note, what).so(so));
        }
    }

    fn ptrace(&self, findings: &mut Vec<Finding>) {
        // 0 hides nothing; 1 hides what a program did not start; only 3 counts for administrators, too.
        let Some(scope) = self.ptrace_scope.filter(|scope| *scope >= 1) else { return };
        if scope < 3 && self.may(SYS_PTRACE) {
            return;
        }
        if scope == 1 {
            let what = "what a program did not start hides its calls from it (kernel.yama.ptrace_scope is 1)";
            let so = "fullbore run sees everything; fullbore attach does not see what stages wait for, unless root runs it.";
            let finding = Finding::new("ptrace_scope", Level::Note, what).so(so);
            findings.push(finding.source("docs/attach.md").command("sudo fullbore attach PID"));
            return;
        }
        let what = format!(
            "programs may not look at what they started (kernel.yama.ptrace_scope is {scope})"
        );
        let so = "fullbore run cannot see in which call a stage waits, so it shows ? for waits.";
        let finding = Finding::new("ptrace_scope", Level::Hides, what);
        findings.push(if scope == 2 {
            finding.so(so).sysctl("kernel.yama.ptrace_scope", scope, 1)
        } else {
            // Linux never lowers 3.
            let so = format!(
                "{so} This value stays until the machine is started again; here is where it is set."
            );
            finding
                .so(so)
                .command("grep -rs ptrace_scope /etc/sysctl.conf /etc/sysctl.d /usr/lib/sysctl.d")
        });
    }

    fn perf(&self, attempts: &Attempts, findings: &mut Vec<Finding>) {
        let Attempt::Refused(why) = &attempts.count_switches else { return };
        let so = "fullbore run samples as usual; --exact cannot count every switch.";
        let level = self.perf_event_paranoid;
        let finding = |what: String| Finding::new("perf_events", Level::Hides, what).so(so);
        findings.push(match level {
            Some(level) if level > 2 => finding(format!(
                "perf events are for administrators only (kernel.perf_event_paranoid is {level})"
            ))
            .sysctl("kernel.perf_event_paranoid", level, 2),
            Some(_) => finding(format!("perf events are refused ({})", cause(why)))
                .command("docker run --cap-add PERFMON --security-opt seccomp=unconfined IMAGE"),
            None => finding("this Linux has no perf events".to_owned()),
        });
    }
}

/// The options with which `/proc` is mounted.
fn options_of_proc(mounts: &str) -> Option<String> {
    let line = mounts.lines().rfind(|line| line.split(' ').nth(1) == Some("/proc"))?;
    Some(line.split(' ').nth(3)?.to_owned())
}

/// What the option hidepid hides, unless it lets this user see everything.
///
/// Source: proc(5), "Mount options".
fn hidepid(options: &str, groups: &str) -> Option<String> {
    let value = |name: &str| {
        options.split(',').find_map(|option| option.strip_prefix(name)).map(str::to_owned)
    };
    let hides = value("hidepid=").filter(|value| !matches!(value.as_str(), "0" | "off"))?;
    let gid = value("gid=");
    let is_member = groups.split_whitespace().any(|group| Some(group) == gid.as_deref());
    (!is_member).then_some(hides)
}

/// What Linux withholds about the process that asks.
fn hidden_facts(from: &mut Places) -> Vec<(&'static str, String)> {
    let Some(text) = from.proc("self/stat") else { return Vec::new() };
    let pid = text.split(' ').next().and_then(|word| word.parse().ok());
    let Some(pid) = from.understood("/proc/self/stat", pid) else { return Vec::new() };
    let facts = from.proc.unavailable(pid);
    facts.into_iter().map(|(fact, why)| (fact.file(), why.to_string())).collect()
}

/// What fullbore learns from a file of a process.
fn lost(file: &str) -> &'static str {
    let is = |fact: Fact| fact.file() == file;
    if is(Fact::Times) {
        "the time that stages run and wait for a CPU"
    } else if is(Fact::Wait) {
        "what stages wait for"
    } else if is(Fact::Io) {
        "the bytes that stages read and write"
    } else if is(Fact::Children) {
        "the processes of a stage"
    } else if is(Fact::Descriptors) {
        "the pipes between stages"
    } else {
        "the state of stages"
    }
}

fn without_number(text: &str) -> &str {
    text.split(" (os error").next().unwrap_or(text)
}

/// The first reason of several.
fn cause(text: &str) -> &str {
    without_number(text.strip_prefix("perf_event_open: ").unwrap_or(text))
}
