"""Which partitions and hosts of a Spark job were slow, and a page that shows it. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from ._record import Record
from ._show import escape

# What partitions waited for a CPU is left out, because it says something about the host. A partition is slow if it took so many times as long as the median of the others,
TIMES_AS_LONG = 1.5
# is so many deviations away from it (1.4826 × the median of the distances, which is one standard deviation of normal noise),
DEVIATIONS = 5.0
# and cost so many seconds.
LEAST_SECONDS = 0.5
# Too few partitions do not show what is usual.
LEAST_PARTITIONS = 4


@dataclass(frozen=True)
class Partition:
    """The last run of one partition that succeeded."""

    partition: int
    attempt: int
    host: str
    worker: str
    ended: float
    returncodes: list[Optional[int]]
    raw: dict[str, Any]

    @property
    def record(self) -> Record:
        return Record(self.raw)

    @property
    def seconds(self) -> float:
        return self.record.elapsed_seconds or 0.0

    @property
    def cpu_wait_seconds(self) -> float:
        """How long the stage with most work waited for a CPU: what other programs took from it."""
        stages = [(stage.running or 0.0, stage.runnable or 0.0, stage.life_seconds or 0.0) for stage in self.record.stages]
        running, runnable, life = max(stages, key=lambda stage: stage[0] * stage[2], default=(0.0, 0.0, 0.0))
        return min(runnable / 100 * life, self.seconds)

    @property
    def own_seconds(self) -> float:
        """Its time without that: what the partition would have taken on idle CPUs."""
        return self.seconds - self.cpu_wait_seconds

    @property
    def read_bytes(self) -> Optional[int]:
        stages = self.record.stages
        return stages[0].read_bytes if stages else None

    @property
    def written_bytes(self) -> Optional[int]:
        stages = self.record.stages
        return stages[-1].written_bytes if stages else None


@dataclass(frozen=True)
class Slow:
    """Something that took far longer than the others like it."""

    partition: Optional[int]
    host: Optional[str]
    times_as_long: float
    message: str


def slow_partitions(partitions: Sequence[Partition]) -> list[Slow]:
    if len(partitions) < LEAST_PARTITIONS:
        return []
    found = []
    for partition in partitions:
        others = [other.own_seconds for other in partitions if other is not partition]
        usual = statistics.median(others)
        spread = 1.4826 * statistics.median(abs(seconds - usual) for seconds in others)
        if not _is_far(partition.own_seconds, usual, spread):
            continue
        times = partition.own_seconds / max(usual, 1e-9)
        message = f"Partition {partition.partition} took {partition.own_seconds:.2f} s, {times:.1f} × as long as the others"
        message += f" ({usual:.2f} s), on {partition.host}"
        if partition.cpu_wait_seconds >= 0.2 * partition.seconds:
            message += f", and waited {partition.cpu_wait_seconds:.2f} s more for a CPU"
        message += _because_it_reads_more(partition, partitions)
        if partition.record.verdict:
            message += ": " + partition.record.verdict
        found.append(Slow(partition.partition, None, times, message))
    return sorted(found, key=lambda slow: -slow.times_as_long)


def slow_hosts(partitions: Sequence[Partition]) -> list[Slow]:
    found = []
    for host in sorted({partition.host for partition in partitions}):
        here = [partition.seconds for partition in partitions if partition.host == host]
        elsewhere = [partition.seconds for partition in partitions if partition.host != host]
        if min(len(here), len(elsewhere)) < LEAST_PARTITIONS - 1:
            continue
        usual = statistics.median(elsewhere)
        spread = 1.4826 * statistics.median(abs(seconds - usual) for seconds in elsewhere)
        times = statistics.median(here) / max(usual, 1e-9)
        if _is_far(statistics.median(here), usual, spread):
            message = f"Host {host} takes {times:.1f} × as long for a partition as the others ({usual:.2f} s)."
            found.append(Slow(None, host, times, message))
    return sorted(found, key=lambda slow: -slow.times_as_long)


def _is_far(seconds: float, usual: float, spread: float) -> bool:
    return seconds >= TIMES_AS_LONG * usual and seconds - usual >= max(DEVIATIONS * spread, LEAST_SECONDS)


def _because_it_reads_more(partition: Partition, partitions: Sequence[Partition]) -> str:
    others = [other.read_bytes for other in partitions if other is not partition and other.read_bytes]
    if not others or not partition.read_bytes:
        return ""
    times = partition.read_bytes / statistics.median(others)
    return f"; it reads {times:.1f} × as much" if times >= TIMES_AS_LONG else ""


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222; background: #fff }
table { border-collapse: collapse; width: 100% } th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid #ddd }
th:last-child, td:last-child, th:nth-child(2), td:nth-child(2) { text-align: left } code { font-size: 13px }
tr.slow { background: #fdeaea } .bar { display: inline-block; height: .7em; background: #4a7bb5; margin-right: .4em }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } th, td { border-color: #444 } tr.slow { background: #4a2020 } }
"""


def page_of(line: str, partitions: Sequence[Partition], slow: Sequence[Slow]) -> str:
    longest = max((partition.seconds for partition in partitions), default=0.0) or 1.0
    marked = {each.partition for each in slow} | {p.partition for p in partitions if p.host in {each.host for each in slow}}
    said = [each.message for each in slow] or ["No partition and no host took much longer than the others."]
    if not partitions:
        said = ["Nothing ran yet: an action such as count() or collect() runs the line."]
    rows = "".join(_row(partition, longest, partition.partition in marked) for partition in partitions)
    head = "".join(f"<th>{name}</th>" for name in ("partition", "host", "attempt", "time", "MB in", "MB out", "status", "verdict"))
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>fullbore: {escape(line)}</title><style>{STYLE}</style>"
        f"<h1><code>{escape(line)}</code></h1>"
        + "".join(f"<p>{escape(text)}</p>" for text in said)
        + f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></html>\n"
    )


def _row(partition: Partition, longest: float, is_slow: bool) -> str:
    bar = f'<span class=bar style="width:{6 * partition.seconds / longest:.2f}em"></span>'
    statuses = " ".join("?" if status is None else str(status) for status in partition.returncodes)
    cells = [
        str(partition.partition),
        escape(f"{partition.host} / {partition.worker}"),
        str(partition.attempt + 1),
        f"{bar}{partition.seconds:.2f} s",
        _megabytes(partition.read_bytes),
        _megabytes(partition.written_bytes),
        statuses,
        escape(partition.record.verdict or ""),
    ]
    return f"<tr{' class=slow' if is_slow else ''}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _megabytes(count: Optional[int]) -> str:
    return "?" if count is None else f"{count / 1e6:.1f}"
