"""What several tests use."""

from __future__ import annotations

import os
import signal
import unittest

IS_CI = os.environ.get("FULLBORE_CI") == "1"

# A shell starts what runs in the background with SIGINT ignored, and children would inherit that: tests could not interrupt them.
signal.signal(signal.SIGINT, signal.default_int_handler)


def skip(why: str) -> None:
    """Skips a test; in CI, where everything is installed, that is a failure."""
    if IS_CI:
        raise AssertionError(f"skipped in CI: {why}")
    raise unittest.SkipTest(why)


def children() -> list[int]:
    """Children of this process that live or wait to be waited for."""
    found = []
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/children", encoding="ascii") as file:
            found += [int(pid) for pid in file.read().split()]
    return found


def with_mark(mark: str) -> list[str]:
    """Processes of the machine whose environment has this text."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark.encode() in file.read() and int(pid) != os.getpid():
                    found.append(pid)
        except OSError:
            pass
    return found


class NoLeftovers(unittest.TestCase):
    """After each test: no child, no file descriptor and no folder is left."""

    def setUp(self) -> None:
        self._fds = os.listdir("/proc/self/fd")

    def tearDown(self) -> None:
        self.assertEqual(children(), [], "a child is left")
        self.assertEqual(len(os.listdir("/proc/self/fd")), len(self._fds), "a file descriptor is left open")
