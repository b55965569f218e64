//! What lending pages gains, and that no byte is ever wrong.

use std::io::PipeWriter as Pipe;
use std::process::Command;
use std::thread;
use std::time::Duration;

use fullbore_apparatus::DoubleBuffer;
use fullbore_pipe::{Options, PipeWriter, Strategy};

use crate::Effort;
use crate::pairs::{Pairs, plain, readable, seconds_of};
use crate::readers::{ALL, Reader};
use crate::sandbox::Sandbox;
use crate::sequence::{self, Checked};
use crate::table::{Outcome, Row};

const LEAST_GAIN: f64 = 5.0;
const LEAST_OF_UNSAFE: f64 = 0.6;

/// Every byte of every safe way under every reader; the unsafe way must be caught.
pub(crate) fn integrity(effort: Effort) -> Vec<Row> {
    let len = effort.pick(256 << 20, 4 << 30);
    let mut wrong = 0;
    let mut cases = 0;
    for strategy in [Strategy::Copy, Strategy::Fresh, Strategy::Ring] {
        for reader in ALL.map(|reader| pausing(reader, effort)) {
            let arrived = arrival(reader, |into| {
                let mut writer = PipeWriter::new(into, Options::default().strategy(strategy));
                sequence::write(&mut writer, len).unwrap();
                assert_eq!(writer.strategy(), strategy);
            });
            println!("   {strategy}, {reader:?}: {arrived:?}");
            cases += 1;
            wrong += u32::from(arrived.bytes != len || arrived.wrong > 0);
        }
    }
    let caught = arrival(Reader::Queue, |into| unsafe_way(into, len));
    let percent = 100.0 * caught.wrong as f64 / caught.bytes as f64;
    vec![Row {
        claim: format!(
            "{} of a known sequence, each safe way × each of {} readers",
            gibibytes(len),
            ALL.len()
        ),
        bar: "every byte correct; the unsafe way detected".to_owned(),
        measured: format!(
            "{} of {cases} correct; unsafe: {percent:.0} % of the bytes wrong",
            cases - wrong
        ),
        outcome: Outcome::met_if(wrong == 0 && caught.wrong > 0),
        command:
            "cargo test -p fullbore-pipe --release --test integrity   # the same test with 320 MiB"
                .to_owned(),
        notes: vec![format!(
            "readers: {:?}; the queue reads what the unsafe way wrote",
            ALL.map(|reader| pausing(reader, effort))
        )],
    }]
}

fn pausing(reader: Reader, effort: Effort) -> Reader {
    match reader {
        Reader::Stopping(_) => Reader::Stopping(Duration::from_millis(effort.pick(100, 1000))),
        other => other,
    }
}

/// Not safe under a reader that holds pages; that is what is to be seen.
fn unsafe_way(into: Pipe, len: u64) {
    let mut writer = DoubleBuffer::without_promise(into).unwrap();
    sequence::write(&mut writer, len).unwrap();
}

fn arrival(reader: Reader, write: impl FnOnce(Pipe)) -> Checked {
    let (out, into) = std::io::pipe().unwrap();
    let checking = thread::spawn(move || reader.run(out));
    write(into);
    checking.join().unwrap()
}

fn gibibytes(len: u64) -> String {
    fullbore_measure::Bytes(len).to_string()
}

/// The ring beside the best that write(2) can do, and beside the way that is not safe.
pub(crate) fn ring(effort: Effort) -> Vec<Row> {
    let len = effort.pick("1G", "16G");
    let line = |way: &str| format!("{{sequence}} write {way} {len} 16M | {{sequence}} splice");
    let with_block =
        |block: &str| format!("{{sequence}} write copy {len} 16M {block} | {{sequence}} splice");
    let blocks = ["64K", "128K", "256K", "512K", "1M"];
    let (_, best) = blocks
        .map(|block| (median_of_three(&with_block(block)), block))
        .into_iter()
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .unwrap();
    let gain = compare(effort, &with_block(best), &line("ring"));
    let fresh = compare(effort, &with_block(best), &line("fresh"));
    let unsafe_way = format!("{{sequence}} write double {len} | {{sequence}} splice");
    let part = compare(effort, &unsafe_way, &line("ring"));
    let row = |claim: &str, bar: String, (gain, rate, command): Compared, is_met: bool| Row {
        claim: claim.to_owned(),
        bar,
        measured: format!("{gain:.2}"),
        outcome: Outcome::met_if(is_met),
        command,
        notes: vec![format!("{len} each; {rate}")],
    };
    vec![
        row(
            &format!(
                "throughput with new data in every chunk and a discarding reader: ring ÷ best write(2) (blocks of {best})"
            ),
            format!("≥ {LEAST_GAIN}"),
            gain.clone(),
            gain.0 >= LEAST_GAIN,
        ),
        row(
            "the same throughput: fresh pages ÷ best write(2)",
            "as measured".to_owned(),
            fresh,
            true,
        ),
        row(
            "the same throughput: ring ÷ double buffer (unsafe)",
            format!("≥ {LEAST_OF_UNSAFE}"),
            part.clone(),
            part.0 >= LEAST_OF_UNSAFE,
        ),
    ]
}

/// How many times faster the second is, what both move a second, and the commands.
type Compared = (f64, String, String);

fn compare(effort: Effort, first: &str, second: &str) -> Compared {
    let command = |line: &str| {
        let line = line.to_owned();
        move |place: &Sandbox| -> Command { plain(place, &line) }
    };
    let pairs = Pairs::measure(effort.times(3, 7), command(first), command(second));
    let gain = pairs.first_to_second();
    let note = format!(
        "the first command takes {:.2} s; ratios from {:.2} to {:.2}",
        pairs.first(),
        gain.min,
        gain.max
    );
    let commands = readable(&format!("{first}\n{second}")).replace("{sequence}", "sequence");
    (gain.median, note, commands)
}

fn median_of_three(line: &str) -> f64 {
    let place = Sandbox::new();
    let mut times = [0; 3].map(|_| seconds_of(plain(&place, line)));
    times.sort_by(f64::total_cmp);
    times[1]
}
