"""fullbore.spark on a real cluster of two executors, each a process of its own, on this machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import sys
import tempfile
import unittest
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import fullbore
from fullbore import spark
from fullbore._spark_report import Partition, page_of, slow_hosts, slow_partitions

from .support import skip


def cluster(name: str) -> Any:
    """A session on `local-cluster`: a master and two workers with an executor each."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName(name)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": os.path.dirname(os.path.dirname(fullbore.__file__)),
        "spark.worker.cleanup.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def kill_executor_once(mark: str) -> Any:
    """A function that kills the executor it runs in, with the worker below it, when partition 3 comes by for the first time."""

    def run(number: int, records: Iterable[str]) -> Iterator[str]:
        for at, record in enumerate(records):
            if number == 3 and at == 500 and not os.path.exists(mark):
                with open(mark, "w"):
                    pass
                pid = os.getppid()
                while "java" not in os.readlink(f"/proc/{pid}/exe"):
                    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                        pid = int(file.read().rpartition(")")[2].split()[1])
                os.kill(pid, signal.SIGKILL)
            yield record

    return run


class Spark(unittest.TestCase):
    session: Any
    sc: Any

    @classmethod
    def setUpClass(cls) -> None:
        if importlib.util.find_spec("pyspark") is None:
            skip("pyspark is not installed (scripts/install-test-tools)")
        if shutil.which("java") is None:
            skip("java is not installed (scripts/install-test-tools)")
        cls.session = cluster("fullbore-test")
        cls.sc = cls.session.sparkContext

    @classmethod
    def tearDownClass(cls) -> None:
        from pyspark.find_spark_home import _find_spark_home

        # Where the workers ran, with what was copied to them.
        work = os.path.join(_find_spark_home(), "work", cls.sc.applicationId)
        cls.session.stop()
        shutil.rmtree(work, ignore_errors=True)

    def setUp(self) -> None:
        # PySpark leaves its sockets to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)

    def test_lines(self) -> None:
        lines = [f"line {number} ä" for number in range(20_000)]
        piped = spark.pipe(self.sc.parallelize(lines, 4), "sed s/line/Zeile/ | cat")
        self.assertEqual(piped.collect(), [line.replace("line", "Zeile") for line in lines])
        self.assertEqual([each.partition for each in piped.partitions], [0, 1, 2, 3])
        self.assertEqual({tuple(each.returncodes) for each in piped.partitions}, {(0, 0)})
        self.assertEqual(piped.map(len).count(), 20_000)
        with tempfile.TemporaryDirectory() as folder:
            piped.report(f"{folder}/spark.html")
            with open(f"{folder}/spark.html", encoding="utf-8") as page:
                self.assertEqual(page.read().count("<tr"), 5)
            piped.save(f"{folder}/records")
            self.assertEqual(len(fullbore.gather(f"{folder}/records").jobs), 4)

    def test_other_framings_and_an_empty_partition(self) -> None:
        odd = ["a\nb", "", "c", "x" * 200_000]
        nul = spark.pipe(self.sc.parallelize(odd, 3), "sort -z -r | cat", framing="nul").collect()
        self.assertEqual(sorted(nul), sorted(odd))
        raw = spark.pipe(self.sc.parallelize([b"\0\xff\n", b"\r"], 2), "cat", framing="raw").collect()
        self.assertEqual(b"".join(raw), b"\0\xff\n\r")
        plain = spark.pipe(self.sc.parallelize([b"\xff", b"a"], 1), "cat", encoding=None).collect()
        self.assertEqual(plain, [b"\xff", b"a"])
        empty = spark.pipe(self.sc.parallelize([], 2), "wc -l").map(str.strip).collect()
        self.assertEqual(empty, ["0", "0"])
        self.assertEqual(spark.pipe(self.sc.parallelize(range(3), 1), "cat").collect(), ["0", "1", "2"])
        self.assertEqual(spark.pipe(self.sc.parallelize(["a\n", "b"], 1), "cat").collect(), ["a", "b"])

    def test_what_goes_wrong_is_said(self) -> None:
        for line, records, said in (
            ("cat | (cat; echo disk is full >&2; exit 7) | cat", ["a"], "stage 2 of 3 ended with status 7\n  disk is full"),
            ("cat", ["a", "b\nc"], "a record contains a line feed: 'b\\nc'. Use framing='nul'"),
            ("printf '\\377'", ["a"], "UnicodeDecodeError"),
        ):
            with self.subTest(line), self.assertRaises(Exception) as caught:
                spark.pipe(self.sc.parallelize(records, 1), line).count()
            self.assertIn(said, str(caught.exception))
        with self.assertRaisesRegex(ValueError, "framing"):
            spark.pipe(self.sc.parallelize(["a"], 1), "cat", framing="csv")

    def test_a_line_that_reads_nothing(self) -> None:
        records = self.sc.parallelize(["x" * 1000] * 5000, 2)
        self.assertEqual(spark.pipe(records, "echo $SPARK_PARTITION").collect(), ["0", "1"])
        self.assertEqual(len(spark.pipe(records, "head -1").collect()), 2)
        self.assertEqual(spark.pipe(records, "cat; exit 3", check=False).count(), 5000)
        self.assertEqual(spark.pipe(records, "cat").take(1), ["x" * 1000])

    def test_the_program_is_copied_to_the_workers(self) -> None:
        self.assertEqual(spark.pipe(self.sc.parallelize(["a"], 1), "cat", ship=True).collect(), ["a"])

    def test_a_frame(self) -> None:
        frame = self.session.createDataFrame([(number, f"name\n{number}") for number in range(1000)], "id long, name string")
        piped = spark.pipe_frame(frame, "sed 's/\"id\":/\"id\":1/' | grep -v 77", "id long, name string")
        expected = {int(f"1{number}"): f"name\n{number}" for number in range(1000) if "77" not in f'{{"id":1{number},"name":"{number}"}}'}
        self.assertEqual({row.id: row.name for row in piped.collect()}, expected)
        self.assertEqual({tuple(each.returncodes) for each in piped.partitions}, {(0, 0)})
        text = spark.pipe_frame(frame.selectExpr("cast(id as string)"), "paste -d, - -", "a int, b int", input="text", output="csv")
        self.assertEqual(sum(row.a + row.b for row in text.collect()), sum(range(1000)))
        with self.assertRaises(Exception):
            spark.pipe_frame(frame, "echo '{'", "id long").collect()

    def test_a_skewed_partition_is_named(self) -> None:
        work = "awk '{ for (i = 0; i < 60; i++) s += length($0 i) } { print }'"
        records = self.sc.parallelize(range(8), 8).flatMap(lambda number: ["x" * 20] * (150_000 if number == 5 else 10_000))
        piped = spark.pipe(records, work)
        self.assertEqual(piped.count(), 220_000)
        self.assertEqual([slow.partition for slow in piped.slow], [5], [each.seconds for each in piped.partitions])
        self.assertIn("× as much", piped.slow[0].message)

    def test_an_executor_that_is_killed(self) -> None:
        lines = [str(number) for number in range(8000)]
        with tempfile.TemporaryDirectory() as folder:
            mark = f"{folder}/killed"
            records = self.sc.parallelize(lines, 8).mapPartitionsWithIndex(kill_executor_once(mark))
            piped = spark.pipe(records, "cat | cat")
            self.assertEqual(piped.collect(), lines)
            self.assertTrue(os.path.exists(mark))
        self.assertEqual([each.partition for each in piped.partitions], list(range(8)))
        self.assertGreater(piped.partitions[3].attempt, 0)


