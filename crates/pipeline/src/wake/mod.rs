//! Wake-ups: how much time stages lose because a CPU sleeps when they are woken, and keeping CPUs awake where that helps.
//!
//! [`share`] and [`keeper`] decide and are pure; [`price`] measures, [`pollers`] keep CPUs awake, and [`Waking`] joins them.

mod keeper;
mod pollers;
mod price;
mod share;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;

use fullbore_proc::{Root, clock_ticks_per_second};
use fullbore_record::KeepAwakeRecord;
use rustix::thread::{CpuSet, sched_getaffinity};
use serde::{Deserialize, Serialize};

use crate::account::Accounts;
use crate::sample::Look;
use crate::wake::keeper::{Keeper, Order};
use crate::wake::pollers::Pollers;
use crate::wake::share::{INTERESTING_WAKE_UPS, StageTotals, Totals, Window};

pub(crate) use crate::wake::share::{possible_part, waking_ns};

/// What is interesting goes on for so long.
const INTERESTING_NS: u64 = 200_000_000;
/// At the end of a run, a price takes 2 to 4 ms; nobody waits longer than this for it.
const PATIENCE: Duration = Duration::from_millis(30);
/// More CPUs than this are not kept awake.
const POLLERS_MAX: usize = 8;

/// What the record says about wake-ups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct WakeUps {
    /// What one costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) price_ns: Option<u64>,
    /// What was done about them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keep_awake: Option<KeepAwakeRecord>,
}

/// Watches the wake-ups of one run.
#[derive(Debug)]
pub(crate) struct Waking {
    /// CPUs that the run may use.
    cpus: Vec<usize>,
    price: Price,
    /// The file in which it is remembered.
    place: Option<PathBuf>,
    /// Where the present window began that is asked whether the price is interesting.
    from: Totals,
    waiting_ns: u64,
    keeping: Option<Keeping>,
}

/// What is known of the price of a wake-up.
#[derive(Debug)]
enum Price {
    Unknown,
    Measuring(Receiver<u64>),
    Known(u64),
    /// It cannot be measured.
    Unavailable,
}

/// Keeping CPUs awake, as the user asked.
#[derive(Debug)]
struct Keeping {
    keeper: Keeper,
    pollers: Option<Pollers>,
    /// CPU time of pollers that have ended.
    ended_cpu_ns: u64,
    ruled_out: Option<&'static str>,
}

impl Waking {
    /// Watches the wake-ups of a run that begins now; idle CPUs are kept awake only if that is wanted.
    ///
    /// The price of a wake-up is remembered in the folder, if it is private to this user.
    pub(crate) fn new(is_keeping_wanted: bool, remember_in: Option<&Path>) -> Self {
        let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
        let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect();
        let keeping = is_keeping_wanted.then(|| Keeping {
            keeper: Keeper::new(count(&cpus)),
            pollers: None,
            ended_cpu_ns: 0,
            ruled_out: ruled_out(&cpus),
        });
        let from = Totals::default();
        let place = remember_in.and_then(price::place).filter(|_| cpus.len() > 1);
        let known = place.as_ref().and_then(|place| price::recall(place, (cpus[0], cpus[1])));
        let price = known.map_or(Price::Unknown, Price::Known);
        Self { cpus, price, place, from, waiting_ns: 0, keeping }
    }

    /// Takes in a sample that the accounts have taken in, and does what follows from it: nothing, unless CPUs are to be kept
    /// awake.
    pub(crate) fn take_in(&mut self, accounts: &Accounts, look: &Look) {
        if self.keeping.as_ref().is_none_or(|keeping| keeping.ruled_out.is_some()) {
            return;
        }
        let tasks = look.processes.iter().flat_map(|seen| &seen.tasks);
        self.waiting_ns += tasks.map(|task| task.waiting_ns).sum::<u64>();
        let mut totals = self.totals(accounts, look.at_ns);
        totals.is_fresh = look.io_was_due;
        if !matches!(self.price, Price::Known(_) | Price::Unavailable) {
            self.learn_price(&totals);
        }
        totals.spare_ns = look.io_was_due.then(|| self.spare_ns()).flatten();
        self.keep(&totals);
    }

    /// The run is over: nothing is kept awake any more. Now that CPUs have nothing else to do is the time to measure a price,
    /// unless somebody `is_in_a_hurry`.
    pub(crate) fn finish(&mut self, accounts: &Accounts, now_ns: u64, is_in_a_hurry: bool) {
        if let Some(keeping) = &mut self.keeping {
            keeping.stop();
            keeping.keeper.finish(now_ns);
        }
        let totals = self.totals(accounts, now_ns);
        let window = Window::between(&Totals::default(), &totals, count(&self.cpus));
        let is_worth_it = self.cpus.len() > 1 && window.is_worth_a_price() && !is_in_a_hurry;
        if is_worth_it && matches!(self.price, Price::Unknown) {
            let place = self.place.clone();
            self.price = self.ask(move |one, other| {
                let price_ns = price::measure_alone(one, other)?;
                place.iter().for_each(|place| price::remember(place, (one, other), price_ns));
                Ok(price_ns)
            });
        }
        if let Price::Measuring(answer) = &self.price {
            self.price = answer.recv_timeout(PATIENCE).map_or(Price::Unavailable, Price::Known);
        }
    }

