//! Who was on a CPU when: counted from every switch, where Linux tells of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::sample::{Switch, Switches, Turn};

/// The threads of a run and where each is: on a CPU, kept from one, or waiting for something.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnCpu {
    threads: BTreeMap<i32, Thread>,
    /// Those that ended in the last interval; `/proc` may still show them.
    ended: BTreeSet<i32>,
    /// Until when it is known.
    until_ns: u64,
    /// Processes that began and ended between two samples, by stage.
    unseen: BTreeMap<usize, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    pid: i32,
    /// Its stage, as an index; that of its parent while the process was not seen itself.
    stage: Option<usize>,
    /// `None` after switches were lost, until its next one.
    place: Option<Place>,
    /// The first thread of a process whose beginning was told, and which no sample has found.
    is_unseen: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    OnCpu,
    /// It would go on, but has no CPU.
    Preempted,
    Off,
}

/// What the switches of one interval tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    /// By stage, as an index.
    pub(crate) stages: BTreeMap<usize, StageTimes>,
    /// Time in which at least one stage was on a CPU, and at least two.
    pub(crate) one_runs_ns: u64,
    pub(crate) two_run_ns: u64,
}

/// What the threads of a stage did together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StageTimes {
    /// Time in which at least one of them was on a CPU.
    pub(crate) running_ns: u64,
    /// The sum over all of them.
    pub(crate) running_sum_ns: u64,
    /// Time in which none was on a CPU, and at least one had lost its own to another thread.
    pub(crate) preempted_ns: u64,
    /// The sum over all of the time for which they had lost their CPU.
    pub(crate) preempted_sum_ns: u64,
    /// Its last switch.
    pub(crate) last_ns: u64,
}

impl OnCpu {
    /// Counts until the end of `switches`. `stage_of` says to which stage a process belongs that was seen; `None` when
    /// nothing can be told of this interval.
    pub(crate) fn take_in(
        &mut self,
        switches: &Switches,
        stage_of: impl Fn(i32) -> Option<usize>,
    ) -> Option<Counted> {
        for thread in self.threads.values_mut() {
            let stage = stage_of(thread.pid);
            thread.is_unseen &= stage.is_none();
            thread.stage = stage.or(thread.stage);
        }
        if switches.lost > 0 {
            // Those that ended unseen would stay for ever.
            self.threads.retain(|_, thread| stage_of(thread.pid).is_some());
            self.threads.values_mut().for_each(|thread| thread.place = None);
        }
        self.ended.clear();
        let mut count = Count::begin(self.until_ns, self.threads.values());
        for switch in &switches.list {
            let before = self.threads.get(&switch.tid).copied();
            let after = self.after(switch, before, &stage_of);
            count.pass(switch.at_ns);
            count.change(before, after);
            match after {
                Some(thread) => drop(self.threads.insert(switch.tid, thread)),
                None => {
                    if let Some(Thread { is_unseen: true, stage: Some(stage), .. }) = before
                        && stage_of(switch.pid).is_none()
                    {
                        *self.unseen.entry(stage).or_default() += 1;
                    }
                    self.threads.remove(&switch.tid);
                    self.ended.insert(switch.tid);
                }
            }
        }
        count.pass(switches.until_ns);
        self.until_ns = self.until_ns.max(switches.until_ns);
        (switches.lost == 0).then(|| count.finish(self.unsure_stages()))
    }

    /// How many processes of each stage have begun and ended since the call before, and no sample has found them.
    pub(crate) fn take_unseen(&mut self) -> BTreeMap<usize, u32> {
        std::mem::take(&mut self.unseen)
    }

    /// Whether it is known where a thread is, or that it ended in the last interval.
    pub(crate) fn knows(&self, tid: i32) -> bool {
        let is_known = |thread: &Thread| thread.place.is_some();
        self.threads.get(&tid).is_some_and(is_known) || self.ended.contains(&tid)
    }

    fn after(
        &self,
        switch: &Switch,
        before: Option<Thread>,
        stage_of: impl Fn(i32) -> Option<usize>,
    ) -> Option<Thread> {
        let place = match switch.to {
            Turn::On => Place::OnCpu,
            Turn::Off => Place::Off,
            Turn::Preempted | Turn::Begun(_) => Place::Preempted,
            Turn::Ended => return None,
        };
        let parent = match switch.to {
            Turn::Begun(parent) => self.threads.get(&parent).and_then(|parent| parent.stage),
            _ => None,
        };
        let known = before.and_then(|thread| thread.stage);
        let seen = stage_of(switch.pid);
        let is_unseen = match switch.to {
            Turn::Begun(_) => switch.pid == switch.tid,
            _ => before.is_some_and(|thread| thread.is_unseen),
        };
        Some(Thread {
            pid: switch.pid,
            stage: seen.or(known).or(parent),
            place: Some(place),
            is_unseen: is_unseen && seen.is_none(),
        })
    }

