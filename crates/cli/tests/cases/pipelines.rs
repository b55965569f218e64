//! Pipelines that must behave under fullbore exactly as under the shell alone, and the comparison.

use std::fmt::Write;
use std::process::Command;

use crate::sandbox::{Sandbox, digest, finish, fullbore, is_installed, status_text};

/// A line for a shell and the surroundings it runs in.
pub(crate) struct Pipeline {
    pub(crate) name: &'static str,
    shell: &'static str,
    line: String,
    /// Script of the caller, in which `"$@"` is the run; empty: nothing around it.
    around: &'static str,
    needs: &'static [&'static str],
}

/// All that a caller can see of a run.
#[derive(Debug, PartialEq, Eq)]
struct Visible {
    status: String,
    stdout: (usize, u64),
    stdout_start: String,
    stderr: String,
    files: Vec<(String, u64)>,
}

impl Pipeline {
    /// Programs that are needed and not installed.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        let shell = [self.shell];
        self.needs.iter().chain(&shell).copied().find(|program| !is_installed(program))
    }

    /// Runs the line plain and under fullbore; says what differs.
    pub(crate) fn compare(&self) -> Result<(), String> {
        let plain = self.observe(&[self.shell, "-c", &self.line]);
        let program = fullbore();
        let program = program.to_str().expect("a path in UTF-8");
        let under = if self.shell == "sh" {
            self.observe(&[program, "run", "-q", &self.line])
        } else {
            self.observe(&[program, "run", "-q", "--shell", self.shell, &self.line])
        };
        if plain == under {
            return Ok(());
        }
        let mut text =
            format!("{}: {}\n", self.name, self.line.chars().take(200).collect::<String>());
        let _ = write!(text, "  {}: {plain:?}\n  fullbore: {under:?}", self.shell);
        Err(text)
    }

    fn observe(&self, words: &[&str]) -> Visible {
        let place = Sandbox::new();
        std::fs::write(place.path("input"), "one\ntwo\nthree\n").expect("the place is writable");
        let mut command: Command;
        if self.around.is_empty() {
            command = place.command(words[0]);
            command.args(&words[1..]);
        } else {
            command = place.command("sh");
            command.args(["-c", self.around, "around"]).args(words);
        }
        let ended = finish(command);
        Visible {
            status: status_text(ended.status),
            stdout: (ended.stdout.len(), digest(&ended.stdout)),
            stdout_start: String::from_utf8_lossy(&ended.stdout[..ended.stdout.len().min(400)])
                .into_owned(),
            stderr: ended.stderr,
            files: place.files(),
        }
    }

    fn needing(mut self, needs: &'static [&'static str]) -> Self {
        self.needs = needs;
        self
    }
}

fn sh(name: &'static str, line: &str) -> Pipeline {
    Pipeline { name, shell: "sh", line: line.to_owned(), around: "", needs: &[] }
}

fn bash(name: &'static str, line: &str) -> Pipeline {
    Pipeline { shell: "bash", ..sh(name, line) }
}

fn around(name: &'static str, around: &'static str, line: &str) -> Pipeline {
    Pipeline { around, ..sh(name, line) }
}

/// The whole table.
pub(crate) fn all() -> Vec<Pipeline> {
    [data(), stages(), endings(), shell_constructs(), surroundings(), bash_constructs()]
        .into_iter()
        .flatten()
        .collect()
}

