//! Lines as people write them for jq, and what answers the same: jq itself is asked.

use super::Case;

const EVENTS: &str = r#"{"id":1,"type":"push","user":{"id":7,"login":"ann"},"status":200,"ms":12.5,"path":"/api/v1","tags":["x","y"],"country":"DE"}
{"id":2,"type":"pull","user":{"id":8,"login":"bob"},"status":500,"ms":3.25,"path":"/index","tags":[],"country":"US"}
{"id":3,"type":"push","user":{"id":7,"login":"ann"},"status":503,"ms":100.5,"path":"/api/v2","tags":["y"],"country":"DE","error":null}
{"id":4,"type":"fork","user":{"id":9,"login":"\u0063yd\tq"},"status":200,"ms":7.75,"path":"/api/v1","tags":["z","x"],"country":"US","error":"x"}
"#;
const PAGE: &str = "{\n  \"total\": 3,\n  \"items\": [\n    {\"id\": 1, \"n\": {\"m\": \"a\"}},\n    {\"id\": 2, \"n\": {}},\n    {\"id\": 3}\n  ]\n}\n";

/// The answer is that of this line.
const fn as_jq(
    name: &'static str,
    input: &'static str,
    args: &'static str,
    line: &'static str,
) -> Case {
    Case::new(name, input, args, "").oracle(line)
}

pub(crate) const CASES: &[Case] = &[
    as_jq("one field", EVENTS, "select .user.id", "jq .user.id"),
    as_jq("one string, raw", EVENTS, "select --raw .user.login", "jq -r .user.login"),
    as_jq(
        "fields as tsv",
        EVENTS,
        "select .id .user.login .ms",
        "jq -r '[.id, .user.login, .ms] | @tsv'",
    ),
    as_jq(
        "fields of the first tag",
        EVENTS,
        "select .id '.tags[0]'",
        "jq -r '[.id, .tags[0]] | @tsv'",
    ),
    as_jq("fields as objects", EVENTS, "select --json .id .type", "jq -c '{id, type}'"),
    as_jq("elements", EVENTS, "select '.tags[]'", "jq -r '.tags[]'"),
    as_jq(
        "elements with their record",
        EVENTS,
        "select .id '.tags[]'",
        "jq -r '.id as $id | .tags[] | [$id, .] | @tsv'",
    ),
    as_jq(
        "elements of a page",
        PAGE,
        "each .items",
        "jq -r '.items[]|tojson' | sed 's/:/: /g;s/,/, /g'",
    ),
    as_jq("a field of elements of a page", PAGE, "select '.items[].id'", "jq '.items[].id'"),
    as_jq(
        "fields of elements, one of them missing",
        PAGE,
        "select '.items[].id' '.items[].n.m'",
        "jq -r '.items[] | [.id, .n.m] | @tsv'",
    ),
    as_jq(
        "select(number)",
        EVENTS,
        "where '.status >= 500'",
        "python3 -c 'import json,sys\nfor l in sys.stdin:\n if json.loads(l)[\"status\"]>=500: print(l,end=\"\")'",
    ),
    Case::new("select(and, test)", EVENTS, r#"where '.status >= 500 and .path ~ "^/api"'"#, "")
        .through("jq -c .id", "3\n"),
    Case::new("select(has)", EVENTS, "where 'exists .error'", "").through("jq .id", "3\n4\n"),
    Case::new("select(. != null)", EVENTS, "where 'exists .error and .error != null'", "")
        .through("jq .id", "4\n"),
    Case::new("select(any(.tags[]; . == \"x\"))", EVENTS, r#"where '.tags[] == "x"'"#, "")
        .through("jq .id", "1\n4\n"),
    Case::new("select(IN)", EVENTS, r#"where '.country in ("FR", "US")'"#, "")
        .through("jq .id", "2\n4\n"),
    as_jq(
        "sort | uniq -c",
        EVENTS,
        "group .country count",
        "jq -r .country | LC_ALL=C sort | uniq -c | awk '{print $2 \"\\t\" $1}'",
    ),
    as_jq(
        "group_by",
        EVENTS,
        "group .user.login count 'max .ms'",
        "jq -rs 'group_by(.user.login)[] | [.[0].user.login, length, (map(.ms)|max)] | @tsv'",
    ),
    as_jq(
        "group_by of two",
        EVENTS,
        "group .type,.country count 'sum .ms'",
        "jq -rs 'group_by([.type, .country])[] | [.[0].type, .[0].country, length, (map(.ms)|add)] | @tsv'",
    ),
    as_jq("add", EVENTS, "group 'sum .status'", "jq -s 'map(.status) | add'"),
    as_jq("add / length", EVENTS, "group 'avg .status'", "jq -s 'map(.status) | add / length'"),
    as_jq("length", EVENTS, "group count", "jq -s length"),
    as_jq(
        "min, max",
        EVENTS,
        "group 'min .ms' 'max .ms'",
        "jq -rs '[(map(.ms)|min), (map(.ms)|max)] | @tsv'",
    ),
    as_jq(
        "unique | length",
        EVENTS,
        "group 'distinct .user.id'",
        "jq -s 'map(.user.id) | unique | length'",
    ),
    as_jq(
        "the most frequent",
        EVENTS,
        "group .path count --top 1",
        "jq -rs 'group_by(.path) | map([.[0].path, length]) | max_by(.[1]) | @tsv'",
    ),
    as_jq("paths of a stream", EVENTS, "keys", "true").has(&[".user.id\tnumber 4\t4\t7"]),
    as_jq("compact", PAGE, "select .", "jq -c ."),
    as_jq("an array at the top", "[{\"a\":1},{\"a\":2}]\n", "each .", "jq -c '.[]'"),
    as_jq(
        "a field of an array at the top",
        "[{\"a\":1},{\"a\":2}]\n",
        "select '.[].a'",
        "jq '.[].a'",
    ),
];
