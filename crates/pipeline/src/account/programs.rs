//! Which program did the work of a stage: `gzip` in `sh -c 'gzip -1; true'`.

use std::collections::BTreeMap;

use crate::sample::Environment;
use crate::topology::process::{Process, Program};

/// CPU time of the processes of a stage, by the program they ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct Programs {
    /// CPU time of processes that the stage began with, and of copies of them.
    leaders_ns: u64,
    /// By the name of the program.
    others: BTreeMap<String, Usage>,
    /// Of `fullbore par` and all that works for it, with the environment of its copies.
    par_ns: u64,
    copies: Option<Environment>,
}

#[derive(Clone, Debug)]
struct Usage {
    cpu_ns: u64,
    processes: usize,
    program: MainProgram,
}

/// What did the work of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MainProgram {
    /// Its name alone when it ran with several arguments.
    pub(crate) words: Vec<String>,
    /// What is known of its environment, wherever it ran.
    pub(crate) environment: Environment,
    /// How many copies of it `fullbore par` ran at the same time, at least.
    pub(crate) copies: Option<u32>,
}

/// Programs told apart; a stage that runs more has no main one.
const PROGRAMS_MAX: usize = 64;

/// A program that used less of the CPU time does not stand for its stage.
const MAIN_SHARE: f64 = 0.8;

/// Of more processes than this, it matters more that something starts them one by one.
const MAIN_PROCESSES_MAX: usize = 16;

/// Less CPU time is no work.
const MAIN_NS: u64 = 10_000_000;

impl Programs {
    /// Adds what a process used.
    pub(crate) fn add(&mut self, process: &Process, cpu_ns: u64) {
        if let Some(par) = process.kin.par {
            self.par_ns += cpu_ns;
            if par != process.pid && process.program == Program::Own {
                let known = self.copies.take();
                let environment = process.environment.clone();
                self.copies =
                    Some(known.map_or(environment, |known| known.common(&process.environment)));
            }
        } else if process.is_leader || process.program == Program::Parents {
            self.leaders_ns += cpu_ns;
        } else {
            self.add_other(&process.words, &process.environment, cpu_ns);
        }
    }

    fn add_other(&mut self, words: &[String], environment: &Environment, cpu_ns: u64) {
        let Some(program) = words.first() else { return };
        let name = program.rsplit('/').next().unwrap_or(program);
        if let Some(usage) = self.others.get_mut(name) {
            usage.cpu_ns += cpu_ns;
            usage.processes += 1;
            let known = &mut usage.program;
            if known.words != words {
                known.words.truncate(1);
            }
            known.environment = std::mem::take(&mut known.environment).common(environment);
        } else if self.others.len() < PROGRAMS_MAX {
            let environment = environment.clone();
            let program = MainProgram { words: words.to_vec(), environment, copies: None };
            let usage = Usage { cpu_ns, processes: 1, program };
            self.others.insert(name.to_owned(), usage);
        } else {
            self.leaders_ns += cpu_ns;
        }
    }

    /// Takes over another turn of the same command.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.leaders_ns += other.leaders_ns;
        self.par_ns += other.par_ns;
        self.copies = self.copies.take().or(other.copies);
        for (name, usage) in other.others {
            self.add_other(&usage.program.words, &usage.program.environment, usage.cpu_ns);
            if let Some(known) = self.others.get_mut(&name) {
                known.processes += usage.processes - 1;
            }
        }
    }

    /// The environment of the copies of `fullbore par`, if the stage began with it or that used nearly all of the CPU time.
    pub(crate) fn copies(&self, began_with_it: bool) -> Option<Environment> {
        let is_main =
            self.par_ns >= MAIN_NS && self.par_ns as f64 >= MAIN_SHARE * self.sum_ns() as f64;
        (began_with_it || is_main).then(|| self.copies.clone().unwrap_or_default())
    }

    fn sum_ns(&self) -> u64 {
        self.leaders_ns + self.par_ns + self.others.values().map(|one| one.cpu_ns).sum::<u64>()
    }

    /// The program that slept in a stage that did little else: the sleep(1) of a loop.
    pub(crate) fn sleeper(self) -> Option<MainProgram> {
        self.others.into_iter().find(|(name, _)| name == "sleep").map(|(_, usage)| usage.program)
    }

    /// The program that used nearly all of the CPU time, if the stage did not begin with it.
    pub(crate) fn main(self) -> Option<MainProgram> {
        let sum_ns = self.sum_ns();
        let main = self.others.into_values().max_by_key(|usage| usage.cpu_ns)?;
        let is_main = main.cpu_ns >= MAIN_NS && main.cpu_ns as f64 >= MAIN_SHARE * sum_ns as f64;
        (is_main && main.processes <= MAIN_PROCESSES_MAX).then_some(main.program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn programs(leaders_ms: u64, others: &[(&str, u64)]) -> Option<Vec<String>> {
        let mut programs = Programs { leaders_ns: leaders_ms * 1_000_000, ..Programs::default() };
        let unknown = Environment::default();
        for (text, ms) in others {
            programs.add_other(&words(text), &unknown, ms * 1_000_000);
        }
        programs.main().map(|main| main.words)
    }

    #[test]
    fn an_environment_counts_where_all_processes_of_the_program_have_the_same() {
        let with = |locale: &str| Environment {
            locale: Some(locale.to_owned()),
            ..Environment::default()
        };
        let both = |one: &str, other: &str| {
            let mut programs = Programs::default();
            programs.add_other(&words("sort a"), &with(one), 50_000_000);
            programs.add_other(&words("sort b"), &with(other), 50_000_000);
            programs.main().unwrap().environment.locale
        };
        assert_eq!(both("C", "C").as_deref(), Some("C"));
        assert_eq!(both("C", "de_DE.UTF-8"), None);
    }

    #[test]
    fn the_program_that_did_nearly_everything_stands_for_its_stage() {
        assert_eq!(programs(1, &[("gzip -1", 900), ("true", 1)]), Some(words("gzip -1")));
        assert_eq!(programs(1, &[("gzip -1", 500), ("xz -1", 500)]), None);
        assert_eq!(programs(500, &[("gzip -1", 900)]), None, "the shell worked, too");
        assert_eq!(programs(0, &[("gzip -1", 2)]), None, "too little to tell");
        assert_eq!(programs(9, &[]), None);
    }

    #[test]
    fn a_stage_that_sleeps_has_the_program_that_did() {
        let mut programs = Programs::default();
        for (text, ms) in [("sed -n 1p", 40), ("sleep 0.4", 1), ("sleep 0.5", 1)] {
            programs.add_other(&words(text), &Environment::default(), ms * 1_000_000);
        }
        assert_eq!(programs.sleeper().unwrap().words, ["sleep"]);
        assert_eq!(Programs::default().sleeper(), None);
    }

    #[test]
    fn processes_with_other_arguments_share_the_name_of_their_program() {
        let found = programs(1, &[("/bin/gzip a", 400), ("/bin/gzip b", 400)]);
        assert_eq!(found, Some(words("/bin/gzip")));
        assert_eq!(programs(1, &[("gzip a", 40); 17]), None, "a loop is about the loop");
    }
}
