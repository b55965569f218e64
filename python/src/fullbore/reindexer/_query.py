"""`fullbore query reindexer`: rows as JSON, then the aggregations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import IO, Any

import orjson

from ._engine import Answer, Database


def answer(database: Database, sql: str) -> Iterator[dict[str, Any]]:
    """The rows of a query, then an object for each group of a FACET, then one with the other aggregations."""
    # The question is asked here, not with the first row: nothing is written if it is wrong.
    found = database.ask(sql)
    return chain(found.rows(), _aggregated(found))


def _aggregated(found: Answer) -> Iterator[dict[str, Any]]:
    single: dict[str, Any] = {}
    for each in found.aggregations():
        fields = list(each.get("fields", []))
        if each["type"] == "facet":
            yield from (_group(fields, facet) for facet in each.get("facets", []))
        elif each["type"] != "distinct":
            # The rows of DISTINCT came already.
            single[f"{each['type']}({', '.join(fields)})"] = _whole(each.get("value"))
    if single:
        yield single


def _group(fields: list[str], facet: Mapping[str, Any]) -> dict[str, Any]:
    return {**dict(zip(fields, facet["values"])), "count": facet["count"]}


def _whole(value: Any) -> Any:
    """The engine counts in doubles."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53 else value


def write(rows: Iterator[dict[str, Any]], output: IO[bytes], is_array: bool) -> None:
    """An object on each line, or all of them as one array."""
    begin, between, end = (b"[", b",\n ", b"]\n") if is_array else (b"", b"\n", b"")
    output.write(begin)
    count = 0
    for count, row in enumerate(rows, 1):
        output.write((between if count > 1 else b"") + orjson.dumps(row))
    output.write(end if is_array else b"\n" if count else b"")
    output.flush()
