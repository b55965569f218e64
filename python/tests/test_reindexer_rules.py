"""What `fullbore load reindexer` decides without a database: indexes, types, batches, and which records are stored as they are."""

from __future__ import annotations

import importlib.util
import os
import random
import threading
import unittest
from typing import Any, Callable, Optional

from fullbore.reindexer._failure import Failure, visible
from fullbore.reindexer._indexes import Index, decided, merged, requested, there, values
from fullbore.reindexer._lines import Batch, batches

from .support import skip

KEY = Index("id", "hash", "int64", is_key=True)


def keys(**kinds: str) -> list[dict[str, Any]]:
    """Rows of `fullbore json keys`; __ in a name is a dot, a at its end an array."""
    paths = {"." + name.replace("__", "."): set(kind.split()) for name, kind in kinds.items()}
    return [{"path": path, "kinds": dict.fromkeys(kinds, 1)} for path, kinds in paths.items()]


class Indexes(unittest.TestCase):
    def test_the_command_line_names_paths_kinds_and_types(self) -> None:
        found, wants_all = requested(["price:tree,.user.name:hash:string", "text:text"], "id")
        self.assertFalse(wants_all)
        wanted = [
            Index("id", "hash", is_key=True),
            Index("price", "tree"),
            Index("user.name", "hash", "string"),
            Index("text", "text", "string"),
        ]
        self.assertEqual(found, wanted)
        self.assertEqual(requested(["all", "id:tree:double"], "id"), ([Index("id", "tree", "double", is_key=True)], True))

    def test_mistakes_of_the_command_line_are_named(self) -> None:
        for word in ("price", "price:", ":tree", "price:b-tree", "price:tree:decimal", "a..b:hash", "x:text:int64", "a:hash,a:tree", ""):
            with self.assertRaises(Failure) as raised:
                requested([word], "id")
            self.assertIn("--index", str(raised.exception))
        for word in ("id:text", "id:column", "id:hash:double"):
            with self.assertRaises(Failure):
                requested([word], "id")
        with self.assertRaises(Failure):
            requested([], ".")

    def test_the_first_records_decide_about_types(self) -> None:
        rows = keys(id="number", price="number null", n="number", name="string", ok="boolean", user__id="number", tags="array")
        rows.append({"path": ".tags[]", "kinds": {"string": 3}})
        rows.append({"path": ".", "kinds": {"object": 2}})
        rows.append({"path": '."odd name"', "kinds": {"string": 2}})
        rows += keys(mixed="number string", user="object null", nothing="null")
        records = [{"id": 1, "price": 2, "n": 3}, {"id": 2, "price": 2.5, "user": {"id": 7}}]
        wanted, _ = requested(["price:tree", "tags:hash"], "id")
        found = decided(wanted, rows, records, True, ["name"])
        self.assertEqual(
            found,
            [
                KEY,
                Index("price", "tree", "double"),
                Index("tags", "hash", "string", is_array=True),
                Index("n", "tree", "int64"),
                Index("ok", "-", "bool"),
                Index("user.id", "tree", "int64"),
            ],
        )
        for word in ("mixed:hash", "nothing:hash", "absent:tree", "user:hash"):
            with self.assertRaises(Failure) as raised:
                decided(requested([word], None)[0], rows, records, False, [])
            self.assertIn(":TYPE", raised.exception.hint)

    def test_a_key_with_a_fraction_somewhere_is_a_whole_number_all_the_same(self) -> None:
        found = decided([Index("id", "hash", is_key=True)], keys(id="number"), [{"id": 1}, {"id": 2.5}], False, [])
        self.assertEqual(found, [KEY])

    def test_a_namespace_that_exists_keeps_its_indexes(self) -> None:
        old = there([
            {"name": "#", "index_type": "-", "field_type": "string"},
            {"name": "id", "index_type": "hash", "field_type": "int64", "is_pk": True, "is_array": False},
            {"name": "price", "index_type": "tree", "field_type": "double", "is_pk": False, "is_array": False},
        ])
        self.assertEqual(old, [KEY, Index("price", "tree", "double")])
        self.assertEqual(merged("e", requested(["price:tree,n:tree"], "id")[0], old), [*old, Index("n", "tree")])
        self.assertEqual(merged("e", [], old), [])
        for indexes, key in ((["price:hash"], "id"), (["price:tree:int64"], "id"), ([], "uid"), ([], "price")):
            with self.assertRaises(Failure) as raised:
                merged("e", requested(indexes, key)[0], old)
            self.assertIn("e: the namespace exists", str(raised.exception))
        with self.assertRaises(Failure) as raised:
            merged("e", requested(["price:tree"], None)[0], [])
        self.assertIn("primary key", str(raised.exception))

    def test_values_are_found_within_arrays(self) -> None:
        record = {"a": [{"b": 1}, {"b": [2, 3]}, {"c": 4}, 5]}
        self.assertEqual(list(values(record, ["a", "b"])), [1, 2, 3])
        self.assertEqual(list(values(record, ["x"])), [])


