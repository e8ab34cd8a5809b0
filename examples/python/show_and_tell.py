"""Tells what is in a picture (Vinyals et al., 2015): the output of a convolutional network is the first input of an LSTM,
which writes the caption word by word.

The pictures are composed of one or two digits of MNIST in the corners of a square, the captions of their labels and places:
"three at the top left and seven at the bottom right".

    python show_and_tell.py [folder of the MNIST files] [steps] [folder for a page of pictures with captions]
"""
import os
import struct
import sys
import zlib

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets(sys.argv[1] if len(sys.argv) > 1 else "data/mnist", seed=1)
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
words = "zero one two three four five six seven eight nine at the top bottom left right and <start> <end>".split()
START, END = words.index("<start>"), words.index("<end>")
units, batch_size, longest, beam_width = 128, 64, 12, 3
tf.set_random_seed(1)


def compose(digits, count, random):
    """Pictures [count, 56, 56, 1], captions [count, longest] that are filled up with <end>, and their lengths."""
    pictures = np.zeros([count, 56, 56, 1], np.float32)
    captions, lengths = np.full([count, longest], END), []
    for i in range(count):
        caption = []
        for corner in sorted(random.choice(4, size=random.randint(1, 3), replace=False)):
            digit = random.randint(len(digits.images))
            top, left = corner // 2 * 28, corner % 2 * 28
            pictures[i, top:top + 28, left:left + 28, 0] = digits.images[digit].reshape(28, 28)
            caption += ["and"] if caption else []
            caption += [words[digits.labels[digit]], "at", "the", "bottom" if top else "top", "right" if left else "left"]
        captions[i, :len(caption)] = [words.index(word) for word in caption]
        lengths.append(len(caption) + 1)
    return pictures, captions, lengths


def encoder(pictures):
    x = pictures
    for i, filters in enumerate((16, 32, 32)):
        x = tf.layers.conv2d(x, filters, 5, strides=2, padding="same", activation=tf.nn.relu, name="conv%d" % i)
    x = tf.layers.dense(tf.layers.flatten(x), units, name="picture")
    # Mostly black pictures give small numbers, of which the LSTM learns no more than where there is something: it would write
    # the places and guess the digits. At variance 1 they weigh as much as its state.
    mean, variance = tf.nn.moments(x, [1], keep_dims=True)
    return (x - mean) * tf.rsqrt(variance + 1e-6)


pictures = tf.placeholder(tf.float32, [None, 56, 56, 1], name="pictures")
captions = tf.placeholder(tf.int32, [None, longest], name="captions")
lengths = tf.placeholder(tf.int32, [None], name="lengths")
batch = tf.shape(pictures)[0]
embedding = tf.get_variable("embedding", [len(words), units])
cell = tf.nn.rnn_cell.LSTMCell(units)
projection = tf.layers.Dense(len(words), name="words")
seq2seq = tf.contrib.seq2seq

# The picture is what the decoder reads first.
with tf.variable_scope("decoder") as scope:
    _, state = cell(encoder(pictures), cell.zero_state(batch, tf.float32))
inputs = tf.concat([tf.fill([batch, 1], START), captions[:, :-1]], 1)
helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, inputs), lengths)
outputs, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, state, projection), scope=scope)
length = tf.shape(outputs.rnn_output)[1]
loss = seq2seq.sequence_loss(outputs.rnn_output, captions[:, :length], tf.sequence_mask(lengths, length, tf.float32))
train = tf.train.AdamOptimizer(1e-3).minimize(loss)

start = tf.fill([batch], START)
helper = seq2seq.GreedyEmbeddingHelper(embedding, start, END)
greedy, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, state, projection), maximum_iterations=longest,
                                      scope=scope)
beam, _, _ = seq2seq.dynamic_decode(
    seq2seq.BeamSearchDecoder(cell, embedding, start, END, seq2seq.tile_batch(state, beam_width), beam_width, projection),
    maximum_iterations=longest, scope=scope)


def text(caption):
    caption = list(caption)
    return " ".join(words[word] for word in caption[:caption.index(END) if END in caption else None])


def share_right(written, wanted):
    return np.mean([text(a) == text(b) for a, b in zip(written, wanted)])


def write_png(path, picture):
    rows = b"".join(b"\0" + row.tobytes() for row in (255 - picture * 255).astype(np.uint8))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", picture.shape[1], picture.shape[0], 8, 0, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


random = np.random.RandomState(1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1, steps + 1):
        feed = dict(zip((pictures, captions, lengths), compose(mnist.train, batch_size, random)))
        _, value = sess.run([train, loss], feed)
        if step % 100 == 0 or step == steps:
            print("step %d  loss %.4f" % (step, value))
    shown, wanted, _ = compose(mnist.test, 500, random)
    by_greedy, by_beam = sess.run([greedy.sample_id, beam.predicted_ids[:, :, 0]], {pictures: shown})
    print("captions of unseen pictures that are right: greedy %.3f, beam %.3f" % (
        share_right(by_greedy, wanted), share_right(by_beam, wanted)))
    print("%s: %s" % (text(wanted[0]), text(by_beam[0])))
    if len(sys.argv) > 3:
        for i in range(8):
            write_png(os.path.join(sys.argv[3], "picture%d.png" % i), shown[i, :, :, 0])
            print("| ![](picture%d.png) | %s | %s |" % (i, text(by_greedy[i]), text(by_beam[i])))