    fn unsure_stages(&self) -> BTreeSet<usize> {
        let unsure = self.threads.values().filter(|thread| thread.place.is_none());
        unsure.filter_map(|thread| thread.stage).collect()
    }
}

/// Counts over one interval.
#[derive(Debug)]
struct Count {
    now_ns: u64,
    /// Threads of each stage that are on a CPU, and that were kept from one; and since when that was so.
    crews: BTreeMap<usize, Crew>,
    stages_on: u32,
    counted: Counted,
}

#[derive(Clone, Copy, Debug, Default)]
struct Crew {
    on: u32,
    preempted: u32,
    since_ns: u64,
    times: StageTimes,
}

impl Count {
    fn begin<'a>(from_ns: u64, threads: impl Iterator<Item = &'a Thread>) -> Self {
        let mut count = Self {
            now_ns: from_ns,
            crews: BTreeMap::new(),
            stages_on: 0,
            counted: Counted::default(),
        };
        threads.for_each(|thread| count.change(None, Some(*thread)));
        count
    }

    /// Time passes until `to_ns`; a switch that was written late happens at once.
    fn pass(&mut self, to_ns: u64) {
        let length_ns = to_ns.saturating_sub(self.now_ns);
        self.now_ns += length_ns;
        if self.stages_on >= 1 {
            self.counted.one_runs_ns += length_ns;
        }
        if self.stages_on >= 2 {
            self.counted.two_run_ns += length_ns;
        }
    }

    /// A thread goes from one place to another, now.
    fn change(&mut self, before: Option<Thread>, after: Option<Thread>) {
        for (thread, is_new) in [(before, false), (after, true)] {
            let Some(Thread { stage: Some(stage), place, .. }) = thread else { continue };
            let crew = self
                .crews
                .entry(stage)
                .or_insert(Crew { since_ns: self.now_ns, ..Crew::default() });
            crew.pass(self.now_ns);
            crew.times.last_ns = self.now_ns;
            let was_on = crew.on > 0;
            let number = match place {
                Some(Place::OnCpu) => &mut crew.on,
                Some(Place::Preempted) => &mut crew.preempted,
                Some(Place::Off) | None => continue,
            };
            *number = if is_new { *number + 1 } else { number.saturating_sub(1) };
            match (was_on, crew.on > 0) {
                (false, true) => self.stages_on += 1,
                (true, false) => self.stages_on -= 1,
                _ => {}
            }
        }
    }

    fn finish(mut self, unsure: BTreeSet<usize>) -> Counted {
        for (stage, mut crew) in self.crews {
            crew.pass(self.now_ns);
            if !unsure.contains(&stage) {
                self.counted.stages.insert(stage, crew.times);
            }
        }
        self.counted
    }
}

