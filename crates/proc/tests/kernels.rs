//! Tests that text from other kernels and machines is read correctly, and that a missing fact is named.

use std::fs;
use std::path::PathBuf;

use fullbore_proc::{
    Activity, Fact, Io, Machine, PollEntry, Root, SchedStat, State, Unavailable, Wait, children,
    cpu_model, host, pipe_limits,
};

const PID: i32 = 4242;

/// A fixture and what is known about it.
struct Kernel {
    folder: &'static str,
    machine: Machine,
    comm: &'static str,
    state: State,
    activity: Result<Activity, Unavailable>,
    withheld: &'static [Fact],
    cpu: &'static str,
    soft: Option<u64>,
}

const XEON: &str = "Intel(R) Xeon(R) CPU E5-2670 v2 @ 2.50GHz";

/// Returns the kernels whose files were written by hand after the documentation; their process has the same numbers
/// everywhere.
fn composed() -> Vec<Kernel> {
    older().into_iter().chain(newer()).collect()
}

fn blocked(wait: Wait) -> Result<Activity, Unavailable> {
    Ok(Activity::Blocked(wait))
}

fn older() -> Vec<Kernel> {
    vec![
        Kernel {
            folder: "3.10-x86_64",
            machine: Machine::X86_64,
            comm: "a) R (b",
            state: State::Sleeping,
            activity: blocked(Wait::Read(3)),
            withheld: &[Fact::Children],
            cpu: XEON,
            soft: None,
        },
        Kernel {
            folder: "4.4-aarch64",
            machine: Machine::Generic64,
            comm: "x\n) Z 1",
            state: State::Sleeping,
            activity: blocked(Wait::Read(0)),
            withheld: &[],
            cpu: "ARM implementer 0x48 part 0xfff",
            soft: Some(0),
        },
        Kernel {
            folder: "4.18-x86_64",
            machine: Machine::X86_64,
            comm: ")))",
            state: State::DiskSleep,
            activity: blocked(Wait::Move { from: 0, to: 1 }),
            withheld: &[],
            cpu: XEON,
            soft: Some(16384),
        },
        Kernel {
            folder: "5.4-ppc64le",
            machine: Machine::Other,
            comm: "sort",
            state: State::Sleeping,
            activity: blocked(Wait::Other),
            withheld: &[],
            cpu: "POWER9 (architected), altivec supported",
            soft: Some(16384),
        },
    ]
}

fn newer() -> Vec<Kernel> {
    vec![
        Kernel {
            folder: "5.15-aarch64",
            machine: Machine::Generic64,
            comm: " ( ",
            state: State::Sleeping,
            activity: blocked(Wait::Move { from: 0, to: 1 }),
            withheld: &[Fact::Io],
            cpu: "ARM Neoverse-N1",
            soft: Some(16384),
        },
        Kernel {
            folder: "6.1-riscv64",
            machine: Machine::Generic64,
            comm: "програм\u{fffd}",
            state: State::Sleeping,
            activity: blocked(Wait::Write(1)),
            withheld: &[],
            cpu: "RISC-V sifive,u74-mc",
            soft: Some(16384),
        },
        Kernel {
            folder: "6.12-x86_64-without",
            machine: Machine::X86_64,
            comm: "cat",
            state: State::Sleeping,
            activity: Err(Unavailable::NotBuiltIn),
            withheld: &[Fact::Times, Fact::Wait, Fact::Io, Fact::Children],
            cpu: XEON,
            soft: None,
        },
        Kernel {
            folder: "6.12-x86_64-uncounted",
            machine: Machine::X86_64,
            comm: "cat",
            state: State::Running,
            activity: Ok(Activity::Running),
            withheld: &[Fact::Times],
            cpu: XEON,
            soft: Some(16384),
        },
    ]
}

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn root(folder: &str) -> Root {
    Root::at(fixtures().join(folder))
}

fn text(folder: &str, file: &str) -> String {
    let bytes = fs::read(fixtures().join(folder).join(file));
    String::from_utf8_lossy(&bytes.unwrap_or_else(|error| panic!("{folder}/{file}: {error}")))
        .into_owned()
}

