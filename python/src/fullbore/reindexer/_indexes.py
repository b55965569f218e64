"""Which indexes a namespace gets: what was asked for, what the first records hold, what is there already. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

from ._failure import Failure

KINDS = {"tree": "tree", "hash": "hash", "text": "text", "column": "-"}
TYPES = ("int64", "double", "string", "bool")
_NAMES = {engine: ours for ours, engine in KINDS.items()}
_TYPE_OF = {"string": "string", "boolean": "bool", "bool": "bool", "true": "bool", "false": "bool"}
# Names that need no quotes, as `fullbore json keys` prints paths.
_PLAIN = re.compile(r"(\.[A-Za-z_][A-Za-z0-9_-]*(\[\])?)+")


@dataclass(frozen=True)
class Index:
    """An index: `kind` and `type` by the engine's names. `type` is empty as long as nobody has decided."""

    path: str
    kind: str
    type: str = ""
    is_key: bool = False
    is_array: bool = False

    @property
    def definition(self) -> dict[str, Any]:
        """What the engine is told. Sparse: a member that is missing or null stays so, instead of becoming 0 or an empty string."""
        return {
            "name": self.path,
            "json_paths": [self.path],
            "field_type": self.type,
            "index_type": self.kind,
            "is_pk": self.is_key,
            "is_array": self.is_array,
            "is_sparse": not self.is_key,
        }

    def __str__(self) -> str:
        return f"{_NAMES.get(self.kind, self.kind)} of {self.type}"


def requested(words: Sequence[str], key: Optional[str]) -> tuple[list[Index], bool]:
    """The indexes of the command line, and whether every path gets one."""
    found: dict[str, Index] = {}
    wants_all = False
    if key is not None:
        path = _path(key, "--pk")
        found[path] = Index(path, "hash", is_key=True)
    for word in [word for words_ in words for word in words_.split(",")]:
        if word == "all":
            wants_all = True
            continue
        index = _one(word)
        before = found.get(index.path)
        if before is not None and before.is_key:
            index = replace(index, is_key=True)
        elif before is not None:
            raise Failure(f"--index {word}: {index.path} has an index already")
        if index.is_key and index.kind not in ("hash", "tree"):
            raise Failure(f"--index {word}: the primary key is hash or tree")
        found[index.path] = index
    return list(found.values()), wants_all


def _one(word: str) -> Index:
    parts = word.split(":")
    hint = "PATH:KIND or PATH:KIND:TYPE, such as price:tree or user.name:hash:string"
    if len(parts) not in (2, 3) or not all(parts):
        raise Failure(f"--index {word}: not an index", hint)
    if parts[1] not in KINDS:
        raise Failure(f"--index {word}: {parts[1]} is no kind of index", f"one of {', '.join(KINDS)}")
    if len(parts) == 3 and parts[2] not in TYPES:
        raise Failure(f"--index {word}: {parts[2]} is no type", f"one of {', '.join(TYPES)}")
    type_ = parts[2] if len(parts) == 3 else ""
    if parts[1:] == ["hash", "double"]:
        raise Failure(f"--index {word}: Reindexer does not hash numbers with a fraction", f"--index {parts[0]}:tree:double")
    if parts[1] == "text":
        if type_ not in ("", "string"):
            raise Failure(f"--index {word}: full text is of strings")
        type_ = "string"
    return Index(_path(parts[0], "--index"), KINDS[parts[1]], type_)


def _path(text: str, option: str) -> str:
    path = text[1:] if text.startswith(".") else text
    if not path or not all(path.split(".")):
        raise Failure(f"{option} {text}: not a path", "names with dots between them, such as user.name")
    return path


def there(definitions: Iterable[Mapping[str, Any]]) -> list[Index]:
    """The indexes of a namespace that exists."""
    return [
        Index(str(d["name"]), str(d["index_type"]), str(d["field_type"]), bool(d.get("is_pk")), bool(d.get("is_array")))
        for d in definitions
        # The engine's own index of every record.
        if d["name"] != "#"
    ]


