"""Sends the partitions of an RDD or a DataFrame of Spark through a shell line, each under fullbore.

    from fullbore import spark
    piped = spark.pipe(rdd, "sed -E 's/[0-9]+/N/g' | jq -c .price")
    piped.saveAsTextFile(…)           # or any other action of an RDD
    piped.report("spark.html")        # a row for each partition; slow partitions and hosts are named
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Optional

from ._spark_report import Partition, Slow, page_of, slow_hosts, slow_partitions
from ._spark_worker import FRAMINGS, Task

__all__ = ["Partition", "Piped", "Slow", "pipe", "pipe_frame"]


class Piped:
    """An RDD or a DataFrame that went through a line: has all methods of it, and the records of the runs.

    As everything in Spark, the line runs when an action needs its output. Each action runs it again, unless the output is cached.
    """

    def __init__(self, data: Any, line: str, told: Any) -> None:
        self.data = data
        self.line = line
        self._told = told

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.data, name)

    @property
    def partitions(self) -> list[Partition]:
        """What is known of each partition: the record of its last run that succeeded."""
        last: dict[int, Partition] = {}
        for told in self._told.value:
            known = last.get(told["partition"])
            if known is None or told["ended"] >= known.ended:
                last[told["partition"]] = Partition(**told)
        return [last[number] for number in sorted(last)]

    @property
    def slow(self) -> list[Slow]:
        """Partitions and hosts that took far longer than the others, the worst first."""
        partitions = self.partitions
        return slow_hosts(partitions) + slow_partitions(partitions)

    def report(self, path: str) -> None:
        """Writes a page: what was slow, and a row for each partition."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(page_of(self.line, self.partitions, self.slow))

    def save(self, folder: str) -> None:
        """Writes the run records into a folder, for `fullbore gather`."""
        os.makedirs(folder, exist_ok=True)
        for partition in self.partitions:
            with open(os.path.join(folder, f"partition-{partition.partition:05}.json"), "w", encoding="utf-8") as file:
                file.write(partition.record.to_json())


def pipe(
    rdd: Any,
    line: str,
    *,
    framing: str = "lines",
    output_framing: Optional[str] = None,
    encoding: Optional[str] = "utf-8",
    env: Optional[Mapping[str, str]] = None,
    shell: Optional[str] = None,
    check: bool = True,
    ship: Optional[bool] = None,
) -> Piped:
    """Sends each partition of an RDD through a shell line and returns what it prints, record by record.

    framing     how records become bytes: "lines" (each ends with a line feed, and may contain none), "nul" (each ends with a zero byte,
                for `sort -z`, `grep -z`, `sed -z`), or "raw" (bytes, as they are; the output comes in pieces of any size)
    encoding    of text; None if records are bytes
    env         variables for the line. It also finds SPARK_PARTITION and SPARK_ATTEMPT
    check       a stage that fails makes the task fail, and Spark tries again; its messages are in the exception
    ship        copy the program to the workers. None: only if Spark runs on other machines
    """
    for name in (framing, output_framing or framing):
        if name not in FRAMINGS:
            raise ValueError(f"no framing {name!r}; there are {', '.join(FRAMINGS)}")
    context = rdd.context
    told = context.accumulator([], _records())
    task = Task(
        line=line,
        framing=framing,
        output_framing=output_framing or framing,
        encoding=encoding if framing != "raw" else None,
        env=dict(env or {}),
        shell=shell,
        check=check,
        binary=_binary_for_workers(context, ship),
    )

    def run(number: int, records: Iterable[Any]) -> Iterator[Any]:
        # Found by name on the worker, which has the package from addPyFile.
        return task.run(number, records, told.add)

    return Piped(rdd.mapPartitionsWithIndex(run, preservesPartitioning=False), line, told)


def pipe_frame(
    frame: Any, line: str, schema: Any, *, input: str = "json", output: str = "json", **options: Any
) -> Piped:
    """Sends the rows of a DataFrame through a shell line and reads what it prints as rows of `schema`.

    input       "json": each row is a JSON object on one line; "text": the first column, which must be a string
    output      "json" or "csv": each line is a row. A line that does not fit the schema makes the task fail
    options     those of `pipe`
    """
    if input == "json":
        rdd = frame.toJSON()
    elif input == "text":
        rdd = frame.select(frame.columns[0]).rdd.map(_first)
    else:
        raise ValueError(f"no input {input!r}; there are json and text")
    if output not in ("json", "csv"):
        raise ValueError(f"no output {output!r}; there are json and csv")
    piped = pipe(rdd, line, **options)
    reader = frame.sparkSession.read.schema(schema).option("mode", "FAILFAST")
    return Piped(getattr(reader, output)(piped.data), line, piped._told)


def _first(row: Any) -> str:
    return str(row[0])


def _records() -> Any:
    try:
        from pyspark.accumulators import AccumulatorParam
    except ImportError as missing:
        raise ImportError("fullbore.spark needs PySpark 4. Try: pip install 'pyspark>=4'") from missing

    class Records(AccumulatorParam[Any]):  # type: ignore[misc]
        def zero(self, value: Any) -> Any:
            return []

        def addInPlace(self, value: Any, more: Any) -> Any:  # noqa: N802 - the name in Spark
            value += more
            return value

    return Records()


def _binary_for_workers(context: Any, ship: Optional[bool]) -> Optional[str]:
    """Where workers find the program: a path, or, if it starts with "files:", the name of a file that Spark copied to them."""
    from ._binary import find_binary

    is_here = context.master.startswith("local")
    if ship is None:
        ship = not is_here
    shipped: set[str] = context.__dict__.setdefault("_fullbore_shipped", set())
    if "package" not in shipped and not (is_here and not ship):
        context.addPyFile(_zipped_package())
        shipped.add("package")
    binary = find_binary()
    if not ship:
        return binary if is_here else None
    if binary not in shipped:
        context.addFile(binary)
        shipped.add(binary)
    return "files:" + os.path.basename(binary)


def _zipped_package() -> str:
    import atexit
    import shutil
    import tempfile
    import zipfile

    here = os.path.dirname(os.path.abspath(__file__))
    folder = tempfile.mkdtemp(prefix="fullbore-")
    # Workers fetch it from there as long as the session lives.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "fullbore-package.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in sorted(os.listdir(here)):
            if name.endswith(".py"):
                file.write(os.path.join(here, name), f"fullbore/{name}")
    return path
