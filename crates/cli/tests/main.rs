//! End to end: the binary `fullbore`, real shells, real tools, real pipes.
//!
//! `FULLBORE_BIN` tests another build of the binary, `FULLBORE_REPEAT` runs the transparency table several times,
//! `FULLBORE_CI=1` turns a test that would be skipped into one that fails.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test reports by panicking and printing"
)]

#[macro_use]
mod require;
mod arguments;
mod cases;
mod gate;
mod narrow;
mod processes;
mod sandbox;
mod terminal;

mod advice;
mod architecture;
mod attach;
mod auto;
mod auto_odd;
mod bad_input;
mod broken_pipe;
mod buffer;
mod buffer_faults;
mod buffer_limits;
mod buffer_signals;
mod count;
mod counters;
mod discovery;
mod doctor;
mod exact;
mod exit_status;
mod flame;
mod flame_odd;
mod gather;
mod gost;
mod gost_keys;
mod gost_memory;
mod gost_openssl;
mod graph;
mod help;
mod hints;
mod json;
mod json_cases;
mod json_each;
mod json_group;
mod json_select;
mod json_signals;
mod json_where;
mod keep_awake;
mod lab;
mod lab_disk;
mod leaks;
mod par;
mod par_faults;
mod par_odd;
mod par_prove;
mod par_rules;
mod par_shells;
mod par_trace;
mod programs_of_32_bits;
mod report;
mod run_par;
mod sh;
mod sh_jobs;
mod sh_records;
mod sh_scripts;
mod shares;
mod signal_table;
mod signals;
mod stages;
mod top;
mod transparency;
mod tuning;
mod verdicts;
mod viewers;
mod what_if;
mod wrong_lines;
mod zero_copy;
