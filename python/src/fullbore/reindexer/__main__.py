"""`python -m fullbore.reindexer load|query …`: what `fullbore load reindexer` and `fullbore query reindexer` start."""

from __future__ import annotations

import argparse
import errno
import gc
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import IO, TYPE_CHECKING, Optional

from ._engine import Database, missing, verify
from ._failure import Failure, Interrupted, complain

if TYPE_CHECKING:
    # They need what may be missing.
    from ._lines import Batch
    from ._load import Loader, Plan

DONE, REJECTED, FAILED, READER_LEFT = 0, 1, 2, 141
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ONE_WISH_SECONDS = 0.05


def main(words: Optional[Sequence[str]] = None) -> int:
    """Runs a command; the exit status."""
    options = _arguments().parse_args(words)
    command: str = options.command
    lacking = missing()
    if lacking is not None:
        complain(command, "Reindexer is not installed for " + sys.executable, lacking)
        return FAILED
    for number in _ENDING:
        # What was ignored (nohup) stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        return _load(options) if command == "load" else _query(options)
    except Failure as failure:
        complain(command, str(failure), failure.hint)
        return FAILED
    except BrokenPipeError:
        return READER_LEFT
    except OSError as error:
        complain(command, f"{error.filename or 'standard input or output'}: {error.strerror}")
        return FAILED
    except Interrupted as interrupted:
        _die_of(interrupted.number)
        return 128 + interrupted.number


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fullbore.reindexer", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    load = commands.add_parser("load", help="load JSON records from standard input, one on each line", allow_abbrev=False)
    load.add_argument("database")
    load.add_argument("namespace")
    load.add_argument("--pk")
    load.add_argument("--index", action="append", default=[])
    load.add_argument("--rejects")
    load.add_argument("--batch", type=int, default=2000)
    load.add_argument("--jobs", type=int)
    load.add_argument("--progress", choices=["auto", "always", "never"], default="auto")
    load.add_argument("--quiet", action="store_true")
    query = commands.add_parser("query", help="print what a query finds", allow_abbrev=False)
    query.add_argument("database")
    query.add_argument("sql")
    query.add_argument("--output", choices=["jsonl", "json"], default="jsonl")
    return parser


def _interrupt(number: int, _frame: Optional[FrameType]) -> None:
    ours = [each for each in _ENDING if signal.getsignal(each) is _interrupt]
    for each in ours:
        signal.signal(each, signal.SIG_IGN)
    # timeout(1) signals its child, and then its whole group: that is one wish to end, not two.
    time.sleep(_ONE_WISH_SECONDS)
    # The second time, the signal does what it does to other programs.
    for each in ours:
        signal.signal(each, signal.SIG_DFL)
    raise Interrupted(number)


def _die_of(number: int) -> None:
    """Ends as a program ends that does not know the signal, so that a shell sees why."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _load(options: argparse.Namespace) -> int:
    from ._indexes import requested
    from ._lines import batches
    from ._load import Loader, Plan, default_jobs
    from ._watch import Watch

    if sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard input")
    # Mistakes of the command line, before anything waits for input.
    requested(options.index, options.pk)
    # Dicts of records are no garbage that only the collector finds, and there are many of them.
    gc.disable()
    rejects: Optional[IO[bytes]] = open(options.rejects, "wb") if options.rejects else None
    shows = options.progress == "always" or options.progress == "auto" and sys.stderr is not None and sys.stderr.isatty()
    watch = Watch(shows)
    database = Database(options.database)
    interrupted: Optional[Interrupted] = None
    try:
        stream = batches(0, options.batch)
        plan = Plan(database, options.namespace, options.pk, options.index)
        loader = Loader(database, options.namespace, watch, rejects)
        try:
            _feed(loader, plan, stream, options.jobs or default_jobs())
            loader.end()
        except BaseException as error:
            loader.stop()
            loader.end()
            if not isinstance(error, Interrupted):
                raise
            interrupted = error
        if loader.failure is not None:
            raise loader.failure
        records = database.stored(options.namespace)
    finally:
        watch.clear()
        database.close()
        if rejects is not None:
            rejects.close()
    verify(options.database, options.namespace, records)
    if interrupted is not None:
        complain("load", f"interrupted; lines 1 to {watch.lines} are done: {watch.summary(options.namespace)}")
        raise interrupted
    if not options.quiet:
        complain("load", watch.summary(options.namespace))
    return REJECTED if watch.rejects else DONE


def _feed(loader: Loader, plan: Plan, stream: Iterator[Batch], jobs: int) -> None:
    """Gives all batches to the loader. The first that has a record decides about types; without one, nothing is made."""
    from ._load import has_record

    for batch in stream:
        if has_record(batch):
            loader.start(jobs, plan.carry_out(batch.lines))
            loader.give(batch)
            break
        loader.reject(batch)
    for batch in stream:
        if not loader.give(batch):
            break


def _query(options: argparse.Namespace) -> int:
    from ._query import answer, write

    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
    database = Database(options.database, must_exist=True)
    try:
        with open(1, "wb", buffering=1 << 16, closefd=False) as output:
            write(answer(database, options.sql), output, options.output == "json")
    finally:
        database.close()
    return DONE


if __name__ == "__main__":
    sys.exit(main())
