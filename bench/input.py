#!/usr/bin/env python3
"""Measures how programs are fed, beside TensorFlow.

Usage: input.py [--weir PYTHON] [--tensorflow PYTHON]... [--rounds N] [--only TEXT] [--processor-time]

The PYTHONs are interpreters that have Weir (default: this one) and TensorFlow, of any release; --tensorflow may be given
several times. Each system is one process that stays; a row is measured by all in turn, round after round, and the best of
each counts, so that what else the machine does hits all alike. --processor-time counts what the processors work instead of
what passes, for busy machines. Rows are the functions of input_workloads.py.
"""

import argparse
import math
import pathlib
import subprocess
import sys

from input_workloads import ROWS
from systems import System

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", default=sys.executable)
    parser.add_argument("--tensorflow", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--processor-time", action="store_true")
    options = parser.parse_args()

    commands = [("Weir", [options.weir, str(HERE / "input_weir.py")])]
    commands += [("TensorFlow", [python, "-W", "ignore", str(HERE / "input_tensorflow.py")])
                 for python in options.tensorflow]
    environment = {"INPUT_PROCESSOR_TIME": "1"} if options.processor_time else {}
    systems = [System(*row, environment, greets=True, stderr=subprocess.DEVNULL) for row in commands]

    print(f"{'row':34}{'unit':>14}" + "".join(f"{s.version:>20}" for s in systems) +
          "".join(f"{'ratio':>8}" for _ in systems[1:]))
    for name, (_, unit) in ROWS.items():
        if options.only not in name:
            continue
        best = [math.inf] * len(systems)
        for _ in range(options.rounds):
            best = [min(b, s.ask(name)) for b, s in zip(best, systems)]
        print(f"{name:34}{unit:>14}" + "".join(f"{b * 1e6:>17.2f} us" for b in best) +
              "".join(f"{best[0] / b:>8.2f}" for b in best[1:]))
    for system in systems:
        system.close()


if __name__ == "__main__":
    main()
