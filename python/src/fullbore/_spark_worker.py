"""What runs on a worker of Spark: one partition through one pipeline."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, Optional

from ._pipeline import PIPE, Pipeline
from ._result import PipelineError, failed
from ._run import popen

FRAMINGS = ("lines", "nul", "raw")
SEPARATORS = {"lines": "\n", "nul": "\0"}
# Small enough to stay in the cache of a CPU. 250 MB through sed took 3.3 s with batches of 128 records, 3.5 s with 512, and 15 % more
# than that with 4096 and pipes of 1 MiB (benches/spark_claims.py rate).
BATCH = 128
CHUNK = 1 << 16
MESSAGES_KEPT = 4096


@dataclass(frozen=True)
class Task:
    """How to send a partition through a line. Goes to the workers."""

    line: str
    framing: str
    output_framing: str
    encoding: Optional[str]
    env: dict[str, str]
    shell: Optional[str]
    check: bool
    binary: Optional[str]

    def run(self, number: int, records: Iterable[Any], tell: Callable[[list[dict[str, Any]]], None]) -> Iterator[Any]:
        attempt = _attempt()
        self._choose_binary()
        env = {**os.environ, **self.env, "SPARK_PARTITION": str(number), "SPARK_ATTEMPT": str(attempt)}
        with popen(self.line, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env, shell=self.shell) as pipeline:
            feeder = _Feeder(pipeline, self._encoded(records))
            messages = _Messages(pipeline.stderr)
            assert pipeline.stdout is not None
            yield from self._decoded(pipeline.stdout)
            pipeline.wait()
            feeder.join()
            messages.join()
        if feeder.failure is not None:
            raise feeder.failure
        result = pipeline.result
        result.stderr = messages.last
        if self.check and (result.returncode or failed(result.returncode, result.returncodes)):
            raise RuntimeError(f"partition {number}, attempt {attempt} on {_host()}: {PipelineError(result)}")
        tell(
            [
                {
                    "partition": number,
                    "attempt": attempt,
                    "host": _host(),
                    "worker": _worker(),
                    "ended": time.time(),
                    "returncodes": result.returncodes,
                    "raw": {name: value for name, value in result.record.raw.items() if name != "timeline"},
                }
            ]
        )

    def _choose_binary(self) -> None:
        """Lets `find_binary` find the one that Spark copied here, or the driver's."""
        if self.binary is None:
            return
        path = self.binary
        if path.startswith("files:"):
            from pyspark import SparkFiles

            path = SparkFiles.get(path[len("files:") :])
        os.environ["FULLBORE"] = path

    def _encoded(self, records: Iterable[Any]) -> Iterator[bytes]:
        """The records in batches, framed."""
        if self.framing == "raw":
            yield from records
            return
        separator = SEPARATORS[self.framing]
        each = iter(records)
        while batch := list(islice(each, BATCH)):
            if self.encoding is None:
                end = separator.encode()
                data = end.join(batch) + end
                if data.count(end) != len(batch):
                    data = end.join(self._stripped(batch, end)) + end
                yield data
                continue
            try:
                text = separator.join(batch) + separator
            except TypeError:
                batch = [record if isinstance(record, str) else str(record) for record in batch]
                text = separator.join(batch) + separator
            if text.count(separator) != len(batch):
                text = separator.join(self._stripped(batch, separator)) + separator
            yield text.encode(self.encoding)

    def _stripped(self, batch: list[Any], end: Any) -> list[Any]:
        """Without the separator at the end of a record, as RDD.pipe takes lines; in the middle, it is a mistake."""
        batch = [record[:-1] if record.endswith(end) else record for record in batch]
        for record in batch:
            if end in record:
                what, instead = ("a line feed", "nul") if self.framing == "lines" else ("a zero byte", "raw")
                raise ValueError(f"a record contains {what}: {record[:80]!r}. Use framing={instead!r}, or escape it")
        return batch

    def _decoded(self, output: IO[bytes]) -> Iterator[Any]:
        raw: Any = output
        if self.output_framing == "raw":
            while chunk := raw.read1(CHUNK):
                yield chunk
            return
        end = SEPARATORS[self.output_framing].encode()
        rest = b""
        while chunk := os.read(output.fileno(), CHUNK):
            at = chunk.rfind(end)
            if at < 0:
                rest += chunk
                continue
            yield from self._records(rest + chunk[:at], end)
            rest = chunk[at + 1 :]
        if rest:
            yield from self._records(rest, end)

    def _records(self, data: bytes, end: bytes) -> list[Any]:
        if self.encoding is None:
            return data.split(end)
        return data.decode(self.encoding).split(end.decode())


class _Feeder:
    """A thread that writes the records, while the generator reads the output."""

    def __init__(self, pipeline: Pipeline[bytes], batches: Iterator[bytes]) -> None:
        self.failure: Optional[BaseException] = None
        self._pipeline = pipeline
        self._batches = batches
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        stdin = self._pipeline.stdin
        assert stdin is not None
        try:
            for batch in self._batches:
                stdin.write(batch)
            stdin.flush()
        except BrokenPipeError:
            # The line has read what it wanted.
            pass
        except BaseException as error:  # noqa: BLE001 - the generator raises it
            self.failure = error
            self._pipeline.end()
        with suppress(OSError):
            stdin.close()

    def join(self) -> None:
        self._thread.join()


class _Messages:
    """A thread that passes the messages of the pipeline on to the log of the worker, and keeps the last ones."""

    def __init__(self, stderr: Optional[IO[bytes]]) -> None:
        self.last = b""
        self._thread = threading.Thread(target=self._run, args=(stderr,), daemon=True)
        self._thread.start()

    def _run(self, stderr: Any) -> None:
        with suppress(ValueError, OSError):
            while chunk := stderr.read1(CHUNK):
                self.last = (self.last + chunk)[-MESSAGES_KEPT:]
                sys.stderr.write(chunk.decode(errors="replace"))

    def join(self) -> None:
        self._thread.join()


def _attempt() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.attemptNumber() if context is not None else 0


def _host() -> str:
    return os.uname().nodename


def _worker() -> str:
    """Executors of one host differ by their folder."""
    return os.path.basename(os.getcwd())
