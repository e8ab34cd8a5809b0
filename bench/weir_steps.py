#!/usr/bin/env python3
"""The workloads of bench_steps through the Python package: one JSON line each, as bench_steps prints.

Usage: weir_steps.py [workload ...]
"""

import json
import statistics
import sys
import time

import numpy as np

import weir as tf

THREADS = 2


def rows(*shape, seed=0):
    return np.random.RandomState(seed).rand(*shape).astype(np.float32)


def classes(count, seed=1):
    return np.random.RandomState(seed).randint(0, 10, count)


def session():
    config = tf.ConfigProto(intra_op_parallelism_threads=THREADS, inter_op_parallelism_threads=THREADS)
    return tf.Session(config=config)


def weights(shape, stddev=0.05):
    return tf.Variable(tf.truncated_normal(shape, stddev=stddev))


def biases(size, value=0.1):
    return tf.Variable(tf.fill([size], value))


def report(workload, step, seconds=6.0):
    """Warms up, then times blocks of steps; prints the median and the best block in microseconds a step."""
    begin = time.perf_counter()
    while time.perf_counter() - begin < 1.5:
        step()
    begin = time.perf_counter()
    step()
    block = max(1, int(0.05 / max(1e-7, time.perf_counter() - begin)))
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        begin = time.perf_counter()
        for _ in range(block):
            step()
        times.append((time.perf_counter() - begin) / block)
    print(json.dumps({"system": "weir-python", "workload": workload,
                      "median_us": round(1e6 * statistics.median(times), 2), "best_us": round(1e6 * min(times), 2)}),
          flush=True)


def train(workload, loss, optimizer, feeds):
    step = optimizer.minimize(loss)
    with session() as sess:
        sess.run(tf.global_variables_initializer())
        call = sess.make_callable([loss, step], feed_list=list(feeds))
        values = list(feeds.values())
        report(workload, lambda: call(*values))


def tiny():
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    w = tf.Variable(0.5)
    cost = tf.reduce_mean(tf.square(w * x - y))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(cost)
    xs = np.linspace(-1, 1, 101).astype(np.float32)
    ys = 2 * xs + 0.3 * rows(101)
    with session() as sess:
        sess.run(tf.global_variables_initializer())
        report("tiny", lambda: sess.run([cost, step], {x: xs, y: ys}))


def seq2seq():
    """A GRU encoder and decoder, unrolled: 5 symbols of 7, 100 units, batch 64."""
    length, symbols, units, batch = 5, 7, 100, 64
    inputs = [tf.placeholder(tf.int32, [None]) for _ in range(length)]
    labels = [tf.placeholder(tf.int32, [None]) for _ in range(length)]
    decoder_inputs = [tf.zeros_like(inputs[0])] + inputs[:-1]

    def gru():
        return (weights([2 * units, 2 * units], 0.1), tf.Variable(tf.ones([2 * units])),
                weights([2 * units, units], 0.1), tf.Variable(tf.zeros([units])))

    def advance(cell, value, state):
        gates = tf.sigmoid(tf.matmul(tf.concat([value, state], 1), cell[0]) + cell[1])
        reset, update = tf.split(gates, 2, 1)
        candidate = tf.tanh(tf.matmul(tf.concat([value, reset * state], 1), cell[2]) + cell[3])
        return update * state + (1 - update) * candidate

    encoder_table, decoder_table = weights([symbols, units], 0.1), weights([symbols, units], 0.1)
    encoder, decoder = gru(), gru()
    out, bias = weights([units, symbols], 0.1), tf.Variable(tf.zeros([symbols]))
    state = tf.zeros([batch, units])
    for value in inputs:
        state = advance(encoder, tf.nn.embedding_lookup(encoder_table, value), state)
    losses = []
    for value, label in zip(decoder_inputs, labels):
        state = advance(decoder, tf.nn.embedding_lookup(decoder_table, value), state)
        logits = tf.matmul(state, out) + bias
        losses.append(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits))
    loss = tf.reduce_mean(tf.add_n(losses) / length)
    random = np.random.RandomState(0)
    data = np.array([random.choice(symbols, length, replace=False) for _ in range(batch)]).T.astype(np.int32)
    feeds = dict(zip(inputs, data)) | dict(zip(labels, data))
    train("seq2seq", loss, tf.train.MomentumOptimizer(0.05, 0.9), feeds)


