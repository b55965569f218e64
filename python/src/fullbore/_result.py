"""What a pipeline leaves: its output, the status of every stage, the record."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any, AnyStr, Optional

from ._line import Command
from ._record import Finding, Record, Stage
from ._show import in_frame, table_of

SIGPIPE_STATUS = 128 + 13


class PipelineResult(subprocess.CompletedProcess[AnyStr]):
    """A pipeline that has ended.

    `returncode` is that of the shell, as in `subprocess`. `returncodes` has the status of every stage, as a shell reports it: 128 + n
    if signal n killed the stage, and None if it could not be learned.
    """

    def __init__(
        self,
        args: str,
        commands: Sequence[Command],
        returncode: int,
        returncodes: Sequence[Optional[int]],
        stdout: Any,
        stderr: Any,
        record: Record,
        report: Optional[str] = None,
    ) -> None:
        super().__init__(args, returncode, stdout, stderr)
        self.commands = list(commands)
        self.returncodes = list(returncodes)
        self.record = record
        self.report = report

    @property
    def stages(self) -> list[Stage]:
        """The stages that lived long enough to be seen: in a short run, fewer than `returncodes`."""
        return self.record.stages

    @property
    def findings(self) -> list[Finding]:
        return self.record.findings

    @property
    def verdict(self) -> Optional[str]:
        """One sentence that says what held the pipeline back; None if the run was too short to tell."""
        return self.record.verdict

    @property
    def elapsed_seconds(self) -> Optional[float]:
        return self.record.elapsed_seconds

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each stage. Needs pandas."""
        return self.record.to_frame()

    def to_json(self, indent: Optional[int] = None) -> str:
        return self.record.to_json(indent)

    def failed_stages(self) -> list[int]:
        """The places in `returncodes` of the stages that failed. See `check_returncode`."""
        return failed(self.returncode, self.returncodes)

    def check_returncode(self) -> None:
        """Raises PipelineError if a stage failed, as `set -o pipefail` would.

        A stage before the last that SIGPIPE killed did not fail: its reader had enough, as in `yes | head -1`.
        """
        if self.returncode or self.failed_stages():
            raise PipelineError(self)

    def _repr_html_(self) -> str:
        return in_frame(self.report) if self.report else table_of(self.record)

    def __repr__(self) -> str:
        parts = [f"args={self.args!r}", f"returncodes={self.returncodes!r}"]
        for name in ("stdout", "stderr"):
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name}={value!r}" if len(value) <= 200 else f"{name}=<{len(value)} of {type(value).__name__}>")
        if self.verdict:
            parts.append(f"verdict={self.verdict!r}")
        return f"PipelineResult({', '.join(parts)})"


class PipelineError(subprocess.CalledProcessError):
    """A stage of a pipeline failed. `result` has everything, `returncodes` the status of every stage."""

    def __init__(self, result: PipelineResult[Any]) -> None:
        super().__init__(result.returncode, result.args, result.stdout, result.stderr)
        self.result = result
        self.returncodes = result.returncodes

    @property
    def record(self) -> Record:
        return self.result.record

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.result,)

    def __str__(self) -> str:
        text = f"{self.cmd!r} failed"
        bad = self.result.failed_stages()
        if bad and len(self.returncodes) > 1:
            text += ": " + ", ".join(f"stage {place + 1} of {len(self.returncodes)} {_ended(self.returncodes[place])}" for place in bad)
        else:
            text += ": it " + _ended(shell_status(self.returncode))
        message = self.stderr
        if isinstance(message, bytes):
            message = message.decode(errors="replace")
        last = [line for line in (message or "").splitlines() if line.strip()][-3:]
        return "\n  ".join([text, *last])


class TimeoutExpired(subprocess.TimeoutExpired):
    """The time was over. The pipeline was ended; `record` says what it did until then."""

    def __init__(self, cmd: str, timeout: float, output: Any = None, stderr: Any = None, record: Optional[Record] = None) -> None:
        super().__init__(cmd, timeout, output, stderr)
        self.record = record if record is not None else Record({})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cmd, self.timeout, self.output, self.stderr, self.record)


class FullboreError(RuntimeError):
    """fullbore itself failed."""


def failed(returncode: int, returncodes: Sequence[Optional[int]]) -> list[int]:
    if not returncodes or (returncode == 0 and returncodes[-1]):
        # The line went on after its last pipeline, or turned its status round with `!`.
        return []
    last = len(returncodes) - 1
    return [at for at, status in enumerate(returncodes) if status and not (status == SIGPIPE_STATUS and at < last)]


def shell_status(returncode: int) -> int:
    return 128 - returncode if returncode < 0 else returncode


def _ended(status: Optional[int]) -> str:
    if status is not None and 128 < status < 193:
        import signal

        try:
            return f"was killed by {signal.Signals(status - 128).name}"
        except ValueError:
            pass
    return f"ended with status {status}"
