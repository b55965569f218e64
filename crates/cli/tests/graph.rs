//! Who writes to whom, beside lsfd(1) of util-linux: random topologies of pipes, FIFOs and socket pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

use fullbore_record::RunRecord;
use serde_json::Value;

use crate::processes::marked;
use crate::sandbox::{Sandbox, finish, status_text};

const TOPOLOGIES: u32 = 200;

/// Who writes a channel and who reads it, by number of the stage.
type Edge = (BTreeSet<usize>, BTreeSet<usize>);

/// Processes that sleep and hold ends.
struct Topology {
    maker: Child,
    /// As long as it is open, they live.
    input: Option<ChildStdin>,
    pids: Vec<i64>,
    socket_pairs: Vec<Edge>,
}

impl Topology {
    fn make(place: &Sandbox, seed: u32) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graph/topology.py");
        let mut command = place.command("python3");
        command.arg(script).arg(seed.to_string()).arg(place.path(""));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut maker = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(maker.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let made: Value = serde_json::from_str(&line).unwrap();
        let numbers =
            |value: &Value| -> Vec<i64> { serde_json::from_value(value.clone()).unwrap() };
        let side =
            |value: &Value| -> BTreeSet<usize> { serde_json::from_value(value.clone()).unwrap() };
        let channels = made["channels"].as_array().unwrap().iter();
        let pairs = channels.filter(|channel| channel["kind"] == "socket pair");
        let socket_pairs = pairs.map(|pair| (side(&pair["writers"]), side(&pair["readers"])));
        Self {
            input: maker.stdin.take(),
            pids: numbers(&made["pids"]),
            socket_pairs: socket_pairs.collect(),
            maker,
        }
    }

    /// What lsfd sees of the pipes and FIFOs; it does not know which sockets are a pair.
    fn by_lsfd(&self) -> Vec<Edge> {
        let pids = self.pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let mut command = Command::new("lsfd");
        command.args(["--json", "-o", "PID,TYPE,INODE,MODE,ASSOC", "-p", &pids]);
        let output = command.output().unwrap();
        let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut edges: BTreeMap<String, Edge> = BTreeMap::new();
        for file in seen["lsfd"].as_array().unwrap() {
            if file["type"] != "FIFO" {
                continue;
            }
            let process = self.pids.iter().position(|pid| file["pid"].as_i64() == Some(*pid));
            let edge = edges.entry(file["inode"].to_string()).or_default();
            let mode = file["mode"].as_str().unwrap();
            if mode.starts_with("-w") {
                edge.0.insert(process.unwrap());
            }
            if mode.starts_with('r') {
                edge.1.insert(process.unwrap());
            }
        }
        edges.into_values().collect()
    }

    /// The edges that connect different stages with a process, directly or through others; and these stages.
    fn around(&self, start: usize) -> (BTreeSet<usize>, BTreeSet<Edge>) {
        let edges = [self.by_lsfd(), self.socket_pairs.clone()].concat();
        let is_for_itself = |edge: &Edge| edge.0 == edge.1 && edge.0.len() == 1;
        let edges: Vec<Edge> = edges.into_iter().filter(|edge| !is_for_itself(edge)).collect();
        let mut found = BTreeSet::from([start]);
        loop {
            let touches = |edge: &&Edge| edge.0.union(&edge.1).any(|stage| found.contains(stage));
            let near: BTreeSet<Edge> = edges.iter().filter(touches).cloned().collect();
            let more = near.iter().flat_map(|edge| edge.0.union(&edge.1)).copied();
            let more: BTreeSet<usize> = more.chain([start]).collect();
            if more == found {
                return (found, near);
            }
            found = more;
        }
    }
}

impl Drop for Topology {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.maker.wait();
    }
}

/// Which number a stage has in its topology: it sleeps for so many seconds over 100,000.
fn number(command: &str) -> Option<usize> {
    let seconds: usize = command.strip_prefix("sleep ")?.parse().ok()?;
    seconds.checked_sub(100_000)
}

fn by_us(record: &RunRecord) -> (BTreeSet<usize>, BTreeSet<Edge>) {
    let named: BTreeMap<u32, usize> = record
        .stages
        .iter()
        .map(|stage| (stage.stage, number(&stage.command).unwrap_or(usize::MAX)))
        .collect();
    let side = |stages: &[u32]| stages.iter().map(|stage| named[stage]).collect();
    let edges = record.pipes.iter().map(|pipe| (side(&pipe.writers), side(&pipe.readers)));
    (named.values().copied().collect(), edges.collect())
}

#[test]
fn attach_sees_the_edges_that_lsfd_sees() {
    require_programs!("lsfd", "python3");
    let mut wrong = Vec::new();
    let mut several = 0;
    for seed in 0..TOPOLOGIES {
        let place = Sandbox::new();
        let topology = Topology::make(&place, seed);
        let start = seed as usize % topology.pids.len();
        let expected = topology.around(start);
        if expected.0.len() > 1 {
            several += 1;
            let pid = topology.pids[start].to_string();
            let report = place.path("report.json");
            let mut command = place.fullbore(&["attach", "-q", "--for", "100ms", "--report"]);
            command.arg(&report).arg(&pid);
            let ended = finish(command);
            if status_text(ended.status) == "exit 0" {
                let record = fullbore_record::read(&fs::read_to_string(report).unwrap()).unwrap();
                let seen = by_us(&record);
                if seen != expected {
                    wrong.push(format!("{seed}: lsfd {expected:?}, attach {seen:?}"));
                }
            } else {
                wrong.push(format!("{seed}: {}", ended.stderr));
            }
        }
        for process in marked(place.mark()) {
            process.kill();
        }
    }
    assert!(several * 2 > TOPOLOGIES, "only {several} have edges");
    assert!(wrong.is_empty(), "{} of {several}:\n{}", wrong.len(), wrong.join("\n"));
}
