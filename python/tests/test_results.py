"""Records, tables, running pipelines, other commands."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import fullbore
from fullbore import Record

from .support import NoLeftovers, skip, with_mark

SLOW = "yes | sleep 0.3 | head -1"


class Results(NoLeftovers):
    def test_the_record(self) -> None:
        result = fullbore.run(SLOW, capture_output=True)
        assert result.verdict is not None
        self.assertIn("sleep", result.verdict)
        self.assertEqual([stage.words[0] for stage in result.stages], ["yes", "sleep", "head"])
        self.assertEqual([stage.exit_status for stage in result.stages], [141, 0, 0])
        for stage in result.stages:
            assert stage.running is not None
            self.assertLess(stage.running, 50)
        self.assertEqual(Record.parse(result.to_json()), result.record)
        self.assertEqual(result.record["schema"], "fullbore.run/2")
        self.assertIn(result.verdict, repr(result))

    def test_records_are_read_tolerantly(self) -> None:
        empty = Record({})
        self.assertEqual((empty.verdict, empty.stages, empty.elapsed_seconds, empty.command), (None, [], None, None))
        odd = Record({"later": [1], "stages": [{"stage": 1, "new": 2}, None], "findings": "?", "elapsed_ns": "x"})
        self.assertEqual((odd["later"], odd.stages[0]["new"], odd.stages[0].running, odd.elapsed_seconds), ([1], 2, None, None))
        self.assertEqual(odd.findings, [])
        self.assertIn('"new": 2', odd.to_json())
        self.assertIn("<table>", odd._repr_html_())
        self.assertRaises(ValueError, Record.parse, "[]")

    def test_a_table_and_a_page(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "x.html")
            result = fullbore.run("sleep 0.1 | cat '<&>'", stderr=subprocess.DEVNULL, report=page)
            self.assertTrue(os.path.getsize(page) > 10_000)
        self.assertIn("<iframe", result._repr_html_())
        table = Record({"stages": [{"command": "grep '<&>'"}], "findings": [{"message": "grep '<&>' waits"}]})._repr_html_()
        self.assertEqual((table.count("&lt;&amp;&gt;"), table.count("<&>")), (2, 0))

    def test_a_notebook_gets_the_page(self) -> None:
        kernel = types.SimpleNamespace(kernel=object())
        ipython = types.SimpleNamespace(get_ipython=lambda: kernel)
        with unittest.mock.patch.dict(sys.modules, {"IPython": ipython}):
            self.assertIn("srcdoc", fullbore.run("true")._repr_html_())

    def test_a_frame(self) -> None:
        try:
            import pandas  # noqa: F401
        except ImportError:
            skip("pandas is not installed")
        frame = fullbore.run(SLOW, capture_output=True).to_frame()
        self.assertEqual(list(frame["exit_status"]), [141, 0, 0])

    def test_without_pandas(self) -> None:
        with unittest.mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(ImportError, "pip install pandas"):
                Record({}).to_frame()


class Running(NoLeftovers):
    def test_output_is_read_while_it_runs(self) -> None:
        with fullbore.popen("echo one; cat", stdin=fullbore.PIPE) as pipeline:
            assert pipeline.stdin is not None and pipeline.stdout is not None
            self.assertEqual(pipeline.stdout.readline(), b"one\n")
            self.assertIsNone(pipeline.poll())
            pipeline.stdin.write(b"two\n")
            pipeline.stdin.flush()
            self.assertEqual(pipeline.stdout.readline(), b"two\n")
            pipeline.stdin.close()
            self.assertEqual(list(pipeline.stdout), [])
        self.assertEqual((pipeline.wait(), pipeline.returncodes), (0, [0]))
        self.assertEqual(pipeline.record.command, "echo one; cat")

    def test_text_lines(self) -> None:
        with fullbore.popen("printf 'ä\\nb\\n' | cat", text=True) as pipeline:
            assert pipeline.stdout is not None
            self.assertEqual(list(pipeline.stdout), ["ä\n", "b\n"])

    def test_a_reader_that_leaves(self) -> None:
        with fullbore.popen("yes | cat") as pipeline:
            assert pipeline.stdout is not None
            self.assertEqual(pipeline.stdout.readline(), b"y\n")
        self.assertEqual(pipeline.returncodes, [141, 141])

    def test_a_snapshot(self) -> None:
        with fullbore.popen("echo go >&2; yes | sed s/y/x/ > /dev/null", stderr=fullbore.PIPE) as pipeline:
            assert pipeline.stderr is not None
            pipeline.stderr.readline()
            # Long enough for `attach` to tell the processes below fullbore apart.
            now = pipeline.snapshot(for_=0.6)
            self.assertEqual([stage.words[0] for stage in now.stages], ["yes", "sed"])
            assert now.verdict is not None
            self.assertIn("sed", now.verdict)
            pipeline.end()
        self.assertEqual(len(pipeline.snapshot().stages), 2)

    def test_attach(self) -> None:
        with subprocess.Popen("yes | cat | cat > /dev/null", shell=True, start_new_session=True, stdout=-3, stderr=-3) as other:
            try:
                seen = fullbore.attach(other.pid, for_=0.3)
                self.assertEqual([stage.words[0] for stage in seen.stages], ["yes", "cat", "cat"])
                self.assertIsNone(seen.exit_status)
            finally:
                os.killpg(other.pid, signal.SIGKILL)

    def test_a_block_that_fails_ends_everything(self) -> None:
        # At once, when fullbore may not have started the shell yet; and when it runs.
        for first in (b"", b"go\n"):
            with self.assertRaises(ZeroDivisionError):
                with fullbore.popen("echo go; sleep 77 | sleep 77", env={"PATH": "/usr/bin:/bin", "FULLBORE_TEST_BLOCK": "1"}) as pipeline:
                    assert pipeline.stdout is not None
                    self.assertEqual(pipeline.stdout.read(len(first)), first)
                    1 // 0
            self.assertEqual(with_mark("FULLBORE_TEST_BLOCK"), [])

    def test_communicate_again_after_the_time_was_over(self) -> None:
        with fullbore.popen("read x; echo $x; echo end", stdin=fullbore.PIPE) as pipeline, fullbore.popen("cat", stdin=fullbore.PIPE) as other:
            with self.assertRaises(fullbore.TimeoutExpired):
                pipeline.wait(timeout=0.05)
            self.assertEqual(pipeline.communicate(b"hi\n"), (b"hi\nend\n", None))
            self.assertEqual(other.communicate(), (b"", None))


class Tools(NoLeftovers):
    DATA = b'{"type":"a","n":1}\n{"type":"b","n":2}\n{"type":"a","n":3}\n'

    def test_json(self) -> None:
        grouped = [{"type": "a", "count": 2}, {"type": "b", "count": 1}]
        self.assertEqual(fullbore.json("group .type count", input=self.DATA), grouped)
        self.assertEqual(fullbore.json("select .n", input=self.DATA), [{"n": 1}, {"n": 2}, {"n": 3}])
        self.assertEqual(fullbore.json(["where", ".n == 2"], input=self.DATA), [{"type": "b", "n": 2}])
        self.assertEqual(fullbore.json("check", input=self.DATA), [])
        with tempfile.TemporaryDirectory() as folder:
            path, output = os.path.join(folder, "e.jsonl"), os.path.join(folder, "out")
            with open(path, "wb") as file:
                file.write(self.DATA)
            self.assertEqual(fullbore.json("group .type count", input=path), grouped)
            self.assertEqual(fullbore.json(["group", ".type", "count", path]), grouped)
            with open(path, "rb") as opened:
                self.assertEqual(opened.readline(), self.DATA.splitlines(True)[0])
                self.assertEqual(fullbore.json("group .type count", input=opened), [{"type": "a", "count": 1}, {"type": "b", "count": 1}])
            self.assertEqual(fullbore.json("group .type count", input=path, output=output), [])
            with open(output, "rb") as told:
                self.assertEqual(told.read(), b"a\t2\nb\t1\n")
        packed = gzip.open(io.BytesIO(gzip.compress(self.DATA)))
        self.assertEqual(fullbore.json("group .type count", input=packed), grouped)

    def test_par(self) -> None:
        lines = b"".join(b"%d\n" % number for number in range(100_000))
        self.assertEqual(fullbore.par("sed s/^/x/", input=lines, jobs=2, block="64K").stdout, lines.replace(b"\n", b"\nx").join([b"x", b""])[:-1])
        self.assertEqual(fullbore.par(["wc", "-l"], input=lines, merge="auto").stdout.strip(), b"100000")
        self.assertRaises(subprocess.CalledProcessError, fullbore.par, "grep nosuch", input=lines)
        self.assertEqual(fullbore.par("grep nosuch", input=lines, check=False).returncode, 1)

    def test_gather(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            environ = {**os.environ, "FULLBORE_RECORDS": folder}
            for line in ("sleep 0.01", "sleep 0.4", "sleep 0.01"):
                subprocess.run([fullbore.find_binary(), "sh", "-c", line], env=environ, check=True)
            workflow = fullbore.gather(folder)
        self.assertEqual(len(workflow.jobs), 3)
        assert workflow.costliest_rule is not None
        self.assertIn("sleep", workflow.costliest_rule["name"])
        self.assertIn("<iframe", workflow._repr_html_())
        with tempfile.TemporaryDirectory() as empty, self.assertRaises(fullbore.FullboreError):
            fullbore.gather(empty)

    def test_the_module_is_the_program(self) -> None:
        done = subprocess.run([sys.executable, "-m", "fullbore", "--version"], capture_output=True, text=True)
        self.assertTrue(done.stdout.startswith("fullbore "), done)


if __name__ == "__main__":
    unittest.main()
