"""Other commands of fullbore: attach, json, par, gather."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Sequence
from typing import IO, Any, Optional, Protocol, Union

from ._binary import find_binary
from ._record import Fields, Finding, Record
from ._result import FullboreError
from ._show import in_frame

Path = Union[str, "os.PathLike[str]"]


class Readable(Protocol):
    """A file, or what can be read like one: gzip.open(…), io.BytesIO(…)."""

    def read(self) -> Any: ...


Input = Union[None, Path, bytes, bytearray, memoryview, Readable]
Output = Union[None, Path, IO[Any]]


class Workflow(Fields):
    """What limits a workflow of many jobs. docs/fullbore.workflow-1.schema.json describes every field."""

    __slots__ = ("page",)

    def __init__(self, raw: dict[str, Any], page: Optional[str] = None) -> None:
        super().__init__(raw)
        self.page = page

    @property
    def findings(self) -> list[Finding]:
        return [Finding(each) for each in self._objects("findings")]

    @property
    def verdict(self) -> Optional[str]:
        findings = self.findings
        return findings[0].message if findings else None

    @property
    def rules(self) -> list[dict[str, Any]]:
        """What is repeated: name, jobs, median_ns, critical_ns, …"""
        return self._objects("rules")

    @property
    def hosts(self) -> list[dict[str, Any]]:
        return self._objects("hosts")

    @property
    def jobs(self) -> list[dict[str, Any]]:
        return self._objects("jobs")

    @property
    def costliest_rule(self) -> Optional[dict[str, Any]]:
        """The rule with most of the critical time: what makes the workflow shorter if it is faster."""
        return max(self.rules, key=lambda rule: rule.get("critical_ns") or 0, default=None)

    def _repr_html_(self) -> str:
        return in_frame(self.page or "")

    def __repr__(self) -> str:
        return f"<Workflow of {len(self.jobs)} jobs: {self.verdict or 'no finding'}>"


def attach(
    pid: Optional[int] = None,
    *,
    name: Optional[str] = None,
    for_: Optional[float] = 1.0,
    tune: bool = False,
    report: Optional[Path] = None,
) -> Record:
    """Watches the pipeline that process `pid` is in for `for_` seconds (None: until it ends), and leaves it alone.

    Instead of a number, `name` is text of the command line of one of its processes.
    """
    if (pid is None) == (name is None):
        raise TypeError("attach needs either a process ID or a name")
    words = [str(pid)] if name is None else ["--name", name]
    if for_ is not None:
        words += ["--for", f"{max(1, round(for_ * 1000))}ms"]
    if tune:
        words.append("--tune")
    if report is not None:
        words += ["--report", os.fspath(report)]
    import tempfile

    with tempfile.TemporaryDirectory(prefix="fullbore-") as folder:
        file = os.path.join(folder, "run.json")
        done = _call("attach", [*words, "--quiet", "--report", file])
        if done.returncode == 2:
            raise ProcessLookupError(_message(done))
        if done.returncode or not os.path.exists(file):
            raise FullboreError(_message(done) or f"fullbore attach ended with status {done.returncode}")
        return Record.load(file)


def json(query: Union[str, Sequence[str]], *, input: Input = None, output: Output = None) -> list[Any]:
    """Runs `fullbore json QUERY` and returns its answer: a list with a value for each row or record.

    `query` has the words of the command line: "group .type count", "where '.status >= 500'", "select .id .name". `input` is a path, bytes
    or a file; the query may also name files. With `output`, a path or a file, the answer goes there as it is, and the list is empty.
    """
    import json as _json
    import shlex

    words = shlex.split(query) if isinstance(query, str) else list(query)
    if not words:
        raise ValueError("an empty query. Try: fullbore.json('group .type count', input=path)")
    rows = {"group": ["-o", "json"], "keys": ["-o", "json"], "select": ["--json"]}.get(words[0], [])
    done = _stream("json", [words[0], *(rows if output is None else []), *words[1:]], input, output, True)
    if words[0] == "check" or not done.stdout:
        return []
    text = done.stdout.decode()
    try:
        return [_json.loads(line) for line in text.splitlines() if line]
    except ValueError:
        # `where` prints records as they stand, and they may span lines.
        return list(_documents(text))


def par(
    command: Union[str, Sequence[str]], *, input: Input = None, output: Output = None, check: bool = True, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Deals the input out to copies of a command on all idle CPUs: a line for sh, or a list of words.

    `options` are those of `fullbore par`: jobs=4, block="16M", merge="auto", unordered=True. Without `output`, the result has `stdout`.
    A status that is not 0 raises CalledProcessError, unless check=False.
    """
    words = []
    for option, value in options.items():
        flag = "--" + option.rstrip("_").replace("_", "-")
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:
            words.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    words += ["-c", command] if isinstance(command, str) else ["--", *command]
    return _stream("par", words, input, output, check)


