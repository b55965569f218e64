//! One process of the pipeline, with the files of `/proc` that are read again and again.

use fullbore_proc::{Activity, Fd, HotFile, Io, Root, SchedStat, Stat, State, Wait};

/// A thread of a watched process.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) tid: i32,
    syscall: HotFile,
    schedstat: HotFile,
    children: HotFile,
    /// Times of the scheduler when last read.
    pub(crate) times: SchedStat,
}

/// What a look at one thread showed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TaskLook {
    pub(crate) running_ns: u64,
    pub(crate) waiting_ns: u64,
    /// `None`: what it does could not be seen.
    pub(crate) activity: Option<Activity>,
}

/// A process of the pipeline.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// The stage it belongs to, as an index.
    pub(crate) stage: usize,
    /// It is the process its stage began with.
    pub(crate) is_leader: bool,
    /// Its children are stages of their own.
    pub(crate) is_container: bool,
    pub(crate) has_children: bool,
    /// Most threads it had at a time.
    pub(crate) most_threads: u32,
    /// What it runs; of the shell until it has called execve.
    pub(crate) words: Vec<String>,
    /// What it ran when first seen: for a child of the shell, still the shell.
    pub(crate) first_words: Vec<String>,
    /// Looks that showed nothing.
    pub(crate) unseen_looks: u32,
    pub(crate) state: State,
    pub(crate) fds: Vec<Fd>,
    pub(crate) tasks: Vec<Task>,
    /// CPU time of its own, as far as seen.
    pub(crate) cpu_ns: u64,
    /// CPU time of children it waited for, when last read.
    pub(crate) children_cpu_ns: u64,
    /// Children that ended and whose CPU time will show up in `children_cpu_ns`.
    pub(crate) reaped: Vec<Reaped>,
    /// CPU time of children counted before it showed up in `children_cpu_ns`.
    pub(crate) counted_early_ns: u64,
    pub(crate) first_ns: u64,
    pub(crate) next_rare_ns: u64,
    pub(crate) io: Option<Io>,
    /// What it had read and written when it came to its stage, and what its children did for other stages.
    pub(crate) io_elsewhere: Io,
    pub(crate) peak_memory_bytes: Option<u64>,
    stat: HotFile,
    io_file: HotFile,
}

/// A child that ended: its parent's count of children's CPU time will grow by what it used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaped {
    pub(crate) stage: usize,
    /// CPU time that was counted while it lived.
    pub(crate) counted_ns: u64,
}

/// Threads looked at in each process; a process with more is judged by its first ones.
const TASKS_MAX: usize = 64;

impl Task {
    fn open(root: &Root, pid: i32, tid: i32) -> Self {
        Self {
            tid,
            syscall: root.hot_file(pid, &format!("task/{tid}/syscall")),
            schedstat: root.hot_file(pid, &format!("task/{tid}/schedstat")),
            children: root.hot_file(pid, &format!("task/{tid}/children")),
            times: SchedStat::default(),
        }
    }

    /// `None` when the thread has ended.
    fn look(&mut self, buffer: &mut [u8]) -> Option<TaskLook> {
        let now = SchedStat::parse(self.schedstat.read(buffer)?)?;
        let before = std::mem::replace(&mut self.times, now);
        let activity = self.syscall.read(buffer).and_then(Activity::parse);
        Some(TaskLook {
            running_ns: now.running_ns.saturating_sub(before.running_ns),
            waiting_ns: now.waiting_ns.saturating_sub(before.waiting_ns),
            activity,
        })
    }
}

