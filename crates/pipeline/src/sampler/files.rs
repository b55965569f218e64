//! The files of `/proc` that are read again and again for one process.

use fullbore_proc::{Activity, Fd, HotFile, Root, SchedStat, Stat, State, Unavailable, Wait};

use crate::sample::{HeldEnds, IoCount};
use crate::sampler::ends::pipe_ends;

/// A thread of a watched process.
#[derive(Debug)]
pub(crate) struct TaskFiles {
    tid: i32,
    syscall: HotFile,
    times: HotFile,
    children: HotFile,
    /// Its times when last read.
    last: SchedStat,
    /// What it used of them since [`ProcessFiles::take_tasks`].
    used: SchedStat,
    /// It may have run since it was seen to wait.
    has_run: bool,
    /// What it did when last seen; `None` when that may not be seen.
    activity: Option<Activity>,
    /// What it last waited for.
    last_wait: Option<Wait>,
}

/// Where the times of a thread come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clockwork {
    /// The scheduler's own count, in nanoseconds.
    Scheduler,
    /// Clock ticks of this many nanoseconds, on a Linux without that count; waiting for a CPU stays unknown.
    Ticks(u64),
}

impl Clockwork {
    fn file(self) -> &'static str {
        match self {
            Self::Scheduler => "schedstat",
            Self::Ticks(_) => "stat",
        }
    }

    fn parse(self, text: &str) -> Option<SchedStat> {
        match self {
            Self::Scheduler => SchedStat::parse(text),
            Self::Ticks(tick_ns) => {
                let running_ns = Stat::parse(text)?.cpu_ticks * tick_ns;
                Some(SchedStat { running_ns, ..SchedStat::default() })
            }
        }
    }
}

/// What one reading of a thread gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskReading {
    pub(crate) tid: i32,
    pub(crate) running_ns: u64,
    pub(crate) waiting_ns: u64,
    /// How often it got a CPU.
    pub(crate) slices: u64,
    /// `None`: what it does may not be seen.
    pub(crate) activity: Option<Activity>,
}

/// A process with its open files.
#[derive(Debug)]
pub(crate) struct ProcessFiles {
    pub(crate) pid: i32,
    /// Descriptors as last read.
    pub(crate) fds: Vec<Fd>,
    pub(crate) tasks: Vec<TaskFiles>,
    /// When it was first seen, in nanoseconds from the start of the run.
    pub(crate) first_ns: u64,
    /// When to read again what changes rarely.
    pub(crate) rare_due_ns: u64,
    /// The environment of its first program was read.
    pub(crate) environment_is_known: bool,
    /// Samples that could not see what it waits for.
    pub(crate) unseen_samples: u32,
    pub(crate) news: News,
    clockwork: Clockwork,
    stat: HotFile,
    io: HotFile,
}

/// What may have changed because a process ran.
#[derive(Debug)]
pub(crate) struct News {
    /// It may have run since the last look: started processes, collected children, moved bytes. One that has not is in
    /// the state in which it was left, and need not be asked about it.
    pub(crate) has_run: bool,
    /// Whether it is stopped; `None` when it ran since that was read.
    stopped: Option<bool>,
    /// It may have run since its bytes and calls were read …
    pub(crate) io_may_have_grown: bool,
    /// … and since its descriptors were.
    pub(crate) fds_may_have_changed: bool,
}

/// Threads looked at in each process; a process with more is judged by its first ones.
const TASKS_MAX: usize = 64;

impl TaskFiles {
    fn open(root: &Root, clockwork: Clockwork, pid: i32, tid: i32) -> Self {
        let times = root.hot_file(pid, &format!("task/{tid}/{}", clockwork.file()));
        // Of a thread that ended since it was found, nothing else is asked.
        let is_gone = times.is_gone();
        let file = |name| match is_gone {
            true => HotFile::gone(),
            false => root.hot_file(pid, &format!("task/{tid}/{name}")),
        };
        Self {
            tid,
            syscall: file("syscall"),
            children: file("children"),
            times,
            last: SchedStat::default(),
            used: SchedStat::default(),
            has_run: true,
            activity: None,
            last_wait: None,
        }
    }