def gather(
    path: Path, *, against: Optional[Path] = None, top: Optional[int] = None, report: Optional[Path] = None
) -> Workflow:
    """Says what limits a workflow, from the records of its jobs in a folder (FULLBORE_RECORDS of `fullbore sh`)."""
    words = [os.fspath(path), "--quiet"]
    if against is not None:
        words += ["--against", os.fspath(against)]
    if top is not None:
        words += ["--top", str(top)]
    import tempfile

    with tempfile.TemporaryDirectory(prefix="fullbore-") as folder:
        file = os.path.join(folder, "workflow.json")
        page = os.fspath(report) if report is not None else os.path.join(folder, "workflow.html")
        done = _call("gather", [*words, "--report", file, "--report", page])
        if done.returncode:
            raise FullboreError(_message(done) or f"fullbore gather ended with status {done.returncode}")
        with open(file, "rb") as told, open(page, encoding="utf-8") as html:
            import json

            return Workflow(json.load(told), html.read())


def _call(command: str, words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([find_binary(), command, *words], stdin=subprocess.DEVNULL, capture_output=True)


def _stream(
    command: str, words: Sequence[str], input: Input, output: Output, check: bool
) -> subprocess.CompletedProcess[bytes]:
    opened: list[IO[bytes]] = []
    try:
        stdin: Any = None if input is None else _source(input, opened)
        stdout: Any = subprocess.PIPE
        if isinstance(output, (str, os.PathLike)):
            opened.append(open(output, "wb"))
            stdout = opened[-1]
        elif output is not None:
            output.flush()
            stdout = output
        given: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin or subprocess.DEVNULL}
        done: subprocess.CompletedProcess[bytes] = subprocess.run(
            [find_binary(), command, *words], stdout=stdout, stderr=subprocess.PIPE, **given
        )
    finally:
        for file in opened:
            file.close()
    if check and done.returncode:
        raise CommandFailed(done)
    return done


class CommandFailed(subprocess.CalledProcessError):
    """A command of fullbore failed; its message says why."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        super().__init__(done.returncode, done.args, done.stdout, done.stderr)
        self._done = done

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._done,)

    def __str__(self) -> str:
        import shlex

        message = _message(self._done)
        return f"{shlex.join(map(str, self.cmd[1:]))}: status {self.returncode}" + (f"\n  {message}" if message else "")


def _source(input: Any, opened: list[IO[bytes]]) -> Any:
    """What subprocess takes: bytes to write, or a file that the program reads itself."""
    if isinstance(input, (bytes, bytearray, memoryview)):
        return bytes(input)
    if isinstance(input, (str, os.PathLike)):
        opened.append(open(input, "rb"))
        return opened[-1]
    raw = getattr(input, "buffer", input)
    if isinstance(getattr(raw, "raw", raw), io.FileIO):
        # The program reads the file itself, from where Python stands in it. What Python has read ahead is not lost if it can go back.
        if input.seekable():
            os.lseek(input.fileno(), raw.tell(), os.SEEK_SET)
        return input
    # A file that has no descriptor of its own data (BytesIO, gzip): all of it is read here.
    data = input.read()
    return data.encode() if isinstance(data, str) else data


def _documents(text: str) -> Any:
    from json import JSONDecoder

    decoder = JSONDecoder()
    at = 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return
        value, at = decoder.raw_decode(text, at)
        yield value


def _message(done: subprocess.CompletedProcess[bytes]) -> str:
    return (done.stderr or b"").decode(errors="replace").strip()