#[test]
fn every_kernel_shows_the_same_process() {
    for kernel in composed() {
        let (root, folder) = (root(kernel.folder), kernel.folder);
        let stat = root.stat(PID).unwrap_or_else(|| panic!("{folder}"));
        assert_eq!((stat.comm.as_str(), stat.state), (kernel.comm, kernel.state), "{folder}");
        assert_eq!((stat.parent, stat.threads, stat.start_ticks), (4200, 3, 98765), "{folder}");
        assert_eq!((stat.cpu_ticks, stat.children_cpu_ticks), (300, 50), "{folder}");
        let status = root.status(PID).unwrap_or_else(|| panic!("{folder}"));
        assert_eq!(status.peak_memory_bytes, Some(1596 * 1024), "{folder}");
        assert_eq!(status.effective_uid, Some(1000), "{folder}");
        assert!(status.ignores(1) && status.ignores(13) && !status.ignores(15), "{folder}");
        assert_eq!(root.command_line(PID), ["cat", "-", "a b", ""], "{folder}");
    }
}

#[test]
fn what_a_kernel_has_is_read_and_what_it_lacks_is_named() {
    for kernel in composed() {
        let (root, folder) = (root(kernel.folder), kernel.folder);
        let has = |fact| !kernel.withheld.contains(&fact);
        let io = Io { read_bytes: 6976, written_bytes: 12, read_calls: 10, write_calls: 3 };
        let missing = Err(Unavailable::NotBuiltIn);
        assert_eq!(root.try_io(PID), if has(Fact::Io) { Ok(io) } else { missing }, "{folder}");
        let children = root.try_children(PID, PID);
        let expected =
            if has(Fact::Children) { Ok(vec![4300, 4301]) } else { Err(Unavailable::NotBuiltIn) };
        assert_eq!(children, expected, "{folder}");
        if has(Fact::Times) {
            let times =
                SchedStat { running_ns: 940_316_000, waiting_ns: 43_259_000, timeslices: 695 };
            assert_eq!(root.try_schedstat(PID, PID), Ok(times), "{folder}");
        }
        let named: Vec<_> =
            kernel.withheld.iter().map(|fact| (*fact, Unavailable::NotBuiltIn)).collect();
        let mut found = root.unavailable(PID);
        // Fixtures leave out the folder of descriptors, because a repository cannot keep the modes of links.
        found.retain(|(fact, _)| *fact != Fact::Descriptors);
        assert_eq!(found, named, "{folder}");
    }
}

#[test]
fn calls_have_the_numbers_of_their_machine() {
    for kernel in composed() {
        let folder = kernel.folder;
        let opened = root(folder).try_activity(PID, PID);
        match kernel.activity {
            Err(why) => assert_eq!(opened, Err(why), "{folder}"),
            Ok(activity) => {
                let line = text(folder, "4242/task/4242/syscall");
                assert_eq!(Activity::parse_of(kernel.machine, &line), Some(activity), "{folder}");
            }
        }
    }
    // read is 0 on x86-64; elsewhere 0 is io_setup, which does not wait.
    let line = text("3.10-x86_64", "4242/task/4242/syscall");
    let elsewhere = Activity::parse_of(Machine::Generic64, &line);
    assert_eq!(elsewhere, Some(Activity::Blocked(Wait::Other)));
}

#[test]
fn the_call_of_a_32_bit_program_is_not_mistaken_for_another() {
    // 4 is write for a 32-bit program, and stat(2) on x86-64; 1 is exit, and write(2) on x86-64.
    let calls = [
        (1, Wait::Other),
        (3, Wait::Read(2)),
        (4, Wait::Write(2)),
        (168, Wait::Poll { address: 2, count: 8 }),
        // The old select(2) has its arguments in memory; the newer one has them here.
        (82, Wait::Other),
        (142, Wait::Select { count: 2, reads: 8, writes: 0x1000 }),
    ];
    for (number, wait) in calls {
        let line = format!("{number} 0x2 0x8 0x1000 0x0 0x0 0x0 0xffb5ecb8 0xf7f0c549\n");
        let parse = |machine| Activity::parse_of(machine, &line);
        assert_eq!(parse(Machine::X86_64), Some(Activity::Blocked(wait)), "{number}");
        // 32-bit ARM has numbers of its own.
        assert_eq!(parse(Machine::Generic64), Some(Activity::Blocked(Wait::Other)), "{number}");
    }
}

#[test]
fn a_truncated_call_is_refused() {
    let line = text("3.10-x86_64", "4242/task/4242/syscall");
    let last = line.trim_end().rfind(' ').unwrap();
    for end in 0..=last {
        assert_eq!(Activity::parse_of(Machine::X86_64, &line[..end]), None, "{}", &line[..end]);
    }
}

