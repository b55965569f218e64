"""Feeds a process and takes its output, both at once, so that neither waits for the other."""

from __future__ import annotations

import fcntl
import io
import os
import selectors
import time
from contextlib import suppress
from typing import IO, Optional

CHUNK = 1 << 20
_F_SETPIPE_SZ = 1031


class Pump:
    """What goes in and comes out of a process. It keeps what it has when the time is over, and can go on."""

    def __init__(self, stdin: Optional[IO[bytes]], feed: Optional[bytes], *outputs: Optional[IO[bytes]]) -> None:
        self.outputs = outputs
        # Output is read into one buffer and copied from there: 1 GB as a list of chunks, joined at the end, took twice the time of
        # Popen.communicate, because each page of it was new twice (benches/claims.py capture).
        self._buffer = memoryview(bytearray(CHUNK)) if any(outputs) else memoryview(b"")
        self._taken: dict[int, io.BytesIO] = {}
        self._selector = selectors.PollSelector()
        self._feed = memoryview(feed).cast("B") if feed else None
        for output in outputs:
            if output is not None:
                self._taken[output.fileno()] = io.BytesIO()
                os.set_blocking(output.fileno(), False)
                enlarge(output.fileno())
                self._selector.register(output, selectors.EVENT_READ)
        if stdin is not None:
            if self._feed is None:
                _close(stdin)
            else:
                os.set_blocking(stdin.fileno(), False)
                self._selector.register(stdin, selectors.EVENT_WRITE)

    def run(self, deadline: Optional[float]) -> bool:
        """Goes on until everything is written and read. False if the deadline is over before."""
        while self._selector.get_map():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return False
            for key, _ in self._selector.select(left):
                stream: IO[bytes] = key.fileobj  # type: ignore[assignment]
                done = self._take(key.fd) if key.events == selectors.EVENT_READ else self._give(key.fd)
                if done:
                    self._selector.unregister(stream)
                    _close(stream)
        return True

    def taken(self) -> list[Optional[bytes]]:
        """What each output gave so far."""
        taken = iter(self._taken.values())
        return [None if output is None else next(taken).getvalue() for output in self.outputs]

    def _take(self, fd: int) -> bool:
        with suppress(BlockingIOError):
            count = os.readv(fd, [self._buffer])
            if not count:
                return True
            self._taken[fd].write(self._buffer[:count])
        return False

    def _give(self, fd: int) -> bool:
        assert self._feed is not None
        try:
            self._feed = self._feed[os.write(fd, self._feed[:CHUNK]) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            # The first stage has read what it wanted, as head does.
            return True
        return not self._feed

    def close(self) -> None:
        for key in list(self._selector.get_map().values()):
            _close(key.fileobj)  # type: ignore[arg-type]
        self._selector.close()


def enlarge(fd: int) -> None:
    """Gives the pipe 1 MiB. Not allowed, or no pipe: then it stays as it is."""
    with suppress(OSError):
        fcntl.fcntl(fd, _F_SETPIPE_SZ, CHUNK)


def _close(stream: IO[bytes]) -> None:
    with suppress(BrokenPipeError):
        stream.close()