class Slowness(unittest.TestCase):
    """What is called slow, without Spark."""

    @staticmethod
    def partitions(seconds: list[float], hosts: str) -> list[Partition]:
        return [
            Partition(at, 0, host, "0", 0.0, [0], {"elapsed_ns": int(time * 1e9), "stages": [{"read_bytes": 1000}]})
            for at, (time, host) in enumerate(zip(seconds, hosts))
        ]

    def test_partitions_and_hosts(self) -> None:
        even = [1.0, 1.1, 0.9, 1.05, 1.0, 0.95, 1.0, 1.02]
        self.assertEqual(slow_partitions(self.partitions(even, "aaaabbbb")), [])
        self.assertEqual(slow_hosts(self.partitions(even, "aaaabbbb")), [])
        one = even[:3] + [2.4] + even[4:]
        self.assertEqual([slow.partition for slow in slow_partitions(self.partitions(one, "aaaabbbb"))], [3])
        busy = self.partitions(one, "aaaabbbb")
        busy[3].raw["stages"] = [{"running_percent": 30.0, "runnable_percent": 60.0, "life_ns": 2.4e9, "read_bytes": 1000}]
        self.assertEqual(slow_partitions(busy), [], "it only waited for a CPU")
        half = even[:4] + [2.0 * time for time in even[4:]]
        self.assertEqual([slow.host for slow in slow_hosts(self.partitions(half, "aaaabbbb"))], ["b"])
        self.assertEqual(slow_partitions(self.partitions([1.0, 9.0], "ab")), [])
        self.assertIn("&lt;", page_of("a < b", [], []))
