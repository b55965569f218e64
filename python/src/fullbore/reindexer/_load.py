"""`fullbore load reindexer`: reads batches, fills transactions on several threads, commits them in the order of the input."""

from __future__ import annotations

import collections
import os
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Optional

import orjson

from .._binary import find_binary
from ._engine import Database, Poisoned, Refused, Transaction
from ._failure import Failure
from ._indexes import decided, merged, requested, there
from ._lines import Batch
from ._records import Check, Rejected, checks, has_large_number, parse
from ._watch import Watch

# Whether the storage still works is asked so often: it takes a millisecond.
_CHECKED_BATCHES = 16
TOO_LARGE = "a whole number is beyond 64 bits, which Reindexer does not have"


@dataclass
class Filled:
    """A transaction that waits for its turn."""

    transaction: Optional[Transaction]
    records: int = 0
    rejects: list[tuple[int, bytes, str]] = field(default_factory=list)


class Plan:
    """What the namespace is to have, made before anything is read, so that mistakes show at once."""

    def __init__(self, database: Database, namespace: str, key: Optional[str], indexes: Sequence[str]) -> None:
        self._database, self._namespace = database, namespace
        wanted, self._wants_all = requested(indexes, key)
        spaces = database.namespaces()
        self._is_new = namespace not in spaces
        self._there = there(spaces.get(namespace, []))
        known = {index.path for index in self._there}
        self._new = [index for index in merged(namespace, wanted, self._there) if index.path not in known]

    def carry_out(self, lines: Sequence[bytes]) -> list[Check]:
        """Opens the namespace, adds what it lacks, as the first lines show it, and says what to ask every record."""
        new = self._new
        if self._wants_all or not all(index.type for index in new):
            records = list(filter(None, map(_record, lines)))
            new = decided(new, _keys(lines), records, self._wants_all, [index.path for index in self._there])
        self._database.open(self._namespace)
        try:
            for index in new:
                self._database.add_index(self._namespace, index.definition)
        except BaseException:
            if self._is_new:
                self._database.drop(self._namespace)
            raise
        return checks([*self._there, *new])


def has_record(batch: Batch) -> bool:
    return any(_record(line) is not None for line in batch.lines)


def _record(line: bytes) -> Optional[dict[str, Any]]:
    try:
        return parse(line)
    except Rejected:
        return None


def _keys(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """What `fullbore json keys` says about these records."""
    words = [find_binary(), "json", "keys", "-o", "json", "--skip-invalid"]
    done = subprocess.run(words, input=b"\n".join(lines) + b"\n", capture_output=True)
    if done.returncode not in (0, 1):
        raise Failure(f"fullbore json keys: status {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
    return [orjson.loads(line) for line in done.stdout.splitlines()]


class Loader:
    """Threads that fill transactions; whoever has the turn commits."""

    def __init__(self, database: Database, namespace: str, watch: Watch, rejects: Optional[IO[bytes]]) -> None:
        self._database, self._namespace = database, namespace
        self._checks: Sequence[Check] = []
        self._watch, self._rejects = watch, rejects
        self._state = threading.Condition()
        self._waiting: collections.deque[Batch] = collections.deque()
        self._next = 0
        self._ended = self._stopped = False
        self.failure: Optional[BaseException] = None
        self._threads: list[threading.Thread] = []

    def reject(self, batch: Batch) -> None:
        """Takes a batch without any record, before the threads are started."""
        self._commit(batch, self._fill(batch))
        self._next = batch.number + 1

    def start(self, jobs: int, checks: Sequence[Check]) -> None:
        self._checks = checks
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(jobs)]
        for thread in self._threads:
            thread.start()

    def give(self, batch: Batch) -> bool:
        """Hands a batch to the next free thread; whether it makes sense to give more."""
        with self._state:
            self._state.wait_for(lambda: self._stopped or not self._waiting)
            self._waiting.append(batch)
            self._state.notify_all()
            return not self._stopped

    def end(self) -> None:
        """Waits until everything given is in the database, or after a stop, until the threads have ended."""
        with self._state:
            self._ended = True
            self._state.notify_all()
        for thread in self._threads:
            thread.join()

    def stop(self) -> None:
        """Lets a transaction finish that is being committed, and drops the others."""
        with self._state:
            self._stopped = True
            self._state.notify_all()

    def _work(self) -> None:
        try:
            while (batch := self._take()) is not None:
                self._load(batch)
        except BaseException as error:
            self.failure = self.failure or error
            self.stop()

    def _take(self) -> Optional[Batch]:
        with self._state:
            self._state.wait_for(lambda: self._stopped or self._waiting or self._ended)
            if self._stopped or not self._waiting:
                return None
            batch = self._waiting.popleft()
            self._state.notify_all()
            return batch

    def _load(self, batch: Batch) -> None:
        filled = self._fill(batch)
        with self._state:
            self._state.wait_for(lambda: self._stopped or self._next == batch.number)
            is_dropped = self._stopped
        if is_dropped:
            if filled.transaction is not None:
                filled.transaction.rollback()
            return
        # Nobody else has the turn until this is done, so the lock is free for those who fill.
        self._commit(batch, filled)
        with self._state:
            self._next += 1
            self._state.notify_all()

    def _commit(self, batch: Batch, filled: Filled) -> None:
        last = batch.first_line + len(batch.lines) - 1
        if filled.transaction is not None:
            try:
                filled.transaction.commit()
            except Exception as error:
                hint = "the lines before are in the database" if batch.first_line > 1 else ""
                raise Failure(f"lines {batch.first_line} to {last} were not loaded: {error}", hint) from error
        if batch.number % _CHECKED_BATCHES == _CHECKED_BATCHES - 1:
            self._database.stored(self._namespace)
        for line, text, why in filled.rejects:
            self._watch.rejected(line, why)
            if self._rejects is not None:
                self._rejects.write(text + b"\n")
        self._watch.loaded(filled.records, sum(map(len, batch.lines)) + len(batch.lines), last)

    def _fill(self, batch: Batch) -> Filled:
        filled = Filled(None)
        good = []
        for line, text in enumerate(batch.lines, batch.first_line):
            if not text or text.isspace():
                continue
            try:
                record = parse(text)
                for check in self._checks:
                    why = check(record)
                    if why is not None:
                        raise Rejected(why)
            except Rejected as error:
                filled.rejects.append((line, text, str(error)))
            else:
                good.append((line, text, record))
        if good and not self._stopped:
            self._put(filled, good)
        filled.rejects.sort(key=lambda reject: reject[0])
        return filled

    def _put(self, filled: Filled, good: list[tuple[int, bytes, dict[str, object]]]) -> None:
        transaction = self._database.begin(self._namespace)
        refused = []
        try:
            for line, text, record in good:
                try:
                    transaction.put(record)
                except Refused as error:
                    refused.append((line, text, str(error)))
        except Poisoned:
            # Begin again without the records that pyreindexer would change.
            transaction.rollback()
            large = [each for each in good if has_large_number(each[2])]
            if not large:
                raise
            filled.rejects += [(line, text, TOO_LARGE) for line, text, _ in large]
            lines = {line for line, _, _ in large}
            return self._put(filled, [each for each in good if each[0] not in lines])
        except BaseException:
            transaction.rollback()
            raise
        filled.transaction = transaction
        filled.records = len(good) - len(refused)
        filled.rejects += refused
        return None


def default_jobs() -> int:
    return min(4, len(os.sched_getaffinity(0)))