fn data() -> Vec<Pipeline> {
    vec![
        sh("one_command", "echo hello"),
        sh("early_leaving_reader", "yes | head -1"),
        sh("early_leaving_reader_of_slow_writer", "while :; do echo x; sleep 0.01; done | head -3"),
        sh("dd_gzip_wc", "dd if=/dev/zero bs=64K count=300 2>/dev/null | gzip -1n | wc -c")
            .needing(&["gzip"]),
        sh("there_and_back", "head -c 20M /dev/zero | tr '\\0' 'a-z' | gzip -1 | gzip -dc | cksum")
            .needing(&["gzip"]),
        sh(
            "binary",
            "for i in 0 1 2 3; do printf '\\0\\1\\377\\200\\n\\r\\0'; done | cat | od -An -tx1",
        ),
        sh("nul_bytes_to_stdout", "head -c 100000 /dev/zero | cat"),
        sh("empty", "cat /dev/null | cat | wc -c"),
        sh("no_output_at_all", "true | true"),
        sh("one_gigabyte", "head -c 1G /dev/zero | cat | tail -c 3 | od -An -c"),
        sh("one_gigabyte_counted", "head -c 1G /dev/zero | cat | wc -c"),
        sh(
            "unicode",
            "printf 'žluťoučký 🐎 кoнь\\n' | cat | wc -c; printf '日本語\\n' | tr -d '\\n'",
        ),
        sh("slow_trickle", "for i in 1 2 3 4 5 6; do printf $i; sleep 0.03; done | cat"),
        sh("unfinished_line", "printf 'no newline' | cat"),
        sh(
            "hundred_megabytes_sorted",
            "seq 2000000 -1 1 | LC_ALL=C sort | sed -n '1p;$p;1000000p'",
        ),
        sh("large_stderr", "{ seq 1 50000 >&2; echo done; } | cat"),
        sh("two_gigabytes_dropped", "head -c 2G /dev/zero >/dev/null; echo $?"),
        sh("here_document", "cat <<END | tr a-z A-Z\nfirst $((1 + 1))\nsecond\nEND"),
    ]
}

fn stages() -> Vec<Pipeline> {
    let cats = vec!["cat"; 199].join(" | ");
    vec![
        sh("stage_that_dies_by_signal", "yes | sh -c 'head -100; kill -9 $$' | wc -l"),
        // The shell must not be killed before it has started the last stage.
        sh(
            "stage_that_kills_the_shell",
            "mkfifo go; yes | (head -100; read go < go; kill -9 $$) | (echo > go; wc -l)",
        ),
        sh("stage_that_dies_in_the_middle", "seq 100000 | sh -c 'head -5; kill -KILL $$' | cat"),
        sh("stage_that_fails", "seq 10 | sh -c 'cat; exit 9' | cat; echo status $?"),
        sh("stage_that_ignores_stdin", "seq 100000 | sh -c 'echo I do not read'"),
        sh("stage_that_ignores_stdin_for_a_while", "seq 200000 | { sleep 0.3; wc -l; }"),
        sh("two_hundred_stages", &format!("seq 1000 | {cats} | cksum")),
        sh("many_short_pipelines", "for i in $(seq 60); do echo $i | cat | cat; done"),
        sh("xargs_in_parallel", "seq 40 | xargs -P4 -n1 sh -c 'echo $0' | sort -n"),
        sh("timeout_ends_it", "timeout 0.2 sleep 20 | cat; echo status $?"),
        sh("timeout_of_the_last_stage", "yes | timeout 0.2 cat >/dev/null; echo status $?"),
        sh("tee_to_a_file", "seq 5000 | tee copy | wc -l; cksum <copy"),
        sh("named_fifo", "mkfifo p; seq 1000 >p & cat p | cksum; wait; rm p"),
        sh("two_fifos_joined", "mkfifo a b; seq 9 >a & seq 9 >b & paste a b | cat; wait; rm a b"),
        sh("several_writers", "{ seq 3 & wait; seq 4 6; } | cat"),
        sh("several_readers", "seq 6 | { head -c 4; cat; } | cat"),
        sh("threads", "seq 300000 | LC_ALL=C sort --parallel=4 -S 1M -r | head -2"),
    ]
}

fn endings() -> Vec<Pipeline> {
    vec![
        sh("exit_3", "exit 3"),
        sh("status_of_the_last_stage", "true | false"),
        sh("status_of_the_first_stage_is_lost", "false | true"),
        sh("kill_term_oneself", "kill -TERM $$; echo not reached"),
        sh("kill_int_oneself", "kill -INT $$; echo not reached"),
        sh("kill_pipe_oneself", "kill -PIPE $$; echo not reached"),
        sh("kill_kill_oneself", "kill -KILL $$; echo not reached"),
        sh("trap_on_exit", "trap 'echo trapped' EXIT; seq 3 | cat; exit 4"),
        sh(
            "trap_on_term",
            "trap 'echo got TERM; exit 6' TERM; kill -TERM $$; sleep 1; echo not reached",
        ),
        sh("exec_replaces_the_shell", "exec sh -c 'echo replaced; exit 5'"),
        sh("exec_dies_by_signal", "exec sh -c 'kill -HUP $$'"),
        sh("command_not_found", "no-such-command-here | cat; no-such-command-here"),
        sh("command_not_executable", "echo x >plain; ./plain"),
        sh("directory_as_command", "./"),
        sh("syntax_error", "echo a | | cat"),
        sh("unfinished_quote", "echo 'a"),
        sh("unset_variable_is_an_error", "set -u; echo $no_such_variable"),
        sh("set_e", "set -e; echo a; false; echo not reached"),
        sh("a_line_that_is_empty", ""),
        sh("a_line_of_blanks", "   "),
        sh("a_comment", "# nothing"),
        sh("dash_dash_inside", "printf -- '-%s-\\n' -- x"),
    ]
}

