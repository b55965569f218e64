"""An independent model of `fullbore json`, written from its documentation: slow, and easy to check by reading.

model.py select PATH...          TSV of standard input
model.py where EXPRESSION        the records for which the expression of Python is true of the record r, bytes as they are
model.py group KEYS AGGREGATE... sorted rows
model.py stream SEED RECORDS     a made stream: odd white space, escapes, names that occur twice
model.py questions SEEDS         made streams with questions and answers, as one JSON array
"""

import decimal
import json
import math
import random
import re
import sys
from decimal import Decimal

decimal.getcontext().prec = 200
TOKEN = re.compile(r'[ \t\r\n]*(?:("(?:[^"\\]|\\.)*")|(-?[0-9][0-9.eE+-]*)|(true|false|null)|([][{},:]))')
SPACE = re.compile(r"[ \t\r\n\x1e]*")
MISSING = None


class Skip(Exception):
    """The documentation does not say what the answer is."""


class Node:
    """A value: its kind in the order of kinds, its text without white space, and what is in it."""

    def __init__(self, kind, text, value):
        self.kind, self.text, self.value = kind, text, value

    def key(self):
        """What values are sorted by."""
        value = self.value if self.kind == "3number" else self.text.encode()
        return (self.kind, self.value.encode() if self.kind == "4string" else value)


def value(text, at):
    """The value that begins here, and where it ends."""
    found = TOKEN.match(text, at)
    string, number, literal, mark = found.groups()
    at = found.end()
    if string:
        return Node("4string", string, json.loads(string)), at
    if number:
        return Node("3number", number, Decimal(number)), at
    if literal:
        kind = {"null": "0null", "false": "1false", "true": "2true"}[literal]
        return Node(kind, literal, literal), at
    items, close = [], "]" if mark == "[" else "}"
    while True:
        found = TOKEN.match(text, at)
        if found.group(4) == close:
            at = found.end()
            break
        if found.group(4) == ",":
            at = found.end()
        if mark == "[":
            item, at = value(text, at)
            items.append(item)
        else:
            name, at = value(text, at)
            item, at = value(text, TOKEN.match(text, at).end())
            items.append((name, item))
    if mark == "[":
        return Node("5array", "[" + ",".join(item.text for item in items) + "]", items), at
    inner = ",".join(name.text + ":" + item.text for name, item in items)
    return Node("6object", "{" + inner + "}", items), at


def records(text):
    """Every record with its text."""
    at = SPACE.match(text, 0).end()
    while at < len(text):
        node, end = value(text, at)
        yield node, text[at:end]
        at = SPACE.match(text, end).end()


def path(text):
    """Steps of a path in its plain form: names, numbers, and None for every element."""
    steps = []
    for name, index in re.findall(r"\.([^.\[]+)|\[(-?\d*)\]", text):
        steps.append(name if name else (int(index) if index else None))
    return steps


def resolve(node, steps, rule="last"):
    """All values of the path: one or none without None in it."""
    if not steps:
        return [node]
    step, rest = steps[0], steps[1:]
    if step is None:
        found = node.value if node.kind == "5array" else []
        return [each for item in found for each in (resolve(item, rest, rule) or [MISSING])]
    if isinstance(step, str):
        found = [item for name, item in node.value if name.value == step] if node.kind == "6object" else []
        return resolve(found[0 if rule == "first" else -1], rest, rule) if found else []
    if node.kind != "5array" or not -len(node.value) <= step < len(node.value):
        return []
    return resolve(node.value[step], rest, rule)


def one(node, steps, rule="last"):
    return (resolve(node, steps, rule) or [MISSING])[0]


def cell(node):
    if node is MISSING:
        return ""
    if node.kind != "4string":
        return node.text
    for character, escape in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        node = Node("4string", "", node.value.replace(character, escape))
    return node.value


