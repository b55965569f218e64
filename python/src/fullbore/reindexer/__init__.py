"""`fullbore load reindexer` and `fullbore query reindexer`: a stream of JSON records into the database Reindexer, and queries of it.

`python -m fullbore.reindexer` is what the program starts. It needs pyreindexer and orjson: pip install 'fullbore[reindexer]'.
docs/reindexer.md of the repository has worked examples.
"""
