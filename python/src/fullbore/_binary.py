"""Finds the program `fullbore`, which does the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Optional

NAME = "fullbore"
_found: dict[tuple[Optional[str], Optional[str]], str] = {}


class BinaryNotFound(FileNotFoundError):
    """The program `fullbore` is not on this machine, or $FULLBORE names something else."""


def find_binary() -> str:
    """The path of the program: $FULLBORE, else the one installed with this package, else the first in PATH."""
    key = (os.environ.get("FULLBORE"), os.environ.get("PATH"))
    if key not in _found:
        _found[key] = _search(key[0])
    return _found[key]


def _search(named: str | None) -> str:
    if named:
        if not _runs(named):
            raise BinaryNotFound(
                f"fullbore: $FULLBORE is {named!r}, which is not a program. "
                "Give it the path of the program fullbore, or unset it."
            )
        return os.path.abspath(named)
    tried = []
    for folder in _folders():
        path = os.path.join(folder, NAME)
        if _runs(path):
            return path
        if folder not in tried:
            tried.append(folder)
    raise BinaryNotFound(
        "fullbore: the program is not installed. $FULLBORE is not set, and it is not in "
        + ", ".join(tried)
        + ". Try: pip install fullbore; or build it with `make`, and set FULLBORE=target/release/fullbore."
    )


def _folders() -> Iterator[str]:
    yield os.path.dirname(sys.executable or "")
    import sysconfig

    yield sysconfig.get_path("scripts")
    for scheme in ("posix_user", "posix_prefix"):
        if scheme in sysconfig.get_scheme_names():
            yield sysconfig.get_path("scripts", scheme)
    # pip install --target DIR puts scripts into DIR/bin, beside the package.
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")
    yield from filter(None, os.environ.get("PATH", os.defpath).split(os.pathsep))


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