    /// What the record says.
    pub(crate) fn outcome(&self) -> WakeUps {
        let price_ns = match self.price {
            Price::Known(price_ns) => Some(price_ns),
            _ => None,
        };
        let keep_awake = self.keeping.as_ref().map(|keeping| {
            let mut record = KeepAwakeRecord::default();
            record.ruled_out = keeping.ruled_out.map(str::to_owned);
            record.cpu_ns = keeping.cpu_ns();
            record.trials.clone_from(&keeping.keeper.trials);
            record
        });
        WakeUps { price_ns, keep_awake }
    }

    fn totals(&self, accounts: &Accounts, at_ns: u64) -> Totals {
        let stages = accounts.stages.iter().map(|stage| StageTotals {
            running_ns: stage.spent.running_ns,
            waited_ns: stage.spent.waited_to_go_on_ns(),
            wake_ups: stage.wakes.wake_ups,
        });
        let moved = accounts.stages.iter().filter_map(|stage| stage.io.total);
        Totals {
            at_ns,
            stages: stages.collect(),
            cpu_ns: accounts.stages.iter().map(|stage| stage.cpu_ns).sum(),
            waiting_ns: self.waiting_ns,
            bytes: moved.map(|io| io.read_bytes + io.written_bytes).sum(),
            spare_ns: None,
            is_fresh: false,
        }
    }

    /// Time in which no CPU of the machine was used by anything but pollers.
    fn spare_ns(&self) -> Option<u64> {
        let tick_ns = 1_000_000_000 / clock_ticks_per_second().max(1);
        let idle_ns = Root::system().cpu_times()?.idle_ticks * tick_ns;
        Some(idle_ns + self.keeping.as_ref().map_or(0, Keeping::cpu_ns))
    }

    /// Has the price measured when wake-ups become interesting, and takes it in when it is known. Stages share the CPUs with the
    /// measurement meanwhile, so it comes out too low, and is not remembered.
    fn learn_price(&mut self, now: &Totals) {
        if let Price::Measuring(answer) = &self.price {
            match answer.try_recv() {
                Ok(price_ns) => self.price = Price::Known(price_ns),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => self.price = Price::Unavailable,
            }
            return;
        }
        let window = Window::between(&self.from, now, count(&self.cpus));
        if window.length_ns < INTERESTING_NS {
            return;
        }
        self.from = now.clone();
        if window.most_wake_ups_per_second() >= INTERESTING_WAKE_UPS && window.spare_cpus() >= 1.0 {
            self.price = self.ask(price::measure);
        }
    }

    /// Has the price between two CPUs measured on a thread of its own.
    fn ask(&self, measure: impl FnOnce(usize, usize) -> io::Result<u64> + Send + 'static) -> Price {
        let (one, other) = (self.cpus[0], self.cpus[1]);
        let (sender, receiver) = channel();
        let measuring = thread::Builder::new().name("wake-up price".to_owned()).spawn(move || {
            if let Ok(price_ns) = measure(one, other) {
                let _ = sender.send(price_ns);
            }
        });
        if measuring.is_ok() { Price::Measuring(receiver) } else { Price::Unavailable }
    }

    fn keep(&mut self, now: &Totals) {
        let price_ns = match self.price {
            Price::Known(price_ns) => Some(price_ns),
            _ => None,
        };
        let Some(keeping) = &mut self.keeping else { return };
        match keeping.keeper.decide(now, price_ns) {
            Some(Order::Start) => {
                let cpus = &self.cpus[..self.cpus.len().min(POLLERS_MAX)];
                keeping.pollers = Some(Pollers::start(cpus));
            }
            Some(Order::Stop) => keeping.stop(),
            None => {}
        }
    }
}

impl Keeping {
    fn cpu_ns(&self) -> u64 {
        self.ended_cpu_ns + self.pollers.as_ref().map_or(0, Pollers::cpu_ns)
    }

    fn stop(&mut self) {
        self.ended_cpu_ns = self.cpu_ns();
        self.pollers = None;
    }
}

/// Why idle CPUs must not be kept awake here, if there is a reason.
fn ruled_out(cpus: &[usize]) -> Option<&'static str> {
    if cpus.len() < 2 {
        Some("the run may use only one CPU")
    } else if Root::system().has_cpu_quota() {
        Some("a CPU quota would count the time that CPUs are kept awake")
    } else {
        None
    }
}

fn count(cpus: &[usize]) -> u32 {
    u32::try_from(cpus.len()).unwrap_or(u32::MAX)
}
