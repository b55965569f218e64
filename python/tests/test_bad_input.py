"""What people get wrong, and what they are told."""

from __future__ import annotations

import os
import pickle
import subprocess
import tempfile
import unittest.mock

import fullbore

from .support import NoLeftovers


class BadInput(NoLeftovers):
    def test_no_program(self) -> None:
        with unittest.mock.patch.dict(os.environ, {"FULLBORE": "/nosuch/fullbore"}):
            with self.assertRaisesRegex(fullbore.BinaryNotFound, "FULLBORE"):
                fullbore.run("true")
        with tempfile.TemporaryDirectory() as empty, unittest.mock.patch.dict(os.environ, {"FULLBORE": "", "PATH": empty}):
            with self.assertRaisesRegex(FileNotFoundError, "pip install fullbore"):
                fullbore.run("true")

    def test_another_program(self) -> None:
        with unittest.mock.patch.dict(os.environ, {"FULLBORE": "/bin/true"}):
            with self.assertRaisesRegex(fullbore.FullboreError, "/bin/true is not fullbore"):
                fullbore.run("true")

    def test_a_line_that_is_no_line(self) -> None:
        result = fullbore.run("cat | | cat", capture_output=True)
        self.assertEqual(result.returncodes, [2])
        self.assertIn(b"syntax error", result.stderr)
        for wrong in ((), ("true", "true"), (["true"], "true"), (b"true",)):
            with self.subTest(wrong), self.assertRaises(TypeError):
                fullbore.run(*wrong)
        for empty in ([], [""]):
            with self.subTest(empty), self.assertRaises(ValueError):
                fullbore.run(empty, ["cat"])

    def test_a_nul(self) -> None:
        with self.assertRaisesRegex(ValueError, "null byte"):
            fullbore.run("echo a\0b")
        with self.assertRaisesRegex(ValueError, "null byte"):
            fullbore.run(["echo", "a\0b"], ["cat"])

    def test_a_folder_that_does_not_exist(self) -> None:
        with self.assertRaisesRegex(FileNotFoundError, "/nosuch/folder"):
            fullbore.run("true", cwd="/nosuch/folder")

    def test_input_that_nobody_reads(self) -> None:
        result = fullbore.run("true | cat", input=bytes(5_000_000), capture_output=True, check=True)
        self.assertEqual(result.stdout, b"")
        with fullbore.popen("exec true", stdin=fullbore.PIPE) as pipeline:
            assert pipeline.stdin is not None
            pipeline.wait()
            with self.assertRaises(BrokenPipeError):
                pipeline.stdin.write(bytes(5_000_000))
                pipeline.stdin.flush()

    def test_input_of_the_wrong_kind(self) -> None:
        with self.assertRaisesRegex(TypeError, "text=True"):
            fullbore.run("cat", input="a")  # type: ignore[call-overload]
        with self.assertRaisesRegex(TypeError, "bytes"):
            fullbore.run("cat", input=b"a", text=True)  # type: ignore[call-overload]
        with self.assertRaises(ValueError):
            fullbore.run("cat", input=b"a", stdin=subprocess.DEVNULL)
        with self.assertRaises(ValueError):
            fullbore.run("cat", capture_output=True, stdout=subprocess.DEVNULL)

    def test_bytes_that_are_no_text(self) -> None:
        line = "printf 'a\\377\\r\\nb'"
        self.assertEqual(fullbore.run(line, capture_output=True).stdout, b"a\xff\r\nb")
        with self.assertRaises(UnicodeDecodeError):
            fullbore.run(line, capture_output=True, encoding="utf-8")
        lenient = fullbore.run(line, capture_output=True, encoding="utf-8", errors="replace")
        self.assertEqual(lenient.stdout, "a\ufffd\nb")
        self.assertEqual(fullbore.run(line, capture_output=True, encoding="latin-1").stdout, "aÿ\nb")
        self.assertEqual(fullbore.run(["printf", b"\xff"], ["cat"], capture_output=True).stdout, b"\xff")

    def test_text(self) -> None:
        result = fullbore.run("cat; echo é >&2", input="ä\n", capture_output=True, encoding="utf-8", check=True)
        self.assertEqual((result.stdout, result.stderr), ("ä\n", "é\n"))
        wide = fullbore.run("cat", input="ä\n", capture_output=True, encoding="utf-16")
        self.assertEqual(wide.stdout, "ä\n")

    def test_errors_can_be_pickled(self) -> None:
        with self.assertRaises(fullbore.PipelineError) as failed:
            fullbore.run("echo oh >&2 | false", check=True, capture_output=True)
        copy = pickle.loads(pickle.dumps(failed.exception))
        self.assertEqual((str(copy), copy.returncodes), (str(failed.exception), [0, 1]))
        with self.assertRaises(subprocess.TimeoutExpired) as late:
            fullbore.run("sleep 77", timeout=0.1)
        self.assertEqual(str(pickle.loads(pickle.dumps(late.exception))), str(late.exception))

    def test_errors_of_subprocess_are_caught_as_such(self) -> None:
        with self.assertRaises(subprocess.CalledProcessError):
            fullbore.run("false | cat", check=True)

    def test_attach_to_nobody(self) -> None:
        with self.assertRaises(ProcessLookupError):
            fullbore.attach(2**22 + 1)
        with self.assertRaises(TypeError):
            fullbore.attach()

    def test_a_query_that_is_none(self) -> None:
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            fullbore.json("group .a nonsense", input=b"{}")
        self.assertIn("nonsense", str(caught.exception))
        with self.assertRaises(ValueError):
            fullbore.json("")
        with self.assertRaises(subprocess.CalledProcessError):
            fullbore.json("check", input=b"{")
