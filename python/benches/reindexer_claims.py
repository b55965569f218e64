"""Measures what docs/reindexer.md claims. FULLBORE names the program; --check runs it once, small. Each load is a process of its own."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src")
sys.path.insert(0, SOURCE)

import fullbore  # noqa: E402

IS_CHECK = "--check" in sys.argv
ROWS, PAIRS = (20_000, 1) if IS_CHECK else (300_000, 5)
NAMESPACE = "events"
INDEXES = "duration_ms:tree,user.name:hash"


def connect(database: str) -> Any:
    """A database with the indexes that `fullbore load` makes."""
    from pyreindexer import RxConnector

    from fullbore.reindexer._indexes import Index

    db = RxConnector(database)
    db.namespace_open(NAMESPACE)
    for index in (
        Index("id", "hash", "int64", is_key=True),
        Index("duration_ms", "tree", "double"),
        Index("user.name", "hash", "string"),
    ):
        db.index_add(NAMESPACE, index.definition)
    return db


def naive(database: str, events: str) -> float:
    """What somebody writes first."""
    begin = time.perf_counter()
    db = connect(database)
    with open(events, encoding="utf-8") as lines:
        for line in lines:
            db.item_upsert(NAMESPACE, json.loads(line))
    db.close()
    return time.perf_counter() - begin


def engine_alone(database: str, events: str) -> float:
    """Records that are dicts already, in transactions of the same size: nothing but the binding and the engine."""
    import gc

    with open(events, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    gc.disable()
    begin = time.perf_counter()
    db = connect(database)
    for at in range(0, len(records), 2000):
        transaction = db.new_transaction(NAMESPACE)
        for record in records[at : at + 2000]:
            transaction.upsert(record)
        transaction.commit()
    db.close()
    return time.perf_counter() - begin


def load(database: str, events: str) -> float:
    words = [fullbore.find_binary(), "load", "reindexer", database, NAMESPACE, "--pk", "id", "--index", INDEXES, "--quiet"]
    environ = {**os.environ, "FULLBORE_PYTHON": sys.executable, "PYTHONPATH": SOURCE}
    begin = time.perf_counter()
    with open(events, "rb") as file:
        subprocess.run(words, stdin=file, env=environ, check=True)
    return time.perf_counter() - begin


WAYS = {"naive": naive, "alone": engine_alone, "load": load}


def contents(database: str) -> str:
    """Count and sums, to compare what was loaded."""
    from fullbore.reindexer._engine import Database
    from fullbore.reindexer._query import answer

    db = Database(database, must_exist=True)
    sql = (f"SELECT COUNT(*) FROM {NAMESPACE}", f"SELECT SUM(id), SUM(bytes), SUM(duration_ms) FROM {NAMESPACE}")
    found = json.dumps([list(answer(db, each)) for each in sql])
    db.close()
    return found


def cpu_seconds() -> float:
    """What this process and its children used."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def timed(way: str, folder: str, events: str) -> tuple[float, float, str]:
    """One load in a process of its own: its time, its CPU time, and what is in the database after it."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        words = [sys.executable, __file__, "--way", way, f"builtin://{place}/db", events]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        seconds, cpu, found = done.stdout.split(" ", 2)
        return float(seconds), float(cpu), found


def main() -> int:
    if "--way" in sys.argv:
        way, database, events = sys.argv[-3:]
        before = cpu_seconds()
        seconds = WAYS[way](database, events)
        print(seconds, cpu_seconds() - before, contents(database))
        return 0
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    cpu: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(prefix="fullbore-bench-") as folder:
        events = os.path.join(folder, "events")
        with open(events, "wb") as output:
            subprocess.run([fullbore.find_binary(), "gen", "jsonl", "--rows", str(ROWS)], stdout=output, check=True)
        for _ in range(PAIRS):
            found = set()
            for way, own in times.items():
                seconds, used, text = timed(way, folder, events)
                own.append(seconds)
                cpu[way].append(used)
                found.add(text)
            if len(found) != 1:
                print(f"the databases differ: {found}", file=sys.stderr)
                return 1
    missed = 0
    for other, what, bar in (
        ("naive", "a loop of json.loads and item_upsert ÷ fullbore load (time; above 1: fullbore is faster)", 1.5),
        ("alone", "the engine alone, from dicts in memory ÷ fullbore load (time; 1: reading costs nothing)", 0.8),
    ):
        ratios = [theirs / ours for theirs, ours in zip(times[other], times["load"])]
        measured = statistics.median(ratios)
        held = measured >= bar
        missed += not held and not IS_CHECK
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(f"{measured:6.2f} ({spread})  >= {bar}  {'' if held or IS_CHECK else 'MISSED  '}{what}", flush=True)
    rates = {way: round(ROWS / statistics.median(own)) for way, own in times.items()}
    used_us = {way: round(statistics.median(own) / ROWS * 1e6, 1) for way, own in cpu.items() if way != "alone"}
    print(f"records per second, {ROWS} records: {rates}; µs of CPU a record: {used_us}; counts and sums equal")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
