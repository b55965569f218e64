//! `run --flame` with programs whose stacks are harder to follow, or whose files change.

use crate::cases::split::{Stacks, compile_source, has, time_of};
use crate::flame::flame;
use crate::sandbox::Sandbox;

/// The part of the time in `function` in which the callers are known, out to `main`, in this order, out of all.
fn called_by(stacks: &Stacks, callers: &[&str], function: &str) -> f64 {
    let is_so = |stack: &[String]| {
        let mut names = stack.iter();
        let chain = std::iter::once(&"main").chain(callers).chain(std::iter::once(&function));
        chain.into_iter().all(|expected| names.any(|name| name == expected))
    };
    time_of(stacks, "", is_so) / time_of(stacks, "", |stack| has(stack, function))
}

const READER: &str = r"
#include <unistd.h>
volatile long sum;
#define FUNCTION __attribute__((noipa)) static
FUNCTION int take(int n) { char b[64]; int r = read(0, b, n); sum += b[0]; return r; }
FUNCTION int middle(int n) { int r = take(n); sum++; return r; }
int main(void) { while (middle(1) > 0); return 0; }
";

/// Linux does not tell the frame pointer of a thread that waits, and such code needs it.
#[test]
fn callers_of_what_waits_are_found_in_programs_with_frame_pointers() {
    let place = Sandbox::new();
    for options in [&["-O0", "-fno-omit-frame-pointer"][..], &["-O2", "-fno-omit-frame-pointer"]] {
        compile_source(&place, READER, "reader", options);
        let stacks = flame(&place, "(sleep 0.4; echo) | ./reader");
        let found = called_by(&stacks, &["middle"], "take");
        assert!(found > 0.95, "{options:?}: {found}: {stacks:?}");
    }
}

/// Variables that are not set still have frames of former calls in them, and a function between has no frame pointer.
#[test]
fn old_frames_on_the_stack_are_no_callers() {
    const PROGRAM: &str = r#"
#include <string.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long sum;
#define FUNCTION __attribute__((noipa)) static
FUNCTION void naps(int ms) { struct timespec t = {0, ms * 1000000L}; nanosleep(&t, 0); sum++; }
FUNCTION void low(int n, int ms) { char b[n]; memset(b, 1, 8); sum += b[3]; naps(ms); sum += b[1]; }
FUNCTION void left(int n, int ms) { char b[n]; memset(b, 1, 8); sum += b[3]; low(n, ms); sum += b[1]; }
FUNCTION void between(int n, int ms) { sum++; low(n, ms); sum++; }
FUNCTION void right(int n, int ms) { char b[n]; b[0] = 1; sum += b[0]; between(n, ms); sum += b[1]; }
int main(void) {
    for (int n = 1; n < 12; n++) { left(16 + n % 40, 15); right(100 + n * 8 % 1500, 30); }
    return 0;
}
"#;
    let place = Sandbox::new();
    for options in [&["-O2"][..], &["-O2", "-static"], &["-O2", "-static-pie"]] {
        compile_source(&place, PROGRAM, "frames", options);
        let stacks = flame(&place, "./frames; :");
        // Callers may be unknown now and then, but not those of another.
        let parts = [
            called_by(&stacks, &["right", "between"], "low"),
            called_by(&stacks, &["left"], "low"),
        ];
        let expected = [2.0 / 3.0, 1.0 / 3.0];
        for (part, expected) in parts.iter().zip(expected) {
            let is_right = (expected - 0.15..expected + 0.05).contains(part);
            assert!(is_right, "{options:?}: {parts:?}: {stacks:?}");
        }
    }
}