class Records(unittest.TestCase):
    def setUp(self) -> None:
        if importlib.util.find_spec("orjson") is None:
            skip("orjson is not installed (scripts/install-test-tools)")

    def why(self, line: bytes) -> Optional[str]:
        from fullbore.reindexer._records import Rejected, checks, parse

        indexes = [
            KEY,
            Index("n", "tree", "int64"),
            Index("small", "tree", "int"),
            Index("p", "tree", "double"),
            Index("s", "text", "string"),
            Index("ok", "-", "bool"),
            Index("t", "hash", "string", is_array=True),
            Index("u.name", "hash", "string"),
            Index("l.x", "tree", "int64", is_array=True),
            Index("place", "rtree", "point"),
            Index("id+n", "tree", "composite"),
        ]
        try:
            record = parse(line)
        except Rejected as error:
            return str(error)
        why = None
        for check in checks(indexes):
            misfit = check.misfit(record)
            # The quick test of many says yes only if the test of one does.
            self.assertTrue(misfit is None or not check.fits_all([{"id": 1}, record, {"id": 2}]), (line, misfit))
            why = why or misfit
        return why

    def test_a_batch_that_fits_is_seen_at_once(self) -> None:
        from fullbore.reindexer._records import checks

        indexes = [KEY, Index("p", "tree", "double"), Index("u.name", "hash", "string"), Index("n", "tree", "int64")]
        records: list[dict[str, Any]] = [{"id": 1, "p": 2}, {"id": 2, "p": 2.5, "u": None}, {"id": 3, "p": None, "u": {"name": "Z"}}]
        self.assertTrue(all(check.fits_all(records) for check in checks(indexes)))

    def test_what_is_stored_as_it_is_passes(self) -> None:
        for line in (
            b'{"id":1}',
            b'{"id":-9223372036854775808,"n":9223372036854775807,"small":-5}\r',
            b'{"id":1,"p":1,"s":"","ok":false,"t":["x",null],"u":{"name":"Z"},"l":[{"x":1},{"x":[2]}],"place":[1,2]}',
            b'{"id":1,"n":null,"p":null,"s":null,"ok":null,"t":null,"u":null,"l":null}',
            b'{"id":1,"u":{"name":null},"l":[{"x":null},{}],"other":2.5,"t":"alone"}',
            b'{"id":1,"s":"a\\nb \\\\u0000"}',
        ):
            self.assertIsNone(self.why(line), line)

    def test_what_would_be_changed_is_rejected_with_its_reason(self) -> None:
        for line, why in {
            b"{": "not valid JSON",
            b'{"id":NaN}': "not valid JSON",
            b'{"id":1,"p":1e999}': "not valid JSON",
            b'{"id":1,"s":"\\ud800"}': "not valid JSON",
            b'{"id":1,"s":"\xff"}': "not valid JSON",
            b"[1]": "not an object, but an array",
            b"7": "not an object, but a whole number",
            b"{}": "no id, the primary key",
            b'{"id":null}': "no id, the primary key",
            b'{"id":1.5}': "id is a number with a fraction",
            b'{"id":true}': "id is true or false",
            b'{"id":9223372036854775808}': "beyond int64",
            b'{"id":1,"n":2.0}': "n is a number with a fraction",
            b'{"id":1,"small":2147483648}': "beyond int",
            b'{"id":1,"p":"x"}': "p is a string, and its index holds double",
            b'{"id":1,"s":5}': "s is a whole number, and its index holds string",
            b'{"id":1,"ok":0}': "ok is a whole number",
            b'{"id":1,"n":[1]}': "n is an array",
            b'{"id":1,"t":["x",5]}': "t is a whole number",
            b'{"id":1,"u":{"name":{}}}': "u.name is an object",
            b'{"id":1,"l":[{"x":1},{"x":"y"}]}': "l.x is a string",
            b'{"id":1,"s":"a\\u0000b"}': "NUL",
            b'{"id":1,"d":[{"\\u0000":1}]}': "NUL",
        }.items():
            self.assertIn(why, self.why(line) or "nothing", line)

    def test_numbers_beyond_64_bits_are_found_wherever_they_are(self) -> None:
        from fullbore.reindexer._records import has_large_number

        self.assertTrue(has_large_number({"a": [{"b": 1 << 63}]}))
        self.assertFalse(has_large_number({"a": [{"b": (1 << 63) - 1}], "c": True, "d": "9" * 30}))


