"""Runs shell pipelines, tells the status of every stage, and says which stage held them back.

    import fullbore
    r = fullbore.run("zcat e.gz | jq .x | sort -n | tail -1", capture_output=True, check=True)
    r.stdout, r.returncodes, r.verdict

docs/python.md of the repository has worked examples.
"""

from __future__ import annotations

from ._binary import BinaryNotFound, find_binary
from ._pipeline import PIPE, Pipeline
from ._record import Finding, Record, Stage
from ._result import FullboreError, PipelineError, PipelineResult, TimeoutExpired
from ._run import popen, run
from ._tools import CommandFailed, Workflow, attach, gather, json, par

__version__ = "0.1.0"
__all__ = [
    "PIPE",
    "BinaryNotFound",
    "CommandFailed",
    "Finding",
    "FullboreError",
    "Pipeline",
    "PipelineError",
    "PipelineResult",
    "Record",
    "Stage",
    "TimeoutExpired",
    "Workflow",
    "attach",
    "find_binary",
    "gather",
    "json",
    "par",
    "popen",
    "run",
]
