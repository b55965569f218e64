//! Makes workflows of known faults from a record as fullbore writes it: noise, different inputs, retries, failed jobs, missing
//! fields, hosts of different speed with clocks apart by seconds.

use std::fs;
use std::path::Path;

use fullbore_gather::{Run, read};
use serde_json::{Value, json};

/// A small generator of random numbers (xorshift64*), the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From `low` to below `high`.
    pub(crate) fn among(&mut self, low: u64, high: u64) -> u64 {
        low + (self.unit() * (high - low) as f64) as u64
    }

    /// Normally distributed: the sum of twelve uniform ones.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    pub(crate) fn happens(&mut self, share: f64) -> bool {
        self.unit() < share
    }
}

/// Why a job takes its time besides its own work, with the field of a record that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    Disk,
    Network,
    Cpu,
    /// A slower processor.
    Running,
}

/// What is wrong in a workflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fault {
    /// Jobs on this host take so many times as long.
    pub(crate) slow_host: Option<(usize, f64, Option<Blame>)>,
    /// Jobs of this rule take so many times as long.
    pub(crate) slow_rule: Option<(usize, f64, Option<Blame>)>,
    /// So many jobs of this rule take so many times as long.
    pub(crate) outliers: Option<(usize, usize, f64)>,
    /// Jobs on this host read so many times as much.
    pub(crate) more_input: Option<(usize, f64)>,
}

/// A workflow to be made.
pub(crate) struct Seeded {
    pub(crate) random: Random,
    pub(crate) hosts: usize,
    pub(crate) slots: usize,
    pub(crate) rules: Vec<SeededRule>,
    pub(crate) fault: Fault,
    template: Value,
}

/// What is repeated in it.
pub(crate) struct SeededRule {
    pub(crate) name: String,
    is_named: bool,
    jobs: usize,
    /// For an input of 100 MB.
    seconds: f64,
    /// Time grows with the input to this power.
    power: f64,
    noise: f64,
    inputs_differ: f64,
    disk_share: f64,
}

const NAMES: [&str; 8] =
    ["align", "sort_bam", "call", "annotate", "index", "merge", "plot", "fetch"];

pub(crate) const COMMANDS: [&str; 8] = [
    "bwa mem -t 2 ref.fa in/s{n}.fq | samtools view -b > out/s{n}.bam",
    "samtools sort -@2 out/s{n}.bam -o sorted/s{n}.bam",
    "bcftools mpileup -f ref.fa sorted/s{n}.bam | bcftools call -mv > vcf/s{n}.vcf",
    "vep --input vcf/s{n}.vcf --output ann/s{n}.txt",
    "zcat logs/{n}.gz | awk '{print $1}' | sort | uniq -c > counts/{n}.txt",
    "sort -m parts/{n}/*.txt | gzip -6 > merged/{n}.gz",
    "Rscript plot.R --sample {n} ann/s{n}.txt",
    "curl -s https://example.org/data/{n}.json | jq -c '.[]' > raw/{n}.jsonl",
];

