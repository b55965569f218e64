//! A program whose functions take known shares of its time, on a CPU and waiting, as it measures itself.

use std::fs;
use std::path::Path;

use fullbore_profile::parse_folded;

use crate::sandbox::{Sandbox, finish, status_text};

/// Works in `f` and, three sevenths of that, in `g`, each time for another while, so that no sampling keeps step with it; waits in `h` (asleep) and in `k` (for input). The first argument says how
/// often, the second where to write the seconds of `f`, `g` (on a CPU), `h` and `k` (by the clock).
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define FUNCTION __attribute__((noipa)) static
FUNCTION double f(long n) { volatile double x = 1; while (n--) x = x * 1.0000001 + 1e-9; return x; }
FUNCTION double g(long n) { volatile double x = 2; while (n--) x = x * 1.0000002 + 1e-9; return x; }
FUNCTION void h(long ns) { struct timespec t = {0, ns}; nanosleep(&t, 0); __asm__ volatile("" ::: "memory"); }
FUNCTION long k(char *b) { long r = read(0, b, 65536); __asm__ volatile("" ::: "memory"); return r; }
static double now(int clock) { struct timespec t; clock_gettime(clock, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
int main(int c, char **v) {
    char *b = malloc(65536);
    double s = 0, in[4] = {0}, at[5];
    for (long i = atol(v[1]); i > 0; i--) {
        long work = 500000 + i * 7919 % 1000000;
        at[0] = now(CLOCK_THREAD_CPUTIME_ID); s += f(work / 10 * 7);
        at[1] = now(CLOCK_THREAD_CPUTIME_ID); s += g(work / 10 * 3);
        in[0] += at[1] - at[0]; in[1] += now(CLOCK_THREAD_CPUTIME_ID) - at[1];
        at[2] = now(CLOCK_MONOTONIC); h(3000000);
        at[3] = now(CLOCK_MONOTONIC); s += k(b);
        in[2] += at[3] - at[2]; in[3] += now(CLOCK_MONOTONIC) - at[3];
    }
    if (c > 2) { FILE *t = fopen(v[2], "w"); fprintf(t, "%f %f %f %f\n", in[0], in[1], in[2], in[3]); fclose(t); }
    return s == 0;
}
"#;

/// Gives it something to read every few milliseconds.
pub(crate) const SOURCE: &str = "while sleep 0.009; do printf x || break; done 2>/dev/null";

/// Compiles the program, without frame pointers.
pub(crate) fn compile(place: &Sandbox, name: &str, options: &[&str]) {
    compile_source(place, PROGRAM, name, options);
}

pub(crate) fn compile_source(place: &Sandbox, source: &str, name: &str, options: &[&str]) {
    fs::write(place.path("source.c"), source).unwrap();
    let mut command = place.command("cc");
    command.args(["-O2", "-fomit-frame-pointer", "-o", name, "source.c"]).args(options);
    let ended = finish(command);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
}

/// Stacks with their time in microseconds.
pub(crate) type Stacks = Vec<(Vec<String>, f64)>;

/// Reads stacks that `--flame FILE.folded` wrote.
pub(crate) fn read_stacks(file: &Path) -> Stacks {
    let text = fs::read_to_string(file).unwrap();
    let owned = |(stack, us): (&str, f64)| (stack.split(';').map(str::to_owned).collect(), us);
    parse_folded(&text).unwrap().into_iter().map(owned).collect()
}

/// Time in the four functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split([f64; 4]);

const FUNCTIONS: [&str; 4] = ["f", "g", "h", "k"];

impl Split {
    /// What the program wrote.
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let times: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
        Self(times.try_into().unwrap())
    }

    /// What its stacks say.
    pub(crate) fn of_stacks(stacks: &Stacks) -> Self {
        Self(FUNCTIONS.map(|name| time_of(stacks, "", |stack| has(stack, name))))
    }

    /// The share of each function in all four, here and there, in percent.
    pub(crate) fn beside(&self, truth: &Self) -> Vec<(&'static str, f64, f64)> {
        let share =
            |split: &Self, place: usize| 100.0 * split.0[place] / split.0.iter().sum::<f64>();
        let each = FUNCTIONS.into_iter().enumerate();
        each.map(|(place, name)| (name, share(self, place), share(truth, place))).collect()
    }
}

pub(crate) fn has(stack: &[String], name: &str) -> bool {
    stack.iter().any(|function| function == name)
}

/// Time in stacks of a stage that satisfy a condition, in microseconds.
pub(crate) fn time_of(stacks: &Stacks, stage: &str, condition: impl Fn(&[String]) -> bool) -> f64 {
    let of = |(stack, _): &&(Vec<String>, f64)| stack[0].starts_with(stage) && condition(stack);
    stacks.iter().filter(of).map(|(_, us)| us).sum()
}

/// Of the time in stacks that were taken, how much has three named functions and leads to the beginning of the thread, and all
/// of it, in microseconds.
pub(crate) fn depth(stacks: &Stacks) -> (f64, f64) {
    let all = time_of(stacks, "", is_taken);
    (time_of(stacks, "", |stack| is_taken(stack) && is_deep(stack)), all)
}

/// A wait for a CPU and what the stage did as a whole have no stack.
fn is_taken(stack: &[String]) -> bool {
    stack.len() > 2 || stack.last().is_some_and(|leaf| leaf.starts_with("[on a CPU"))
}

pub(crate) fn is_deep(stack: &[String]) -> bool {
    let named = stack[1..].iter().filter(|name| !name.starts_with('[')).count();
    named >= 3 && !has(stack, "[callers unknown]")
}
