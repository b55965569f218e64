"""What is said while records are loaded, and at the end."""

from __future__ import annotations

import time

from ._failure import complain, say, visible

_SHOWN_REJECTS = 10
_REFRESH_SECONDS = 0.2


class Watch:
    """Counts, and shows what is counted. Only the thread that has the turn calls it."""

    def __init__(self, shows_progress: bool) -> None:
        self.records = self.bytes = self.lines = self.rejects = 0
        self._shows = shows_progress
        self._width = 0
        self._begin = time.monotonic()
        self._shown_at = 0.0

    def loaded(self, records: int, length_bytes: int, last_line: int) -> None:
        self.records += records
        self.bytes += length_bytes
        self.lines = last_line
        now = time.monotonic()
        if self._shows and now - self._shown_at >= _REFRESH_SECONDS:
            self._shown_at = now
            rejected = f", {self.rejects:,} rejected" if self.rejects else ""
            self._draw(f"{self.records:,} records, {self.bytes / 1e6:,.0f} MB, {self._rate():,.0f} records/s{rejected}")

    def rejected(self, line: int, why: str) -> None:
        self.rejects += 1
        if self.rejects <= _SHOWN_REJECTS:
            self.clear()
            complain("load", f"line {line}: {why}")

    def summary(self, place: str) -> str:
        seconds = time.monotonic() - self._begin
        said = f"{self.records} {'record' if self.records == 1 else 'records'} loaded into {place}"
        said += f" in {seconds:.1f} s ({self._rate():.0f} records/s)" if self.records else ""
        return said + (f"; {self.rejects} rejected" if self.rejects else "")

    def clear(self) -> None:
        if self._width:
            self._draw("")
            say("\r")

    def _rate(self) -> float:
        return self.records / max(time.monotonic() - self._begin, 1e-9)

    def _draw(self, text: str) -> None:
        say("\r" + visible(text).ljust(self._width))
        self._width = len(text)
