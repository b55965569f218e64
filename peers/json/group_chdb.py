"""Records, sum of .bytes and p99 of .duration_ms for each .service, by chDB: python3 group_chdb.py FILE THREADS"""

import sys

import chdb

file, threads = sys.argv[1:]
rows = chdb.query(
    f"""
    SELECT service, count(), sum(bytes), quantileExact(0.99)(duration_ms)
    FROM file('{file}', JSONEachRow, 'service String, bytes Int64, duration_ms Float64')
    GROUP BY service ORDER BY service
    SETTINGS max_threads = {int(threads)}, input_format_skip_unknown_fields = 1
    """,
    "TabSeparated",
)
print(rows.data(), end="")
