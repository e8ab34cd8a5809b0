"""A^n on one device, B^n on another and their sum on the CPU; timed with both on the first device, and on two.

    python -m weir matpow.py --size 1000                                      # two logical CPUs, half of the cores each
    weir run --virtual-gpus 2 matpow.py --devices /gpu:0,/gpu:1
"""
import time

import numpy as np
import tensorflow as tf

tf.flags.DEFINE_integer("size", 1000, "rows and columns of the matrices")
tf.flags.DEFINE_integer("power", 10, "the exponent n")
tf.flags.DEFINE_integer("runs", 5, "runs, of which the quickest counts")
tf.flags.DEFINE_string("devices", "/cpu:0,/cpu:1", "the first and the second device")
FLAGS = tf.flags.FLAGS


def matpow(matrix, n):
    return matrix if n == 1 else tf.matmul(matrix, matpow(matrix, n - 1))


def timed(devices):
    """Seconds and the sum, with A's power on the first device and B's on the second."""
    with tf.Graph().as_default():
        a = tf.placeholder(tf.float32, [FLAGS.size, FLAGS.size])
        b = tf.placeholder(tf.float32, [FLAGS.size, FLAGS.size])
        powers = []
        for device, matrix in zip(devices, (a, b)):
            with tf.device(device):
                powers.append(matpow(matrix, FLAGS.power))
        with tf.device("/cpu:0"):
            total = tf.add_n(powers)
        random = np.random.RandomState(0)
        feeds = {matrix: (random.rand(FLAGS.size, FLAGS.size) / FLAGS.size).astype(np.float32) for matrix in (a, b)}
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)) as sess:
            step = sess.make_callable(total, [a, b])
            result, seconds = step(feeds[a], feeds[b]), []
            for _ in range(FLAGS.runs):
                begin = time.time()
                step(feeds[a], feeds[b])
                seconds.append(time.time() - begin)
        return min(seconds), result


def main(_):
    first, second = FLAGS.devices.split(",")
    seconds, expected = timed([first, first])
    print("one device:  %.4f s" % seconds)
    seconds, result = timed([first, second])
    print("two devices: %.4f s" % seconds)
    print("the sums agree: %s" % np.allclose(result, expected, rtol=1e-5, atol=0))


if __name__ == "__main__":
    tf.app.run()
