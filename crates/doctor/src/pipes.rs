//! Limits of pipes, and what the user's pipes hold of them.

use std::collections::BTreeSet;

use fullbore_measure::Bytes;
use fullbore_proc::Target;

use crate::{Attempt, Attempts, Finding, Level, Places, Sight};

/// What `fullbore run` enlarges pipes to, and Linux's default for the largest pipe.
const WIDE_BYTES: u64 = 1 << 20;
/// Capacity of a new pipe unless its user is over a limit. Source: pipe(7).
const NEW_PIPE_BYTES: u64 = 64 << 10;
/// Fewer pages have no room for 16 pipes of 1 MiB, half of which one run may enlarge.
const FEW_PAGES: u64 = 4096;
/// Linux's own limit. Source: `pipe_user_pages_soft` of fs/pipe.c.
const DEFAULT_PAGES: u64 = 16_384;

/// Limits of pipes, and what the user's pipes hold of them.
#[derive(Clone, Debug)]
pub struct Pipes {
    /// Largest pipe that a user without privileges may ask for, in bytes.
    pub max_bytes: Option<u64>,
    /// Pages of all pipes of a user above which new ones are small; 0 means no limit.
    pub user_pages_soft: Option<u64>,
    /// Pages of all pipes of a user above which there are no new ones; 0 means no limit.
    pub user_pages_hard: Option<u64>,
    /// Pipes that visible processes of this user have now.
    pub held: usize,
    /// Whether the limits for all pipes of a user do not count for this one.
    pub is_exempt: bool,
}

impl Pipes {
    pub(crate) fn read(from: &mut Places, sight: &Sight) -> Self {
        let mut number = |name: &str, is_everywhere| {
            let value = from.number(&format!("sys/fs/{name}"), is_everywhere)?;
            from.understood(&format!("/proc/sys/fs/{name}"), u64::try_from(value).ok())
        };
        Self {
            max_bytes: number("pipe-max-size", true),
            // Since Linux 4.5.
            user_pages_soft: number("pipe-user-pages-soft", false),
            user_pages_hard: number("pipe-user-pages-hard", false),
            held: held(from, sight.uid),
            is_exempt: sight.may_exceed_resources(),
        }
    }

    pub(crate) fn examine(&self, attempts: &Attempts, findings: &mut Vec<Finding>) {
        if let Some(max) = self.max_bytes.filter(|max| *max < WIDE_BYTES) {
            let finding = Finding::new(
                "pipe_size",
                Level::Costs,
                format!("no pipe may hold more than {} (fs.pipe-max-size)", Bytes(max)),
            );
            let so = "A pipe of 1 MiB passes bursts of 1 MiB 1.8 times as fast as one of 64 KiB; one of 256 KiB gains about 10 %.";
            findings.push(finding.so(so).source("docs/lab.md").sysctl(
                "fs.pipe-max-size",
                max,
                WIDE_BYTES,
            ));
        }
        if self.is_exempt {
            return;
        }
        match self.full(attempts) {
            Some(what) => findings.push(self.more_pages(what)),
            None => self.few(findings),
        }
    }

    /// What shows that the user's pipes have used up the soft limit.
    fn full(&self, attempts: &Attempts) -> Option<String> {
        let limit = self.user_pages_soft.filter(|pages| *pages > 0)?;
        let limit_bytes = limit.saturating_mul(attempts.page_bytes);
        let (held, total) = (self.held, Bytes(limit_bytes));
        let seen = format!("{held} pipes of this user are visible; all together may hold {total}");
        if let Some(new) = attempts.new_pipe.filter(|new| new.0 < NEW_PIPE_BYTES) {
            return Some(format!("a new pipe holds only {new} ({seen})"));
        }
        let is_refused = matches!(attempts.enlarge_pipe, Attempt::Refused(_));
        if is_refused && self.max_bytes.is_none_or(|max| max >= WIDE_BYTES) {
            return Some(format!("a new pipe cannot be enlarged to 1 MiB ({seen})"));
        }
        // Each pipe that was not enlarged holds that much. fullbore leaves a quarter free.
        let least = NEW_PIPE_BYTES.saturating_mul(held as u64);
        (least >= limit_bytes / 4 * 3)
            .then(|| format!("this user's pipes take {} or more ({seen})", Bytes(least)))
    }

    fn few(&self, findings: &mut Vec<Finding>) {
        let is_few = |pages: &u64| (1..FEW_PAGES).contains(pages);
        if let Some(pages) = self.user_pages_soft.filter(is_few) {
            let what = format!(
                "all pipes of a user together may hold only {pages} pages (fs.pipe-user-pages-soft)"
            );
            findings.push(self.more_pages(what));
        }
        if let Some(pages) = self.user_pages_hard.filter(is_few) {
            let what = format!(
                "all pipes of a user together can never hold more than {pages} pages (fs.pipe-user-pages-hard)"
            );
            let so = "Above that, no pipe can be made or enlarged, and pipelines fail.";
            let finding = Finding::new("pipe_pages_hard", Level::Costs, what).so(so);
            findings.push(finding.sysctl("fs.pipe-user-pages-hard", pages, 0));
        }
    }

    fn more_pages(&self, what: String) -> Finding {
        let now = self.user_pages_soft.unwrap_or(0);
        let wanted = DEFAULT_PAGES.max(now.saturating_mul(4));
        let so = "Linux gives pipes above the limit 8 KiB instead of 64 KiB, and fullbore cannot enlarge pipes, which gains 1.8 \
                  times for bursts of 1 MiB.";
        let finding = Finding::new("pipe_pages", Level::Costs, what).so(so).source("docs/lab.md");
        finding.sysctl("fs.pipe-user-pages-soft", now, wanted)
    }
}

/// Pipes that visible processes of this user have.
fn held(from: &Places, uid: Option<u32>) -> usize {
    let Some(uid) = uid else { return 0 };
    let root = &from.proc;
    let is_own =
        |pid: &i32| root.status(*pid).is_some_and(|status| status.effective_uid == Some(uid));
    let fds = root.processes().into_iter().filter(is_own).filter_map(|pid| root.fds(pid)).flatten();
    let inode = |target| match target {
        Target::Pipe(inode) => Some(inode),
        _ => None,
    };
    fds.filter_map(|fd| inode(fd.target)).collect::<BTreeSet<u64>>().len()
}
