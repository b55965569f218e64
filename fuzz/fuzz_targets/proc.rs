//! No text of `/proc` makes a parser panic, what was cut is no answer, and what Linux writes comes back as it was.
#![no_main]

use fullbore_proc::{Activity, Io, Machine, SchedStat, Stat, Status, children, cpu_model};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let _ = Stat::parse(&text);
    for machine in [Machine::X86_64, Machine::Generic64, Machine::Other] {
        let _ = Activity::parse_of(machine, &text);
    }
    let status = Status::parse(&text);
    assert!(!status.ignores(0) && !status.ignores(65));
    let _ = (Io::parse(&text), SchedStat::parse(&text), cpu_model(&text));
    assert!(children(&text).all(|pid| pid > 0));
    round_trip(data);
});

/// The first bytes are numbers; the rest is the name of a program, of which Linux keeps 15 bytes.
fn round_trip(data: &[u8]) {
    let Some((numbers, name)) = data.split_first_chunk::<8>() else { return };
    let [a, b, c, d, e, f, g, h] = numbers.map(u64::from);
    let comm = String::from_utf8_lossy(&name[..name.len().min(15)]);
    let line = format!(
        "{a} ({comm}) S {b} 1 1 0 -1 4194304 96 0 0 0 {c} {d} {e} {f} 20 0 {g} 0 {h} 0 0\n"
    );
    let stat = Stat::parse(&line).expect("a line as Linux writes it");
    assert_eq!(stat.comm, comm);
    assert_eq!((stat.cpu_ticks, stat.children_cpu_ticks), (c + d, e + f));
    assert_eq!((u64::from(stat.threads), stat.start_ticks), (g, h));
    let cut = usize::from(numbers[0]) * line.len() / 256;
    if line.is_char_boundary(cut) {
        assert_eq!(Stat::parse(&line[..cut]), None, "{:?}", &line[..cut]);
    }
}
