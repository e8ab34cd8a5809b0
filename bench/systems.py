"""Systems that are measured side by side: a process each, which answers the name of a row by seconds."""

import math
import os
import pathlib
import subprocess
import sys

PROGRAM = pathlib.Path(sys.argv[0]).name


class System:
    """``greets``: the process begins with a line that says its version."""

    def __init__(self, name, command, environment=None, greets=False, stderr=None):
        self.name = name
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=stderr,
                                         env={**os.environ, **(environment or {})})
        self.version = self._process.stdout.readline().strip() if greets else ""

    def ask(self, row):
        """The row's seconds; NaN, and a message, when the system cannot run it."""
        self._process.stdin.write(row + "\n")
        self._process.stdin.flush()
        reply = self._process.stdout.readline()
        if not reply:
            sys.exit(f"{PROGRAM}: {self.name} ended at row {row!r}")
        if reply.startswith("error"):
            print(f"{PROGRAM}: {self.name}, {row!r}: {reply[6:].rstrip()}", file=sys.stderr)
            return math.nan
        return float(reply)

    def close(self):
        self._process.stdin.close()
        self._process.wait()
