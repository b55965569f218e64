"""Run records, read tolerantly: a field that is missing is None, and a field that is not known here is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Optional, Union


class Fields:
    """A JSON object. `x["name"]` and `x.get("name")` give any field as it stands in the record."""

    __slots__ = ("raw",)

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw

    def __getitem__(self, name: str) -> Any:
        return self.raw[name]

    def __contains__(self, name: object) -> bool:
        return name in self.raw

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.raw == other.raw

    __hash__ = None  # type: ignore[assignment]

    def get(self, name: str, default: Any = None) -> Any:
        return self.raw.get(name, default)

    def _objects(self, name: str) -> list[dict[str, Any]]:
        value = self.raw.get(name)
        return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

    def _seconds(self, name: str) -> Optional[float]:
        value = self.raw.get(name)
        return value / 1e9 if isinstance(value, (int, float)) else None

    def _number(self, name: str) -> Optional[float]:
        value = self.raw.get(name)
        return value if isinstance(value, (int, float)) else None

    def _int(self, name: str) -> Optional[int]:
        value = self.raw.get(name)
        return value if isinstance(value, int) else None

    def _str(self, name: str) -> Optional[str]:
        value = self.raw.get(name)
        return value if isinstance(value, str) else None


class Stage(Fields):
    """One command of a pipeline. Shares are percent of the time that it lived."""

    __slots__ = ()

    @property
    def stage(self) -> Optional[int]:
        """Its number, from 1."""
        return self._int("stage")

    @property
    def pid(self) -> Optional[int]:
        return self._int("pid")

    @property
    def command(self) -> Optional[str]:
        return self._str("command")

    @property
    def words(self) -> list[str]:
        """The words it was started with, its argv."""
        return list(self.raw.get("words") or [])

    @property
    def running(self) -> Optional[float]:
        """At least one of its threads was on a CPU."""
        return self._number("running_percent")

    @property
    def runnable(self) -> Optional[float]:
        """It waited for a CPU."""
        return self._number("runnable_percent")

    @property
    def waits_in(self) -> Optional[float]:
        """It waited for data from the stage before."""
        return self._number("blocked_reading_percent")

    @property
    def waits_out(self) -> Optional[float]:
        """It waited for the stage after it to take data."""
        return self._number("blocked_writing_percent")

    @property
    def waits_other(self) -> Optional[float]:
        """It waited for something that is no pipe: a disk, a network, a child, time."""
        return self._number("blocked_other_percent")

    @property
    def read_bytes(self) -> Optional[int]:
        return self._int("read_bytes")

    @property
    def written_bytes(self) -> Optional[int]:
        return self._int("written_bytes")

    @property
    def cpu_seconds(self) -> Optional[float]:
        return self._seconds("cpu_ns")

    @property
    def life_seconds(self) -> Optional[float]:
        return self._seconds("life_ns")

    @property
    def exit_status(self) -> Optional[int]:
        """Its exit status as a shell reports it: 128 + n if signal n killed it."""
        return self._int("exit_status")

    def __repr__(self) -> str:
        running = "?" if self.running is None else f"{self.running:.0f} %"
        return f"<Stage {self.stage} {self.command!r} running {running}>"


class Finding(Fields):
    """Something that a run shows, with what can be done about it."""

    __slots__ = ()

    @property
    def kind(self) -> Optional[str]:
        return self._str("kind")

    @property
    def stage(self) -> Optional[int]:
        return self._int("stage")

    @property
    def message(self) -> Optional[str]:
        return self._str("message")

    @property
    def advice(self) -> str:
        """What to do, with commands to paste; empty if there is nothing to do."""
        return "".join(str(next(iter(part.values()), "")) for part in self._objects("advice"))

    @property
    def confidence_percent(self) -> Optional[float]:
        return self._number("confidence_percent")

    def __repr__(self) -> str:
        return f"<Finding {self.kind}: {self.message}>"


class Record(Fields):
    """The record of a run. docs/fullbore.run-2.schema.json describes every field."""

    __slots__ = ()

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Record:
        """The record in a file that `fullbore run --report FILE.json` or `fullbore sh` wrote."""
        with open(path, "rb") as file:
            return cls.parse(file.read())

    @classmethod
    def parse(cls, text: Union[str, bytes]) -> Record:
        import json

        raw = json.loads(text)
        if not isinstance(raw, dict):
            raise ValueError(f"a run record is a JSON object, not {type(raw).__name__}")
        return cls(raw)

    @property
    def command(self) -> Optional[str]:
        return self._str("command")

    @property
    def exit_status(self) -> Optional[int]:
        return self._int("exit_status")

    @property
    def elapsed_seconds(self) -> Optional[float]:
        return self._seconds("elapsed_ns")

    @property
    def best_seconds(self) -> Optional[float]:
        """The best possible time: if no stage ever waited for another."""
        return self._seconds("bound_ns")

    @property
    def stages(self) -> list[Stage]:
        """The stages that lived long enough to be seen, a millisecond or so, in the order of the data."""
        return [Stage(each) for each in self._objects("stages")]

    @property
    def findings(self) -> list[Finding]:
        return [Finding(each) for each in self._objects("findings")]

    @property
    def verdict(self) -> Optional[str]:
        """One sentence that says what held the pipeline back; None if the run was too short to tell."""
        findings = self.findings
        return findings[0].message if findings else None

    @property
    def advice(self) -> str:
        """What to do about the verdict."""
        findings = self.findings
        return findings[0].advice if findings else ""

    def to_json(self, indent: Optional[int] = None) -> str:
        """The record as JSON, with all fields, also those that this version does not know."""
        import json

        return json.dumps(self.raw, indent=indent, ensure_ascii=False)

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each stage. Needs pandas."""
        from ._show import frame_of

        return frame_of(self)

    def _repr_html_(self) -> str:
        from ._show import table_of

        return table_of(self)

    def __repr__(self) -> str:
        return f"<Record {self.command!r}: {self.verdict or 'no verdict'}>"
