"""`fullbore load reindexer`: parses batches on several threads, and puts them into the database in the order of the input."""

from __future__ import annotations

import collections
import os
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, Optional

import orjson

from .._binary import find_binary
from ._engine import Database, Poisoned, Transaction
from ._failure import Failure
from ._indexes import decided, merged, requested, there
from ._lines import Batch
from ._records import Check, Rejected, checks, has_large_number, parse
from ._watch import Watch

# Whether the storage still works is asked so often: it takes a millisecond.
_CHECKED_BATCHES = 16
TOO_LARGE = "a whole number is beyond 64 bits, which Reindexer does not have"

Line = tuple[int, bytes, dict[str, Any]]


@dataclass
class Parsed:
    """What a batch holds. A line is its number, its text, its record."""

    good: list[Line]
    rejects: list[tuple[int, bytes, str]]


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
    """Threads that parse; whoever has the turn puts what it has parsed into the database."""

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
        self._commit(batch, self._parse(batch))
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
        """Lets a transaction finish that is being committed, and drops what comes after it."""
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
        parsed = self._parse(batch)
        with self._state:
            self._state.wait_for(lambda: self._stopped or self._next == batch.number)
            if self._stopped:
                return
        # Nobody else has the turn until this is done, so the lock is free for those who parse.
        self._commit(batch, parsed)
        with self._state:
            self._next += 1
            self._state.notify_all()

    def _commit(self, batch: Batch, parsed: Parsed) -> None:
        """Puts the records of a batch into the database.

        One transaction is open at a time: when several bring new names of members, Reindexer mixes the names up (5.17).
        """
        last = batch.first_line + len(batch.lines) - 1
        records = 0
        if parsed.good:
            transaction, records = self._fill(parsed)
            if self._stopped:
                return transaction.rollback()
            try:
                transaction.commit()
            except Exception as error:
                hint = "the lines before are in the database" if batch.first_line > 1 else ""
                raise Failure(f"lines {batch.first_line} to {last} were not loaded: {error}", hint) from error
        if batch.number % _CHECKED_BATCHES == _CHECKED_BATCHES - 1:
            self._database.stored(self._namespace)
        for line, text, why in sorted(parsed.rejects, key=lambda reject: reject[0]):
            self._watch.rejected(line, why)
            if self._rejects is not None:
                self._rejects.write(text + b"\n")
        return self._watch.loaded(records, sum(map(len, batch.lines)) + len(batch.lines), last)

    def _fill(self, parsed: Parsed) -> tuple[Transaction, int]:
        """A transaction with the records, and how many there are. What the engine refuses is rejected."""
        transaction = self._database.begin(self._namespace)
        try:
            refused = transaction.put([record for _, _, record in parsed.good])
        except Poisoned:
            # Begin again without the records that pyreindexer would change.
            transaction.rollback()
            large = [has_large_number(record) for _, _, record in parsed.good]
            if not any(large):
                raise
            parsed.rejects += [(line, text, TOO_LARGE) for (line, text, _), is_large in zip(parsed.good, large) if is_large]
            parsed.good = [each for each, is_large in zip(parsed.good, large) if not is_large]
            return self._fill(parsed)
        except BaseException:
            transaction.rollback()
            raise
        parsed.rejects += [(parsed.good[place][0], parsed.good[place][1], why) for place, why in refused]
        return transaction, len(parsed.good) - len(refused)

    def _parse(self, batch: Batch) -> Parsed:
        parsed = Parsed([], [])
        for line, text in enumerate(batch.lines, batch.first_line):
            if not text or text.isspace():
                continue
            try:
                parsed.good.append((line, text, parse(text)))
            except Rejected as error:
                parsed.rejects.append((line, text, str(error)))
        for check in self._checks:
            # Nearly always, all of a batch fit.
            if check.fits_all([record for _, _, record in parsed.good]):
                continue
            reasons = [(each, check.misfit(each[2])) for each in parsed.good]
            parsed.rejects += [(line, text, why) for (line, text, _), why in reasons if why is not None]
            parsed.good = [each for each, why in reasons if why is None]
        return parsed


def default_jobs() -> int:
    """One thread parses while another has the turn; more would only wait."""
    return min(2, len(os.sched_getaffinity(0)))
