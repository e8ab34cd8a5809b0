"""Reads a sequence of symbols and writes it down again from memory: an encoder, a vector of 100 numbers, a decoder.

    python sequence_autoencoder.py [steps]
"""
import sys

import numpy as np
import tensorflow as tf

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 500
seq_length, vocab_size, embedding_dim, memory_dim, batch_size = 5, 7, 50, 100, 64
random = np.random.RandomState(1)
tf.set_random_seed(1)

inputs = [tf.placeholder(tf.int32, [None], name="input%d" % t) for t in range(seq_length)]
labels = [tf.placeholder(tf.int32, [None], name="label%d" % t) for t in range(seq_length)]
weights = [tf.ones_like(label, dtype=tf.float32) for label in labels]
decoder_inputs = [tf.zeros_like(inputs[0], name="GO")] + inputs[:-1]

cell = tf.nn.rnn_cell.GRUCell(memory_dim)
outputs, _ = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(inputs, decoder_inputs, cell, vocab_size, vocab_size,
                                                             embedding_dim)
loss = tf.contrib.legacy_seq2seq.sequence_loss(outputs, labels, weights)
train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)


def sequences(count):
    """Different symbols in each sequence; one row a step."""
    return np.array([random.choice(vocab_size, size=seq_length, replace=False) for _ in range(count)]).T


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1, steps + 1):
        batch = sequences(batch_size)
        feed = dict(zip(inputs + labels, list(batch) * 2))
        _, value = sess.run([train, loss], feed)
        if step % 100 == 0 or step == steps:
            print("step %d  loss %.3f" % (step, value))
    batch = sequences(10)
    written = np.array(sess.run(outputs, dict(zip(inputs, batch)))).argmax(axis=2)
    for read, wrote in zip(batch.T, written.T):
        print("%s -> %s" % (" ".join(map(str, read)), " ".join(map(str, wrote))))
    print("%d of 10 sequences are right" % (batch == written).all(axis=0).sum())
