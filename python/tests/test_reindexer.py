"""`fullbore load reindexer` and `fullbore query reindexer` on the engine itself, in a directory of its own for each test."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable, Sequence
from typing import Any, Optional

import fullbore
from fullbore.reindexer._failure import Failure

from .support import NoLeftovers, skip

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(fullbore.__file__)))


def environ(**more: str) -> dict[str, str]:
    return {**os.environ, "FULLBORE_PYTHON": sys.executable, "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1", **more}


class WithPrograms(NoLeftovers):
    def setUp(self) -> None:
        super().setUp()
        self._folder = tempfile.TemporaryDirectory(prefix="fullbore-reindexer-")
        self.addCleanup(self._folder.cleanup)
        self.folder = self._folder.name
        self.database = f"builtin://{self.folder}/db"

    def call(self, *words: str, input: Optional[bytes] = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
        command = [fullbore.find_binary(), *words]
        return subprocess.run(command, input=input, capture_output=True, env=environ(**more), cwd=self.folder, timeout=300)


class Missing(WithPrograms):
    """Without the engine; these run everywhere."""

    def python(self, options: str) -> str:
        path = f"{self.folder}/python"
        with open(path, "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nexec {sys.executable} {options} "$@"\n')
        os.chmod(path, 0o755)
        return path

    def test_without_the_python_package_the_pip_line_is_shown(self) -> None:
        for words in (["load", "reindexer", self.database, "e"], ["query", "reindexer", self.database, "SELECT"]):
            # -I: nothing from PYTHONPATH; -S: nothing that is installed.
            done = self.call(*words, FULLBORE_PYTHON=self.python("-I -S"))
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            first, second, rest = done.stderr.decode().split("\n")
            self.assertTrue(first.startswith(f"fullbore: {words[0]}: the Python package fullbore is not installed for /"), first)
            self.assertTrue(second.startswith("hint: /") and second.endswith(" -m pip install 'fullbore[reindexer]'"), second)
            self.assertEqual(rest, "")

    def test_without_the_engine_the_pip_line_is_shown(self) -> None:
        done = self.call("load", "reindexer", self.database, "e", FULLBORE_PYTHON=self.python("-S"))
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn("load: Reindexer is not installed for /", done.stderr.decode())
        self.assertIn(" -m pip install pyreindexer orjson\n", done.stderr.decode())

    def test_a_module_of_the_current_folder_is_not_taken_for_ours(self) -> None:
        os.mkdir(f"{self.folder}/fullbore")
        for name in ("fullbore/__init__.py", "json.py", "runpy.py"):
            with open(f"{self.folder}/{name}", "w", encoding="ascii") as file:
                file.write("raise SystemExit('a stranger')\n")
        done = self.call("load", "reindexer", "nosuch://", "e", FULLBORE_PYTHON=self.python("-S"))
        self.assertNotIn("a stranger", done.stderr.decode())

    def test_an_interpreter_that_is_not_there_is_named(self) -> None:
        done = self.call("load", "reindexer", self.database, "e", FULLBORE_PYTHON="/nosuch/python")
        self.assertEqual(done.returncode, 2)
        self.assertIn("load: /nosuch/python: No such file or directory\nhint: install Python", done.stderr.decode())


class WithEngine(WithPrograms):
    @classmethod
    def setUpClass(cls) -> None:
        for name in ("pyreindexer", "orjson"):
            if importlib.util.find_spec(name) is None:
                skip(f"{name} is not installed (scripts/install-test-tools)")

    def load(self, text: str, *options: str, status: int = 0, namespace: str = "e", key: Sequence[str] = ("--pk", "id")) -> str:
        done = self.call("load", "reindexer", self.database, namespace, *key, *options, input=text.encode())
        said = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (status, b""), said)
        return said

    def query(self, sql: str) -> list[Any]:
        done = self.call("query", "reindexer", self.database, sql)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def refusal(self, text: str, *options: str, **more: Any) -> str:
        """The message of a load that is not done."""
        said = self.load(text, *options, status=2, **more)
        self.assertTrue(said.startswith("fullbore: load: ") and said.count("\n") <= 2, said)
        return said


class Loading(WithEngine):
    def test_records_come_back_as_they_went_in(self) -> None:
        dice = random.Random(7)

        def value(depth: int) -> Any:
            choices: list[Any] = [None, True, False, dice.randrange(-(1 << 63), 1 << 63), dice.uniform(-1e9, 1e9), "", "a\"\\\n\té😀", 1e300, 0.1]
            if depth and dice.random() < 0.4:
                inner = [value(depth - 1) for _ in range(dice.randrange(0, 4))]
                return inner if dice.random() < 0.5 else {f"m{number}": each for number, each in enumerate(inner)}
            return dice.choice(choices)

        records = [{"id": number, **{f"f{each}": value(3) for each in range(dice.randrange(0, 6))}} for number in range(700)]
        text = "".join(json.dumps(record, ensure_ascii=number % 2 == 0) + "\n" for number, record in enumerate(records))
        said = self.load(text, "--batch", "64", "--jobs", "3")
        self.assertRegex(said, r"^fullbore: load: 700 records loaded into e in [0-9.]+ s \([0-9]+ records/s\)\n$")
        self.assertEqual(self.query("SELECT * FROM e ORDER BY id"), records)

    def test_members_that_are_null_or_missing_stay_so_in_indexes(self) -> None:
        self.load('{"id":1,"n":0,"s":"x"}\n{"id":2,"n":null,"s":null}\n{"id":3}\n', "--index", "n:tree,s:hash")
        self.assertEqual(self.query("SELECT * FROM e ORDER BY id"), [{"id": 1, "n": 0, "s": "x"}, {"id": 2, "n": None, "s": None}, {"id": 3}])
        self.assertEqual(self.query("SELECT id FROM e WHERE n <= 0"), [{"id": 1}])

    def test_the_last_record_with_a_key_stays_whatever_thread_had_it(self) -> None:
        text = "".join(f'{{"id":{number % 10},"n":{number}}}\n' for number in range(5000))
        self.load(text, "--batch", "7", "--jobs", "4")
        self.assertEqual(self.query("SELECT * FROM e ORDER BY id"), [{"id": key, "n": 4990 + key} for key in range(10)])

    def test_bad_records_are_named_and_the_rest_is_loaded(self) -> None:
        bad = {
            3: '{"id":3,',
            4: '"n":1}',
            6: "[1]",
            9: '{"n":1}',
            10: '{"id":"ten"}',
            13: '{"id":13,"other":99999999999999999999}',
            14: '{"id":14,"other":18446744073709551615}',
            15: '{"id":15,"p":"cheap"}',
            17: '{"id":17,"s":"\\u0000"}',
        }
        # 99999999999999999999 is a double to every reader of JSON without big numbers.
        del bad[13]
        lines = [bad.get(number, f'{{"id":{number},"p":{number}.5}}') for number in range(1, 21)]
        for batch in ("1", "4", "5000"):
            said = self.load("\r\n".join(lines) + "\n\n \n", "--index", "p:tree", "--batch", batch, "--rejects", "bad", status=1)
            for number in bad:
                self.assertIn(f"fullbore: load: line {number}: ", said)
            self.assertIn(f"{20 - len(bad)} records loaded", said)
            self.assertIn(f"; {len(bad)} rejected", said)
            with open(f"{self.folder}/bad", encoding="ascii") as file:
                self.assertEqual(file.read().splitlines(), list(bad.values()))
            found = [row["id"] for row in self.query("SELECT id FROM e ORDER BY id")]
            self.assertEqual(found, [number for number in range(1, 21) if number not in bad])

    def test_ten_bad_records_are_named_and_all_are_counted(self) -> None:
        said = self.load("bad\n" * 30 + '{"id":1}\n', "--batch", "8", status=1)
        self.assertEqual(said.count("line "), 10)
        self.assertIn("1 record loaded into e", said)
        self.assertIn("; 30 rejected", said)

    def test_an_input_without_records_makes_nothing(self) -> None:
        self.assertEqual(self.load("", "--index", "n:tree"), "fullbore: load: 0 records loaded into e\n")
        self.assertIn("; 2 rejected", self.load("x\ny\n", status=1))
        done = self.call("query", "reindexer", self.database, "SELECT * FROM e")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn("'e' does not exist", done.stderr.decode())
        self.load('{"id":"text"}\n')
        self.load("")
        self.assertEqual(self.query("SELECT * FROM e"), [{"id": "text"}])

    def test_every_path_gets_an_index_from_what_the_records_hold(self) -> None:
        self.load('{"id":1,"p":1.5,"s":"x","ok":true,"t":["a"],"u":{"name":"Z"},"m":1}\n{"id":2,"m":"x"}\n', "--index", "all")
        [space] = [each for each in self.query("SELECT * FROM #namespaces") if each["name"] == "e"]
        found = {each["name"]: (each["index_type"], each["field_type"], each["is_array"]) for each in space["indexes"]}
        self.assertEqual(
            found,
            {
                "id": ("hash", "int64", False),
                "p": ("tree", "double", False),
                "s": ("hash", "string", False),
                "ok": ("-", "bool", False),
                "t": ("hash", "string", True),
                "u.name": ("hash", "string", False),
            },
        )

    def test_a_namespace_that_exists_with_other_indexes_is_left_alone(self) -> None:
        self.load('{"id":1,"n":1}\n', "--index", "n:tree")
        for options, key in (((), ("--pk", "n")), (("--index", "n:hash"), ()), (("--index", "n:tree:string"), ("--pk", "id"))):
            self.assertIn("e: the namespace exists, and its ", self.refusal('{"id":2}\n', *options, key=key))
        self.load('{"id":2,"n":3,"new":"x"}\n', "--index", "n:tree,new:hash", key=())
        self.assertEqual(self.query("SELECT * FROM e WHERE new = 'x'"), [{"id": 2, "n": 3, "new": "x"}])

    def test_what_cannot_be_a_load_is_said_and_leaves_nothing(self) -> None:
        self.assertIn("needs a primary key\nhint: --pk PATH", self.refusal('{"id":1}\n', key=()))
        self.assertIn("no value there", self.refusal('{"id":1}\n', "--index", "n:tree"))
        for name in ("bad name!", "#config"):
            self.refusal('{"id":1}\n', namespace=name)
        self.assertIn("/nosuch/bad: No such file", self.refusal("", "--rejects", "/nosuch/bad"))
        for database, why in {
            "builtin://": "no directory",
            "mongo://x": "not a database",
            "cproto://127.0.0.1:1/db": "refused\nhint: is the server running?",
            "cproto://127.0.0.1:1": "no name of a database",
            f"builtin://{self.folder}": "not empty, and not a database",
            "builtin:///dev/null": "not a directory",
        }.items():
            self.database = database
            self.assertIn(why, self.refusal('{"id":1}\n'))

    def test_indexes_that_cannot_be_made_leave_no_namespace(self) -> None:
        self.refusal('{"id":1,"n":true}\n', "--index", "n:tree")
        self.load('{"id":"now a text"}\n')

    def test_a_database_that_is_locked_names_the_process(self) -> None:
        words = [fullbore.find_binary(), "load", "reindexer", self.database, "e", "--pk", "id", "--batch", "1", "--progress", "always"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environ()) as first:
            assert first.stdin is not None and first.stderr is not None
            first.stdin.write(b'{"id":1}\n{"id":2}\n')
            first.stdin.flush()
            while b"records" not in first.stderr.read1(1000):  # type: ignore[attr-defined]
                pass
            said = self.refusal('{"id":2}\n')
            self.assertIn(f"{self.folder}/db: locked: process {first.pid} has the database open\nhint: ", said)
            done = self.call("query", "reindexer", self.database, "SELECT * FROM e")
            self.assertIn("locked: process", done.stderr.decode())
            first.communicate()
        self.assertEqual(first.returncode, 0)
        self.assertEqual(self.query("SELECT COUNT(*) FROM e"), [{"count(*)": 2}])

    def test_a_signal_leaves_whole_transactions(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            self.database = f"builtin://{self.folder}/db-{number}"
            load = [fullbore.find_binary(), "load", "reindexer", self.database, "e", "--pk", "id", "--batch", "100", "--progress", "always"]
            with subprocess.Popen([fullbore.find_binary(), "gen", "jsonl"], stdout=subprocess.PIPE) as source:
                with subprocess.Popen(load, stdin=source.stdout, stderr=subprocess.PIPE, env=environ()) as loader:
                    assert source.stdout is not None and loader.stderr is not None
                    source.stdout.close()
                    said = b""
                    while b"records" not in said:
                        said += loader.stderr.read1(1000)  # type: ignore[attr-defined]
                    loader.send_signal(number)
                    said += loader.stderr.read()
            self.assertEqual(loader.returncode, -number, said)
            self.assertIn(b"fullbore: load: interrupted; lines 1 to ", said)
            count = int(said.rpartition(b"lines 1 to ")[2].split()[0])
            self.assertTrue(count and count % 100 == 0, said)
            self.assertEqual([row["id"] for row in self.query("SELECT id FROM e ORDER BY id")], list(range(1, count + 1)))

    def test_a_signal_that_comes_twice_at_once_is_one(self) -> None:
        # timeout sends it to the program, and then to the group in which both are.
        line = f'"$0" gen jsonl | timeout -s INT 3 "$0" load reindexer {self.database} e --pk id --batch 100'
        done = subprocess.run(["bash", "-c", line, fullbore.find_binary()], capture_output=True, env=environ())
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assertIn(b"fullbore: load: interrupted; lines 1 to ", done.stderr)
        count = int(done.stderr.rpartition(b"lines 1 to ")[2].split()[0])
        self.assertTrue(count and count % 100 == 0, done.stderr)
        self.assertEqual(self.query("SELECT COUNT(*) FROM e"), [{"count(*)": count}])

    def test_storage_that_fails_is_no_success(self) -> None:
        # The engine stores what is waiting when it is 20,000 records, in files of up to 4 MB.
        text = "".join(f'{{"id":{number},"text":"{number:0100}"}}\n' for number in range(30_000))
        self.load('{"id":1}\n')
        line = f'ulimit -f 1000; "$0" load reindexer {self.database} e --pk id'
        done = subprocess.run(["bash", "-c", line, fullbore.find_binary()], input=text.encode(), capture_output=True, env=environ())
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(f"fullbore: load: {self.database}: e cannot be stored: ", done.stderr.decode())

    def test_on_a_disk_that_is_nearly_full_the_database_is_read_again(self) -> None:
        from unittest import mock

        from fullbore.reindexer import _engine

        self.load('{"id":1}\n{"id":2}\n')
        with mock.patch.object(_engine, "NEARLY_FULL_BYTES", 1 << 60):
            _engine.verify(self.database, "e", 2)
            with self.assertRaises(Failure) as raised:
                _engine.verify(self.database, "e", 3)
        self.assertIn("e has 2 records where 3 were loaded", str(raised.exception))

    def test_closed_input_is_said(self) -> None:
        line = f'"$0" load reindexer {self.database} e --pk id <&-'
        done = subprocess.run(["sh", "-c", line, fullbore.find_binary()], capture_output=True, env=environ())
        self.assertEqual(done.returncode, 2)
        self.assertIn("load: standard input: Bad file descriptor", done.stderr.decode())


class Queries(WithEngine):
    def setUp(self) -> None:
        super().setUp()
        self.load("".join(f'{{"id":{n},"s":"{"ab"[n % 2]}"}}\n' for n in range(1000)), "--index", "s:hash", "--quiet")

    def test_rows_are_lines_or_an_array(self) -> None:
        sql = "SELECT * FROM e WHERE id < 2 ORDER BY id"
        for output, text in (
            (["-o", "jsonl"], '{"id":0,"s":"a"}\n{"id":1,"s":"b"}\n'),
            (["-o", "json"], '[{"id":0,"s":"a"},\n {"id":1,"s":"b"}]\n'),
        ):
            self.assertEqual(self.call("query", "reindexer", self.database, sql, *output).stdout.decode(), text)
        none = "SELECT * FROM e WHERE id = -1"
        self.assertEqual(self.call("query", "reindexer", self.database, none).stdout, b"")
        self.assertEqual(self.call("query", "reindexer", self.database, none, "-o", "json").stdout, b"[]\n")

    def test_aggregations_are_rows(self) -> None:
        self.assertEqual(self.query("SELECT COUNT(*) FROM e"), [{"count(*)": 1000}])
        self.assertEqual(self.query("SELECT SUM(id), MAX(id) FROM e"), [{"sum(id)": 499500, "max(id)": 999}])
        facet = sorted(self.query("SELECT FACET(s) FROM e"), key=lambda row: row["s"])
        self.assertEqual(facet, [{"s": "a", "count": 500}, {"s": "b", "count": 500}])

    def test_a_reader_that_leaves_ends_it_silently(self) -> None:
        line = '"$0" query reindexer "$1" "SELECT * FROM e" | true; echo ${PIPESTATUS[0]}'
        done = subprocess.run(["bash", "-c", line, fullbore.find_binary(), self.database], capture_output=True, env=environ())
        self.assertEqual((done.stdout, done.stderr), (b"141\n", b""))

    def test_a_wrong_query_is_said_and_nothing_is_written(self) -> None:
        for sql, why in {"SELCT": "Syntax error", "SELECT * FROM nosuch": "does not exist"}.items():
            done = self.call("query", "reindexer", self.database, sql, "-o", "json")
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(why, done.stderr.decode())

    def test_a_query_makes_no_database(self) -> None:
        done = self.call("query", "reindexer", f"builtin://{self.folder}/none", "SELECT * FROM e")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/none: there is no database\nhint: fullbore load", done.stderr.decode())
        self.assertFalse(os.path.exists(f"{self.folder}/none"))


class Stream(WithEngine):
    """A stream is queryable the moment it ends: the answers are those of `fullbore json`."""

    ROWS = 1_000_000

    def test_a_million_events_answer_five_queries(self) -> None:
        from fullbore.reindexer._engine import Database
        from fullbore.reindexer._query import answer

        events = f"{self.folder}/events"
        generate = [fullbore.find_binary(), "gen", "jsonl", "--rows", str(self.ROWS), "--seed", "20"]
        with open(events, "wb") as output:
            subprocess.run(generate, stdout=output, check=True)
        with open(events, "rb") as file:
            indexes = "duration_ms:tree,service:hash,bytes:tree,message:text,user.id:hash"
            words = [fullbore.find_binary(), "load", "reindexer", self.database, "events", "--pk", "id", "--index", indexes]
            done = subprocess.run(words, stdin=file, capture_output=True, env=environ())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{self.ROWS} records loaded", done.stderr.decode())
        self.load("".join(f'{{"id":{n},"plan":"p{n % 3}"}}\n' for n in range(0, 10_000, 100)), namespace="users")

        def truth(query: str) -> list[Any]:
            return fullbore.json(query, input=events)

        # The first in a process of its own, and the others in one, which reads the storage once.
        self.assertEqual(self.query("SELECT * FROM events WHERE id = 424242"), truth("where '.id == 424242'"))
        database = Database(self.database)
        try:
            self.compare(lambda sql: list(answer(database, sql)), truth)
        finally:
            database.close()

    def compare(self, ask: Callable[[str], list[Any]], truth: Callable[[str], list[Any]]) -> None:
        [total] = truth("group count 'sum .bytes' 'sum .id'")
        self.assertEqual(ask("SELECT COUNT(*) FROM events"), [{"count(*)": total["count"]}])
        sums = {"sum(bytes)": total["sum_bytes"], "sum(id)": total["sum_id"]}
        self.assertEqual(ask("SELECT SUM(bytes), SUM(id) FROM events"), [sums])

        found = ask("SELECT id FROM events WHERE duration_ms >= 100 AND duration_ms < 101 ORDER BY id")
        wanted = truth("where '.duration_ms >= 100 && .duration_ms < 101'")
        self.assertEqual([row["id"] for row in found], [row["id"] for row in wanted])

        found = ask("SELECT COUNT(*) FROM events WHERE message = '=cache'")
        self.assertEqual(found, [{"count(*)": len(truth("where '.message ~ \"\\bcache\\b\"'"))}])

        grouped = {row["service"]: row["count"] for row in ask("SELECT FACET(service) FROM events")}
        self.assertEqual(grouped, {row["service"]: row["count"] for row in truth("group .service count")})

        found = ask("SELECT COUNT(*) FROM events INNER JOIN users ON events.user.id = users.id")
        users = truth("group .user.id count")
        wanted_count = sum(row["count"] for row in users if row.get("user.id", 1) % 100 == 0)
        self.assertEqual(found, [{"count(*)": wanted_count}])


if __name__ == "__main__":
    unittest.main()
