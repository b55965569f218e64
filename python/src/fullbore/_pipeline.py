"""A pipeline that runs."""

from __future__ import annotations

import io
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, Any, AnyStr, Generic, Optional, Union

from . import _tree
from ._binary import find_binary
from ._line import Command, Line
from ._pump import Pump
from ._record import Record
from ._result import FullboreError, PipelineError, PipelineResult, TimeoutExpired, shell_status
from ._show import is_notebook

PIPE = subprocess.PIPE
Redirect = Union[None, int, IO[Any]]
Path = Union[str, "os.PathLike[str]"]


class Pipeline(Generic[AnyStr]):
    """A pipeline that runs. `fullbore.popen` starts one.

    `stdin`, `stdout` and `stderr` are files, as those of subprocess.Popen, where PIPE was asked for.
    """

    def __init__(
        self,
        commands: Sequence[Command],
        *,
        shell: Optional[str],
        stdin: Redirect,
        stdout: Redirect,
        stderr: Redirect,
        encoding: Optional[str],
        errors: Optional[str],
        env: Optional[Mapping[str, str]],
        cwd: Optional[Path],
        options: Sequence[str],
        report: Optional[Path],
        grace: float,
    ) -> None:
        line = Line(commands, shell, env)
        self.args = line.text
        self.commands = line.commands
        self.grace = grace
        self.returncode: Optional[int] = None
        self._encoding = encoding
        self._errors = errors
        self._result: Optional[PipelineResult[AnyStr]] = None
        self._pump: Optional[Pump] = None
        self._outputs: list[Any] = [None, None]
        binary = find_binary()
        self._folder = _new_folder()
        try:
            words = [binary, "run", "--quiet", "--report", self._file("run.json"), *options]
            self._page = os.path.abspath(report) if report is not None else self._file("run.html") if is_notebook() else None
            if self._page is not None:
                words += ["--report", self._page]
            self._process = subprocess.Popen(
                words + line.arguments(),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=line.environment(env, self._file("statuses")),
                cwd=cwd,
                bufsize=0,
            )
        except BaseException:
            self._forget()
            raise
        # Plain files without a buffer: what `communicate` works with.
        self._pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self.stdin: Optional[IO[AnyStr]] = self._wrapped(self._pipes[0], writes=True)
        self.stdout: Optional[IO[AnyStr]] = self._wrapped(self._pipes[1])
        self.stderr: Optional[IO[AnyStr]] = self._wrapped(self._pipes[2])

    @property
    def pid(self) -> int:
        """The process ID of fullbore, whose child is the shell."""
        return self._process.pid

    def poll(self) -> Optional[int]:
        """The exit status, or None while it runs."""
        if self.returncode is None and _tree.wait(self.pid, 0):
            self.wait()
        return self.returncode

    def wait(self, timeout: Optional[float] = None) -> int:
        """Waits for the end. Raises TimeoutExpired if it does not come in time; the pipeline then goes on."""
        if self.returncode is None:
            if not _tree.wait(self.pid, timeout):
                assert timeout is not None
                raise TimeoutExpired(self.args, timeout)
            self.returncode = self._process.wait()
        return self.returncode

    def communicate(self, input: Optional[AnyStr] = None, timeout: Optional[float] = None) -> tuple[Any, Any]:
        """Writes `input`, reads all output, waits for the end. After TimeoutExpired, it can be called again."""
        deadline = None if timeout is None else time.monotonic() + timeout
        if self._pump is None:
            if input is not None and self.stdin is None:
                raise ValueError("input needs stdin=PIPE")
            feed = input.encode(self._encoding or "utf-8", self._errors or "strict") if isinstance(input, str) else input
            for file in (self.stdin, self.stdout, self.stderr):
                if file is not None:
                    with suppress(BrokenPipeError):
                        file.flush()
            self._pump = Pump(self._pipes[0], feed, self._pipes[1], self._pipes[2])
        done = self._pump.run(deadline)
        left = None if deadline is None else deadline - time.monotonic()
        if not done or not _tree.wait(self.pid, left):
            assert timeout is not None
            stdout, stderr = self._pump.taken()
            raise TimeoutExpired(self.args, timeout, stdout, stderr)
        self.wait()
        self._outputs = [self._decoded(output) for output in self._pump.taken()]
        return self._outputs[0], self._outputs[1]

    def end(self) -> int:
        """Ends every process of the pipeline: SIGTERM, and SIGKILL after the grace. Its record is kept."""
        if self.returncode is None:
            _tree.end(self.pid, self.grace)
        return self.wait()

    def send_signal(self, number: int) -> None:
        """Sends a signal to fullbore, which passes it on to the shell."""
        if self.poll() is None:
            self._process.send_signal(number)

    def snapshot(self, for_: float = 0.5) -> Record:
        """A record of now: watches the pipeline for `for_` seconds, from outside. After its end, the record of the whole run.

        Stages that began less than half a second before may be missing.
        """
        from ._tools import attach

        if self.poll() is None:
            ours = set(_tree.descendants(self.pid))
            try:
                seen = attach(self.pid, for_=for_)
            except ProcessLookupError:
                # It has ended meanwhile, or is about to.
                if not _tree.wait(self.pid, self.grace):
                    raise
            else:
                return _only(seen, ours | set(_tree.descendants(self.pid)))
        return self.record

    @property
    def result(self) -> PipelineResult[AnyStr]:
        """What it left; waits for the end."""
        if self._result is None:
            returncode = self.wait()
            record, statuses, page = self._left(returncode)
            self._result = PipelineResult(
                self.args, self.commands, returncode, statuses, self._outputs[0], self._outputs[1], record, page
            )
        return self._result

    @property
    def record(self) -> Record:
        """The record of the whole run; waits for the end."""
        return self.result.record

    @property
    def returncodes(self) -> list[Optional[int]]:
        """The status of every stage; waits for the end."""
        return self.result.returncodes

    @property
    def verdict(self) -> Optional[str]:
        return self.record.verdict

    def __enter__(self) -> Pipeline[AnyStr]:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        """Closes the pipes and waits. If the block failed, the pipeline is ended first."""
        if kind is not None:
            self.end()
        for file in (self.stdout, self.stderr, self.stdin):
            if file is not None:
                with suppress(BrokenPipeError):
                    file.close()
        self.wait()
        self.result  # noqa: B018 - reads the record, and removes its folder

    def __del__(self) -> None:
        if hasattr(self, "_folder"):
            self._forget()

    def _left(self, returncode: int) -> tuple[Record, list[Optional[int]], Optional[str]]:
        raw = _read(self._file("run.json"))
        told = _read(self._file("statuses"))
        page = _read(self._page) if self._page is not None else None
        self._forget()
        try:
            record = Record.parse(raw) if raw else Record({})
        except ValueError as broken:
            raise FullboreError(f"{find_binary()} wrote a record that is no JSON: {broken}") from broken
        if not raw and not told and returncode >= 0:
            _must_be_fullbore(find_binary())
        return record, _statuses(told, record, shell_status(returncode)), page.decode(errors="replace") if page else None

    def _file(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _forget(self) -> None:
        if self._folder:
            with suppress(OSError):
                for name in os.listdir(self._folder):
                    os.unlink(self._file(name))
                os.rmdir(self._folder)
            self._folder = ""

    def _wrapped(self, file: Optional[IO[bytes]], writes: bool = False) -> Any:
        if file is None:
            return None
        raw: Any = file
        buffered: Any = io.BufferedWriter(raw, 1 << 16) if writes else io.BufferedReader(raw, 1 << 16)
        if self._encoding is None:
            return buffered
        encoding = None if self._encoding == "locale" else self._encoding
        return io.TextIOWrapper(buffered, encoding, self._errors, write_through=writes, line_buffering=writes)

    def _decoded(self, output: Optional[bytes]) -> Any:
        if output is None or self._encoding is None:
            return output
        return io.TextIOWrapper(io.BytesIO(output), self._encoding, self._errors).read()


def run_to_end(pipeline: Pipeline[Any], input: Any, timeout: Optional[float], check: bool) -> PipelineResult[Any]:
    """`communicate`, and the end of the pipeline whatever happens."""
    try:
        pipeline.communicate(input, timeout)
    except TimeoutExpired as late:
        pipeline.end()
        assert pipeline._pump is not None
        # What was in the pipes. A process that is not part of the pipeline any more may hold them open.
        pipeline._pump.run(time.monotonic() + 0.1)
        late.output, late.stderr = pipeline._pump.taken()
        late.record = pipeline.record
        raise
    except BaseException:
        pipeline.end()
        pipeline._forget()
        raise
    finally:
        if pipeline._pump is not None:
            pipeline._pump.close()
    if check and (pipeline.result.returncode or pipeline.result.failed_stages()):
        raise PipelineError(pipeline.result)
    return pipeline.result


def _new_folder() -> str:
    # In memory if possible: on a disk with a journal, to remove a folder takes 4 ms. tempfile takes as long to import as all the rest.
    for place in (os.environ.get("TMPDIR"), "/dev/shm", "/tmp", "/var/tmp", os.getcwd()):
        if place and os.access(place, os.W_OK | os.X_OK):
            folder = os.path.join(os.path.abspath(place), f"fullbore-{os.getpid()}-{os.urandom(8).hex()}")
            os.mkdir(folder, 0o700)
            return folder
    raise FileNotFoundError("no folder for temporary files: $TMPDIR, /dev/shm, /tmp and /var/tmp cannot be written")


def _only(record: Record, pids: set[int]) -> Record:
    """Without what `attach` also finds: fullbore itself, and whoever reads the output of this program."""
    stages = [stage.raw for stage in record.stages if stage.pid in pids]
    numbers = {stage.get("stage") for stage in stages}
    findings = [finding.raw for finding in record.findings if finding.stage is None or finding.stage in numbers]
    return Record({**record.raw, "stages": stages, "findings": findings})


def _statuses(told: Optional[bytes], record: Record, status: int) -> list[Optional[int]]:
    statuses: list[Optional[int]] = [int(word) for word in (told or b"").split()]
    if not statuses:
        statuses = [stage.exit_status for stage in record.stages]
        if statuses:
            statuses[-1] = status
    # `exit 3`, or a signal for the shell: there was no pipeline, or it does not matter.
    return statuses if len(statuses) > 1 else [status]


def _read(path: Optional[str]) -> Optional[bytes]:
    try:
        with open(path or "", "rb") as file:
            return file.read()
    except OSError:
        return None


def _must_be_fullbore(binary: str) -> None:
    """The record is missing: because the disk is full, or because the program is another one."""
    try:
        said = subprocess.run([binary, "--version"], capture_output=True, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FullboreError(f"{binary} does not work: {error}") from error
    if not said.startswith(b"fullbore "):
        raise FullboreError(f"{binary} is not fullbore: it wrote no record and says {said[:80]!r} as its version")
