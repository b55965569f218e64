//! `fullbore buffer` when calls fail, readers leave and resources are short: nothing is lost in silence.

use std::fs;
use std::process::Stdio;

use crate::buffer::{assert_output, line, numbers};
use crate::sandbox::{
    Sandbox, finish, fullbore, is_installed, relay_ends, status_text, wait_or_kill,
};

/// Runs the line with some calls of the buffer made to fail.
fn injected(place: &Sandbox, inject: &str, around: (&str, &str)) -> crate::sandbox::Ended {
    let strace = format!("strace -f -qq -o /dev/null -e inject={inject}");
    line(place, &format!("{}{strace} $fullbore buffer -q -m 1M{}", around.0, around.1))
}

#[test]
fn a_splice_that_is_refused_at_first_is_replaced_by_read_and_write() {
    require_programs!("strace");
    let place = Sandbox::new();
    for error in ["EINVAL", "ENOSYS", "EPERM", "EOPNOTSUPP"] {
        // Forbidden for good, as by a seccomp filter.
        let inject = format!("splice:error={error}:when=1+");
        let ended = injected(&place, &inject, ("$ends produce 20M | ", " | $ends consume check"));
        assert_output(&ended, "20971520\n");
        assert_eq!(ended.stderr, "", "{inject}");
        // Only the first of each thread, which are the one from the input and the one to the output.
        let inject = format!("splice:error={error}:when=1");
        let ended = injected(&place, &inject, ("$ends produce 20M | ", " >out"));
        assert_output(&ended, "");
        assert!(fs::read(place.path("out")).unwrap() == numbers(20 << 20), "{inject}");
    }
}

#[test]
fn a_splice_that_fails_later_is_replaced_by_read_and_write() {
    require_programs!("strace");
    let place = Sandbox::new();
    for error in ["EINVAL", "EIO"] {
        let inject = format!("splice:error={error}:when=40+");
        let ended = injected(&place, &inject, ("$ends produce 20M | ", " | $ends consume check"));
        assert_output(&ended, "20971520\n");
        assert_eq!(ended.stderr, "", "{inject}");
    }
}

#[test]
fn a_call_that_fails_later_is_fatal_and_names_its_side_and_file() {
    require_programs!("strace");
    for (call, error, file, message) in [
        ("read", "EIO", "fifo", "reading standard input: {file}: Input/output error"),
        ("read", "EIO", "in", "reading standard input: {file}: Input/output error"),
        ("write", "EDQUOT", "out", "writing standard output: {file}: Disk quota exceeded"),
        ("write", "EIO", "copy", "writing: copy: Input/output error"),
        ("pread64", "EIO", "spill", "reading the spill file: Input/output error"),
    ] {
        let place = Sandbox::new();
        let path = place.path(file).display().to_string();
        fs::write(place.path("in"), numbers(20 << 20)).unwrap();
        let input = match file {
            "fifo" => "mkfifo fifo; { $ends produce 20M >fifo 2>/dev/null & } ; <fifo",
            _ => "<in",
        };
        // Only calls on that file, and of those the third.
        let only = if file == "spill" { String::new() } else { format!("-P {path}") };
        let options = match file {
            "copy" => "-o copy",
            "spill" => "--spill .",
            _ => "",
        };
        let inject = format!("{call}:error={error}:when=3+");
        let strace = format!("strace -f -qq -o /dev/null {only} -e inject={inject}");
        let slow = if file == "spill" { "| { sleep 0.3; cat; } " } else { "" };
        let ended = line(
            &place,
            &format!("{input} {strace} $fullbore buffer -q -m 1M {options} {slow}>out"),
        );
        assert_eq!(status_text(ended.status), "exit 2", "{call} {file}: {}", ended.stderr);
        let written = fs::read(place.path("out")).unwrap();
        assert!(written == numbers(written.len()), "{call} {file}: not the beginning");
        let message = message.replace("{file}", &path);
        let said = in_words_of_glibc(&ended.stderr);
        assert!(said.contains(&message), "{call} {file}: {said}");
        let how_far = match (file, written.len()) {
            ("copy", count) => {
                format!("({} bytes written to it, {count} to standard output)", count - (256 << 10))
            }
            (_, count) => format!("({count} bytes written)"),
        };
        assert!(ended.stderr.contains(&how_far), "{call} {file}: {how_far}: {}", ended.stderr);
    }
}

/// The C library of the static binary has other words for these errors.
fn in_words_of_glibc(said: &str) -> String {
    said.replace("I/O error", "Input/output error").replace(": Quota ex", ": Disk quota ex")
}

#[test]
fn a_kernel_that_cannot_write_without_waiting_is_no_failure() {
    require_programs!("strace");
    let place = Sandbox::new();
    fs::write(place.path("in"), numbers(1 << 20)).unwrap();
    let ended = injected(&place, "pwritev2:error=EOPNOTSUPP", ("", " <in | cmp - in"));
    assert_output(&ended, "");
}

