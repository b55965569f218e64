"""Ends a pipeline with every process of it.

fullbore adopts what its descendants leave behind, so each process of the pipeline is a descendant of fullbore as long as that lives.
fullbore is stopped while the tree is ended: it then does not exit, and no process is lost. Each process is held by a pidfd, so
that no signal goes to another process with the same number.
"""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress
from typing import Optional


# Between two looks whether fullbore has ended. It may have been about to start the shell when it was stopped.
ROUND_SECONDS = 0.05
# fullbore has no process left and still does not end.
GIVE_UP_SECONDS = 10.0


def end(root: int, grace: float) -> None:
    """Ends all descendants of `root`, a child of this process that is fullbore: SIGTERM, and SIGKILL after `grace` seconds.

    fullbore ends by itself then, and writes its record.
    """
    deadline = time.monotonic() + grace
    while True:
        _end_descendants(root, deadline)
        if wait(root, ROUND_SECONDS):
            return
        if time.monotonic() > deadline + GIVE_UP_SECONDS:
            os.kill(root, signal.SIGKILL)


def _end_descendants(root: int, deadline: float) -> None:
    os.kill(root, signal.SIGSTOP)
    held: dict[int, int] = {}
    asked: set[int] = set()
    try:
        while _hold(root, held):
            left = deadline - time.monotonic()
            if left <= 0:
                for pidfd in held.values():
                    _send(pidfd, signal.SIGKILL)
                _wait_for_one(held, None)
                continue
            for pid in set(held) - asked:
                _send(held[pid], signal.SIGTERM)
                # A stopped process ends only when it goes on.
                _send(held[pid], signal.SIGCONT)
                asked.add(pid)
            _wait_for_one(held, left)
    finally:
        for pidfd in held.values():
            os.close(pidfd)
        os.kill(root, signal.SIGCONT)


def _hold(root: int, held: dict[int, int]) -> bool:
    """Takes hold of every descendant that lives; lets go of those that ended. Whether there are any."""
    for pid in [pid for pid, pidfd in held.items() if _has_ended(pidfd)]:
        os.close(held.pop(pid))
    for pid in descendants(root):
        if pid in held:
            continue
        with suppress(OSError):
            pidfd = os.pidfd_open(pid)
            if _has_ended(pidfd) or not _is_below(pid, root):
                os.close(pidfd)
            else:
                held[pid] = pidfd
    return bool(held)


def descendants(root: int) -> list[int]:
    found: list[int] = []
    above = [root]
    while above:
        below = _children(above.pop())
        found += below
        above += below
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                children += [int(child) for child in file.read().split()]
    return children


def _is_below(pid: int, root: int) -> bool:
    """Whether the process is still a descendant, now that a pidfd holds it: its number may have been another's before."""
    while pid > 1:
        parent = _parent(pid)
        if parent is None or parent == root:
            return parent == root
        pid = parent
    return False


def _parent(pid: int) -> Optional[int]:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _has_ended(pidfd: int) -> bool:
    return bool(_readable([pidfd], 0))


def _readable(fds: list[int], seconds: Optional[float]) -> list[tuple[int, int]]:
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return poll.poll(None if seconds is None else max(0, int(seconds * 1000) + 1))


def _wait_for_one(held: dict[int, int], seconds: Optional[float]) -> None:
    """Waits until one of them has ended. A process that cannot be killed (it waits for a device) is given up after 5 s."""
    if not _readable(list(held.values()), 5 if seconds is None else seconds) and seconds is None:
        raise TimeoutError(f"processes {sorted(held)} do not end, although SIGKILL was sent")


def _send(pidfd: int, number: int) -> None:
    # Ended meanwhile, or of another user (sudo): nothing that can be done.
    with suppress(ProcessLookupError, PermissionError):
        signal.pidfd_send_signal(pidfd, number)


def wait(pid: int, seconds: Optional[float]) -> bool:
    """Waits until a child has ended, which is not waited for here. False if `seconds` are over before."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(_readable([pidfd], seconds))
    finally:
        os.close(pidfd)