fn shell_constructs() -> Vec<Pipeline> {
    vec![
        sh(
            "background_job_and_wait",
            "(sleep 0.1; echo late; exit 7) & echo early; wait $!; echo status $?",
        ),
        sh("background_pipeline", "seq 3 | cat & wait; echo done"),
        sh("two_pipelines", "seq 3 | cat; seq 4 6 | cat"),
        sh("and_or", "false | cat && echo a || echo b; ! true || echo c"),
        sh("subshell", "(seq 3; (seq 4 6)) | cat; (exit 4) | cat; (exit 5)"),
        sh("braces", "{ seq 3; seq 4 6; } | { head -2; cat >/dev/null; }"),
        sh("while_loop", "seq 200 | while read x; do echo $((x * 2)); done | tail -1"),
        sh("function", "double() { while read x; do echo $x $x; done; }; seq 3 | double | cat"),
        sh("case_and_glob", "for f in i*; do case $f in input) echo found;; esac; done | cat"),
        sh("command_substitution", "x=$(seq 3 | tail -1); echo $x | cat"),
        sh("redirections", "seq 3 >out; cat <out >>out2; echo err >&2; cat out out2 2>&1 | cksum"),
        sh("both_streams_into_the_pipe", "{ echo out; echo err >&2; } 2>&1 | cat"),
        sh(
            "descriptors_swapped",
            "{ { echo out; echo err >&2; } 3>&1 1>&2 2>&3 | sed 's/^/pipe: /'; } 2>&1",
        ),
        sh("name_of_the_shell", "echo $0"),
        sh("no_positional_parameters", "echo $#"),
        sh("read_from_the_script_input", "read x; echo $x"),
        sh("time_of_day_variables", "IFS=: ; set -- $(echo a:b:c); echo $# | cat"),
        sh("nohup", "nohup sh -c 'kill -HUP $$; echo survived' 2>/dev/null | cat"),
    ]
}

