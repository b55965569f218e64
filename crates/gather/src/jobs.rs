//! Jobs with what is known about each, grouped by rule and host.

use std::collections::{BTreeMap, HashMap};

use crate::cause::Causes;
use crate::name::name;
use crate::run::Run;
use crate::shape::{Shape, shape};

/// Characters of a name in a sentence.
const LONGEST_NAME: usize = 60;

/// A job: a run with what follows from it alone.
#[derive(Clone, Debug)]
pub(crate) struct Job<'a> {
    pub(crate) run: &'a Run,
    /// Its rule, by its place in [`Jobs::rules`].
    pub(crate) rule: usize,
    /// Its host, by its place in [`Jobs::hosts`].
    pub(crate) host: usize,
    /// Where its time went.
    pub(crate) causes: Causes,
}

impl Job<'_> {
    /// Time from start to end; 0 when unknown.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        self.run.elapsed_ns.unwrap_or(0)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.run.exit_status.is_some_and(|status| status != 0)
    }

    /// Whether its time can be compared with that of others.
    pub(crate) fn is_comparable(&self) -> bool {
        !self.run.is_part && !self.has_failed() && self.elapsed_ns() > 0
    }

    /// Start and end, in nanoseconds since 1970; `None` when either is unknown.
    pub(crate) fn span(&self) -> Option<(u64, u64)> {
        let start = self.run.started_unix_ns;
        let elapsed = self.run.elapsed_ns?;
        (start > 0).then(|| (start, start.saturating_add(elapsed)))
    }
}

/// What is repeated.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// What it is called: its name or the shape of its command.
    pub(crate) name: String,
    /// Whether variables of its jobs told the name.
    pub(crate) is_named: bool,
    /// The command of one of its jobs.
    pub(crate) example: String,
    /// Whether its jobs start others, so that their time contains that of others.
    pub(crate) starts_jobs: bool,
}

impl Rule {
    /// How a sentence names it: ``rule align``, `` `sort FILE` ``.
    pub(crate) fn in_words(&self) -> String {
        if self.is_named { format!("rule {}", self.short()) } else { self.short() }
    }

    /// Its name in a list, cut; a command is between backquotes.
    pub(crate) fn short(&self) -> String {
        let mut name = self.name.clone();
        if let Some((end, _)) = name.char_indices().nth(LONGEST_NAME) {
            name.truncate(end);
            name.push('…');
        }
        if self.is_named { name } else { format!("`{name}`") }
    }
}

/// What two jobs of one rule have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    name: Option<String>,
    shape: String,
}

/// All jobs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs<'a> {
    pub(crate) all: Vec<Job<'a>>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) hosts: Vec<String>,
    pub(crate) keys: Vec<Key>,
}

impl<'a> Jobs<'a> {
    /// Groups the runs.
    pub(crate) fn of(runs: impl IntoIterator<Item = &'a Run>) -> Self {
        let mut jobs = Self::default();
        let mut shapes: HashMap<&str, Shape> = HashMap::new();
        let (mut rules, mut hosts) = (HashMap::new(), HashMap::new());
        for run in runs {
            let shape = shapes.entry(&run.command).or_insert_with(|| shape(&run.command));
            let (name, starts_jobs) = (name(&run.variables), shape.starts_jobs());
            let shape = if name.is_some() { &shape.programs } else { &shape.text };
            let key = Key { name, shape: shape.clone() };
            let rule = *rules.entry(key.clone()).or_insert_with(|| {
                jobs.keys.push(key);
                jobs.rules.push(Rule {
                    name: String::new(),
                    is_named: false,
                    example: run.command.clone(),
                    starts_jobs,
                });
                jobs.rules.len() - 1
            });
            let host = *hosts.entry(run.host.as_str()).or_insert_with(|| {
                jobs.hosts.push(run.host.clone());
                jobs.hosts.len() - 1
            });
            jobs.all.push(Job { run, rule, host, causes: Causes::of(run) });
        }
        jobs.call_rules();
        jobs
    }

    /// Names each rule so that no two have the same name.
    fn call_rules(&mut self) {
        let mut uses: BTreeMap<Option<String>, usize> = BTreeMap::new();
        for key in &self.keys {
            *uses.entry(key.name.clone()).or_default() += 1;
        }
        for (rule, key) in self.rules.iter_mut().zip(&self.keys) {
            rule.is_named = key.name.is_some();
            rule.name = match &key.name {
                Some(name) if uses[&key.name] == 1 => name.clone(),
                Some(name) => format!("{name}: {}", key.shape),
                None => key.shape.clone(),
            };
        }
    }

    /// The jobs of a rule whose times can be compared.
    pub(crate) fn siblings(&self) -> Vec<Vec<usize>> {
        let mut groups = vec![Vec::new(); self.rules.len()];
        for (place, job) in self.all.iter().enumerate().filter(|(_, job)| job.is_comparable()) {
            groups[job.rule].push(place);
        }
        groups
    }

    /// How a sentence names a host.
    pub(crate) fn host_in_words(&self, host: usize) -> String {
        match self.hosts[host].as_str() {
            "" => "the host without a name".to_owned(),
            name => format!("host {name}"),
        }
    }

    /// Time of all jobs together, in nanoseconds.
    pub(crate) fn total_ns(&self) -> u64 {
        self.all.iter().fold(0, |sum, job| sum.saturating_add(job.elapsed_ns()))
    }
}