    /// Reads its times, and what it does now; `false` when the thread has ended. Times that may not be read count as
    /// unchanged.
    fn read(&mut self, clockwork: Clockwork, buffer: &mut [u8]) -> bool {
        let now = match self.times.try_read(buffer) {
            Ok(text) => clockwork.parse(text).unwrap_or(self.last),
            Err(Unavailable::Gone) => return false,
            Err(_) => self.last,
        };
        let before = std::mem::replace(&mut self.last, now);
        self.used.running_ns += now.running_ns.saturating_sub(before.running_ns);
        self.used.waiting_ns += now.waiting_ns.saturating_sub(before.waiting_ns);
        self.used.timeslices += now.timeslices.saturating_sub(before.timeslices);
        // Who got no CPU since it was seen to wait still waits there. Ticks do not tell whether it got one.
        self.has_run = !matches!(self.activity, Some(Activity::Blocked(_)))
            || clockwork != Clockwork::Scheduler
            || now.timeslices != before.timeslices;
        if self.has_run {
            self.read_activity(buffer);
        }
        true
    }

    fn read_activity(&mut self, buffer: &mut [u8]) {
        self.activity = self.syscall.read(buffer).and_then(Activity::parse);
        match self.activity {
            Some(Activity::Blocked(Wait::AsBefore)) => {
                self.activity = Some(Activity::Blocked(self.last_wait.unwrap_or(Wait::Other)));
            }
            Some(Activity::Blocked(wait)) => self.last_wait = Some(wait),
            _ => {}
        }
    }

    /// What it used since it was last asked, and what it did when it was read.
    fn take(&mut self) -> TaskReading {
        let SchedStat { running_ns, waiting_ns, timeslices: slices } =
            std::mem::take(&mut self.used);
        TaskReading { tid: self.tid, running_ns, waiting_ns, slices, activity: self.activity }
    }
}

impl ProcessFiles {
    /// Opens the files of a process; with `is_frugal` only those that are read at every sample stay open.
    pub(crate) fn open(
        root: &Root,
        clockwork: Clockwork,
        pid: i32,
        now_ns: u64,
        is_frugal: bool,
    ) -> Self {
        let task = TaskFiles::open(root, clockwork, pid, pid);
        let is_gone = task.times.is_gone();
        let rare_file = |name| match (is_gone, is_frugal) {
            (true, _) => HotFile::gone(),
            (false, true) => root.cold_file(pid, name),
            (false, false) => root.hot_file(pid, name),
        };
        Self {
            pid,
            fds: if is_gone { Vec::new() } else { root.fds(pid).unwrap_or_default() },
            tasks: vec![task],
            first_ns: now_ns,
            rare_due_ns: now_ns,
            environment_is_known: false,
            unseen_samples: 0,
            news: News {
                has_run: true,
                stopped: None,
                io_may_have_grown: true,
                fds_may_have_changed: true,
            },
            clockwork,
            stat: rare_file("stat"),
            io: rare_file("io"),
        }
    }