#[allow(clippy::too_many_lines, reason = "a table")]
fn surroundings() -> Vec<Pipeline> {
    vec![
        around("stdin_from_a_file", r#"exec "$@" <input"#, "cat | sort"),
        around("stdin_position_is_shared", r#"{ "$@"; cat; } <input"#, "read x; echo got $x"),
        around("stdin_from_a_pipe", r#"seq 1000 | "$@""#, "cat | tail -2"),
        around("stdin_left_for_the_next", r#"seq 3 | { "$@"; cat; }"#, "true"),
        around("stdin_closed", r#"exec "$@" <&-"#, "cat | cat; echo status $?"),
        around("stdout_closed", r#"exec "$@" >&-"#, "echo x; echo status $? >&2"),
        around("stderr_closed", r#"exec "$@" 2>&-"#, "echo x >&2; echo status $?"),
        around("stdout_full", r#"exec "$@" >/dev/full"#, "seq 100000 | cat; echo status $? >&2"),
        around("stdout_appended", r#"echo a >log; "$@" >>log; cat log"#, "seq 3 | cat"),
        around("stdout_into_a_reader_that_leaves", r#""$@" | head -1"#, "seq 1000000 | cat"),
        around(
            "status_when_the_reader_leaves",
            r#"{ "$@"; echo status $? >&2; } | head -1"#,
            "yes",
        ),
        around("sigint_ignored", r#"trap '' INT; exec "$@""#, "kill -INT $$; echo survived | cat"),
        around("sighup_ignored", r#"trap '' HUP; exec "$@""#, "kill -HUP $$; echo survived | cat"),
        around("sigpipe_ignored", r#"trap '' PIPE; exec "$@""#, "yes | head -1; echo status $?"),
        around("ignored_signals", r#"exec "$@""#, "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status"),
        around("environment", r#"A='b c' B= exec "$@""#, r#"env | grep -E '^[AB]=' | sort"#),
        around(
            "whole_environment",
            r#"exec env -i PATH="$PATH" X=1 "$@""#,
            "env | grep -v -E '^(_|PWD|OLDPWD|SHLVL)=' | sort",
        ),
        around("umask", r#"umask 027; exec "$@""#, "umask | cat; touch made; stat -c %a made"),
        around("working_directory", r#"mkdir sub; cd sub; exec "$@""#, "basename $(pwd) | cat"),
        around(
            "working_directory_gone",
            r#"mkdir sub; cd sub; rmdir ../sub; exec "$@""#,
            "echo still | cat",
        ),
        around(
            "limits",
            r#"ulimit -n 50; ulimit -c 0; exec "$@""#,
            "ulimit -n; ulimit -c; ulimit -s | cat",
        ),
        around(
            "file_size_limit",
            r#"ulimit -f 8; exec "$@""#,
            "head -c 100000 /dev/zero >big; echo status $?",
        ),
        around("inherited_descriptor", r#"exec "$@" 9<input"#, "cat <&9 | cat"),
        around(
            "inherited_descriptor_for_output",
            r#"exec 8>side; "$@"; cat side"#,
            "seq 3 | tee /dev/fd/8",
        ),
        around(
            "no_other_descriptor",
            r#"exec "$@""#,
            "ls /proc/self/fd | wc -l; ls /proc/self/fd | cat | wc -l",
        ),
        around("nice_and_priority", r#"exec nice -n 5 "$@""#, "nice | cat"),
        around(
            "other_process_settings",
            r#"exec "$@""#,
            "cat /proc/self/oom_score_adj /proc/self/timerslack_ns /proc/self/coredump_filter",
        ),
        around("cpus_allowed", r#"exec taskset -c 0 "$@""#, "nproc | cat").needing(&["taskset"]),
        around(
            "one_run_inside_another",
            r#"sh -c '"$@"; echo outer $?' x "$@""#,
            "seq 3 | cat; exit 3",
        ),
    ]
}

fn bash_constructs() -> Vec<Pipeline> {
    vec![
        bash("pipefail", "set -o pipefail; false | true; echo $?; true | false | true"),
        bash("pipefail_and_sigpipe", "set -o pipefail; yes | head -1"),
        bash("pipestatus", "false | true | sh -c 'exit 7'; echo ${PIPESTATUS[*]}"),
        bash("pipestatus_of_signals", "yes | head -1 >/dev/null; echo ${PIPESTATUS[*]}"),
        bash("here_string", "cat <<<'here: a string' | tr a-z A-Z"),
        bash("process_substitution_in", "diff <(seq 5) <(seq 2 6); paste <(seq 3) <(seq 4 6)"),
        bash(
            "process_substitution_out",
            "seq 100 | tee >(wc -l >lines) | tail -1; until [ -s lines ]; do sleep 0.01; done; cat lines",
        ),
        bash(
            "coprocess",
            "coproc cat; echo through >&${COPROC[1]}; read x <&${COPROC[0]}; echo $x",
        ),
        bash("pipe_with_stderr", "{ echo out; echo err >&2; } |& sort"),
        bash("lastpipe", "shopt -s lastpipe; x=0; seq 5 | while read n; do x=$n; done; echo $x"),
        bash("arrays", "a=(1 2 '3 4'); printf '%s\\n' \"${a[@]}\" | cat"),
        bash("monitor_mode", "set -m; sleep 0.1 & seq 2 | cat; wait; echo done"),
        bash("kill_a_job", "sleep 50 & kill %1; wait %1; echo $?"),
        bash("disowned_short_job", "sleep 0.1 & disown; echo x"),
        bash("error_messages_name_the_shell", "no-such-command-here"),
        bash("syntax_error_in_bash", "echo a | | cat"),
        bash("not_a_terminal", "[[ -t 0 || -t 1 || -t 2 ]]; echo $?"),
        bash("not_interactive", "echo $- | tr -d B; tty; echo $?"),
    ]
}
