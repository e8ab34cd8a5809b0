"""Rows of input.py on tf.data."""

import time

import numpy as np

from input_timing import seconds_of


def ready_batch(tf):
    """A step that takes a batch which is there, less the same step on a constant."""
    data = np.zeros([4096, 32], np.float32)
    batch = tf.data.Dataset.from_tensors(data).repeat().prefetch(64).make_one_shot_iterator().get_next()
    taken = tf.reduce_sum(batch[0])
    constant = tf.reduce_sum(tf.constant(data[0]) + tf.placeholder_with_default(0.0, []))
    with tf.Session() as sess:
        run, bare = sess.make_callable(taken), sess.make_callable(constant)
        run()
        best = float("inf")
        for _ in range(40):  # in bursts that the buffer holds
            time.sleep(0.01)
            begin = time.perf_counter()
            for _ in range(32):
                run()
            best = min(best, (time.perf_counter() - begin) / 32)
        return max(best - seconds_of(bare, 2000), 1e-8)


def _elements(tf, dataset, repeats, count):
    """Seconds of one of the `count` elements that each run takes."""
    target = dataset.make_one_shot_iterator().get_next().op
    with tf.Session() as sess:
        return seconds_of(lambda: sess.run(target), repeats) / count


def one_by_one(tf):
    return _elements(tf, tf.data.Dataset.range(1 << 40), 3000, 1)


def map_and_batch(tf):
    return _elements(tf, tf.data.Dataset.range(1 << 40).map(lambda x: x * 2 + 1).batch(1000), 10, 1000)


def parallel_map(tf):
    return _elements(tf, tf.data.Dataset.range(1 << 40).map(lambda x: x * 2 + 1, num_parallel_calls=2).batch(1000), 10, 1000)


def shuffled_batches(tf):
    images = np.zeros([2000, 784], np.float32)
    return _elements(tf, tf.data.Dataset.from_tensor_slices(images).shuffle(1000, seed=1).repeat().batch(128), 50, 128)


ROWS = {
    "tf.data: takes a ready batch": (ready_batch, "step"),
    "tf.data: range": (one_by_one, "element"),
    "tf.data: map, batch": (map_and_batch, "element"),
    "tf.data: parallel map, batch": (parallel_map, "element"),
    "tf.data: shuffle, batch, 784 floats": (shuffled_batches, "element"),
}