impl Crew {
    fn pass(&mut self, now_ns: u64) {
        let length_ns = now_ns - self.since_ns;
        self.since_ns = now_ns;
        self.times.preempted_sum_ns += length_ns * u64::from(self.preempted);
        if self.on > 0 {
            self.times.running_ns += length_ns;
            self.times.running_sum_ns += length_ns * u64::from(self.on);
        } else if self.preempted > 0 {
            self.times.preempted_ns += length_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_STAGES: fn(i32) -> Option<usize> = |pid| match pid {
        10 => Some(0),
        20 => Some(1),
        _ => None,
    };

    fn switch(at_ns: u64, tid: i32, to: Turn) -> Switch {
        Switch { at_ns, pid: tid / 10 * 10, tid, to }
    }

    fn interval(until_ns: u64, list: &[Switch]) -> Switches {
        Switches { until_ns, lost: 0, list: list.to_vec() }
    }

    fn times(counted: &Counted, stage: usize) -> (u64, u64, u64) {
        let times = counted.stages[&stage];
        (times.running_ns, times.running_sum_ns, times.preempted_ns)
    }

    #[test]
    fn time_on_a_cpu_goes_on_from_one_interval_to_the_next() {
        let mut on_cpu = OnCpu::default();
        let first = [switch(10, 10, Turn::Begun(1)), switch(30, 10, Turn::On)];
        let counted = on_cpu.take_in(&interval(100, &first), TWO_STAGES).unwrap();
        assert_eq!(times(&counted, 0), (70, 70, 20));
        let counted =
            on_cpu.take_in(&interval(200, &[switch(150, 10, Turn::Off)]), TWO_STAGES).unwrap();
        assert_eq!(times(&counted, 0), (50, 50, 0));
        let counted = on_cpu.take_in(&interval(300, &[]), TWO_STAGES).unwrap();
        assert_eq!(times(&counted, 0), (0, 0, 0));
    }

    #[test]
    fn two_threads_run_at_one_time_and_a_third_is_kept_waiting() {
        let list = [
            switch(0, 10, Turn::On),
            switch(20, 11, Turn::On),
            switch(50, 10, Turn::Preempted),
            switch(60, 11, Turn::Off),
            switch(90, 10, Turn::On),
        ];
        let counted = OnCpu::default().take_in(&interval(100, &list), TWO_STAGES).unwrap();
        assert_eq!(times(&counted, 0), (70, 100, 30));
    }

    #[test]
    fn stages_overlap_while_both_are_on_a_cpu() {
        let list = [
            switch(0, 10, Turn::On),
            switch(40, 20, Turn::On),
            switch(70, 10, Turn::Off),
            switch(80, 20, Turn::Ended),
        ];
        let counted = OnCpu::default().take_in(&interval(100, &list), TWO_STAGES).unwrap();
        assert_eq!((counted.one_runs_ns, counted.two_run_ns), (80, 30));
        assert_eq!(counted.stages[&1].last_ns, 80);
    }

    /// A set-user-ID program goes out of sight when it is executed, and then runs on.
    #[test]
    fn a_thread_out_of_sight_is_known_until_the_interval_ends() {
        let mut on_cpu = OnCpu::default();
        let list = [switch(0, 10, Turn::On), switch(40, 10, Turn::Ended)];
        on_cpu.take_in(&interval(100, &list), TWO_STAGES).unwrap();
        assert!(on_cpu.knows(10));
        on_cpu.take_in(&interval(200, &[]), TWO_STAGES).unwrap();
        assert!(!on_cpu.knows(10));
    }

    #[test]
    fn a_child_that_was_never_seen_belongs_to_the_stage_of_its_parent() {
        let list = [
            switch(0, 10, Turn::On),
            switch(10, 10, Turn::Off),
            switch(10, 30, Turn::Begun(10)),
            switch(20, 30, Turn::On),
            switch(50, 40, Turn::Begun(30)),
            switch(60, 30, Turn::Ended),
            switch(70, 40, Turn::On),
        ];
        let counted = OnCpu::default().take_in(&interval(100, &list), TWO_STAGES).unwrap();
        assert_eq!(times(&counted, 0).0, 10 + 40 + 30);
    }

    #[test]
    fn processes_that_no_sample_found_are_counted_when_they_end() {
        let mut on_cpu = OnCpu::default();
        let list = [
            switch(0, 10, Turn::On),
            switch(10, 30, Turn::Begun(10)),
            // A thread is no process.
            switch(20, 31, Turn::Begun(30)),
            switch(30, 31, Turn::Ended),
            switch(40, 30, Turn::On),
            switch(50, 30, Turn::Ended),
            switch(60, 40, Turn::Begun(10)),
            // That one was found.
            switch(70, 20, Turn::Begun(10)),
            switch(80, 20, Turn::Ended),
        ];
        on_cpu.take_in(&interval(100, &list), TWO_STAGES).unwrap();
        assert_eq!(on_cpu.take_unseen(), BTreeMap::from([(0, 1)]), "one of them still lives");
        // It is found by the next sample.
        let finds_40 = |pid| if pid == 40 { Some(0) } else { TWO_STAGES(pid) };
        on_cpu.take_in(&interval(200, &[]), finds_40).unwrap();
        on_cpu.take_in(&interval(300, &[switch(250, 40, Turn::Ended)]), TWO_STAGES).unwrap();
        assert_eq!(on_cpu.take_unseen(), BTreeMap::new());
    }

    #[test]
    fn after_a_loss_nothing_is_told_until_every_thread_was_heard_of_again() {
        let mut on_cpu = OnCpu::default();
        let first = [switch(0, 10, Turn::On), switch(0, 20, Turn::On)];
        on_cpu.take_in(&interval(100, &first), TWO_STAGES).unwrap();
        let lossy = Switches { lost: 5, ..interval(200, &[]) };
        assert!(on_cpu.take_in(&lossy, TWO_STAGES).is_none());
        assert!(!on_cpu.knows(10));
        let counted =
            on_cpu.take_in(&interval(300, &[switch(250, 10, Turn::On)]), TWO_STAGES).unwrap();
        assert!(!counted.stages.contains_key(&1));
        assert!(on_cpu.knows(10) && !on_cpu.knows(20));
    }
}
