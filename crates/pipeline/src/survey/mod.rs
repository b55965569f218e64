//! Every pipeline of the machine, watched within a budget.
//!
//! `residents` knows who there is and who holds which ends; [`Graph`] says who belongs together; each
//! pipeline is [`Tracked`]. Nothing is opened but files of `/proc`.

mod input;
mod mark;
mod place;
mod progress;
mod residents;
mod tracked;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fullbore_measure::{Bytes, Host};
use fullbore_proc::{Root, host};
use fullbore_record::{OVERVIEW_SCHEMA, Overview};
use rustix::time::ClockId;

use crate::attached::age_ns;
use crate::graph::{Graph, Joining};
use crate::survey::place::Places;
use crate::survey::residents::Residents;
use crate::survey::tracked::Tracked;
use crate::tune::{AdjustError, Adjusted};
use crate::watch::{cpu_time, nanoseconds};

/// Samples of a pipeline that is new follow each other this closely …
const NEW_INTERVAL_NS: u64 = 10_000_000;
/// … later like this.
const INTERVAL_NS: u64 = 50_000_000;
/// They are never rarer than this …
const LONGEST_NS: u64 = 1_000_000_000;
/// … but where nothing happens.
const QUIET_INTERVAL_NS: u64 = 2_000_000_000;
/// Samples of all pipelines may take this part of a CPU …
const SHARE: u64 = 700;
/// … and this one while most of them are new.
const NEW_SHARE: u64 = 40;
/// To look whether something happens in an idle pipeline takes about this long for each process …
const LOOK_NS: u64 = 10_000;
/// … and all that may take this part of a CPU.
const LOOK_SHARE: u64 = 400;
/// An idle pipeline is looked at this often, if that is not too dear.
const LOOK_INTERVAL_NS: u64 = 1_000_000_000;
/// One round of such looks stops after this time; the next round goes on from there.
const LOOK_SLICE: Duration = Duration::from_millis(10);
/// Finding out who there is stops after this time, too: whoever shows a screen must not be kept waiting.
const SLICE: Duration = Duration::from_millis(40);
/// So many new pipelines are watched closely at the same time. The others wait for their turn, …
const CLOSELY_MAX: usize = 20;
/// … and none gets it while in so many nothing happens.
const QUIET_MAX: usize = 6;

/// Watches every pipeline of the machine.
///
/// Call [`Survey::step`] when it says so, and [`Survey::overview`] for what is known.
pub struct Survey {
    root: Root,
    host: Host,
    places: Places,
    residents: Residents,
    /// By the process that began first.
    tracked: BTreeMap<i32, Tracked>,
    begin: Instant,
    refresh_interval: Duration,
    refresh_due_ns: u64,
    is_complete: bool,
    stock_taken_ns: u64,
    /// What a sample of all that are watched cost lately.
    sample_cost_ns: u64,
}

