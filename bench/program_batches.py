"""Runs a training program as it stands and says what a batch of it costs, from the lines "step N, loss = ..." it prints.

    weir run bench/program_batches.py PROGRAM MAX_STEPS [flags of the program]
    OTHER/bin/python bench/program_batches.py ...          with TensorFlow 2: the names of compat.v1, and a queue for slim's

Prints seconds of wall clock and of the processor (all threads) for a batch, over the steps behind the first ten.
"""
import builtins
import os
import re
import runpy
import shutil
import sys
import tempfile
import time
import types

import tensorflow as tf


def names_of_tensorflow_1():
    """What programs of TensorFlow 1 import, where only TensorFlow 2 is there."""
    v1 = tf.compat.v1
    v1.disable_v2_behavior()

    def prefetch_queue(tensors, capacity=8, **_):
        tensors = [v1.convert_to_tensor(each) for each in tensors]
        queue = v1.FIFOQueue(capacity, [each.dtype for each in tensors], [each.shape for each in tensors])
        v1.train.add_queue_runner(v1.train.QueueRunner(queue, [queue.enqueue(tensors)]))
        return queue

    space = types.SimpleNamespace
    v1.contrib = space(slim=space(prefetch_queue=space(prefetch_queue=prefetch_queue)),
                       framework=space(get_or_create_global_step=v1.train.get_or_create_global_step))
    sys.modules["tensorflow"] = v1


def main():
    program, steps = sys.argv[1:3]
    sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
    if tf.__version__.startswith("2."):
        names_of_tensorflow_1()
    marks, show = [], builtins.print

    def marking(*texts, **options):
        step = re.search(r"step (\d+), loss", " ".join(map(str, texts)))
        if step:
            marks.append((int(step.group(1)), time.perf_counter(), time.process_time()))
        show(*texts, **options)

    builtins.print = marking
    folder = tempfile.mkdtemp()
    sys.argv = [program, "--train_dir=" + os.path.join(folder, "train"), "--max_steps=" + steps] + sys.argv[3:]
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit:
        pass
    builtins.print = show
    marks = [mark for mark in marks if mark[0] >= 10]
    (first, wall, cpu), (last, wall_end, cpu_end) = marks[0], marks[-1]
    print("%s: %.4f s a batch, %.4f s of processors (steps %d to %d)" % (
        os.path.basename(program), (wall_end - wall) / (last - first), (cpu_end - cpu) / (last - first), first, last))
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