def merged(namespace: str, wanted: Sequence[Index], existing: Sequence[Index]) -> list[Index]:
    """What is wanted, with the types of what is there. Fails if the two contradict each other."""
    by_path = {index.path: index for index in existing}
    hint = "load into another namespace, or ask for what is there"
    key = next((index.path for index in existing if index.is_key), None)
    result = []
    for index in wanted:
        old = by_path.get(index.path)
        if index.is_key and existing and key != index.path:
            raise Failure(f"{namespace}: the namespace exists, and its primary key is {key}, not {index.path}", hint)
        if old is None:
            result.append(index)
            continue
        # The key was asked for by its path alone.
        if (index.kind != old.kind and not index.is_key) or index.type not in ("", old.type):
            asked = str(index) if index.type else _NAMES[index.kind]
            raise Failure(f"{namespace}: the namespace exists, and its index {index.path} is {old}, not {asked}", hint)
        result.append(old)
    if not existing and not any(index.is_key for index in wanted):
        raise Failure(f"{namespace}: a new namespace needs a primary key", "--pk PATH, such as --pk id")
    return result


def decided(
    wanted: Sequence[Index], keys: Sequence[Mapping[str, Any]], records: Sequence[Any], wants_all: bool, taken: Iterable[str]
) -> list[Index]:
    """Gives every index a type, from what `fullbore json keys` says about the first records."""
    kinds: dict[str, set[str]] = {}
    arrays: set[str] = set()
    for row in keys:
        if not _PLAIN.fullmatch(row["path"]):
            continue
        path = row["path"][1:].replace("[]", "")
        if "[]" in row["path"]:
            arrays.add(path)
        kinds.setdefault(path, set()).update(kind for kind in row["kinds"] if kind not in ("null", "array"))
    result = []
    for index in wanted:
        type_ = index.type or _typed(index, kinds.get(index.path, set()), records)
        result.append(replace(index, type=type_, is_array=index.is_array or index.path in arrays))
    if wants_all:
        known = {index.path for index in result} | set(taken)
        for path in sorted(set(kinds) - known):
            plain = _plain_type(path, kinds[path], records)
            if plain is not None:
                kind = {"string": "hash", "bool": "-"}.get(plain, "tree")
                result.append(Index(path, kind, plain, is_array=path in arrays))
    return result


def _typed(index: Index, kinds: set[str], records: Sequence[Any]) -> str:
    option = f"--pk {index.path}" if index.is_key else f"--index {index.path}"
    hint = f"give it a type: --index {index.path}:{_NAMES[index.kind]}:TYPE, where TYPE is one of {', '.join(TYPES)}"
    if not kinds:
        raise Failure(f"{option}: no value there in the {len(records)} records that came first", hint)
    plain = _plain_type(index.path, kinds, records)
    if plain is None:
        raise Failure(f"{option}: the first records have {' and '.join(sorted(kinds))} there", hint)
    # A number is hashed only if it is whole. Records in which it is not are rejected then, and named.
    return "int64" if plain == "double" and index.kind == "hash" else plain


def _plain_type(path: str, kinds: set[str], records: Sequence[Any]) -> Optional[str]:
    if kinds == {"number"}:
        parts = path.split(".")
        return "double" if any(type(v) is float for record in records for v in values(record, parts)) else "int64"
    types = {_TYPE_OF.get(kind) for kind in kinds}
    return types.pop() if len(types) == 1 else None


def values(record: Any, parts: Sequence[str]) -> Iterator[Any]:
    """The values at a path, those within arrays one by one."""
    if isinstance(record, list):
        for each in record:
            yield from values(each, parts)
    elif not parts:
        yield record
    elif isinstance(record, dict) and parts[0] in record:
        yield from values(record[parts[0]], parts[1:])
