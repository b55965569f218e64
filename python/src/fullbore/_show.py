"""Records as people see them: a table for notebooks, a data frame."""

from __future__ import annotations

import sys
from typing import Any, Optional

from ._record import Record, Stage

COLUMNS = (
    "stage",
    "command",
    "running",
    "runnable",
    "waits_in",
    "waits_out",
    "waits_other",
    "read_bytes",
    "written_bytes",
    "cpu_seconds",
    "life_seconds",
    "exit_status",
)


def escape(text: str) -> str:
    # html.escape would load 2,000 names of characters.
    for character, name in (("&", "amp"), ("<", "lt"), (">", "gt"), ('"', "quot"), ("'", "#x27")):
        text = text.replace(character, f"&{name};")
    return text


def frame_of(record: Record) -> Any:
    try:
        import pandas
    except ImportError as missing:
        raise ImportError("to_frame needs pandas. Try: pip install pandas") from missing
    rows = [{name: getattr(stage, name) for name in COLUMNS} for stage in record.stages]
    return pandas.DataFrame(rows, columns=list(COLUMNS))


def table_of(record: Record) -> str:
    """The summary that `fullbore run` prints, as an HTML table."""
    found = record.findings
    slowest = found[0].stage if found else None
    head = "".join(f"<th>{name}</th>" for name in ("", "stage", "running", "waits in", "waits out", "MB in", "MB out", "exit"))
    rows = "".join(_row(stage, stage.stage is not None and stage.stage == slowest) for stage in record.stages)
    parts = [f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"]
    parts += [f"<p>{escape(text)}</p>" for text in (record.verdict, record.advice) if text]
    if record.elapsed_seconds is not None:
        parts.append(f"<p>This run took {record.elapsed_seconds:.3g} s.</p>")
    return "".join(parts)


def _row(stage: Stage, is_slowest: bool) -> str:
    command = stage.command or "?"
    if len(command) > 60:
        command = command[:59] + "…"
    cells = [
        "▶" if is_slowest else "",
        f"<code>{escape(command)}</code>",
        _percent(stage.running),
        _percent(stage.waits_in),
        _percent(stage.waits_out),
        _megabytes(stage.read_bytes),
        _megabytes(stage.written_bytes),
        "?" if stage.exit_status is None else str(stage.exit_status),
    ]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _percent(share: Optional[float]) -> str:
    return "?" if share is None else f"{share:.0f} %"


def _megabytes(count: Optional[int]) -> str:
    return "?" if count is None else f"{count / 1e6:.4g}"


def in_frame(page: str) -> str:
    """A whole page inside a notebook. The page is the document of a frame, so that its style stays in there."""
    return f'<iframe style="width:100%;height:640px;border:0" srcdoc="{escape(page)}"></iframe>'


def is_notebook() -> bool:
    """Whether results will be shown by IPython. Never imports it."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return False
    shell = getattr(ipython, "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None
