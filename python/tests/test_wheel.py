"""The wheel, in a clean virtual environment."""

from __future__ import annotations

import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

from .support import skip

FIRST_EXAMPLE = """
import fullbore, gzip
with gzip.open("e.gz", "wt") as file:
    file.writelines(f'{{"x":{number}}}\\n' for number in range(1000))
r = fullbore.run("zcat e.gz | grep -o '[0-9]*' | sort -n | tail -1", capture_output=True, check=True)
assert r.stdout == b"999\\n", r
assert r.returncodes == [0, 0, 0, 0], r
assert r.record["schema"] == "fullbore.run/2"
print(fullbore.find_binary())
"""


class Wheel(unittest.TestCase):
    def test_the_wheel_works_in_a_clean_environment(self) -> None:
        wheels = glob.glob(os.path.join(os.environ.get("FULLBORE_WHEELS") or "/nosuch", "fullbore-*.whl"))
        if not wheels:
            skip("no wheel (make wheel)")
        self.assertLessEqual(os.path.getsize(wheels[0]), 8_000_000)
        with zipfile.ZipFile(wheels[0]) as wheel:
            names = wheel.namelist()
        self.assertIn("fullbore/py.typed", names)
        self.assertFalse([name for name in names if "test" in name])
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", f"{folder}/venv"], check=True)
            python = f"{folder}/venv/bin/python"
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python", python]
            subprocess.run([*pip, "install", "--no-index", "--no-deps", wheels[0]], check=True)
            environ = {"PATH": "/usr/bin:/bin", "HOME": folder}
            done = subprocess.run([python, "-I", "-c", FIRST_EXAMPLE], cwd=folder, env=environ, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.strip(), f"{folder}/venv/bin/fullbore")
            # What only some machines have, such as liblzma, must be in the binary.
            dynamic = subprocess.run(["readelf", "--dynamic", f"{folder}/venv/bin/fullbore"], capture_output=True, text=True, check=True)
            needed = set(re.findall(r"\(NEEDED\).*\[(.+)\.so", dynamic.stdout))
            self.assertIn("libc", needed)
            self.assertLessEqual(needed - {f"ld-linux-{os.uname().machine.replace('_', '-')}"}, {"libc", "libm", "libgcc_s"})
            version = subprocess.run([python, "-m", "fullbore", "--version"], env=environ, capture_output=True, text=True)
            self.assertTrue(version.stdout.startswith("fullbore "), version)
