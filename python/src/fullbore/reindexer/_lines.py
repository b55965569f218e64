"""Batches of lines from a descriptor."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from dataclasses import dataclass

_READ_BYTES = 1 << 20
# A transaction is in memory until it is committed, several times as large as its text.
_BATCH_BYTES = 32 << 20
# What waits for the rest of a batch goes on after so long.
_PATIENCE_SECONDS = 1.0


@dataclass(frozen=True)
class Batch:
    """Lines of the input without their ends, and the number of the first one."""

    number: int
    first_line: int
    lines: list[bytes]


def batches(fd: int, records: int) -> Iterator[Batch]:
    """Cuts what comes from a descriptor into batches of so many lines, or fewer if the writer rests."""
    pending: list[bytes] = []
    pending_bytes, number, first_line = 0, 0, 1
    rest = b""
    at_end = False
    while not at_end:
        rested = bool(pending) and not select.select([fd], [], [], _PATIENCE_SECONDS)[0]
        if not rested:
            chunk = os.read(fd, _READ_BYTES)
            at_end = not chunk
            *lines, rest = _cut(rest, chunk)
            if at_end and rest:
                lines.append(rest)
            pending += lines
            pending_bytes += len(chunk)
        while pending and (rested or at_end or len(pending) >= records or pending_bytes >= _BATCH_BYTES):
            lines, pending = pending[:records], pending[records:]
            yield Batch(number, first_line, lines)
            number += 1
            first_line += len(lines)
            pending_bytes = sum(map(len, pending))


def _cut(rest: bytes, chunk: bytes) -> list[bytes]:
    # A line far longer than a read is put together once, not with every read.
    return [rest + chunk] if b"\n" not in chunk else (rest + chunk).split(b"\n")