#[test]
fn an_epoll_instance_names_its_descriptors_and_no_other_object_seems_to() {
    let all = composed().into_iter().map(|kernel| kernel.folder);
    for folder in all.chain(["6.18-x86_64-captured"]) {
        let mut found = root(folder).try_polled(PID, Wait::Epoll(3)).unwrap();
        found.sort_by_key(|entry| entry.fd);
        let reads = PollEntry { fd: 4, reads: true, writes: false };
        let writes = PollEntry { fd: 5, reads: false, writes: true };
        assert_eq!(found, [reads, writes], "{folder}");
        for other in [4, 5] {
            assert_eq!(root(folder).try_polled(PID, Wait::Epoll(other)), Ok(vec![]), "{folder}");
        }
        let closed = root(folder).try_polled(PID, Wait::Epoll(6));
        assert!(closed.is_err(), "{folder}: {closed:?}");
    }
}

#[test]
fn the_host_is_named_on_every_machine() {
    for kernel in composed() {
        let (root, folder) = (root(kernel.folder), kernel.folder);
        let host = host(&root);
        assert_eq!(host.cpu, kernel.cpu, "{folder}");
        assert!(folder.split('-').next().is_some_and(|version| host.kernel.starts_with(version)));
        assert!(host.memory_bytes > 4_000_000_000, "{folder}: {host:?}");
        assert_eq!(pipe_limits(&root).user_pages_soft, kernel.soft, "{folder}");
        let is_without = folder == "6.12-x86_64-without";
        assert_eq!(host.pipe_max_bytes, (!is_without).then_some(1_048_576), "{folder}");
    }
    let named = [
        ("cortex-a72", Some("ARM Cortex-A72")),
        ("armv7", Some("ARMv7 Processor rev 4 (v7l)")),
        ("riscv-qemu", Some("RISC-V rv64imafdc")),
        ("s390x", Some("IBM/S390 machine 3906")),
        ("loongarch", Some("Loongson-3A5000")),
        ("nameless", None),
    ];
    for (file, name) in named {
        assert_eq!(cpu_model(&text("cpuinfo", file)).as_deref(), name, "{file}");
    }
    assert_eq!(named.len(), fs::read_dir(fixtures().join("cpuinfo")).unwrap().count());
}

#[test]
fn a_process_captured_on_a_real_machine_is_read_whole() {
    let folder = "6.18-x86_64-captured";
    let root = root(folder);
    let stat = root.stat(PID).unwrap();
    assert_eq!((stat.comm.as_str(), stat.state, stat.threads), ("cat", State::Sleeping, 1));
    assert!(stat.parent > 1 && stat.start_ticks > 0);
    assert_eq!(root.command_line(PID), ["cat", "-", "a b", ""]);
    let line = text(folder, "4242/task/4242/syscall");
    let reading = Some(Activity::Blocked(Wait::Read(0)));
    assert_eq!(Activity::parse_of(Machine::X86_64, &line), reading);
    assert!(root.schedstat(PID, PID).unwrap().running_ns > 0);
    assert!(root.io(PID).unwrap().read_calls > 0);
    assert_eq!(root.try_children(PID, PID), Ok(vec![]));
    assert!(root.status(PID).unwrap().peak_memory_bytes.unwrap() > 1 << 20);
    let host = host(&root);
    assert!(host.kernel.starts_with("6.18.") && host.cpu == "Intel(R) Xeon(R) Processor");
}

#[test]
fn every_fixture_is_tested() {
    let mut tested: Vec<_> =
        composed().into_iter().map(|kernel| kernel.folder.to_owned()).collect();
    tested.extend(["6.18-x86_64-captured", "README.md", "cpuinfo"].map(str::to_owned));
    let entries = fs::read_dir(fixtures()).unwrap();
    let mut found: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    tested.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, tested);
}

#[test]
fn a_list_of_children_that_was_cut_has_no_wrong_number() {
    let list = |text| children(text).collect::<Vec<_>>();
    assert_eq!(list("4300 4301 "), [4300, 4301]);
    assert_eq!(list("4300 430"), [4300]);
    assert_eq!(list("430"), []);
    assert_eq!(list("4300 x -7 0 4301 "), [4300, 4301]);
}

#[test]
fn children_are_found_by_their_parent_where_there_is_no_list() {
    let folder = tempfile::tempdir().unwrap();
    let line = text("6.12-x86_64-without", "4242/stat");
    for (pid, parent) in [(10, 1), (11, 10), (12, 10), (13, 11)] {
        let place = folder.path().join(pid.to_string());
        fs::create_dir(&place).unwrap();
        fs::write(place.join("stat"), line.replace(" 4200 ", &format!(" {parent} "))).unwrap();
    }
    assert_eq!(Root::at(folder.path()).children_by_parent(10), [11, 12]);
}
