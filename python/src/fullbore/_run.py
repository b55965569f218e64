"""`run` and `popen`, with the arguments of subprocess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Optional, Union, overload

from ._line import Command
from ._pipeline import PIPE, Path, Pipeline, Redirect, run_to_end
from ._result import PipelineResult


@overload
def run(
    *commands: Command,
    capture_output: bool = ...,
    check: bool = ...,
    timeout: Optional[float] = ...,
    input: Optional[str] = ...,
    stdin: Redirect = ...,
    stdout: Redirect = ...,
    stderr: Redirect = ...,
    text: Literal[True],
    encoding: Optional[str] = ...,
    errors: Optional[str] = ...,
    env: Optional[Mapping[str, str]] = ...,
    cwd: Optional[Path] = ...,
    shell: Optional[str] = ...,
    report: Optional[Path] = ...,
    tune: bool = ...,
    auto: bool = ...,
    options: Sequence[str] = ...,
    grace: float = ...,
) -> PipelineResult[str]: ...
@overload
def run(
    *commands: Command,
    capture_output: bool = ...,
    check: bool = ...,
    timeout: Optional[float] = ...,
    input: Optional[str] = ...,
    stdin: Redirect = ...,
    stdout: Redirect = ...,
    stderr: Redirect = ...,
    text: Optional[bool] = ...,
    encoding: str,
    errors: Optional[str] = ...,
    env: Optional[Mapping[str, str]] = ...,
    cwd: Optional[Path] = ...,
    shell: Optional[str] = ...,
    report: Optional[Path] = ...,
    tune: bool = ...,
    auto: bool = ...,
    options: Sequence[str] = ...,
    grace: float = ...,
) -> PipelineResult[str]: ...
@overload
def run(
    *commands: Command,
    capture_output: bool = ...,
    check: bool = ...,
    timeout: Optional[float] = ...,
    input: Union[bytes, bytearray, memoryview, None] = ...,
    stdin: Redirect = ...,
    stdout: Redirect = ...,
    stderr: Redirect = ...,
    text: Literal[False, None] = ...,
    encoding: None = ...,
    errors: None = ...,
    env: Optional[Mapping[str, str]] = ...,
    cwd: Optional[Path] = ...,
    shell: Optional[str] = ...,
    report: Optional[Path] = ...,
    tune: bool = ...,
    auto: bool = ...,
    options: Sequence[str] = ...,
    grace: float = ...,
) -> PipelineResult[bytes]: ...
def run(
    *commands: Command,
    capture_output: bool = False,
    check: bool = False,
    timeout: Optional[float] = None,
    input: Any = None,
    stdin: Redirect = None,
    stdout: Redirect = None,
    stderr: Redirect = None,
    text: Optional[bool] = None,
    encoding: Optional[str] = None,
    errors: Optional[str] = None,
    env: Optional[Mapping[str, str]] = None,
    cwd: Optional[Path] = None,
    shell: Optional[str] = None,
    report: Optional[Path] = None,
    tune: bool = True,
    auto: bool = False,
    options: Sequence[str] = (),
    grace: float = 1.0,
) -> PipelineResult[Any]:
    """Runs a pipeline to its end: one line for the shell, or a list of words for each stage.

    The arguments are those of `subprocess.run`. These are different or new:

    check       raises PipelineError if any stage failed, as `set -o pipefail` would; a stage that SIGPIPE killed did not fail
    timeout     ends every process of the pipeline, then raises TimeoutExpired
    shell       the shell that runs the line: bash, or sh where there is no bash. With another shell than bash, the status of a stage
                is known only if fullbore saw it (`None` otherwise)
    report      a file that gets the report of the run: its name ends in .html
    tune        whether pipes may be enlarged
    auto        as `fullbore run --auto`: deal slow commands out over idle CPUs
    options     more options of `fullbore run`
    grace       seconds between SIGTERM and SIGKILL at the timeout
    """
    if capture_output:
        if stdout is not None or stderr is not None:
            raise ValueError("stdout and stderr cannot be used together with capture_output")
        stdout = stderr = PIPE
    if input is not None:
        if stdin is not None:
            raise ValueError("stdin cannot be used together with input")
        stdin = PIPE
    encoding = _encoding(text, encoding, errors)
    _check_input(input, encoding)
    pipeline: Pipeline[Any] = Pipeline(
        commands,
        shell=shell,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        encoding=encoding,
        errors=errors,
        env=env,
        cwd=cwd,
        options=_options(tune, auto, options),
        report=report,
        grace=grace,
    )
    return run_to_end(pipeline, input, timeout, check)


@overload
def popen(
    *commands: Command,
    stdin: Redirect = ...,
    stdout: Redirect = ...,
    stderr: Redirect = ...,
    text: Literal[True],
    encoding: Optional[str] = ...,
    errors: Optional[str] = ...,
    env: Optional[Mapping[str, str]] = ...,
    cwd: Optional[Path] = ...,
    shell: Optional[str] = ...,
    report: Optional[Path] = ...,
    tune: bool = ...,
    auto: bool = ...,
    options: Sequence[str] = ...,
    grace: float = ...,
) -> Pipeline[str]: ...
@overload
def popen(
    *commands: Command,
    stdin: Redirect = ...,
    stdout: Redirect = ...,
    stderr: Redirect = ...,
    text: Literal[False, None] = ...,
    encoding: None = ...,
    errors: None = ...,
    env: Optional[Mapping[str, str]] = ...,
    cwd: Optional[Path] = ...,
    shell: Optional[str] = ...,
    report: Optional[Path] = ...,
    tune: bool = ...,
    auto: bool = ...,
    options: Sequence[str] = ...,
    grace: float = ...,
) -> Pipeline[bytes]: ...
def popen(
    *commands: Command,
    stdin: Redirect = None,
    stdout: Redirect = PIPE,
    stderr: Redirect = None,
    text: Optional[bool] = None,
    encoding: Optional[str] = None,
    errors: Optional[str] = None,
    env: Optional[Mapping[str, str]] = None,
    cwd: Optional[Path] = None,
    shell: Optional[str] = None,
    report: Optional[Path] = None,
    tune: bool = True,
    auto: bool = False,
    options: Sequence[str] = (),
    grace: float = 1.0,
) -> Pipeline[Any]:
    """Starts a pipeline and returns at once. `stdout` is a pipe unless it is given.

    As a context manager, it closes its pipes and waits at the end of the block. If the block fails, every process is ended.
    """
    return Pipeline(
        commands,
        shell=shell,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        encoding=_encoding(text, encoding, errors),
        errors=errors,
        env=env,
        cwd=cwd,
        options=_options(tune, auto, options),
        report=report,
        grace=grace,
    )


def _encoding(text: Optional[bool], encoding: Optional[str], errors: Optional[str]) -> Optional[str]:
    """None for bytes, else the encoding; "locale" is that of the locale, as in subprocess."""
    if not (text or encoding or errors):
        return None
    if encoding:
        return encoding
    import locale

    return locale.getpreferredencoding(False)


def _options(tune: bool, auto: bool, options: Sequence[str]) -> list[str]:
    return [*([] if tune else ["--no-tune"]), *(["--auto"] if auto else []), *options]


def _check_input(input: Any, encoding: Optional[str]) -> None:
    if isinstance(input, str) and encoding is None:
        raise TypeError("input is text, but the pipeline works with bytes. Add text=True, or encode it")
    if input is not None and encoding is not None and not isinstance(input, str):
        raise TypeError("input is bytes, but the pipeline works with text. Leave text, encoding and errors out, or decode it")
