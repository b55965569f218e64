"""docs/workflows.md: Snakemake and make with fullbore as their shell; `gather` names the rule that costs most."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from typing import Optional

import fullbore

from .support import skip

SNAKEFILE = """
rule all:
    input: expand("counted/{n}", n=range(4)), "sorted/all"

rule make:
    output: "made/{n}"
    shell: "seq {wildcards.n}1000 | sed 's/$/ x/' > {output}"

rule count:
    input: "made/{n}"
    output: "counted/{n}"
    shell: "tr -s ' ' < {input} | wc -l > {output}; sleep 0.02"

rule sort:
    input: expand("made/{n}", n=range(4))
    output: "sorted/all"
    shell: "cat {input} | sort -r | (sleep 2; cat) | gzip > {output}"
"""

MAKEFILE = """
all: a b c
a b: ; @seq 1000 | tail -1 > $@
c: ; @seq 1000 | (sleep 1.5; cat) | sort -n > $@
"""


def snakemake() -> Optional[str]:
    installed = os.path.join(os.environ.get("FULLBORE_TOOLS") or "/nosuch", "snakemake/bin/snakemake")
    return installed if os.access(installed, os.X_OK) else shutil.which("snakemake")


class Workflows(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.records = os.path.join(self.folder, "records")
        shells = os.path.join(self.folder, "shells")
        os.mkdir(shells)
        for name in ("bash", "fullbore"):
            os.symlink(fullbore.find_binary(), os.path.join(shells, name))
        self.environ = {
            **os.environ,
            "FULLBORE_RECORDS": self.records,
            "PATH": f"{shells}:{os.environ['PATH']}",
            "HOME": self.folder,
        }
        self.environ.pop("PYTHONPATH", None)

    def run_in_folder(self, *words: str) -> None:
        done = subprocess.run(words, cwd=self.folder, env=self.environ, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def costliest(self) -> str:
        rule = fullbore.gather(self.records).costliest_rule
        assert rule is not None
        return str(rule["command"])

    def test_snakemake(self) -> None:
        program = snakemake()
        if program is None:
            skip("snakemake is not installed (scripts/install-test-tools)")
        assert program is not None
        with open(f"{self.folder}/Snakefile", "w", encoding="ascii") as file:
            file.write(SNAKEFILE)
        self.run_in_folder(program, "-j2", "--quiet", "all")
        with open(f"{self.folder}/counted/3", encoding="ascii") as counted:
            self.assertEqual(counted.read().strip(), "31000")
        workflow = fullbore.gather(self.records)
        self.assertEqual(len(workflow.jobs), 9)
        self.assertIn("sort -r", self.costliest())
        assert workflow.verdict is not None
        self.assertIn("sort -r", workflow.verdict)

    def test_make(self) -> None:
        with open(f"{self.folder}/Makefile", "w", encoding="ascii") as file:
            file.write(MAKEFILE)
        self.run_in_folder("make", "SHELL=fullbore sh")
        self.assertEqual(len(fullbore.gather(self.records).jobs), 3)
        self.assertIn("sleep 1.5", self.costliest())
