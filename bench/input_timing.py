"""How the rows of input.py take time."""

import os
import time

# Processor time of all threads, which other programs on the machine disturb less, or time as it passes.
now = time.process_time if os.environ.get("INPUT_PROCESSOR_TIME") else time.perf_counter


def seconds_of(step, repeats):
    """Seconds of one call, the first calls left out."""
    for _ in range(repeats // 10 + 1):
        step()
    begin = now()
    for _ in range(repeats):
        step()
    return (now() - begin) / repeats
