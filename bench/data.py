#!/usr/bin/env python3
"""bench/data.py [--tensorflow PYTHON]: what feeding steps costs, in Weir and in TensorFlow, by the same programs.

Each row is a program of TensorFlow 1. It runs in this interpreter with Weir and, when --tensorflow names an interpreter
that has TensorFlow (tensorflow.compat.v1 is used), there; the ratio is TensorFlow's time over Weir's. Times are the
least of several rounds.
"""

import argparse
import json
import subprocess
import sys
import time

ROUNDS = 5


def least(run, count):
    """Microseconds for each of ``count`` repetitions."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        run(count)
        best = min(best, (time.perf_counter() - begin) / count)
    return best * 1e6


def step_with_ready_batch(tf, np):
    """A step that takes a batch which is there, less the same step on a constant."""
    graph = tf.Graph()
    with graph.as_default():
        data = np.zeros([4096, 32], np.float32)
        dataset = tf.data.Dataset.from_tensors(data).repeat().prefetch(64)
        batch = dataset.make_one_shot_iterator().get_next()
        taken, constant = tf.reduce_sum(batch[0]), tf.reduce_sum(tf.constant(data[0]) + tf.placeholder_with_default(0.0, []))
        with tf.Session() as session:
            run, bare = session.make_callable(taken), session.make_callable(constant)

            def steps(function):
                def loop(count):
                    for _ in range(count):
                        function()
                return loop

            run()
            time.sleep(0.2)
            # In bursts that the buffer holds.
            best = float("inf")
            for _ in range(40):
                time.sleep(0.01)
                begin = time.perf_counter()
                for _ in range(32):
                    run()
                best = min(best, (time.perf_counter() - begin) / 32 * 1e6)
            return max(best - least(steps(bare), 2000), 0.01)


def scalars_one_by_one(tf, np):
    """An element of a range through run."""
    with tf.Graph().as_default():
        following = tf.data.Dataset.range(1 << 40).make_one_shot_iterator().get_next()
        with tf.Session() as session:
            run = session.make_callable(following)
            return least(lambda n: [run() for _ in range(n)], 3000)


def map_and_batch_elements(tf, np):
    """An element of range -> map -> batch(1000)."""
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(1 << 40).map(lambda x: x * 2 + 1).batch(1000)
        following = dataset.make_one_shot_iterator().get_next()
        with tf.Session() as session:
            run = session.make_callable(following)
            run()
            return least(lambda n: [run() for _ in range(n)], 10) / 1000


def parallel_map_elements(tf, np):
    """The same with two parallel calls."""
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(1 << 40).map(lambda x: x * 2 + 1, num_parallel_calls=2).batch(1000)
        following = dataset.make_one_shot_iterator().get_next()
        with tf.Session() as session:
            run = session.make_callable(following)
            run()
            return least(lambda n: [run() for _ in range(n)], 10) / 1000


def shuffled_batches(tf, np):
    """An element of from_tensor_slices -> shuffle(1000) -> repeat -> batch(128), 784 floats each."""
    with tf.Graph().as_default():
        images = np.zeros([2000, 784], np.float32)
        dataset = tf.data.Dataset.from_tensor_slices(images).shuffle(1000, seed=1).repeat().batch(128)
        following = dataset.make_one_shot_iterator().get_next()
        with tf.Session() as session:
            target = following.op
            session.run(target)

            def loop(count):
                for _ in range(count):
                    session.run(target)

            return least(loop, 50) / 128


ROWS = [step_with_ready_batch, scalars_one_by_one, map_and_batch_elements, parallel_map_elements, shuffled_batches]


def measure(name, module):
    import numpy as np

    if module == "weir":
        import weir as tf
    else:
        import tensorflow.compat.v1 as tf

        tf.disable_eager_execution()
        tf.logging.set_verbosity("ERROR")
    return next(row for row in ROWS if row.__name__ == name)(tf, np)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter with TensorFlow")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    parser.add_argument("--module", default="weir", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        print(json.dumps(measure(options.row, options.module)))
        return

    def run(python, row, module):
        output = subprocess.run([python, "-W", "ignore", __file__, "--row", row.__name__, "--module", module],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout
        return json.loads(output.splitlines()[-1])

    print(f"{'us':28} {'Weir':>9} {'TensorFlow':>11} {'ratio':>7}")
    for row in ROWS:
        own = run(sys.executable, row, "weir")
        other = run(options.tensorflow, row, "tensorflow") if options.tensorflow else None
        ratio = f"{other:11.2f} {other / own:7.1f}" if other else ""
        print(f"{row.__name__:28} {own:9.2f} {ratio}")


if __name__ == "__main__":
    main()