    /// Reads every thread: its times, which also tell whether it ran since the last look, and what it does.
    ///
    /// A sample begins with this. What follows takes up to a millisecond of a CPU, for which others have to wait: stages would
    /// be seen to wait for data of a stage that sampling itself has kept from running.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) {
        self.tasks.retain_mut(|task| task.read(self.clockwork, buffer));
        // Threads that are not followed may have run.
        let are_all_followed = self.tasks.len() < TASKS_MAX;
        self.news.has_run = !are_all_followed || self.tasks.iter().any(|task| task.has_run);
        if self.news.has_run {
            self.news.stopped = None;
        }
        self.news.io_may_have_grown |= self.news.has_run;
        self.news.fds_may_have_changed |= self.news.has_run;
    }

    /// Tells whether it is stopped (SIGSTOP, Ctrl-Z): one that waited when it was stopped seems to go on waiting. Only a
    /// process that has not run since the last look is asked, once.
    pub(crate) fn is_stopped(&mut self, buffer: &mut [u8]) -> bool {
        if self.news.has_run {
            return false;
        }
        let is_stopped = self.news.stopped.unwrap_or_else(|| {
            self.read_stat(buffer).is_ok_and(|stat| stat.state == State::Stopped)
        });
        self.news.stopped = Some(is_stopped);
        is_stopped
    }

    /// What was read of every thread; empty when the process has ended.
    pub(crate) fn take_tasks(&mut self) -> Vec<TaskReading> {
        self.tasks.iter_mut().map(TaskFiles::take).collect()
    }

    /// Reads state, parent, threads and CPU time.
    ///
    /// # Errors
    /// [`Unavailable::Gone`] when the process has ended, waited for or not.
    pub(crate) fn read_stat(&self, buffer: &mut [u8]) -> Result<Stat, Unavailable> {
        let stat = Stat::parse(self.stat.try_read(buffer)?).ok_or(Unavailable::NotUnderstood)?;
        if stat.state == State::Ended { Err(Unavailable::Gone) } else { Ok(stat) }
    }

    /// Finds threads that began since.
    pub(crate) fn find_tasks(&mut self, root: &Root) {
        for tid in root.threads(self.pid).into_iter().take(TASKS_MAX) {
            if !self.tasks.iter().any(|task| task.tid == tid) {
                self.tasks.push(TaskFiles::open(root, self.clockwork, self.pid, tid));
            }
        }
    }

    /// From now on its times count from this moment, those of all threads it has.
    pub(crate) fn count_from_now(&mut self, root: &Root, buffer: &mut [u8]) {
        self.find_tasks(root);
        self.read(buffer);
        self.tasks.iter_mut().for_each(|task| task.used = SchedStat::default());
        // It was read twice, and nobody has looked yet.
        self.news.has_run = true;
    }

    /// Processes that its first `tasks` threads started, as far as Linux lists them.
    pub(crate) fn read_children(&self, tasks: usize, buffer: &mut [u8], into: &mut Vec<i32>) {
        for task in self.tasks.iter().take(tasks) {
            let text = task.children.read(buffer).unwrap_or_default();
            into.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
        }
    }

    /// Reads bytes and calls.
    pub(crate) fn read_io(&mut self, buffer: &mut [u8]) -> Option<IoCount> {
        self.news.io_may_have_grown = false;
        self.io.read(buffer).and_then(fullbore_proc::Io::parse).map(IoCount::from)
    }

    /// Reads its descriptors again, and tells the ends of pipes among them; `None` when it has ended: it held what it held.
    pub(crate) fn read_ends(&mut self, root: &Root) -> Option<HeldEnds> {
        let fds = root.fds(self.pid)?;
        // One that has ended and was not waited for has no descriptors any more.
        if fds.is_empty() && root.stat(self.pid).is_none_or(|stat| stat.state == State::Ended) {
            return None;
        }
        self.fds = fds;
        Some(HeldEnds { pid: self.pid, ends: pipe_ends(&self.fds) })
    }

    /// A descriptor; looked up again when it is not known, or when `is_stale` says so.
    pub(crate) fn fd(
        &mut self,
        root: &Root,
        number: i32,
        is_stale: impl Fn(&Fd) -> bool,
    ) -> Option<&Fd> {
        if let Some(place) = self.fds.iter().position(|fd| fd.number == number) {
            if !is_stale(&self.fds[place]) {
                return self.fds.get(place);
            }
            self.fds.swap_remove(place);
        }
        self.fds.push(root.fd(self.pid, number)?);
        self.fds.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    use tempfile::TempDir;

    /// Leaves something where the times of a thread are looked for.
    type Put = fn(&Path);

    const PID: i32 = 42;
    const CLOCKWORKS: [Clockwork; 2] = [Clockwork::Scheduler, Clockwork::Ticks(10_000_000)];

    /// read(2) from descriptor 0 and write(2) to 1: the number, which each kind of CPU has its own of, and the descriptor.
    const X86: bool = cfg!(target_arch = "x86_64");
    const READ: (u32, u32) = (if X86 { 0 } else { 63 }, 0);
    const WRITE: (u32, u32) = (if X86 { 1 } else { 64 }, 1);

    /// What /proc says of a thread that is in this call.
    fn called((number, descriptor): (u32, u32)) -> String {
        format!("{number} {descriptor:#x} 0x1 0x2 0x3 0x4 0x5 0x7ffc00000000 0x7f0000000000\n")
    }

    /// A folder like `/proc` with one thread in it, and the file of its times, which is not there yet.
    fn a_thread(clockwork: Clockwork) -> (TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join(format!("{PID}/task/{PID}"));
        fs::create_dir_all(&folder).unwrap();
        (place, folder.join(clockwork.file()))
    }

    fn opened(place: &TempDir, clockwork: Clockwork) -> TaskFiles {
        TaskFiles::open(&Root::at(place.path()), clockwork, PID, PID)
    }

    fn read(task: &mut TaskFiles, clockwork: Clockwork) -> Option<TaskReading> {
        let lives = task.read(clockwork, &mut [0; 4096]);
        lives.then(|| task.take())
    }

    fn times(reading: Option<TaskReading>) -> Option<(u64, u64)> {
        reading.map(|reading| (reading.running_ns, reading.waiting_ns))
    }

    #[test]
    fn a_thread_whose_times_cannot_be_read_lives() {
        // A file that cannot be opened, and one that opens but cannot be read, for root, too.
        let ways: [(&str, Put); 5] = [
            ("absent", |_| {}),
            ("empty", |file| fs::write(file, "").unwrap()),
            ("garbage", |file| fs::write(file, "\u{fffd} -1\n").unwrap()),
            ("cannot be opened", |file| symlink(file, file).unwrap()),
            ("cannot be read", |file| fs::create_dir(file).unwrap()),
        ];
        for clockwork in CLOCKWORKS {
            for (name, put) in ways {
                let (place, file) = a_thread(clockwork);
                put(&file);
                let reading = read(&mut opened(&place, clockwork), clockwork);
                assert_eq!(times(reading), Some((0, 0)), "{clockwork:?}: {name}");
            }
        }
    }

    #[test]
    fn times_that_cannot_be_read_for_a_moment_count_as_unchanged() {
        let clockwork = Clockwork::Scheduler;
        let (place, file) = a_thread(clockwork);
        fs::write(&file, "100 10 1\n").unwrap();
        let mut task = opened(&place, clockwork);
        let mut read_after = |text: &str| {
            fs::write(&file, text).unwrap();
            times(read(&mut task, clockwork))
        };
        assert_eq!(read_after("100 10 1\n"), Some((100, 10)));
        assert_eq!(read_after("1"), Some((0, 0)));
        assert_eq!(read_after("130 15 2\n"), Some((30, 5)));
    }

    #[test]
    fn a_thread_that_is_gone_has_ended() {
        for clockwork in CLOCKWORKS {
            let place = tempfile::tempdir().unwrap();
            assert!(read(&mut opened(&place, clockwork), clockwork).is_none());
        }
    }

    #[test]
    fn a_thread_that_got_no_cpu_since_is_where_it_was() {
        let doing = |task: &mut TaskFiles| read(task, Clockwork::Scheduler).unwrap().activity;
        let (reading, writing) =
            (Activity::Blocked(Wait::Read(0)), Activity::Blocked(Wait::Write(1)));
        let (place, times) = a_thread(Clockwork::Scheduler);
        let show = |slices: u64, call: &str| {
            fs::write(&times, format!("100 10 {slices}\n")).unwrap();
            fs::write(times.with_file_name("syscall"), call).unwrap();
        };
        show(7, "running\n");
        let mut task = opened(&place, Clockwork::Scheduler);
        assert_eq!(doing(&mut task), Some(Activity::Running));
        // It blocked without having got a CPU again: it had one.
        show(7, &called(READ));
        assert_eq!(doing(&mut task), Some(reading));
        show(7, "this is not read");
        assert_eq!(doing(&mut task), Some(reading));
        show(8, &called(WRITE));
        assert_eq!(doing(&mut task), Some(writing));
    }

    /// The rest of a sample keeps others from running, so that what a thread does later is partly its doing.
    #[test]
    fn what_a_thread_does_is_what_it_did_when_its_times_were_read() {
        let (place, times) = a_thread(Clockwork::Scheduler);
        fs::write(&times, "100 10 7\n").unwrap();
        fs::write(times.with_file_name("syscall"), called(READ)).unwrap();
        let mut task = opened(&place, Clockwork::Scheduler);
        assert!(task.read(Clockwork::Scheduler, &mut [0; 4096]));
        fs::write(times.with_file_name("syscall"), called(WRITE)).unwrap();
        assert_eq!(task.take().activity, Some(Activity::Blocked(Wait::Read(0))));
    }

    #[test]
    fn a_process_that_waited_when_it_was_stopped_is_stopped() {
        let (place, times) = a_thread(Clockwork::Scheduler);
        let show = |state: char, slices: u64| {
            let stat =
                format!("42 (cat) {state} 1 42 9 0 -1 0 0 0 0 0 7 0 0 0 20 0 1 0 98765 0 0\n");
            fs::write(place.path().join("42/stat"), stat).unwrap();
            fs::write(&times, format!("100 10 {slices}\n")).unwrap();
            fs::write(times.with_file_name("syscall"), called(READ)).unwrap();
        };
        show('S', 7);
        let root = Root::at(place.path());
        let mut process = ProcessFiles::open(&root, Clockwork::Scheduler, PID, 0, false);
        let mut is_stopped = || {
            process.read(&mut [0; 4096]);
            let is_stopped = process.is_stopped(&mut [0; 4096]);
            process.take_tasks();
            is_stopped
        };
        assert_eq!([is_stopped(), is_stopped()], [false, false], "it waits");
        show('T', 8);
        assert_eq!([is_stopped(), is_stopped(), is_stopped()], [false, true, true]);
        show('S', 9);
        assert_eq!([is_stopped(), is_stopped()], [false, false], "it goes on");
    }

    #[test]
    fn a_call_that_goes_on_after_a_stop_is_the_one_that_was_interrupted() {
        let (place, times) = a_thread(Clockwork::Scheduler);
        let show = |slices: u64, number: i64| {
            fs::write(&times, format!("100 10 {slices}\n")).unwrap();
            let registers = "0x0 0x1 0x2 0x3 0x4 0x5 0x7ffc00000000 0x7f0000000000";
            fs::write(times.with_file_name("syscall"), format!("{number} {registers}\n")).unwrap();
        };
        let (sleep, restart) = if cfg!(target_arch = "x86_64") { (35, 219) } else { (101, 128) };
        show(1, restart);
        let mut task = opened(&place, Clockwork::Scheduler);
        let mut doing = || read(&mut task, Clockwork::Scheduler).unwrap().activity;
        assert_eq!(doing(), Some(Activity::Blocked(Wait::Other)), "never seen before");
        show(2, sleep);
        assert_eq!(doing(), Some(Activity::Blocked(Wait::Sleep)));
        show(3, restart);
        assert_eq!(doing(), Some(Activity::Blocked(Wait::Sleep)));
    }

    #[test]
    fn clock_ticks_do_not_tell_whether_a_thread_ran() {
        let clockwork = Clockwork::Ticks(10_000_000);
        let (place, times) = a_thread(clockwork);
        fs::write(&times, "42 (cat) S 1 42 9 0 -1 0 0 0 0 0 7 0 0 0 20 0 1 0 98765 0 0\n").unwrap();
        fs::write(times.with_file_name("syscall"), "running\n").unwrap();
        let mut task = opened(&place, clockwork);
        for (call, wait) in [(READ, Wait::Read(0)), (WRITE, Wait::Write(1))] {
            fs::write(times.with_file_name("syscall"), called(call)).unwrap();
            let activity = read(&mut task, clockwork).unwrap().activity;
            assert_eq!(activity, Some(Activity::Blocked(wait)));
        }
    }
}