impl Process {
    /// Begins to watch a process; `None` when it is gone already.
    pub(crate) fn open(root: &Root, pid: i32, stage: usize, now_ns: u64) -> Option<Self> {
        let stat = root.stat(pid)?;
        if stat.state == State::Ended {
            return None;
        }
        let words = words(root, pid, &stat);
        Some(Self {
            pid,
            parent: stat.parent,
            stage,
            is_leader: false,
            is_container: false,
            has_children: false,
            most_threads: 1,
            first_words: words.clone(),
            words,
            unseen_looks: 0,
            state: stat.state,
            fds: root.fds(pid).unwrap_or_default(),
            tasks: vec![Task::open(root, pid, pid)],
            cpu_ns: 0,
            children_cpu_ns: 0,
            reaped: Vec::new(),
            counted_early_ns: 0,
            first_ns: now_ns,
            next_rare_ns: now_ns,
            io: None,
            io_elsewhere: Io::default(),
            peak_memory_bytes: None,
            stat: root.hot_file(pid, "stat"),
            io_file: root.hot_file(pid, "io"),
        })
    }

    /// Looks at every thread; `None` when the process has ended.
    pub(crate) fn look(&mut self, buffer: &mut [u8], looks: &mut Vec<TaskLook>) -> Option<()> {
        looks.clear();
        self.tasks.retain_mut(|task| match task.look(buffer) {
            Some(look) => {
                looks.push(look);
                true
            }
            None => false,
        });
        self.cpu_ns += looks.iter().map(|look| look.running_ns).sum::<u64>();
        if looks.is_empty() { None } else { Some(()) }
    }

    /// Reads state, threads and children's CPU time; `None` when the process has ended.
    pub(crate) fn read_stat(&mut self, buffer: &mut [u8]) -> Option<Stat> {
        let stat = Stat::parse(self.stat.read(buffer)?)?;
        self.state = stat.state;
        self.parent = stat.parent;
        (stat.state != State::Ended).then_some(stat)
    }

    /// Finds threads that began since.
    pub(crate) fn find_tasks(&mut self, root: &Root) {
        for tid in root.threads(self.pid).into_iter().take(TASKS_MAX) {
            if !self.tasks.iter().any(|task| task.tid == tid) {
                self.tasks.push(Task::open(root, self.pid, tid));
            }
        }
    }

    /// Processes that its first `tasks` threads started, as far as Linux lists them.
    pub(crate) fn read_children(&self, tasks: usize, buffer: &mut [u8], into: &mut Vec<i32>) {
        for task in self.tasks.iter().take(tasks) {
            let text = task.children.read(buffer).unwrap_or_default();
            into.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
        }
    }

    /// Reads bytes and calls.
    pub(crate) fn read_io(&mut self, buffer: &mut [u8]) {
        if let Some(io) = self.io_file.read(buffer).and_then(Io::parse) {
            self.io = Some(io);
        }
    }

    /// Reads what changes rarely: what it runs, its memory.
    pub(crate) fn read_rarely(&mut self, root: &Root) {
        // A process that is ending has no words any more.
        let words = root.command_line(self.pid);
        if !words.is_empty() {
            self.words = words;
        }
        if let Some(status) = root.status(self.pid) {
            self.peak_memory_bytes = self.peak_memory_bytes.max(status.peak_memory_bytes);
        }
    }

    /// Forgets a descriptor, so that it is looked up anew.
    pub(crate) fn forget_fd(&mut self, number: i32) {
        self.fds.retain(|fd| fd.number != number);
    }

    /// The descriptor `number`, looked up again when it is not known.
    pub(crate) fn fd(&mut self, root: &Root, number: i32) -> Option<&Fd> {
        if !self.fds.iter().any(|fd| fd.number == number) {
            self.fds.push(root.fd(self.pid, number)?);
        }
        self.fds.iter().find(|fd| fd.number == number)
    }
}

/// The command line, or the name of the program in brackets when there is none, as ps prints it.
fn words(root: &Root, pid: i32, stat: &Stat) -> Vec<String> {
    let words = root.command_line(pid);
    if words.is_empty() { vec![format!("[{}]", stat.comm)] } else { words }
}

/// Whether a wait needs a look at descriptors in memory (poll, select, epoll).
pub(crate) fn is_polling(wait: Wait) -> bool {
    matches!(wait, Wait::Poll { .. } | Wait::Select { .. } | Wait::Epoll(_))
}
