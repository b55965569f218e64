"""`python -m fullbore` is the program `fullbore`."""

from __future__ import annotations

import os
import sys

from ._binary import BinaryNotFound, find_binary

if __name__ == "__main__":
    try:
        binary = find_binary()
    except BinaryNotFound as missing:
        print(missing, file=sys.stderr)
        sys.exit(127)
    os.execv(binary, [binary, *sys.argv[1:]])
