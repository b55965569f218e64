"""Records, sum of .bytes and p99 of .duration_ms for each .service, by DuckDB: python3 group_duckdb.py FILE THREADS"""

import sys

import duckdb

file, threads = sys.argv[1:]
connection = duckdb.connect(config={"threads": int(threads)})
rows = connection.execute(
    """
    SELECT service, count(*), sum(bytes), quantile_disc(duration_ms, 0.99)
    FROM read_json(?, format = 'newline_delimited',
                   columns = {service: 'VARCHAR', bytes: 'BIGINT', duration_ms: 'DOUBLE'})
    GROUP BY service ORDER BY service
    """,
    [file],
).fetchall()
for row in rows:
    print(*row, sep="\t")
