//! speedscope's file format: <https://www.speedscope.app/file-format-schema.json>.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::formats::paths::{own_times, stage_name, whole};
use crate::tower::Profile;

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: &'a str,
    shared: Shared<'a>,
    profiles: Vec<Sampled>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Vec<Vec<usize>>,
    weights: Vec<u64>,
}

pub(super) fn write(profile: &Profile, to: &mut impl Write) -> io::Result<()> {
    let mut frames = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut profiles = Vec::new();
    for tower in &profile.towers {
        let (mut samples, mut weights) = (Vec::new(), Vec::new());
        for (path, own_ns) in own_times(&tower.root) {
            let stack = path.iter().map(|node| {
                *known.entry(&node.name).or_insert_with(|| {
                    frames.push(Frame { name: &node.name });
                    frames.len() - 1
                })
            });
            samples.push(stack.collect());
            weights.push(whole(own_ns));
        }
        profiles.push(Sampled {
            kind: "sampled",
            name: stage_name(tower.stage, &tower.root),
            unit: "nanoseconds",
            start_value: 0,
            end_value: weights.iter().sum(),
            samples,
            weights,
        });
    }
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: concat!("fullbore ", env!("CARGO_PKG_VERSION")),
        name: &profile.command,
        shared: Shared { frames },
        profiles,
    };
    serde_json::to_writer(to, &file).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::sample::sample;

    #[test]
    fn every_stage_is_a_profile_whose_weights_are_its_time() {
        let mut text = Vec::new();
        write(&sample(), &mut text).unwrap();
        let file: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(file["profiles"][1]["name"], "2 sort -n; a");
        assert_eq!(file["profiles"][1]["endValue"], 1_000_000_000_u64);
        let first = file["profiles"][0]["samples"][0].as_array().unwrap();
        let name = |index: &serde_json::Value| {
            &file["shared"]["frames"][usize::try_from(index.as_u64().unwrap()).unwrap()]["name"]
        };
        assert_eq!(first.iter().map(name).collect::<Vec<_>>(), ["cat", "vfs_read"]);
    }
}