/// As in `wc -l`, where two functions have a buffer of 16 KiB each.
#[test]
fn callers_are_found_below_large_frames() {
    const PROGRAM: &str = r"
#include <time.h>
volatile unsigned long sum;
#define FUNCTION __attribute__((noipa)) static
static double spent(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
FUNCTION void spin(double s) { double end = spent() + s; while (spent() < end) for (int i = 0; i < 20000; i++) sum += i; }
FUNCTION void naps(void) { struct timespec t = {0, 300000000}; nanosleep(&t, 0); sum++; }
FUNCTION void inner(void) { volatile char b[17000]; b[0] = 1; naps(); spin(0.3); sum += b[0]; }
FUNCTION void outer(void) { volatile char b[17000]; b[0] = 1; inner(); sum += b[0]; }
int main(void) { outer(); return 0; }
";
    let place = Sandbox::new();
    compile_source(&place, PROGRAM, "large", &["-O2"]);
    let stacks = flame(&place, "./large; :");
    for function in ["naps", "spin"] {
        let found = called_by(&stacks, &["outer", "inner"], function);
        assert!(found > 0.95, "{function}: {found}: {stacks:?}");
    }
}

/// The compiler makes jumps of calls that come last.
#[test]
fn a_function_that_was_jumped_to_has_the_caller_of_the_one_that_jumped() {
    const PROGRAM: &str = r"
#include <time.h>
volatile unsigned long sum;
#define FUNCTION __attribute__((noipa)) static
FUNCTION int low(int n) { volatile char b[n]; b[0] = 1; struct timespec t = {0, 20000000}; nanosleep(&t, 0); return b[0]; }
FUNCTION int third(int n) { sum++; return low(n + 8); }
FUNCTION int second(int n) { sum++; return third(n + 8); }
FUNCTION int first(int n) { sum++; return second(n + 8); }
FUNCTION int caller(int n) { int r = first(n); sum++; return r; }
int main(void) { for (int n = 1; n < 20; n++) caller(n * 50); return 0; }
";
    let place = Sandbox::new();
    compile_source(&place, PROGRAM, "jumps", &["-O2"]);
    let stacks = flame(&place, "./jumps; :");
    let found = called_by(&stacks, &["caller"], "low");
    assert!(found > 0.95, "{found}: {stacks:?}");
}

/// Where it cannot be told which of two is the caller, neither is named.
#[test]
fn no_caller_is_better_than_a_false_one() {
    const PROGRAM: &str = r"
#include <string.h>
#include <time.h>
volatile unsigned long sum;
#define FUNCTION __attribute__((noipa)) static
FUNCTION void low(int n) { volatile char b[n]; b[0] = 1; struct timespec t = {0, 20000000}; nanosleep(&t, 0); sum += b[0]; }
void (*volatile pointer)(int) = low;
FUNCTION void middle(int n) { low(n); sum++; }
FUNCTION void deep(int n) { volatile char b[n]; b[0] = 1; middle(n); sum += b[0]; }
FUNCTION void flat(int n) { pointer(n); sum++; }
int main(void) { for (int n = 0; n < 10; n++) { deep(16); flat(900); } return 0; }
";
    let place = Sandbox::new();
    compile_source(&place, PROGRAM, "pointer", &["-O2"]);
    let stacks = flame(&place, "./pointer; :");
    let found = ["deep", "flat"].map(|caller| called_by(&stacks, &[caller], "low"));
    assert!((0.4..0.6).contains(&found[0]) && found[1] < 0.6, "{found:?}: {stacks:?}");
}

#[test]
fn behind_the_handler_of_a_signal_is_what_it_interrupted() {
    const PROGRAM: &str = r#"
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
volatile unsigned long sum;
#define FUNCTION __attribute__((noipa)) static
static double spent(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
FUNCTION void spin(double s) { double end = spent() + s; while (spent() < end) for (int i = 0; i < 20000; i++) sum += i; }
static void handler(int signal) { spin(0.03); struct timespec t = {0, 30000000}; nanosleep(&t, 0); sum++; }
FUNCTION void busy(double s) { double end = spent() + s; while (spent() < end) for (int i = 0; i < 20000; i++) sum += i; }
int main(void) {
    struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &a, 0);
    struct itimerval every = {{0, 100000}, {0, 100000}};
    setitimer(ITIMER_REAL, &every, 0);
    busy(0.6);
    return 0;
}
"#;
    require!(
        cfg!(target_arch = "x86_64"),
        "only x86-64 has a frame for signals that is looked into"
    );
    let place = Sandbox::new();
    let with_array = PROGRAM.replace(
        "handler(int signal) {",
        "handler(int signal) { volatile char b[signal * 9]; b[1] = 1;",
    );
    let programs = [
        (PROGRAM, &[][..], 0.95),
        (PROGRAM, &["-O0", "-fno-omit-frame-pointer"], 0.95),
        // What is left in the array may have other callers: then they are unknown.
        (&with_array, &["-O2"], 0.85),
    ];
    for (program, options, least) in programs {
        compile_source(&place, program, "signals", options);
        let stacks = flame(&place, "./signals");
        let found = called_by(&stacks, &["busy"], "handler");
        assert!(found > least, "{options:?}: {found}: {stacks:?}");
        // Where they are unknown, they are called so.
        let is_false = |stack: &[String]| {
            has(stack, "handler") && !has(stack, "busy") && !has(stack, "[callers unknown]")
        };
        assert!(!stacks.iter().any(|(stack, _)| is_false(stack)), "{options:?}: {stacks:?}");
        assert!(stacks.iter().any(|(stack, _)| has(stack, "spin")), "{stacks:?}");
    }
}

/// `make install` while the program runs, or just after it: names come from what ran.
#[test]
fn a_program_that_is_replaced_keeps_its_own_names() {
    const FIRST: &str = r"
#define FUNCTION __attribute__((noipa)) static
volatile double x;
FUNCTION void works(long n) { while (n--) x = x * 1.0000001 + 1e-9; }
FUNCTION void idles(void) { x++; }
int main(void) { works(60000000); idles(); return 0; }
";
    let place = Sandbox::new();
    // The other one has another function at that address.
    compile_source(&place, &FIRST.replace("works", "paints"), "other", &["-O1"]);
    let lines = [
        "./program; mv other2 program; :",
        "(sleep 0.1; mv other2 program) & ./program; wait",
        "(sleep 0.1; rm program) & ./program; wait",
    ];
    for line in lines {
        compile_source(&place, FIRST, "program", &["-O1"]);
        std::fs::copy(place.path("other"), place.path("other2")).unwrap();
        let stacks = flame(&place, line);
        let time = |name| time_of(&stacks, "", |stack| has(stack, name));
        assert!(time("works") > 50_000.0 && time("paints") == 0.0, "{line}: {stacks:?}");
    }
}

/// An event loop that ticks, and the trick with a pipe of one's own.
#[test]
fn a_timer_and_a_pipe_of_its_own_are_called_what_they_are() {
    const PROGRAM: &str = r"
#define _GNU_SOURCE
#include <sys/timerfd.h>
#include <unistd.h>
#define FUNCTION __attribute__((noipa)) static
FUNCTION long ticks(int fd) { char b[8]; long r = read(fd, b, 8); return r + 1; }
FUNCTION long listens(int fd) { char b[8]; long r = read(fd, b, 8); return r + 1; }
int main(void) {
    int timer = timerfd_create(CLOCK_MONOTONIC, 0), own[2];
    struct itimerspec later = {{0, 0}, {0, 400000000}};
    timerfd_settime(timer, 0, &later, 0);
    ticks(timer);
    pipe(own);
    alarm(1);
    return listens(own[0]);
}
";
    let place = Sandbox::new();
    compile_source(&place, PROGRAM, "events", &[]);
    let stacks = flame(&place, "./events; :");
    let ends = |function: &str, leaf: &str| {
        let is_so = |stack: &[String]| has(stack, function) && stack.last().unwrap() == leaf;
        time_of(&stacks, "", is_so)
    };
    assert!(ends("ticks", "sleeps") > 300_000.0, "{stacks:?}");
    assert!(ends("listens", "waits for an event") > 800_000.0, "{stacks:?}");
}
