"""Records, sum of .bytes and p99 of .duration_ms for each .service, by Polars: python3 group_polars.py FILE THREADS"""

import os
import sys

file, threads = sys.argv[1:]
os.environ["POLARS_MAX_THREADS"] = threads

import polars as pl

source = sys.stdin.buffer if file == "-" else file
rows = (
    pl.scan_ndjson(source, schema={"service": pl.String, "bytes": pl.Int64, "duration_ms": pl.Float64})
    .group_by("service")
    .agg(
        pl.len(),
        pl.col("bytes").sum(),
        pl.col("duration_ms").quantile(0.99, interpolation="equiprobable"),
    )
    .sort("service")
    .collect(engine="streaming")
)
for row in rows.iter_rows():
    print(*row, sep="\t")
