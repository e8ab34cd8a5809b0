"""bench_hogwild.cc in Python, for TensorFlow 2.x (tf.compat.v1) and for Weir (weir run hogwild_tensorflow.py NAME).

Usage: hogwild_tensorflow.py [--threads N] [--seconds S] workload ...
Prints one JSON line for each workload in the form that compare.py reads: microseconds of one update, all threads
together. Runs are callables, and nothing is fetched: the least that a program can ask for.
"""

import argparse
import json
import sys
import threading
import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.disable_v2_behavior()

DENSE, ROWS, WIDTH, BATCH, BLOCKS = 1 << 20, 1 << 20, 64, 1024, 3
SYSTEM = "weir" if "weir" in sys.modules else "tensorflow"


def uniform():
    return tf.constant(np.random.RandomState(0).uniform(-1, 1, DENSE).astype(np.float32))


def dense():
    return tf.Variable(tf.zeros([DENSE]), name="w")


def dense_apply():
    return tf.train.GradientDescentOptimizer(0.1).apply_gradients([(uniform(), dense())]), None


def dense_add():
    return tf.assign_add(dense(), uniform()).op, None


def dense_sgd():
    w = dense()
    return tf.train.GradientDescentOptimizer(0.1).apply_gradients([(w - uniform(), w)]), None


def rows(optimizer):
    table = tf.Variable(tf.zeros([ROWS, WIDTH]), name="table")
    ids = tf.placeholder(tf.int32, [BATCH])
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids) - 1.0))
    return optimizer.minimize(loss), ids


WORKLOADS = {
    "dense_apply": dense_apply,
    "dense_add": dense_add,
    "dense_sgd": dense_sgd,
    "sparse_sgd": lambda: rows(tf.train.GradientDescentOptimizer(0.1)),
    "sparse_adagrad": lambda: rows(tf.train.AdagradOptimizer(0.1)),
}


def measure(name, threads, seconds):
    with tf.Graph().as_default():
        train, ids = WORKLOADS[name]()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            step = session.make_callable(train, [] if ids is None else [ids])
            fed = [[[]] if ids is None else
                   [[r.randint(0, ROWS, BATCH).astype(np.int32)] for _ in range(64)]
                   for r in map(np.random.RandomState, range(threads))]
            stop, counts = threading.Event(), [0] * threads

            def work(t):
                done, batches = 0, fed[t]
                while not stop.is_set():
                    step(*batches[done % len(batches)])
                    done += 1
                counts[t] = done

            times = []
            for block in range(BLOCKS + 1):  # the first is for warming up
                stop.clear()
                workers = [threading.Thread(target=work, args=(t,)) for t in range(threads)]
                begin = time.perf_counter()
                for worker in workers:
                    worker.start()
                time.sleep(seconds / BLOCKS)
                stop.set()
                for worker in workers:
                    worker.join()
                if block:
                    times.append((time.perf_counter() - begin) / sum(counts))
    times.sort()
    print(json.dumps({"system": SYSTEM, "workload": name, "median_us": round(1e6 * times[len(times) // 2], 2),
                      "best_us": round(1e6 * times[0], 2)}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("workloads", nargs="+", choices=WORKLOADS)
    arguments = parser.parse_args()
    for workload in arguments.workloads:
        measure(workload, arguments.threads, arguments.seconds)
