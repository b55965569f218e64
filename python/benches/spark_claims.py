"""Measures what docs/spark.md claims, on a local cluster of two executors. Arguments select claims; --check runs each once, small."""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "src"), os.path.join(HERE, "..")]

from fullbore import spark  # noqa: E402
from tests.test_spark import cluster  # noqa: E402

IS_CHECK = "--check" in sys.argv
SED = "sed -E s/[0-9]+/N/"


def count(records: Iterable[Any]) -> Iterator[int]:
    yield sum(map(len, records))


def claim_rate(context: Any) -> bool:
    """1 GB in 8 partitions: time of RDD.pipe ÷ time of fullbore.spark.pipe.

    RDD.pipe gives a command an empty environment, so that it works in the locale C, where sed needs half the time that it needs in UTF-8.
    So both run in that locale. How long spark.pipe takes in the environment of the worker, as it does without `env`, is printed, too.
    """
    size = 20_000_000 if IS_CHECK else 1_000_000_000
    line = "the quick brown fox 12345 jumps over the lazy dog and {:08} runs away from all of them, every day\n"
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/lines", "w", encoding="ascii") as file:
            for at in range(0, size // len(line.format(0)), 1000):
                file.write("".join(line.format(number) for number in range(at, at + 1000)))
        lines = context.textFile(f"file://{folder}/lines", 8)
        ratios: dict[str, list[float]] = {"fullbore": [], "fullbore, own locale": []}
        answers = set()
        sums = {
            "RDD.pipe": lambda: lines.pipe(SED).mapPartitions(count).sum(),
            "fullbore": lambda: spark.pipe(lines, SED, env={"LC_ALL": "C"}).mapPartitions(count).sum(),
            "fullbore, own locale": lambda: spark.pipe(lines, SED).mapPartitions(count).sum(),
        }
        # The first reading of all is slower by half: Python workers start, Java compiles, the file comes from the disk.
        lines.mapPartitions(count).sum()
        for turn in range(1 if IS_CHECK else 6):
            taken = {}
            for name in sorted(sums, reverse=turn % 2 == 0):
                begin = time.perf_counter()
                answers.add(sums[name]())
                assert len(answers) == 1, answers
                taken[name] = time.perf_counter() - begin
            for name, own in ratios.items():
                own.append(taken["RDD.pipe"] / taken[name])
            print("  " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in taken.items()), flush=True)
    ratio, by_default = (statistics.median(own) for own in ratios.values())
    print(
        f"rate   {ratio:.2f} >= 1.0  1 GB in 8 partitions through sed: time of RDD.pipe ÷ time of fullbore.spark.pipe, both in the "
        f"locale C ({min(ratios['fullbore']):.2f} to {max(ratios['fullbore']):.2f}; {by_default:.2f} in the locale of the worker, "
        f"{os.environ.get('LC_ALL') or os.environ.get('LANG')})"
    )
    return ratio >= 1.0


def claim_slow(context: Any) -> bool:
    """20 seeded cases with one slow partition: by more records, a slow command, or a command that sleeps."""
    named = 0
    cases = 2 if IS_CHECK else 20
    for seed in range(cases):
        chance = random.Random(seed)
        slow = chance.randrange(8)
        kind = ("more records", "more work", "waits")[seed % 3]
        times = chance.uniform(2.5, 5.0)
        rows = {number: int(chance.uniform(54_000, 66_000)) for number in range(8)}
        if kind == "more records":
            rows[slow] = int(rows[slow] * times)
        rounds = int(40 * times) if kind == "more work" else 40
        waits = f"[ $SPARK_PARTITION != {slow} ] || sleep {0.7 * times:.2f}; " if kind == "waits" else ""
        line = (
            f"{waits}n=40; [ $SPARK_PARTITION != {slow} ] || n={rounds}; "
            "awk -v n=$n '{ for (i = 0; i < n; i++) s += length($0 i) } { print }' | cat"
        )
        records = context.parallelize(range(8), 8).flatMap(lambda number, rows=rows: ["x" * 20] * rows[number])
        piped = spark.pipe(records, line)
        piped.count()
        found = [each.partition for each in piped.slow]
        named += found == [slow]
        if found != [slow]:
            print(f"  seed {seed} ({kind}): partition {slow}, named {found}:", [f"{p.own_seconds:.2f}" for p in piped.partitions])
    print(f"slow   {named} of {cases} >= 95 %  cases with one slow partition: it, and no other, is named")
    return named >= 0.95 * cases


CLAIMS = {"rate": claim_rate, "slow": claim_slow}


def main() -> int:
    chosen = [name for name in sys.argv[1:] if not name.startswith("-")] or list(CLAIMS)
    session = cluster("fullbore-claims")
    held = [CLAIMS[name](session.sparkContext) for name in chosen]
    session.stop()
    return 0 if all(held) or IS_CHECK else 1


if __name__ == "__main__":
    sys.exit(main())