def read_in_pieces(data: bytes, records: int, piece: Callable[[], int]) -> list[Batch]:
    read_end, write_end = os.pipe()

    def write() -> None:
        at = 0
        while at < len(data):
            at += os.write(write_end, data[at : at + piece()])
        os.close(write_end)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        return list(batches(read_end, records))
    finally:
        writer.join()
        os.close(read_end)


class Lines(unittest.TestCase):
    def test_every_line_is_in_one_batch_under_its_number(self) -> None:
        dice = random.Random(20)
        for _ in range(40):
            lines = [b"x" * dice.randrange(0, 40) for _ in range(dice.randrange(0, 60))]
            records = dice.randrange(1, 20)
            data = b"\n".join(lines) + b"\n" * dice.randrange(0, 2)
            wanted = data.split(b"\n")
            if not wanted[-1]:
                del wanted[-1]
            found = read_in_pieces(data, records, lambda: dice.randrange(1, 50))
            self.assertEqual([line for batch in found for line in batch.lines], wanted)
            self.assertEqual([batch.number for batch in found], list(range(len(found))))
            first = 1
            for batch in found:
                self.assertEqual(batch.first_line, first)
                self.assertLessEqual(len(batch.lines), records)
                first += len(batch.lines)

    def test_what_waits_goes_on_when_the_writer_rests(self) -> None:
        read_end, write_end = os.pipe()
        os.write(write_end, b"a\nb\nunfinished")
        found = batches(read_end, 1000)
        self.assertEqual(next(found), Batch(0, 1, [b"a", b"b"]))
        os.write(write_end, b"!\n")
        os.close(write_end)
        self.assertEqual(list(found), [Batch(1, 3, [b"unfinished!"])])
        os.close(read_end)

    def test_a_line_larger_than_a_read_is_whole(self) -> None:
        long = b"y" * 5_000_000
        found = read_in_pieces(b"a\n" + long + b"\nb", 10, lambda: 1 << 20)
        self.assertEqual([line for batch in found for line in batch.lines], [b"a", long, b"b"])


class Messages(unittest.TestCase):
    def test_control_characters_of_strangers_never_reach_the_terminal(self) -> None:
        self.assertEqual(visible("é\x1b[31m\n\u202e"), "é\\x1b[31m\\n\\u202e")


if __name__ == "__main__":
    unittest.main()
