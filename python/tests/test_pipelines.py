"""50 pipelines in five states: fine, one in the middle fails, SIGPIPE, time is over, 1 MB of messages."""

from __future__ import annotations

import fullbore

from .support import NoLeftovers, with_mark

MB = 1_000_000
LOUD = "sh -c 'head -c 1000000 /dev/zero | tr \"\\\\0\" e >&2; cat'"

# Ten sources and what they print.
SOURCES = (
    ("seq 3", b"1\n2\n3\n"),
    ("printf 'b\\na\\n'", b"b\na\n"),
    ("echo one", b"one\n"),
    ("head -c 300000 /dev/zero", bytes(300_000)),
    ("true", b""),
    ("(echo x; echo y)", b"x\ny\n"),
    ("printf '\\0\\1\\377'", b"\0\1\xff"),
    ("{ echo é; }", "é\n".encode()),
    ("yes | head -200000", b"y\n" * 200_000),
    ("seq 100 | tail -1", b"100\n"),
)


class Pipelines(NoLeftovers):
    def test_a_pipeline_that_is_fine(self) -> None:
        for source, output in SOURCES:
            with self.subTest(source):
                result = fullbore.run(f"{source} | cat | cat", capture_output=True, check=True)
                self.assertEqual(result.stdout, output)
                self.assertEqual(result.stderr, b"")
                # `yes | head -200000 | …`: SIGPIPE for the first.
                self.assertEqual([status for status in result.returncodes if status != 141], [0] * (3 + source.count("|") - source.count("yes")))

    def test_one_in_the_middle_fails(self) -> None:
        for at, (source, output) in enumerate(SOURCES):
            with self.subTest(source):
                line = f"{source} | (cat; exit {at + 1}) | cat"
                result = fullbore.run(line, capture_output=True)
                self.assertEqual((result.stdout, result.returncode), (output, 0))
                self.assertEqual(result.returncodes[-2:], [at + 1, 0])
                with self.assertRaises(fullbore.PipelineError) as caught:
                    fullbore.run(line, capture_output=True, check=True)
                self.assertEqual(caught.exception.returncodes[-2:], [at + 1, 0])
                self.assertEqual(caught.exception.stdout, output)
                self.assertIn(f"ended with status {at + 1}", str(caught.exception))

    def test_a_reader_that_leaves_is_no_failure(self) -> None:
        for at in range(10):
            with self.subTest(at):
                result = fullbore.run(f"yes {at} | head -{at + 1}", capture_output=True, check=True)
                self.assertEqual(result.stdout, f"{at}\n".encode() * (at + 1))
                self.assertEqual(result.returncodes, [141, 0])

    def test_time_is_over(self) -> None:
        lines = (
            "sleep 77 | cat",
            "cat /dev/zero | cat > /dev/null",
            "yes | cat",
            "(sleep 77 & sleep 77) | cat",
            "trap '' TERM; sleep 77 | cat",
            "seq 3; setsid sleep 77",
            "sh -c 'trap \"\" TERM; while :; do sleep 7; done' | cat",
            "(setsid sh -c 'sleep 77 & exec sleep 77' &) ; sleep 77",
            "sleep 77 | sh -c 'kill -STOP $$' | cat",
            "python3 -c 'import time; time.sleep(77)' | cat",
        )
        for at, line in enumerate(lines):
            with self.subTest(line):
                mark = f"FULLBORE_TEST_MARK_{at}"
                with self.assertRaises(fullbore.TimeoutExpired) as caught:
                    fullbore.run(line, capture_output=True, timeout=0.25, grace=0.1, env={"PATH": "/usr/bin:/bin", mark: "1"})
                self.assertEqual(with_mark(mark), [], "a process goes on")
                self.assertEqual(caught.exception.record.command, line)
        self.assertEqual(caught.exception.timeout, 0.25)

    def test_time_is_over_at_once(self) -> None:
        for seconds in (0, 0.001, 0.002, 0.003, 0.005, 0.008):
            with self.subTest(seconds), self.assertRaises(fullbore.TimeoutExpired):
                fullbore.run("sleep 77 | sleep 77", timeout=seconds, env={"PATH": "/usr/bin:/bin", "FULLBORE_TEST_AT_ONCE": "1"})
        self.assertEqual(with_mark("FULLBORE_TEST_AT_ONCE"), [])

    def test_what_was_printed_before_the_time_was_over_is_kept(self) -> None:
        with self.assertRaises(fullbore.TimeoutExpired) as caught:
            fullbore.run("seq 3; echo oh >&2; sleep 77", capture_output=True, timeout=0.5)
        self.assertEqual((caught.exception.stdout, caught.exception.stderr), (b"1\n2\n3\n", b"oh\n"))

    def test_a_megabyte_of_messages(self) -> None:
        for source, output in SOURCES:
            with self.subTest(source):
                result = fullbore.run(f"{source} | {LOUD} | cat", capture_output=True, check=True)
                self.assertEqual(result.stdout, output)
                self.assertEqual(result.stderr, b"e" * MB)
                self.assertEqual(result.returncodes[-2:], [0, 0])

    def test_a_megabyte_of_messages_while_much_goes_in_and_out(self) -> None:
        data = bytes(range(256)) * 20_000
        result = fullbore.run(f"{LOUD} | cat", input=data, capture_output=True, check=True)
        self.assertEqual(result.stdout, data)
        self.assertEqual(result.stderr, b"e" * MB)

    def test_stages_as_lists_of_words(self) -> None:
        result = fullbore.run(["printf", "%s\n", "a b", "$HOME", "it's", ""], ["cat"], capture_output=True, check=True)
        self.assertEqual(result.stdout, b"a b\n$HOME\nit's\n\n")
        for words, output in (
            (["echo", "-e", "a"], b"a\n"),
            (["test", "1", "=", "1"], b""),
            (["[", "1", "]"], b""),
            (["true"], b""),
            (["env", "A=1", "sh", "-c", "echo $A"], b"1\n"),
        ):
            with self.subTest(words):
                self.assertEqual(fullbore.run(words, ["cat"], capture_output=True, check=True).stdout, output)
        missing = fullbore.run(["A=1"], ["if"], ["cat"], capture_output=True)
        self.assertEqual(missing.returncodes, [127, 127, 0])
        alone = fullbore.run(["sh", "-c", "exit 5"])
        self.assertEqual((alone.returncode, alone.returncodes), (5, [5]))

    def test_a_signal(self) -> None:
        result = fullbore.run(["sh", "-c", "kill -9 $$"], ["cat"], capture_output=True)
        self.assertEqual(result.returncodes, [137, 0])
        alone = fullbore.run("kill -TERM $$")
        self.assertEqual((alone.returncode, alone.returncodes), (-15, [143]))
        with self.assertRaises(fullbore.PipelineError) as caught:
            alone.check_returncode()
        self.assertIn("SIGTERM", str(caught.exception))

    def test_lines_that_end_with_something_else_than_a_pipeline(self) -> None:
        for line, returncode, returncodes, fails in (
            ("true | true; exit 3", 3, [0, 0], True),
            ("! true | false", 0, [0, 1], False),
            ("exit 3", 3, [3], True),
            ("if false; then :; fi", 0, [0], False),
            ("false | true; true", 0, [0], False),
            ("set -o pipefail; false | true", 1, [1, 0], True),
            ("set -u; trap 'echo mine' EXIT; true", 0, [0], False),
            ("-nosuch 2> /dev/null", 127, [127], True),
        ):
            with self.subTest(line):
                result = fullbore.run(line, stdout=fullbore.PIPE)
                self.assertEqual((result.returncode, result.returncodes), (returncode, returncodes))
                if fails:
                    self.assertRaises(fullbore.PipelineError, result.check_returncode)
                else:
                    result.check_returncode()

    def test_the_pipeline_sees_no_variable_of_ours(self) -> None:
        result = fullbore.run("env", capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "BASH_ENV": "/nosuch"})
        names = {line.partition("=")[0] for line in result.stdout.splitlines()}
        self.assertEqual(names - {"PWD", "SHLVL", "_", "OLDPWD"}, {"PATH", "BASH_ENV"})

    def test_another_shell(self) -> None:
        result = fullbore.run("echo $0; sleep 0.2 | sleep 0.2", shell="dash", capture_output=True, check=True)
        self.assertEqual((result.stdout, result.returncodes), (b"dash\n", [0, 0]))
