"""Learns a text letter by letter with two layers of LSTM, and writes more of the kind.

    python char_rnn.py [text file] [steps]
"""
import sys

import numpy as np
import tensorflow as tf

text = open(sys.argv[1] if len(sys.argv) > 1 else "LICENSE").read()
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
batch_size, seq_length, units = 32, 40, 128
letters = sorted(set(text))
numbers = np.array([letters.index(letter) for letter in text])
tf.set_random_seed(1)

inputs = tf.placeholder(tf.int32, [None, None], name="inputs")
targets = tf.placeholder(tf.int32, [None, None], name="targets")
cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(units) for _ in range(2)])
zero_state = cell.zero_state(tf.shape(inputs)[0], tf.float32)
embedding = tf.get_variable("embedding", [len(letters), units])
hidden, last_state = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(embedding, inputs), initial_state=zero_state)
softmax_w = tf.get_variable("softmax_w", [units, len(letters)])
softmax_b = tf.get_variable("softmax_b", [len(letters)], initializer=tf.zeros_initializer())
logits = tf.matmul(tf.reshape(hidden, [-1, units]), softmax_w) + softmax_b
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(targets, [-1]), logits=logits))
variables = tf.trainable_variables()
gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5)
train = tf.train.AdamOptimizer(0.005).apply_gradients(zip(gradients, variables))
probabilities = tf.nn.softmax(logits)

# Every row of a batch reads on where it stopped: the state goes from one batch to the next.
rows = numbers[:len(numbers) // batch_size * batch_size].reshape(batch_size, -1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    state, place = None, 0
    for step in range(1, steps + 1):
        if state is None or place + seq_length + 1 > rows.shape[1]:
            state, place = sess.run(zero_state, {inputs: rows[:, :1]}), 0
        feed = {inputs: rows[:, place:place + seq_length], targets: rows[:, place + 1:place + seq_length + 1],
                zero_state: state}
        _, value, state = sess.run([train, loss, last_state], feed)
        place += seq_length
        if step % 100 == 0 or step == steps:
            print("step %d  loss %.3f" % (step, value))
    random, written = np.random.RandomState(1), "The "
    state = sess.run(zero_state, {inputs: [[0]]})
    pending = [letters.index(letter) for letter in written]
    for _ in range(200):
        p, state = sess.run([probabilities, last_state], {inputs: [pending], zero_state: state})
        pending = [random.choice(len(letters), p=p[-1] / p[-1].sum())]
        written += letters[pending[0]]
    print(written)
