"""Measures what docs/python.md claims. FULLBORE names the program; arguments select claims; --check runs each once, small."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src"))

import fullbore  # noqa: E402

IS_CHECK = "--check" in sys.argv
MS = 1000


def seconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def in_turn(runs: int, *actions: Callable[[], object]) -> list[list[float]]:
    """Times of several actions that take turns, so that what else the machine does meets all of them."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(1 if IS_CHECK else runs):
        for action, own in zip(actions, times):
            own.append(seconds(action))
    return times


def python(code: str) -> Callable[[], object]:
    environ = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(fullbore.__file__))}
    return lambda: subprocess.run([sys.executable, "-c", code], env=environ, check=True)


def claim_import() -> tuple[str, float, str, float]:
    bare, with_it = in_turn(40, python("pass"), python("import fullbore"))
    difference = statistics.median(b - a for a, b in zip(bare, with_it)) * MS
    return "import fullbore, over python -c pass (ms)", difference, "<=", 30


def claim_start() -> tuple[str, float, str, float]:
    line = "echo hi | cat"
    shell, ours = in_turn(
        200,
        lambda: subprocess.run(line, shell=True, capture_output=True, check=True),
        lambda: fullbore.run(line, capture_output=True, check=True),
    )
    difference = statistics.median(b - a for a, b in zip(shell, ours)) * MS
    return "fullbore.run over subprocess.run(shell=True), the same short line (ms)", difference, "<=", 5


def claim_capture() -> tuple[str, float, str, float]:
    size = 10_000_000 if IS_CHECK else 1_000_000_000
    line = f"head -c {size} /dev/zero | cat"

    def popen() -> None:
        with subprocess.Popen(line, shell=True, stdout=subprocess.PIPE) as process:
            assert len(process.communicate()[0]) == size

    def ours() -> None:
        assert len(fullbore.run(line, stdout=fullbore.PIPE).stdout) == size

    theirs, own = in_turn(7, popen, ours)
    ratio = statistics.median(a / b for a, b in zip(theirs, own))
    return "1 GB captured: Popen.communicate ÷ fullbore.run (time; above 1: fullbore is faster)", ratio, ">=", 1.0


CLAIMS = {"import": claim_import, "start": claim_start, "capture": claim_capture}


def main() -> int:
    chosen = [name for name in sys.argv[1:] if not name.startswith("-")] or list(CLAIMS)
    missed = 0
    for name in chosen:
        what, measured, relation, bar = CLAIMS[name]()
        held = measured <= bar if relation == "<=" else measured >= bar
        missed += not held and not IS_CHECK
        print(f"{name:8}  {measured:8.2f}  {relation} {bar:<5}  {'' if held or IS_CHECK else 'MISSED  '}{what}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