impl Seeded {
    /// A clean workflow.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        for _ in 0..8 {
            random.unit();
        }
        let hosts = random.among(3, 9) as usize;
        let count = random.among(3, 8) as usize;
        let is_named = random.happens(0.5);
        let rule = |place: usize, random: &mut Random| SeededRule {
            name: NAMES[place].to_owned(),
            is_named,
            jobs: hosts * random.among(5, 16) as usize,
            seconds: 10.0 + 50.0 * random.unit(),
            power: if random.happens(0.3) { 0.0 } else { 0.6 + 0.5 * random.unit() },
            noise: 0.04 + 0.16 * random.unit(),
            inputs_differ: 0.9 * random.unit(),
            disk_share: 0.3 * random.unit(),
        };
        let rules = (0..count).map(|place| rule(place, &mut random)).collect();
        let slots = random.among(2, 5) as usize;
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../pipeline/tests/recordings/gzip_bottleneck.record.json");
        let template = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        Self { random, hosts, slots, rules, fault: Fault::default(), template }
    }

    /// How many times as long a rule must take to cost 55 to 75 % of the time of all jobs.
    pub(crate) fn times_for_share(&mut self, slow: usize) -> f64 {
        let cost = |rule: &SeededRule| rule.jobs as f64 * rule.seconds;
        let others: f64 = self.rules.iter().map(cost).sum::<f64>() - cost(&self.rules[slow]);
        let share = 0.55 + 0.2 * self.random.unit();
        share / (1.0 - share) * others / cost(&self.rules[slow])
    }

    pub(crate) fn host(place: usize) -> String {
        format!("node{:02}", place + 1)
    }

    /// Runs the jobs in the slots of the hosts, in the order of their rules; returns what fullbore reads of their records.
    pub(crate) fn run(&mut self) -> Vec<Run> {
        let start_ns = 1_780_000_000_000_000_000_u64;
        let clocks: Vec<f64> = (0..self.hosts).map(|_| 4.0 * self.random.unit() - 2.0).collect();
        let speeds: Vec<f64> =
            (0..self.hosts).map(|_| (0.03 * self.random.normal()).exp()).collect();
        let mut free = vec![0.0_f64; self.hosts * self.slots];
        let mut runs = Vec::new();
        let outliers = self.chosen_outliers();
        for rule in 0..self.rules.len() {
            // Jobs of the next rule begin when some of this one have ended.
            for number in 0..self.rules[rule].jobs {
                let mut tries = 1 + u32::from(self.random.happens(0.02));
                while tries > 0 {
                    tries -= 1;
                    let slot = (0..free.len()).min_by(|a, b| free[*a].total_cmp(&free[*b]));
                    let slot = slot.unwrap();
                    let host = slot / self.slots;
                    let is_outlier = outliers.contains(&(rule, number)) && tries == 0;
                    let mut record = self.record(rule, number, host, speeds[host], is_outlier);
                    let mut seconds = record["elapsed_ns"].as_u64().unwrap() as f64 / 1e9;
                    if tries > 0 {
                        seconds *= self.random.unit();
                        record["exit_status"] = json!(1);
                        record["elapsed_ns"] = json!((seconds * 1e9) as u64);
                    }
                    let started = (free[slot] + clocks[host] + 10.0) * 1e9;
                    record["started_unix_ns"] = json!(start_ns + started as u64);
                    free[slot] += seconds + 0.05 + 0.1 * self.random.unit();
                    let file = format!("{}/{rule}-{number}-{tries}.json", Self::host(host));
                    runs.push(read(record.to_string().as_bytes(), &file).unwrap());
                }
            }
        }
        runs
    }

    fn chosen_outliers(&mut self) -> Vec<(usize, usize)> {
        let Some((rule, count, _)) = self.fault.outliers else { return Vec::new() };
        let jobs = self.rules[rule].jobs;
        let step = jobs / count;
        (0..count)
            .map(|place| (rule, place * step + self.random.among(0, step as u64) as usize))
            .collect()
    }

    /// A record of one job.
    fn record(
        &mut self,
        rule: usize,
        number: usize,
        host: usize,
        speed: f64,
        is_outlier: bool,
    ) -> Value {
        let known = &self.rules[rule];
        let mut bytes = 1e8 * (known.inputs_differ * self.random.normal()).exp();
        if let Some((_, more)) = self.fault.more_input.filter(|(slow, _)| *slow == host) {
            bytes *= more;
        }
        let own = known.seconds * (bytes / 1e8).powf(known.power) * speed;
        let own = own * (known.noise * self.random.normal()).exp();
        let disk = own * known.disk_share * self.random.unit();
        let mut spent = [own - disk, disk, 0.0, 0.02 * own * self.random.unit()];
        let mut slower = |times: f64, blame: Option<Blame>| {
            let extra = own * (times - 1.0);
            let at = match blame.unwrap_or(Blame::Disk) {
                Blame::Running => 0,
                Blame::Disk => 1,
                Blame::Network => 2,
                Blame::Cpu => 3,
            };
            spent[at] += extra;
        };
        if let Some((_, times, blame)) = self.fault.slow_host.filter(|(slow, ..)| *slow == host) {
            slower(times, blame);
        }
        if let Some((_, times, blame)) = self.fault.slow_rule.filter(|(slow, ..)| *slow == rule) {
            slower(times, blame);
        }
        if let Some((_, _, times)) = self.fault.outliers.filter(|_| is_outlier) {
            slower(times, None);
        }
        self.filled(rule, number, host, bytes, spent)
    }

    /// The template with these figures: seconds on a CPU, waiting for disk, network and a CPU.
    fn filled(
        &mut self,
        rule: usize,
        number: usize,
        host: usize,
        bytes: f64,
        spent: [f64; 4],
    ) -> Value {
        let all: f64 = spent.iter().sum();
        let percent = spent.map(|seconds| seconds / all * 96.0);
        let known = &self.rules[rule];
        let mut record = self.template.clone();
        record["command"] = json!(COMMANDS[rule].replace("{n}", &number.to_string()));
        record["elapsed_ns"] = json!((all * 1e9) as u64);
        record["host"]["name"] = json!(Self::host(host));
        if known.is_named {
            let name = format!("{}_{number}", known.name);
            record["job"] = json!({"variables": {"SLURM_JOB_ID": format!("{}", 1000 + number), "SLURM_JOB_NAME": name}});
        }
        let count = record["stages"].as_array().unwrap().len();
        for stage in 0..count {
            record["stages"][stage]["life_ns"] = json!((all * 1e9) as u64);
        }
        let limiting = record["findings"][0]["stage"].as_u64().unwrap() as usize - 1;
        record["stages"][0]["read_bytes"] = json!(bytes as u64);
        let stage = &mut record["stages"][limiting];
        stage["running_percent"] = json!(percent[0]);
        stage["runnable_percent"] = json!(percent[3]);
        stage["blocked_reading_percent"] = json!(4.0);
        stage["blocked_writing_percent"] = json!(0.0);
        stage["blocked_other_percent"] = json!(percent[1] + percent[2]);
        stage["blocked_other_causes"] = json!({"disk": percent[1], "network": percent[2]});
        // Not every record says everything.
        if self.random.happens(0.02) {
            record["exit_status"] = Value::Null;
        }
        if self.random.happens(0.02) {
            record["stages"][0]["read_bytes"] = Value::Null;
        }
        if self.random.happens(0.01) {
            record["findings"] = json!([]);
        }
        if self.random.happens(0.01) {
            record.as_object_mut().unwrap().remove("job");
        }
        record
    }
}
