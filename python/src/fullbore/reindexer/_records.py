"""From the text of a line to a record that the database stores as it is, or to the reason why it would not. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import orjson

from ._indexes import Index, values

_LIMITS = {"int": 1 << 31, "int64": 1 << 63}
_EXPECTED = {
    "int": ("a whole number", (int,)),
    "int64": ("a whole number", (int,)),
    "double": ("a number", (int, float)),
    "string": ("a string", (str,)),
    "bool": ("true or false", (bool,)),
}

Check = Callable[[dict[str, Any]], Optional[str]]


class Rejected(ValueError):
    """Why a record cannot be stored as it is."""


def parse(line: bytes) -> dict[str, Any]:
    """The record of a line."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        # Its own line number is always 1.
        raise Rejected(f"not valid JSON: {error.msg}, column {error.colno}") from None
    if type(record) is not dict:
        raise Rejected(f"not an object, but {_named(record)}")
    if b"\\u0000" in line and _holds(record, lambda value: type(value) is str and "\0" in value):
        raise Rejected("a string holds the character NUL, at which Reindexer ends a string")
    return record


def has_large_number(record: Any) -> bool:
    """Whether there is a whole number that pyreindexer would store as -1."""
    return _holds(record, lambda value: type(value) is int and not -(1 << 63) <= value < 1 << 63)


def _holds(value: Any, test: Callable[[Any], bool]) -> bool:
    if type(value) is dict:
        return any(test(name) or _holds(each, test) for name, each in value.items())
    if type(value) is list:
        return any(_holds(each, test) for each in value)
    return test(value)


def checks(indexes: Sequence[Index]) -> list[Check]:
    """What to ask every record: the engine stores 2.5 as 2, true as 1 and no key as 0, without a word."""
    return [_check(index) for index in indexes if index.type in _EXPECTED and "+" not in index.path]


def _check(index: Index) -> Check:
    path, parts, is_key, is_array = index.path, index.path.split("."), index.is_key, index.is_array
    wanted, types = _EXPECTED[index.type]
    limit = _LIMITS.get(index.type)
    first, is_simple = parts[0], len(parts) == 1

    def misfit(value: Any) -> Optional[str]:
        if type(value) not in types:
            # What the record holds may be long or secret: only its kind is named.
            return f"{path} is {_named(value)}, and its index holds {index.type}: {wanted}"
        if limit is not None and not -limit <= value < limit:
            return f"{path} is {value}, which is beyond {index.type}"
        return None

    def check(record: dict[str, Any]) -> Optional[str]:
        value = record.get(first)
        if not is_simple:
            if value is None:
                return f"no {path}, the primary key" if is_key else None
            if is_array:
                return next(filter(None, (misfit(each) for each in values(value, parts[1:]) if each is not None)), None)
            for name in parts[1:]:
                value = value.get(name) if type(value) is dict else None
        if value is None:
            return f"no {path}, the primary key" if is_key else None
        if is_array and type(value) is list:
            return next(filter(None, (misfit(each) for each in values(value, ()) if each is not None)), None)
        return None if type(value) in types and limit is None else misfit(value)

    return check


def _named(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value)) or ("a whole number" if type(value) is int else "a number with a fraction")