def mnist_mlp():
    x, y = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int64, [None])
    hidden = tf.nn.relu(tf.matmul(x, weights([784, 500], 0.1)) + biases(500))
    logits = tf.matmul(hidden, weights([500, 10], 0.1)) + biases(10)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train("mnist_mlp", loss, tf.train.AdamOptimizer(1e-3), {x: rows(100, 784), y: classes(100)})


def mnist_cnn():
    x, y = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.float32, [None, 10])
    keep = tf.placeholder(tf.float32)
    hidden = tf.reshape(x, [-1, 28, 28, 1])
    for size_in, size_out in ((1, 32), (32, 64)):
        hidden = tf.nn.conv2d(hidden, weights([5, 5, size_in, size_out], 0.1), [1, 1, 1, 1], "SAME")
        hidden = tf.nn.max_pool(tf.nn.relu(hidden + biases(size_out)), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    hidden = tf.nn.relu(tf.matmul(tf.reshape(hidden, [-1, 3136]), weights([3136, 1024], 0.1)) + biases(1024))
    probabilities = tf.nn.softmax(tf.matmul(tf.nn.dropout(hidden, keep), weights([1024, 10], 0.1)) + biases(10))
    loss = -tf.reduce_sum(y * tf.log(tf.clip_by_value(probabilities, 1e-10, 1.0)))
    feeds = {x: rows(50, 784), y: np.eye(10, dtype=np.float32)[classes(50)], keep: np.float32(0.5)}
    train("mnist_cnn", loss, tf.train.AdamOptimizer(1e-4), feeds)


def cifar10_loss():
    """The tutorial's network: two convolutions, two dense layers with decay, softmax. Gives images, labels and loss."""
    x, y = tf.placeholder(tf.float32, [128, 24, 24, 3]), tf.placeholder(tf.int64, [128])

    def convolve(value, size_in, bias):
        kernel = weights([5, 5, size_in, 64])
        return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(value, kernel, [1, 1, 1, 1], "SAME"), biases(64, bias)))

    def pool(value):
        return tf.nn.max_pool(value, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")

    def normalize(value):
        return tf.nn.lrn(value, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)

    hidden = normalize(pool(convolve(x, 3, 0.0)))
    hidden = tf.reshape(pool(normalize(convolve(hidden, 64, 0.1))), [128, -1])
    decay = []
    for size_in, size_out in ((2304, 384), (384, 192)):
        kernel = weights([size_in, size_out], 0.04)
        decay.append(0.004 * tf.nn.l2_loss(kernel))
        hidden = tf.nn.relu(tf.matmul(hidden, kernel) + biases(size_out))
    logits = tf.matmul(hidden, weights([192, 10], 1 / 192.0)) + biases(10, 0.0)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)) + tf.add_n(decay)
    return x, y, loss


def cifar10():
    x, y, loss = cifar10_loss()
    train("cifar10", loss, tf.train.GradientDescentOptimizer(0.1), {x: rows(128, 24, 24, 3) - 0.5, y: classes(128)})


def matpow():
    a, b = tf.placeholder(tf.float32, [1024, 1024]), tf.placeholder(tf.float32, [1024, 1024])

    def power(matrix, exponent):
        return matrix if exponent < 1 else tf.matmul(matrix, power(matrix, exponent - 1))

    total = tf.reduce_sum(tf.add_n([power(a, 10), power(b, 10)]))
    with session() as sess:
        call = sess.make_callable(total, feed_list=[a, b])
        left, right = rows(1024, 1024) / 512, rows(1024, 1024, seed=1) / 512
        report("matpow", lambda: call(left, right))


WORKLOADS = {f.__name__: f for f in (tiny, seq2seq, mnist_mlp, mnist_cnn, cifar10, matpow)}

if __name__ == "__main__":
    for name in sys.argv[1:] or WORKLOADS:
        if name not in WORKLOADS:
            sys.exit(f"weir_steps.py: there is no workload {name!r}; there are {', '.join(WORKLOADS)}")
        with tf.Graph().as_default():
            WORKLOADS[name]()
