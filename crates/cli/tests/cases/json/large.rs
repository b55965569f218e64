//! Streams of several megabytes, as jq and python3 read them.

use super::Case;

/// A question about made events, and the line that answers it.
const fn events(name: &'static str, args: &'static str, oracle: &'static str) -> Case {
    Case::new(name, "", args, "")
        .made_by("{fullbore} gen jsonl --rows 12000 --seed 11")
        .oracle(oracle)
}

pub(crate) const CASES: &[Case] = &[
    events(
        "select: integers and strings",
        "select .id .user.name .path .status",
        "jq -r '[.id, .user.name, .path, .status] | @tsv'",
    ),
    events(
        "select: arrays and objects",
        "select .tags .user",
        "jq -r '\"\\(.tags|tojson)\\t\\(.user|tojson)\"'",
    ),
    events("select: strings with escapes, raw", "select --raw .message", "jq -r .message"),
    events(
        "select: numbers as they stand",
        "select .duration_ms",
        "grep -o '\"duration_ms\":[^,]*' | cut -d: -f2",
    ),
    events(
        "select: an index that is missing at times",
        "select .id '.tags[1]' '.tags[-1]'",
        "jq -r '[.id, .tags[1], .tags[-1]] | @tsv'",
    ),
    events(
        "select: elements",
        "select .id '.tags[]'",
        "jq -r '.id as $id | .tags[] | [$id, .] | @tsv'",
    ),
    events("select: the record", "select --raw .", "cat"),
    events(
        "select: json",
        "select --json .id .user.name .tags",
        "jq -c '{id} + (if .user then {\"user.name\": .user.name} else {} end) + {tags}'",
    ),
    events(
        "select: csv",
        "select --csv .id .message .user.name",
        "python3 -c \"
import csv, json, sys
rows = csv.writer(sys.stdout, lineterminator='\\n')
for line in sys.stdin:
    record = json.loads(line)
    rows.writerow([record['id'], record['message'], (record['user'] or {}).get('name', '')])\"",
    ),
    events("where: numbers", "where '.status >= 500'", "grep -E '\"status\":5'"),
    events(
        "where: numbers with decimals",
        "where '.duration_ms > 20.5 && .bytes < 10000'",
        "python3 model.py where 'r[\"duration_ms\"] > 20.5 and r[\"bytes\"] < 10000'",
    ),
    events(
        "where: strings",
        "where '.level == \"error\" or .method != \"GET\"'",
        "python3 model.py where 'r[\"level\"] == \"error\" or r[\"method\"] != \"GET\"'",
    ),
    events(
        "where: a regular expression",
        "where '.path ~ \"^/[0-9]+$\"'",
        "python3 model.py where 're.search(\"^/[0-9]+$\", r[\"path\"])'",
    ),
    events(
        "where: in, not, parentheses",
        "where '!(.service in (\"search\", \"accounts\")) && (.user.country == \"US\" || .status == 404)'",
        "python3 model.py where 'r[\"service\"] not in (\"search\", \"accounts\") and ((r[\"user\"] or {}).get(\"country\") == \"US\" or r[\"status\"] == 404)'",
    ),
    events(
        "where: any element",
        "where '.tags[] == \"retry\"'",
        "python3 model.py where '\"retry\" in r[\"tags\"]'",
    ),
    events(
        "where: dates",
        "where 'time .time >= \"2024-01-01T00:01:00Z\" and second .time != \"2024-01-01T00:01:10Z\"'",
        "python3 model.py where 'r[\"time\"] >= \"2024-01-01T00:01:00\" and r[\"time\"][:19] != \"2024-01-01T00:01:10\"'",
    ),
    events(
        "where: strings beyond ascii",
        "where '.user.name == \"さくら\"'",
        "grep '\"name\":\"さくら\"'",
    ),
    events(
        "group: one key",
        "group .user.country count",
        "jq -r '.user.country // \"\"' | LC_ALL=C sort | uniq -c | awk '{print $2 \"\\t\" $1}'",
    ),
    events(
        "group: two keys, exact sums, quantiles",
        "group .service,.status count 'sum .duration_ms' 'sum .bytes' 'p50,p90,p99,p99.9 .bytes' 'min .time' 'max .time' 'distinct .user.id'",
        "python3 model.py group .service,.status count 'sum .duration_ms' 'sum .bytes' 'p50 .bytes' 'p90 .bytes' 'p99 .bytes' 'p99.9 .bytes' 'min .time' 'max .time' 'distinct .user.id'",
    ),
    events(
        "group: averages",
        "group .level 'avg .bytes' 'avg .duration_ms'",
        "python3 model.py group .level 'avg .bytes' 'avg .duration_ms'",
    ),
    events(
        "group: many keys",
        "group .user.id count 'max .id'",
        "python3 model.py group .user.id count 'max .id'",
    ),
    events("group: a record each", "group .id count", "jq -r .id | sort -n | sed 's/$/\\t1/'"),
    events(
        "group: the ten most frequent",
        "group .user.name count --top 3 --where '.status < 400'",
        "jq -r 'select(.status < 400) | .user.name // \"\"' | LC_ALL=C sort | uniq -c | LC_ALL=C sort -k1,1nr -k2 | head -n 3 | sed -E 's/^ *([0-9]+) (.*)/\\2\\t\\1/'",
    ),
    events(
        "group: a key of elements",
        "group '.tags[0]' count --where 'exists .tags[0]'",
        "jq -r '.tags[0] // empty' | LC_ALL=C sort | uniq -c | awk '{print $2 \"\\t\" $1}'",
    ),
    events("keys: how often", "keys", "true").through(
        "cut -f1-3 | grep -v '^\\.\t' | head -n 5 | tail -n 2",
        ".level\tstring 12000\t12000\n.message\tstring 12000\t12000\n",
    ),
    Case::new("lines of odd lengths, members in any order", "", "select .a .b.c '.d[1]'", "")
        .made_by("python3 model.py stream 5 6000")
        .oracle("python3 model.py select .a .b.c '.d[1]'"),
    Case::new("odd records: all bytes stay", "", "where 'exists .a'", "")
        .made_by("python3 model.py stream 7 6000")
        .oracle("python3 model.py where '\"a\" in r'"),
];