#[test]
fn a_full_disk_is_said_with_its_name_and_how_far_it_got() {
    let place = Sandbox::new();
    for producer in ["$ends produce 5M |", "cat in |", "< in"] {
        fs::write(place.path("in"), numbers(1 << 20)).unwrap();
        let ended = line(&place, &format!("{producer} $fullbore buffer -q >/dev/full"));
        assert!(!ended.status.success(), "{producer}");
        assert!(
            ended.stderr.contains(
                "fullbore: buffer: writing standard output: /dev/full: No space left on device (0 bytes written)\nhint: "
            ),
            "{producer}: {}",
            ended.stderr
        );
    }
    let ended = line(&place, "$fullbore buffer -q -o /dev/full <in >out; echo $?");
    assert_output(&ended, "2\n");
    let written = fs::metadata(place.path("out")).unwrap().len();
    let message = format!(
        "buffer: writing: /dev/full: No space left on device (0 bytes written to it, {written} to standard output)\n"
    );
    assert!(written > 0 && ended.stderr.contains(&message), "{written}: {}", ended.stderr);
}

#[test]
fn a_reader_that_left_ends_it_as_it_ends_cat() {
    let place = Sandbox::new();
    for options in ["", "-m 64K", "--hash sha256", "-L 1G", "-o copy", "--start 10%"] {
        let ended = line(
            &place,
            &format!("yes | $fullbore buffer {options} | head -c 2; echo ${{PIPESTATUS[*]}}"),
        );
        assert_eq!(ended.stdout, b"y\n141 141 0\n", "{options}: {}", ended.stderr);
        assert_eq!(ended.stderr, "", "{options}");
    }
}

#[test]
fn ends_that_are_closed_are_said_instead_of_losing_the_stream() {
    let place = Sandbox::new();
    for (redirection, about) in
        [("<&-", "reading standard input"), ("</dev/null >&-", "writing standard output")]
    {
        let ended = line(&place, &format!("$fullbore buffer {redirection}"));
        assert_eq!(status_text(ended.status), "exit 2", "{redirection}");
        assert!(
            ended.stderr.contains(&format!("buffer: {about}: it is closed")),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn a_directory_on_standard_input_is_said() {
    let ended = line(&Sandbox::new(), "$fullbore buffer </tmp");
    assert_eq!(status_text(ended.status), "exit 2");
    assert!(
        ended.stderr.contains("reading standard input: /tmp: Is a directory"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_user_with_few_pipes_gets_memory_instead() {
    require!(
        rustix::process::geteuid().is_root() && is_installed("setpriv"),
        "only root can become another user"
    );
    let place = Sandbox::new();
    place.copy_program(relay_ends(), "ends-copy");
    place.copy_program(fullbore(), "fullbore-copy");
    fs::set_permissions(place.path("."), std::os::unix::fs::PermissionsExt::from_mode(0o777))
        .unwrap();
    let as_user = "setpriv --reuid 65532 --regid 65532 --clear-groups";
    let through = "./ends-copy produce 300M | ./fullbore-copy buffer -q -m 200M | \
                   { sleep 0.5; ./ends-copy consume check; }";
    let ended = line(&place, &format!("exec {as_user} bash -c '{through}'"));
    assert_output(&ended, "314572800\n");
    // Now with all pipes of the user taken: new ones hold 8 KiB and cannot be widened.
    let mut holder = place.command("setpriv");
    holder.args(["--reuid", "65532", "--regid", "65532", "--clear-groups", "./ends-copy"]);
    holder.args(["hold", "100"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut holder = holder.spawn().unwrap();
    let mut count = String::new();
    let mut stdout = std::io::BufReader::new(holder.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut stdout, &mut count).unwrap();
    let is_bounded = count.trim().parse::<u32>().unwrap() < 100;
    let ended = line(&place, &format!("exec {as_user} bash -c '{through}'"));
    drop(holder.stdin.take());
    wait_or_kill(&mut holder, "the holder of pipes");
    assert_output(&ended, "314572800\n");
    require!(is_bounded, "this machine does not limit the pipes of a user");
}

#[test]
fn few_descriptors_are_enough_for_a_buffer() {
    let place = Sandbox::new();
    let ended = line(
        &place,
        "$ends produce 200M | (ulimit -n 20; exec $fullbore buffer -q -m 150M) | { sleep 0.3; $ends consume check; }",
    );
    assert_output(&ended, "209715200\n");
}

#[test]
fn threads_that_are_refused_are_said() {
    require!(
        rustix::process::geteuid().is_root() && is_installed("setpriv"),
        "only root can become another user"
    );
    let place = Sandbox::new();
    place.copy_program(fullbore(), "fullbore-copy");
    let mut command = place.command("bash");
    command.args([
        "-c",
        "ulimit -u 1; exec setpriv --reuid 65530 --clear-groups ./fullbore-copy buffer </dev/null",
    ]);
    let ended = finish(command);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    assert!(
        ended.status.success() || ended.stderr.contains("starting a thread"),
        "{}: {}",
        status_text(ended.status),
        ended.stderr
    );
}
