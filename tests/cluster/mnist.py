#!/usr/bin/env python3
"""tests/cluster/mnist.py [steps]: MNIST with one process and with clusters of 1 and 2 parameter servers, 2 and 8 workers,
asynchronously and synchronously. Prints the accuracy of each; fails when one is not that of one process.

    PYTHONPATH=python .venv/bin/python tests/cluster/mnist.py
"""

import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = str(ROOT / "examples" / "python" / "mnist_replica.py")


def accuracy(servers, workers, steps, *flags):
    command = [sys.executable, "-m", "weir", "launch", "--ps", str(servers), "--workers", str(workers), EXAMPLE, f"--steps={steps}",
               f"--data_dir={ROOT}/data/mnist", "--learning_rate=0.002", *flags]
    begin = time.time()
    result = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    found = re.search(r"accuracy (\d\.\d+)", result.stdout)
    if result.returncode != 0 or not found:
        print(result.stdout[-1000:], result.stderr[-2000:])
        return 0.0
    value = float(found[1])
    print(f"{servers} servers, {workers} workers, {' '.join(flags) or 'asynchronous'}: {value:.4f} in {time.time() - begin:.0f} s", flush=True)
    return value


def main(steps):
    # One worker with one server is one process's training: nobody else writes.
    alone = accuracy(1, 1, steps)
    worst = min(accuracy(servers, workers, steps, *flags) for servers in (1, 2) for workers in (2, 8)
                for flags in ((), ("--sync_replicas",)))
    print(f"one worker {alone:.4f}, the worst cluster {worst:.4f}")
    return 0 if worst > alone - 0.01 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
