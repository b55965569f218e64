//! Jobs out of the JSON. A field that is not there is unknown, never a mistake: versions differ.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::output::{FioDirection, FioJob, FioLatency};
use crate::disk::Options;
use crate::disk::bins::{Bins, value_of};

/// What fio adds up itself beside the hosts of `--client`.
const ALL_CLIENTS: &str = "All clients";

const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];

/// All jobs with results.
pub(super) fn all(root: &Value, remarks: &mut Vec<String>) -> Vec<FioJob> {
    let globals = options(root.get("global options"));
    let of_clients = list(root, "client_stats");
    let jobs = if of_clients.is_empty() { list(root, "jobs") } else { of_clients };
    let mut of_hosts = Vec::new();
    for value in jobs {
        if text(value, "jobname") == ALL_CLIENTS {
            continue;
        }
        let globals = host_options(root, value).unwrap_or_else(|| globals.clone());
        of_hosts.push(job(value, &globals));
    }
    let idle = of_hosts.iter().filter(|job| job.directions.is_empty() && job.error == 0).count();
    if idle > 0 {
        remarks.push(format!("{idle} jobs without a request were left out"));
    }
    of_hosts.retain(|job| !job.directions.is_empty() || job.error != 0);
    of_hosts
}

/// Of `--client`, the global options that a host was given.
fn host_options(root: &Value, job: &Value) -> Option<Options> {
    let host = job.get("hostname")?;
    let all = list(root, "client_stats").iter().chain(list(root, "global options"));
    let own = all.filter(|value| value.get("hostname") == Some(host));
    own.filter_map(|value| value.get("global options")).map(|value| options(Some(value))).next()
}

fn job(value: &Value, globals: &Options) -> FioJob {
    let mut all = globals.clone();
    all.set_all(&options(value.get("job options")));
    let directions = DIRECTIONS.iter().filter_map(|name| direction(name, value.get(*name)?));
    let steady = value.get("steadystate").and_then(|steady| steady.get("attained"));
    FioJob {
        name: text(value, "jobname").to_owned(),
        host: value.get("hostname").and_then(Value::as_str).map(str::to_owned),
        error: value.get("error").and_then(Value::as_i64).unwrap_or(0),
        options: all,
        directions: directions.collect(),
        user_cpu_percent: number(value, "usr_cpu").unwrap_or(0.0),
        system_cpu_percent: number(value, "sys_cpu").unwrap_or(0.0),
        is_steady: steady.and_then(Value::as_u64).map(|attained| attained != 0),
    }
}

fn direction(name: &str, value: &Value) -> Option<FioDirection> {
    let requests = whole(value, "total_ios").unwrap_or(0);
    let bytes = whole(value, "io_bytes").or_else(|| Some(whole(value, "io_kbytes")? << 10));
    let bytes = bytes.unwrap_or(0);
    if requests == 0 && bytes == 0 {
        return None;
    }
    let iops = number(value, "iops").unwrap_or(0.0);
    let deviation = number(value, "iops_stddev").zip(whole(value, "iops_samples"));
    // With a log of single requests each of them is a sample, of a rate of 1.
    let is_rate =
        number(value, "iops_mean").is_some_and(|mean| mean > iops / 2.0 && mean < iops * 2.0);
    Some(FioDirection {
        name: name.to_owned(),
        requests,
        bytes,
        runtime_ms: whole(value, "runtime").unwrap_or(0),
        iops,
        bytes_per_s: number(value, "bw_bytes")
            .or_else(|| Some(number(value, "bw")? * 1024.0))
            .unwrap_or(0.0),
        iops_samples: deviation
            .filter(|(deviation, samples)| is_rate && *deviation > 0.0 && *samples > 0),
        latency: latency(value),
    })
}

/// Completion latency where fio measured its percentiles, else the total.
fn latency(value: &Value) -> FioLatency {
    let of = |name: &str| value.get(name).filter(|latency| whole(latency, "max").is_some());
    let names = ["clat_ns", "lat_ns"];
    let has_percentiles =
        |name: &str| of(name).is_some_and(|latency| latency.get("percentile").is_some());
    let wanted = names.into_iter().find(|name| has_percentiles(name));
    let Some(name) = wanted.or_else(|| names.into_iter().find(|name| of(name).is_some())) else {
        return FioLatency::default();
    };
    let latency = &value[name];
    let percentiles: Vec<(f64, u64)> = pairs(latency.get("percentile"));
    // In 3.0 bins stood among the percentiles.
    let within = latency.get("percentile").and_then(|all| all.get("bins"));
    let mut of = FioLatency {
        of: name.trim_end_matches("_ns").to_owned(),
        min_ns: whole(latency, "min").unwrap_or(0),
        max_ns: whole(latency, "max").unwrap_or(0),
        mean_ns: number(latency, "mean").unwrap_or(0.0),
        percentiles: percentiles
            .into_iter()
            .filter(|(percent, ns)| *percent > 0.0 && *ns > 0)
            .collect(),
        bins: bins(latency.get("bins").or(within)),
    };
    of.percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    of
}

/// The keys of bins are their values; of versions that also say how many bins there are, their places.
fn bins(value: Option<&Value>) -> Bins {
    let mut bins = Bins::default();
    let Some(Value::Object(all)) = value else { return bins };
    let by_place = all.contains_key("FIO_IO_U_PLAT_NR") || all.contains_key("FIO_IO_U_PLAT_BITS");
    for (key, requests) in counts(all) {
        bins.add(if by_place { value_at(key) } else { key }, requests);
    }
    bins
}

fn counts(all: &Map<String, Value>) -> impl Iterator<Item = (u64, u64)> {
    all.iter().filter_map(|(key, requests)| Some((key.parse().ok()?, requests.as_u64()?)))
}

/// The value of the bin at a place; source: fio, stat.c, `plat_idx_to_val`.
fn value_at(place: u64) -> u64 {
    if place < 128 {
        return place;
    }
    let lost = (place >> 6) - 1;
    value_of((1_u64 << (lost + 6).min(62)) + ((place % 64) << lost.min(56)))
}

fn pairs(value: Option<&Value>) -> Vec<(f64, u64)> {
    let Some(Value::Object(all)) = value else { return Vec::new() };
    all.iter().filter_map(|(key, ns)| Some((key.parse().ok()?, ns.as_u64()?))).collect()
}

fn options(value: Option<&Value>) -> Options {
    let Some(Value::Object(all)) = value else { return Options::default() };
    // By name: the JSON library keeps no order, and neither do versions of fio.
    let all: BTreeMap<&String, &Value> = all.iter().collect();
    all.into_iter()
        .map(|(name, value)| {
            (name, value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        })
        .collect()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or("")
}

fn number(value: &Value, name: &str) -> Option<f64> {
    value.get(name)?.as_f64()
}

fn whole(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_u64()
}
