"""The database: the few calls of pyreindexer that are needed here, and its failures as messages."""

from __future__ import annotations

import fcntl
import glob
import os
import struct
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional

from ._failure import Failure

BUILTIN = "builtin://"
# More than the engine writes at once.
NEARLY_FULL_BYTES = 256 << 20
SERVERS = ("cproto://", "cprotos://", "ucproto://")
# struct flock of fcntl(2) on 64-bit Linux: l_type, l_whence, l_start, l_len, l_pid.
_FLOCK = "hhqqi4x"


class Poisoned(Exception):
    """The transaction holds a record that is not what it was given, and must not be committed."""


class Database:
    """A database that is open. One process at a time can have a directory open."""

    def __init__(self, address: str, *, must_exist: bool = False) -> None:
        folder = _folder(address)
        if folder is not None:
            _refuse_what_cannot_be(folder, must_exist)
        from pyreindexer import RxConnector

        self.address = address
        self._lock = threading.Lock()
        try:
            self._rx = RxConnector(address, client_name="fullbore")
        except Exception as error:
            raise Failure(f"{address}: {error}", _hint(str(error))) from error
        if folder is None:
            # The client connects with its first question.
            self.ask("SELECT * FROM #namespaces LIMIT 0")

    def namespaces(self) -> dict[str, list[Mapping[str, Any]]]:
        """The definitions of the indexes of every namespace."""
        return {each["name"]: each.get("indexes", []) for each in self._try("", self._rx.namespaces_enum)}

    def open(self, namespace: str) -> None:
        self._try(f"namespace {namespace}", self._rx.namespace_open, namespace)

    def drop(self, namespace: str) -> None:
        self._try(f"namespace {namespace}", self._rx.namespace_drop, namespace)

    def add_index(self, namespace: str, definition: dict[str, Any]) -> None:
        self._try(f"index {definition['name']}", self._rx.index_add, namespace, definition)

    def begin(self, namespace: str) -> Transaction:
        # The connector keeps its last error in a field, which two threads would share.
        with self._lock:
            return Transaction(self._try(f"namespace {namespace}", self._rx.new_transaction, namespace))

    def ask(self, sql: str) -> Answer:
        with self._lock:
            return Answer(self._try("", self._rx.exec_sql, sql))

    def stored(self, namespace: str) -> int:
        """How many records a namespace has. Fails if its storage does: the engine goes on in memory then, and says nothing."""
        for row in self.ask("SELECT * FROM #memstats").rows():
            if row["name"] == namespace:
                if not row.get("storage_ok", True):
                    raise Failure(f"{self.address}: {namespace} cannot be stored: {row.get('storage_status')}")
                return int(row["items_count"])
        return 0

    def close(self) -> None:
        self._rx.close()

    def _try(self, object: str, call: Any, *words: Any) -> Any:
        try:
            return call(*words)
        except Exception as error:
            place = f"{self.address}: {object}" if object else self.address
            raise Failure(f"{place}: {error}", _hint(str(error))) from error


def verify(address: str, namespace: str, records: int) -> None:
    """Reads a database that was closed, if its disk is nearly full: what fails when it is closed, the engine does not tell."""
    folder = _folder(address)
    if folder is None:
        return
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize >= NEARLY_FULL_BYTES:
        return
    database = Database(address)
    try:
        found = database.stored(namespace)
    finally:
        database.close()
    if found != records:
        raise Failure(f"{folder}: {namespace} has {found} records where {records} were loaded; the disk is nearly full")


class Transaction:
    """Records that go in together or not at all. Only one may be open at a time."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def put(self, records: Sequence[dict[str, Any]]) -> list[tuple[int, str]]:
        """Adds records; those that the engine refuses, by their places, and why.

        pyreindexer releases the interpreter's lock while the engine reads a record. Its function is called as its method `upsert` calls
        it: the method takes a tenth of the time for itself.
        """
        upsert, transaction = self._raw.api.transaction_item_upsert, self._raw.transaction_wrapper_ptr
        refused = []
        try:
            for place, record in enumerate(records):
                code, message = upsert(transaction, record)
                if code:
                    refused.append((place, message))
        except SystemError as error:
            # A number of more than 64 bits has become -1.
            raise Poisoned from error
        return refused

    def commit(self) -> None:
        self._raw.commit()

    def rollback(self) -> None:
        self._raw.rollback()


class Answer:
    """What a query found: rows, then aggregations."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def rows(self) -> Iterator[dict[str, Any]]:
        try:
            yield from self._raw
        except Exception as error:
            raise Failure(str(error)) from error

    def aggregations(self) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = self._raw.get_agg_results() or []
        return found


def missing() -> Optional[str]:
    """The pip line for what the extra `fullbore[reindexer]` would have installed."""
    import importlib.util

    lacking = [name for name in ("pyreindexer", "orjson") if importlib.util.find_spec(name) is None]
    return f"{sys.executable} -m pip install {' '.join(lacking)}" if lacking else None


def _folder(address: str) -> Optional[str]:
    if address.startswith(BUILTIN):
        folder = address[len(BUILTIN) :]
        if not folder:
            raise Failure(f"{address}: no directory", "builtin:///tmp/db is the directory /tmp/db")
        return folder
    if not address.startswith(SERVERS):
        raise Failure(f"{address}: not a database", "builtin:///DIR, or cproto://HOST:PORT/NAME for a server")
    if not address.partition("://")[2].partition("/")[2]:
        raise Failure(f"{address}: no name of a database", f"{address.rstrip('/')}/NAME")
    return None


def _refuse_what_cannot_be(folder: str, must_exist: bool) -> None:
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise Failure(f"{folder}: not a directory")
    # The engine writes this file into every database; it would make a database of any folder.
    if os.path.isdir(folder) and os.listdir(folder) and not os.path.exists(f"{folder}/.reindexer.storage"):
        raise Failure(f"{folder}: the directory is not empty, and not a database of Reindexer")
    if must_exist and not os.path.exists(f"{folder}/.reindexer.storage"):
        raise Failure(f"{folder}: there is no database", "fullbore load reindexer makes one")
    holder = _holder(folder)
    if holder is not None:
        hint = "wait until it ends; several processes can share a database through a server (cproto://)"
        who = f"process {holder}" if holder > 0 else "a process of another container"
        raise Failure(f"{folder}: locked: {who} has the database open", hint)


def _holder(folder: str) -> Optional[int]:
    """The process that has the database open, as the locks of its storage tell."""
    for path in glob.glob(f"{glob.escape(folder)}/*/LOCK"):
        try:
            with open(path, "rb+") as file:
                asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
                answer = struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, asked))
        except OSError:
            continue
        if answer[0] != fcntl.F_UNLCK:
            return int(answer[4])
    return None


def _hint(message: str) -> str:
    if "refused" in message or "Connection" in message:
        return "is the server running? HOST:PORT is that of its RPC, 6534 by default"
    if "LOCK" in message or "already held" in message:
        return "another process has the database open"
    return ""