def select(text, paths, rule="last"):
    lines = []
    for record, _ in records(text):
        cells = [resolve(record, steps, rule) if None in steps else None for steps in paths]
        rows = [len(found) for found in cells if found is not None]
        for row in range(rows[0] if rows else 1):
            picked = [one(record, steps, rule) if found is None else found[row] for steps, found in zip(paths, cells)]
            lines.append("\t".join(map(cell, picked)) + "\n")
    return "".join(lines)


def number(value):
    """A decimal without an exponent and without zeros at the end."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def aggregate(word, values):
    present = [each for each in values if each is not MISSING and each.kind != "0null"]
    numbers = [each for each in present if each.kind == "3number"]
    if word == "count":
        return str(len(present))
    if word == "distinct":
        return str(len({each.key() for each in values if each is not MISSING}))
    if word in ("min", "max"):
        return cell((min if word == "min" else max)(present, key=Node.key)) if present else ""
    if not numbers:
        return ""
    total = sum((each.value for each in numbers), Decimal(0))
    if word == "sum":
        return number(total)
    if word == "avg":
        if abs(total) > 10**14:
            raise Skip  # two texts of the same double
        return re.sub(r"\.0$", "", repr(float(total) / len(numbers)))
    rank = math.ceil(Decimal(word[1:]) * len(numbers) / 100)
    return number(sorted(numbers, key=Node.key)[max(rank, 1) - 1].value)


def group(text, keys, aggregates):
    groups = {}
    for record, _ in records(text):
        found = [one(record, steps) for steps in keys]
        name = tuple(("",) if each is MISSING else (each.kind, each.key()[1], cell(each)) for each in found)
        groups.setdefault(name, []).append(record)
    lines = []
    for name in sorted(groups):
        row = [each[2] if len(each) > 1 else "" for each in name]
        for words in aggregates:
            if len(words) == 1:
                row.append(str(len(groups[name])))
            else:
                row.append(aggregate(words[0], [one(record, words[1]) for record in groups[name]]))
        lines.append("\t".join(row) + "\n")
    return "".join(lines)


# What is made at random.

NAMES = ["a", "b", "c", "d", "e f", "é", "x.y", "long name of a member", "$r-1", "a"]
NUMBERS = ["1", "2.5", "-3", "1e3", "10", "9007199254740993", "9007199254740992", "0.1", "-0.05", "123456789012345678901"]
STRINGS = ["", "x", "xy", "x\ty", "q\"q", "b\\", "é€𝄞", "1", "true", "a b  c", "{\"a\":1}", "line\nend", "x" * 70]


def escaped(text):
    """A string of JSON, some characters as escapes."""
    parts = []
    for character in text:
        if random.random() < 0.1 and ord(character) < 65536:
            parts.append("\\u%04x" % ord(character))
        else:
            parts.append(json.dumps(character, ensure_ascii=random.random() < 0.3)[1:-1])
    return '"' + "".join(parts) + '"'


def space():
    return random.choice(["", "", "", "", " ", "  ", "\t", " \n" if random.random() < 0.1 else ""])


def made(depth):
    kind = random.random()
    if depth == 0 or kind < 0.5:
        literal = random.choice(["true", "false", "null"])
        return random.choice([random.choice(NUMBERS), escaped(random.choice(STRINGS)), literal])
    count = random.choice([0, 1, 2, 3, 5])
    if kind < 0.7:
        items = [space() + made(depth - 1) + space() for _ in range(count)]
        return "[" + ",".join(items) + (space() if not items else "") + "]"
    return made_object(depth, count)


def made_object(depth, count):
    names = [random.choice(NAMES) for _ in range(count)] if random.random() < 0.2 else random.sample(NAMES[:9], count)
    members = [space() + escaped(name) + space() + ":" + space() + made(depth - 1) + space() for name in names]
    return "{" + ",".join(members) + (space() if not members else "") + "}"


def stream(count, depth=3):
    ends = ["\n", "\n", "\n", "\n", "\r\n", "\n\n", " ", "", "\n\x1e"]
    parts = [made_object(depth, random.choice([2, 4, 6])) if random.random() < 0.95 else "[%s]" % made(2) for _ in range(count)]
    return "".join(part + random.choice(ends) for part in parts)


def random_path(elements=False):
    steps, text = [], ""
    for place in range(random.choice([1, 1, 1, 2, 3])):
        if place > 0 and random.random() < 0.4:
            step = None if elements and None not in steps else random.choice([0, 1, -1, -2])
            steps.append(step)
            text += "[]" if step is None else "[%d]" % step
            continue
        name = random.choice(["a", "b", "c"] + NAMES[:8])
        steps.append(name)
        plain = re.fullmatch(r"[\w$@-]+", name)
        quoted = json.dumps(name, ensure_ascii=random.random() < 0.5)
        forms = ["." + name] * 3 if plain else []
        forms += ["." + quoted, "." * (not steps[:-1]) + "[" + quoted + "]", "." * (not steps[:-1]) + "['" + name + "']"]
        text += random.choice(forms)
    return steps, text


def any_of(steps, test):
    """The predicate of values: true if it is true of any element."""
    return lambda record: any(test(found) for found in (resolve(record, steps) or [MISSING]))


def compare(operator, left, right):
    if operator == "!=":
        return not compare("==", left, right)
    if left is MISSING or right is MISSING or left.kind != right.kind:
        return False
    if left.kind > "5" or (left.kind < "3" and operator != "=="):
        raise Skip
    left, right = left.key(), right.key()
    return {"==": left == right, "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]


def random_literal():
    text = random.choice([random.choice(NUMBERS), escaped(random.choice(STRINGS)), random.choice(["true", "false", "null"])])
    return value(text, 0)[0]


def random_predicate(depth):
    """A text and a function."""
    kind = random.choice(["and", "or", "not"]) if depth and random.random() < 0.7 else random.choice(["compare"] * 4 + ["paths", "in", "exists", "bare", "regex"])
    if kind in ("and", "or"):
        (left, first), (right, second) = random_predicate(depth - 1), random_predicate(depth - 1)
        sign = random.choice({"and": ["&&", "and"], "or": ["||", "or"]}[kind])
        join = all if kind == "and" else any
        return "(%s) %s (%s)" % (left, sign, right), lambda record: join([first(record), second(record)])
    if kind == "not":
        text, test = random_predicate(depth - 1)
        return random.choice(["!(%s)", "not (%s)"]) % text, lambda record: not test(record)
    operator = random.choice(["==", "!=", "<", "<=", ">", ">="])
    steps, text = random_path(elements=operator == "==")
    if kind == "compare":
        literal = random_literal()
        if operator not in ("==", "!=") and literal.kind < "3":
            literal = value("2.5", 0)[0]
        return "%s %s %s" % (text, operator, literal.text), any_of(steps, lambda found: compare(operator, found, literal))
    if kind == "paths":
        (steps, text), (others, other) = random_path(), random_path()
        return "%s %s %s" % (text, operator, other), lambda record: compare(operator, one(record, steps), one(record, others))
    if kind == "in":
        literals = [random_literal() for _ in range(random.choice([1, 2, 4]))]
        test = lambda found: any(compare("==", found, literal) for literal in literals)
        return "%s in (%s)" % (text, ", ".join(each.text for each in literals)), any_of(steps, test)
    if kind == "exists":
        return "exists " + text, lambda record: bool(resolve(record, steps)) and any(each is not MISSING for each in resolve(record, steps))
    if kind == "bare":
        return text, any_of(steps, lambda found: found is not MISSING and found.kind == "2true")
    pattern = random.choice(["^x", "y$", "^$", "q.q", "é", "[0-9]"])
    test = lambda found: found is not MISSING and found.kind == "4string" and bool(re.search(pattern, found.value))
    return '%s ~ "%s"' % (text, pattern), any_of(steps, test)


def twice_on(node, steps):
    """Whether a name of the path occurs twice in its object."""
    if not steps or node.kind < "5":
        return False
    if isinstance(steps[0], str) and node.kind == "6object":
        found = [item for name, item in node.value if name.value == steps[0]]
        return len(found) > 1 or any(twice_on(item, steps[1:]) for item in found)
    return any(twice_on(item, steps[1:]) for item in resolve(node, steps[:1]))


def question(text):
    kind = random.choice(["select", "elements", "where", "where", "group", "each"])
    rule = random.choice(["last", "last", "first"])
    if kind == "select":
        paths = [random_path() for _ in range(random.choice([1, 2, 4]))]
        return ["select", "--duplicates", rule] + [each for _, each in paths], select(text, [steps for steps, _ in paths], rule)
    if kind == "elements":
        steps, path_text = random_path(elements=True)
        return ["select", path_text, ".b"], select(text, [steps, ["b"]])
    if kind == "where":
        expression, test = random_predicate(random.choice([0, 1, 2, 3]))
        if expression.count("[]") > 1:
            raise Skip  # arrays of two paths are refused
        return ["where", expression], "".join(raw + "\n" for record, raw in records(text) if test(record))
    if kind == "each":
        steps, path_text = random_path()
        if -1 in steps or -2 in steps:
            raise Skip  # an index from the end is refused
        lines = []
        for record, _ in records(text):
            if twice_on(record, steps):
                raise Skip  # a stream is not read twice
            for found in resolve(record, steps):
                if found.value and any("5" < each.kind for each in (found.value if found.kind == "5array" else [])):
                    raise Skip  # its white space is kept, which this model does not know
                if found.kind == "5array":
                    lines += [each.text + "\n" for each in found.value]
                elif found.kind == "6object":
                    if len({name.value for name, _ in found.value}) < len(found.value) or any("5" < each.kind for _, each in found.value):
                        raise Skip
                    lines += [each.text + "\n" for _, each in found.value]
        return ["each", path_text], "".join(lines)
    keys = [random_path() for _ in range(random.choice([1, 2]))]
    if keys[0][0] == keys[-1][0] and len(keys) > 1:
        raise Skip  # so are two equal columns
    words = random.sample(["count", "sum", "avg", "min", "max", "p50", "p90", "distinct"], 3)
    aggregates = [(word,) + random_path() for word in words]
    for record, _ in records(text):
        found = [one(record, steps) for steps, _ in keys] + [one(record, steps) for _, steps, _ in aggregates]
        if any(each is not MISSING and each.kind > "5" for each in found):
            raise Skip
    args = ["group", "--by", ",".join(each for _, each in keys)] + ["%s %s" % (word, each) for word, _, each in aggregates]
    return args, group(text, [steps for steps, _ in keys], [(word, steps) for word, steps, _ in aggregates])


def questions(seeds):
    made_questions = []
    for seed in range(seeds):
        random.seed(seed)
        text = stream(random.choice([1, 5, 40, 200]), random.choice([1, 2, 3]))
        for _ in range(16):
            try:
                args, stdout = question(text)
                made_questions.append({"input": text, "args": args, "stdout": stdout})
            except Skip:
                pass
    return made_questions


def main():
    command, args = sys.argv[1], sys.argv[2:]
    sys.stdin.reconfigure(encoding="utf-8", newline="")
    sys.stdout.reconfigure(encoding="utf-8", newline="")
    if command == "stream":
        random.seed(int(args[0]))
        sys.stdout.write(stream(int(args[1])))
    elif command == "questions":
        json.dump(questions(int(args[0])), sys.stdout)
    elif command == "where":
        test = compile(args[0], "expression", "eval")
        for _, raw in records(sys.stdin.read()):
            if eval(test, {"r": json.loads(raw), "re": re}):
                sys.stdout.write(raw + "\n")
    elif command == "select":
        sys.stdout.write(select(sys.stdin.read(), [path(each) for each in args]))
    elif command == "group":
        words = [each.split() for each in args[1:]]
        aggregates = [each if len(each) == 1 else (each[0], path(each[1])) for each in words]
        sys.stdout.write(group(sys.stdin.read(), [path(each) for each in args[0].split(",")], aggregates))


main()
