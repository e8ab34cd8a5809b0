"""How the rows of input.py take time."""

import time


def seconds_of(step, repeats):
    """Seconds of one call, the first calls left out."""
    for _ in range(repeats // 10 + 1):
        step()
    begin = time.perf_counter()
    for _ in range(repeats):
        step()
    return (time.perf_counter() - begin) / repeats
