//! pprof's `profile.proto`: <https://github.com/google/pprof/blob/main/proto/profile.proto>.

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use crate::formats::paths::{own_times, stage_name, whole};
use crate::tower::Profile;

#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    text: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
}

/// Texts and functions, each once.
struct Tables {
    texts: HashMap<String, i64>,
    functions: HashMap<i64, u64>,
    file: File,
}

impl Tables {
    fn text(&mut self, text: &str) -> i64 {
        if let Some(index) = self.texts.get(text) {
            return *index;
        }
        let index = i64::try_from(self.file.string_table.len()).unwrap_or(i64::MAX);
        self.file.string_table.push(text.to_owned());
        self.texts.insert(text.to_owned(), index);
        index
    }

    /// The place of a function of this name; each has one location.
    fn location(&mut self, name: &str) -> u64 {
        let name = self.text(name);
        let next = self.functions.len() as u64 + 1;
        let id = *self.functions.entry(name).or_insert(next);
        if id == next {
            self.file.function.push(Function { id, name });
            self.file.location.push(Location { id, line: vec![Line { function_id: id }] });
        }
        id
    }
}

fn file(profile: &Profile) -> File {
    let mut tables =
        Tables { texts: HashMap::new(), functions: HashMap::new(), file: File::default() };
    // The first text must be empty.
    tables.text("");
    let value = ValueType { kind: tables.text("wall"), unit: tables.text("nanoseconds") };
    tables.file.sample_type.push(value);
    let key = tables.text("stage");
    for tower in &profile.towers {
        let text = tables.text(&stage_name(tower.stage, &tower.root));
        for (path, own_ns) in own_times(&tower.root) {
            let location_id = path.iter().rev().map(|node| tables.location(&node.name)).collect();
            let value = vec![whole(own_ns).cast_signed()];
            tables.file.sample.push(Sample {
                location_id,
                value,
                label: vec![Label { key, text }],
            });
        }
    }
    tables.file.time_nanos = profile.started_unix_ns.cast_signed();
    tables.file.duration_nanos = profile.elapsed_ns.cast_signed();
    tables.file
}

pub(super) fn write(profile: &Profile, to: &mut impl Write) -> io::Result<()> {
    let mut packed = GzEncoder::new(to, Compression::default());
    packed.write_all(&file(profile).encode_to_vec())?;
    packed.finish().map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::formats::sample::sample;

    #[test]
    fn what_was_written_reads_back_with_innermost_functions_first() {
        let mut bytes = Vec::new();
        write(&sample(), &mut bytes).unwrap();
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut plain).unwrap();
        let read = File::decode(&plain[..]).unwrap();
        assert_eq!(read.string_table[0], "");
        let sum: i64 = read.sample.iter().flat_map(|sample| &sample.value).sum();
        assert_eq!(sum, 1_500_000_000);
        let name = |id: &u64| {
            let function = read.function.iter().find(|function| function.id == *id).unwrap();
            read.string_table[usize::try_from(function.name).unwrap()].as_str()
        };
        let first: Vec<&str> = read.sample[0].location_id.iter().map(name).collect();
        assert_eq!(first, ["vfs_read", "cat"]);
    }
}
