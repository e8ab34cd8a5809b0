"""What the peers of bench/ops.py share: the data, the way a kernel is timed, and the answering of rows.

The standard input has one row of bench/ops.tsv a line; each is answered by the best time of a short round in seconds, as
bench_ops answers it.
"""

import os
import sys
import time

import numpy as np

THREADS = int(os.environ.get("WEIR_BENCH_THREADS", os.cpu_count()))

# Wall time. With one thread it is the process's processor time, to which other programs add little.
clock = time.process_time if THREADS == 1 else time.perf_counter


def uniform(*shape):
    return np.random.RandomState(0).uniform(-1, 1, shape).astype(np.float32)


def indices(count, bound):
    return np.random.RandomState(1).randint(0, bound, count).astype(np.int32)


def best_of_round(body, round_seconds=0.03, block_seconds=0.0005):
    body()  # warms caches and threads
    best, repeats = float("inf"), 1
    end = clock() + round_seconds
    while clock() < end:
        begin = clock()
        for _ in range(repeats):
            body()
        best = min(best, (clock() - begin) / repeats)
        repeats = max(1, min(10000, int(block_seconds / best)))
    return best


def answer(kernels):
    """Answers rows with the functions of a module: each takes the sizes and gives a function to be timed."""
    current = body = None
    for row in sys.stdin:
        try:
            if row != current:
                kernel, _, sizes = row.rstrip("\n").partition("\t")
                body = None
                body = kernels[kernel]({k: int(v) for k, v in (word.split("=") for word in sizes.split())})
                current = row
            print(f"{best_of_round(body):.9e}", flush=True)
        except Exception as error:  # the table has a gap then
            print("error", str(error).replace("\n", " "), flush=True)