impl Survey {
    /// Nothing has been looked at yet. Who there is will be found out every `interval`.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        let root = Root::system();
        let _ = fullbore_process::raise_file_limit(None);
        let _ = fullbore_process::wake_on_time();
        Self {
            host: host(&root),
            places: Places::default(),
            residents: Residents::new(root.clone(), std::process::id().cast_signed()),
            root,
            tracked: BTreeMap::new(),
            begin: Instant::now(),
            refresh_interval: interval,
            refresh_due_ns: 0,
            is_complete: false,
            stock_taken_ns: 0,
            sample_cost_ns: 0,
        }
    }

    /// Does what is due, and returns when to call again.
    pub fn step(&mut self) -> Instant {
        let now_ns = nanoseconds(self.begin.elapsed());
        if now_ns >= self.refresh_due_ns {
            self.refresh(now_ns);
            let pause = if self.is_complete { self.refresh_interval } else { Duration::ZERO };
            self.refresh_due_ns = now_ns + nanoseconds(pause);
        }
        self.sample(now_ns);
        let due = self.tracked.values().filter_map(Tracked::due_ns).min();
        let due_ns = due.unwrap_or(u64::MAX).min(self.refresh_due_ns);
        self.begin + Duration::from_nanos(due_ns)
    }

    fn refresh(&mut self, now_ns: u64) {
        let refreshed = self.residents.refresh(now_ns, SLICE);
        self.is_complete = refreshed.is_complete;
        if refreshed.has_changed {
            self.regroup();
        }
        // Whoever shows an overview has often done that just now.
        if now_ns.saturating_sub(self.stock_taken_ns) >= nanoseconds(self.refresh_interval) / 2 {
            self.take_stock();
        }
        let ended: Vec<i32> = self
            .tracked
            .iter()
            .filter(|(_, tracked)| tracked.has_ended())
            .map(|(pid, _)| *pid)
            .collect();
        for pid in ended {
            let tracked = self.tracked.remove(&pid);
            tracked.iter().flat_map(|one| &one.members).for_each(|pid| self.residents.forget(*pid));
        }
        // One that begins to be watched has no processes before its first sample.
        self.look_at_idle(now_ns);
    }

    /// Whether every process has been seen: where there are thousands, that takes more than one [`Survey::step`].
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Brings what is known of the watched pipelines up to date; [`Survey::step`] does so, too, now and then.
    pub fn take_stock(&mut self) {
        let now_ns = nanoseconds(self.begin.elapsed());
        self.stock_taken_ns = now_ns;
        for tracked in self.tracked.values_mut().filter(|tracked| tracked.is_watched()) {
            tracked.take_stock(&self.host, &self.root, now_ns);
        }
    }

    /// Whether a process is still the one that was seen under its number.
    #[must_use]
    pub fn is_same(&self, pid: i32) -> bool {
        let now = self.root.stat(pid).map(|stat| stat.start_ticks);
        now.is_some() && now == self.residents.origin(pid).map(|origin| origin.start_ticks)
    }

    /// Finds out anew who belongs together. What overlaps with a pipeline that is known is that one.
    fn regroup(&mut self) {
        let graph = Graph::of(self.residents.all(), Joining::Within);
        let mut before = std::mem::take(&mut self.tracked);
        let mut pipeline_of: HashMap<i32, i32> = HashMap::new();
        for (pid, tracked) in &before {
            pipeline_of.extend(tracked.members.iter().map(|member| (*member, *pid)));
        }
        for members in graph.pipelines() {
            let tops = graph.tops(&members);
            let mut known = members.iter().filter_map(|member| pipeline_of.get(member));
            let known = known.find_map(|pid| before.remove_entry(pid));
            let Some((pid, mut tracked)) = known else {
                let first = members.iter().min_by_key(|pid| {
                    self.residents.origin(**pid).map_or(u64::MAX, |origin| origin.start_ticks)
                });
                let Some(first) = first.copied() else { continue };
                self.tracked.insert(first, Tracked::new(members, tops));
                continue;
            };
            if tracked.members != members {
                tracked.change(members, tops);
            }
            self.tracked.insert(pid, tracked);
        }
    }

    /// Begins to watch pipelines in which something happens, and those that were never looked at.
    fn look_at_idle(&mut self, now_ns: u64) {
        let idle = || self.tracked.values().filter(|tracked| !tracked.is_watched());
        let members: usize = idle().map(|tracked| tracked.members.len()).sum();
        let cost_ns = LOOK_NS.saturating_mul(members as u64);
        let interval_ns = LOOK_INTERVAL_NS.max(cost_ns.saturating_mul(LOOK_SHARE));
        let until = Instant::now() + LOOK_SLICE;
        for tracked in self.tracked.values_mut() {
            if tracked.is_watched() || tracked.look_due_ns > now_ns {
                continue;
            }
            tracked.look_due_ns = now_ns + interval_ns;
            if tracked.has_stirred(&self.root, now_ns) {
                tracked.watch(&self.host, now_ns);
            }
            if Instant::now() >= until {
                break;
            }
        }
        let count = |is_such: &dyn Fn(&Tracked) -> bool| {
            self.tracked.values().filter(|tracked| tracked.is_watched() && is_such(tracked)).count()
        };
        let new = count(&|tracked| tracked.is_new());
        let quiet = count(&|tracked| tracked.is_on_probation());
        let room = CLOSELY_MAX.saturating_sub(new);
        let room = if quiet < QUIET_MAX { room } else { 0 };
        let unknown = self.tracked.values_mut();
        let unknown = unknown.filter(|tracked| !tracked.is_watched() && !tracked.is_known());
        let mut unknown: Vec<(u64, &mut Tracked)> =
            unknown.map(|one| (self.residents.cpu_ticks(&one.members), one)).collect();
        unknown.sort_by_key(|(cpu_ticks, _)| Reverse(*cpu_ticks));
        for (_, tracked) in unknown.into_iter().take(room) {
            // Something may have happened in it since the last look.
            tracked.has_stirred(&self.root, now_ns);
            tracked.watch(&self.host, now_ns);
        }
    }

    fn sample(&mut self, now_ns: u64) {
        let watched: Vec<&mut Tracked> =
            self.tracked.values_mut().filter(|tracked| tracked.is_watched()).collect();
        let busy = watched.iter().filter(|tracked| !tracked.is_quiet()).count();
        let new = watched.iter().filter(|tracked| tracked.is_new()).count();
        let share = if new * 2 >= busy { NEW_SHARE } else { SHARE };
        let affordable_ns = self.sample_cost_ns.saturating_mul(share);
        let (mut spent_ns, mut sampled) = (0, 0);
        for tracked in watched {
            if tracked.due_ns().is_none_or(|due_ns| due_ns > now_ns) {
                continue;
            }
            let (is_quiet, is_new) = (tracked.is_quiet(), tracked.is_new());
            let wanted_ns = if is_new { NEW_INTERVAL_NS } else { INTERVAL_NS };
            let interval_ns = wanted_ns.max(affordable_ns).min(LONGEST_NS);
            let interval_ns = if is_quiet { QUIET_INTERVAL_NS } else { interval_ns };
            // Not in step with a pipeline that works in a rhythm.
            let jitter_ns = (now_ns / 1000).wrapping_mul(0x9E37_79B9) % (interval_ns / 2 + 1);
            let of_this = tracked.sample(now_ns, interval_ns * 3 / 4 + jitter_ns);
            if !is_quiet {
                spent_ns += nanoseconds(of_this);
                sampled += 1;
            }
        }
        if let Some(of_one_ns) = u64::checked_div(spent_ns, sampled) {
            self.sample_cost_ns = (self.sample_cost_ns * 7 + of_one_ns * busy as u64) / 8;
        }
    }

    /// Gives a pipe of a watched pipeline a capacity: the pipeline by its process in the overview, the pipe by its number there.
    ///
    /// # Errors
    /// When the pipe keeps the capacity it has.
    pub fn adjust(&mut self, pid: i32, pipe: u32, to: Bytes) -> Result<Adjusted, AdjustError> {
        let tracked = self.tracked.get(&pid).ok_or(AdjustError::NoPipe(pipe))?;
        tracked.adjust(pipe, to)
    }

    /// Forgets what was seen; every pipeline counts from now on.
    pub fn begin_anew(&mut self) {
        let now_ns = nanoseconds(self.begin.elapsed());
        for tracked in self.tracked.values_mut().filter(|tracked| tracked.is_watched()) {
            tracked.watch(&self.host, now_ns);
        }
    }

    /// What is known now.
    #[must_use]
    pub fn overview(&mut self) -> Overview {
        let mut overview = Overview::default();
        overview.schema = OVERVIEW_SCHEMA.to_owned();
        overview.fullbore_version = env!("CARGO_PKG_VERSION").to_owned();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        overview.unix_ns = nanoseconds(since);
        overview.elapsed_ns = nanoseconds(self.begin.elapsed());
        overview.observer_cpu_ns = nanoseconds(cpu_time(ClockId::ProcessCPUTime));
        overview.host = self.host.clone();
        overview.processes = self.residents.visible();
        let hidden = self.residents.hidden();
        overview.hidden_processes = hidden.processes;
        overview.hidden_pipelines = hidden.groups;
        let age_of = |pid: &i32| self.residents.origin(*pid).map_or(0, |o| age_ns(o.start_ticks));
        let mut oldest: Vec<(u64, i32)> =
            self.tracked.keys().map(|pid| (age_of(pid), *pid)).collect();
        oldest.sort_by_key(|(age_ns, _)| std::cmp::Reverse(*age_ns));
        for (age_ns, pid) in oldest {
            let Some(tracked) = self.tracked.get_mut(&pid) else { continue };
            let mut seen = tracked.seen(&self.root);
            (seen.pid, seen.age_ns) = (pid, age_ns);
            if let Some(origin) = self.residents.origin(pid) {
                seen.place = self.places.of(&self.root, pid, origin);
            }
            overview.pipelines.push(seen);
        }
        self.places.keep(&self.tracked);
        overview
    }
}
