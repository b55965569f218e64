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
from ._records import Check, Rejected, checks, has_large_number, parse, parse_all
from ._watch import Watch

# Whether the storage still works is asked so often: it takes a millisecond.
_CHECKED_BATCHES = 16
TOO_LARGE = "a whole number is beyond 64 bits, which Reindexer does not have"

Record = dict[str, Any]


@dataclass
class Parsed:
    """What a batch holds: records, with the number and the text of the line of each, and the lines that are none, and why."""

    records: list[Record]
    lines: list[tuple[int, bytes]]
    rejects: list[tuple[int, bytes, str]]

    def reject(self, reasons: Sequence[Optional[str]]) -> None:
        """Takes away the records for which there is a reason."""
        self.rejects += [(*line, why) for line, why in zip(self.lines, reasons) if why is not None]
        self.lines = [line for line, why in zip(self.lines, reasons) if why is None]
        self.records = [record for record, why in zip(self.records, reasons) if why is None]


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


def _record(line: bytes) -> Optional[Record]:
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
    """Threads that parse; whoever has the turn puts what it has parsed into the database.

    Parsing, and handing records to pyreindexer, both need the interpreter's lock; committing does not. So the next batch is parsed
    while one is committed, and nothing is parsed while records are handed over: pyreindexer lets go of the lock for every record,
    and somebody who parses would keep it for 5 ms each time (sys.getswitchinterval).
    """

    def __init__(self, database: Database, namespace: str, watch: Watch, rejects: Optional[IO[bytes]]) -> None:
        self._database, self._namespace = database, namespace
        self._checks: Sequence[Check] = []
        self._watch, self._rejects = watch, rejects
        self._state = threading.Condition()
        self._waiting: collections.deque[Batch] = collections.deque()
        self._next = 0
        # Batches that are parsed, or being parsed, and not yet in a transaction; whether records are being handed over.
        self._ahead, self._filling = 0, False
        # Records that were handed over. To free them takes a third as long as to parse them, so who parses next does it.
        self._spent: list[Record] = []
        self._ended = self._stopped = False
        self.failure: Optional[BaseException] = None
        self._threads: list[threading.Thread] = []

    def reject(self, batch: Batch) -> None:
        """Takes a batch without any record, before the threads are started."""
        self._told(batch, self._parse(batch), 0)
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
        def may_parse() -> bool:
            return bool(self._waiting or self._ended) and not self._filling and self._ahead == 0

        with self._state:
            self._state.wait_for(lambda: self._stopped or may_parse())
            if self._stopped or not self._waiting:
                return None
            self._ahead += 1
            batch = self._waiting.popleft()
            self._state.notify_all()
            return batch

    def _load(self, batch: Batch) -> None:
        self._spent = []
        parsed = self._parse(batch)
        with self._state:
            self._state.wait_for(lambda: self._stopped or self._next == batch.number)
            if self._stopped:
                return
            self._ahead -= 1
            self._filling = True
        # Nobody else has the turn until this is done, so the lock is free for those who parse.
        transaction, records = self._fill(parsed) if parsed.records else (None, 0)
        with self._state:
            self._filling = False
            self._spent, parsed.records = parsed.records, []
            self._state.notify_all()
        if transaction is not None and not self._commit(batch, transaction):
            return
        self._told(batch, parsed, records)
        with self._state:
            self._next += 1
            self._state.notify_all()

    def _commit(self, batch: Batch, transaction: Transaction) -> bool:
        """Whether the records of a batch are in the database now: not after a stop.

        One transaction is open at a time: when several bring new names of members, Reindexer mixes the names up (5.17).
        """
        if self._stopped:
            transaction.rollback()
            return False
        try:
            transaction.commit()
        except Exception as error:
            last = batch.first_line + len(batch.lines) - 1
            hint = "the lines before are in the database" if batch.first_line > 1 else ""
            raise Failure(f"lines {batch.first_line} to {last} were not loaded: {error}", hint) from error
        return True

    def _told(self, batch: Batch, parsed: Parsed, records: int) -> None:
        """Counts a batch that is done, and names its rejects."""
        if batch.number % _CHECKED_BATCHES == _CHECKED_BATCHES - 1:
            self._database.stored(self._namespace)
        for line, text, why in sorted(parsed.rejects, key=lambda reject: reject[0]):
            self._watch.rejected(line, why)
            if self._rejects is not None:
                self._rejects.write(text + b"\n")
        last = batch.first_line + len(batch.lines) - 1
        self._watch.loaded(records, sum(map(len, batch.lines)) + len(batch.lines), last)

    def _fill(self, parsed: Parsed) -> tuple[Transaction, int]:
        """A transaction with the records, and how many there are. What the engine refuses is rejected."""
        transaction = self._database.begin(self._namespace)
        try:
            refused = dict(transaction.put(parsed.records))
        except Poisoned:
            # Begin again without the records that pyreindexer would change.
            transaction.rollback()
            reasons = [TOO_LARGE if has_large_number(record) else None for record in parsed.records]
            if not any(reasons):
                raise
            parsed.reject(reasons)
            return self._fill(parsed)
        except BaseException:
            transaction.rollback()
            raise
        if refused:
            parsed.reject([refused.get(place) for place in range(len(parsed.records))])
        return transaction, len(parsed.records)

    def _parse(self, batch: Batch) -> Parsed:
        numbered = list(enumerate(batch.lines, batch.first_line))
        records = parse_all(batch.lines)
        parsed = Parsed(records, numbered, []) if records is not None else _parse_each(numbered)
        for check in self._checks:
            # Nearly always, all of a batch fit.
            if not check.fits_all(parsed.records):
                parsed.reject(list(map(check.misfit, parsed.records)))
        return parsed


def _parse_each(numbered: Sequence[tuple[int, bytes]]) -> Parsed:
    parsed = Parsed([], [], [])
    for line, text in numbered:
        if not text or text.isspace():
            continue
        try:
            parsed.records.append(parse(text))
        except Rejected as error:
            parsed.rejects.append((line, text, str(error)))
        else:
            parsed.lines.append((line, text))
    return parsed


def default_jobs() -> int:
    """One thread parses while another has the turn; more would only wait."""
    return min(2, len(os.sched_getaffinity(0)))
