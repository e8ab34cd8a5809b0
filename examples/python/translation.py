"""Translates a made-up language with attention, and searches for the best sentence with a beam.

A sentence is a number's digits, most significant first; its translation says them backwards, each as a word of its own
language, with zeros at the beginning left out: "0 4 2" -> "deux quatre".

    python translation.py [steps]
"""
import sys

import numpy as np
import tensorflow as tf

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 600
source_size, target_size, units, batch_size, beam_width = 11, 13, 64, 64, 4
GO, END = 11, 12  # words of the target beside the digits; source word 10 is padding
words = "zero un deux trois quatre cinq six sept huit neuf - <go> .".split()
seq2seq = tf.contrib.seq2seq
tf.set_random_seed(1)


def sentences(count, random):
    """Padded sources, their lengths, targets that end with END, and their lengths."""
    pairs = []
    for _ in range(count):
        digits = random.randint(0, 10, size=random.randint(2, 7))
        first = np.argmax(digits > 0) if (digits > 0).any() else len(digits) - 1
        pairs.append((digits, list(digits[first:][::-1]) + [END]))
    pad = lambda rows, fill: np.array([list(row) + [fill] * (max(map(len, rows)) - len(row)) for row in rows])
    sources, targets = zip(*pairs)
    return pad(sources, 10), [len(row) for row in sources], pad(targets, END), [len(row) for row in targets]


source = tf.placeholder(tf.int32, [None, None], name="source")
source_lengths = tf.placeholder(tf.int32, [None], name="source_lengths")
target = tf.placeholder(tf.int32, [None, None], name="target")
target_lengths = tf.placeholder(tf.int32, [None], name="target_lengths")
batch = tf.shape(source)[0]

source_embedding = tf.get_variable("source_embedding", [source_size, units])
target_embedding = tf.get_variable("target_embedding", [target_size, units])
encoded, (state_fw, state_bw) = tf.nn.bidirectional_dynamic_rnn(
    tf.nn.rnn_cell.GRUCell(units // 2), tf.nn.rnn_cell.GRUCell(units // 2),
    tf.nn.embedding_lookup(source_embedding, source), source_lengths, dtype=tf.float32)
memory, first_state = tf.concat(encoded, 2), tf.concat([state_fw, state_bw], 1)
projection = tf.layers.Dense(target_size, use_bias=False, name="projection")


def decoder_cell(memory, lengths):
    attention = seq2seq.LuongAttention(units, memory, memory_sequence_length=lengths)
    return seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(units), attention, attention_layer_size=units)


with tf.variable_scope("decode"):
    cell = decoder_cell(memory, source_lengths)
    inputs = tf.concat([tf.fill([batch, 1], GO), target[:, :-1]], 1)
    helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(target_embedding, inputs), target_lengths)
    start = cell.zero_state(batch, tf.float32).clone(cell_state=first_state)
    outputs, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, start, projection))
    weights = tf.sequence_mask(target_lengths, tf.shape(target)[1], tf.float32)
    loss = seq2seq.sequence_loss(outputs.rnn_output, target, weights)
train = tf.train.AdamOptimizer(0.005).minimize(loss)

with tf.variable_scope("decode", reuse=True):
    tiled = [seq2seq.tile_batch(each, beam_width) for each in (memory, source_lengths, first_state)]
    cell = decoder_cell(tiled[0], tiled[1])
    start = cell.zero_state(batch * beam_width, tf.float32).clone(cell_state=tiled[2])
    decoder = seq2seq.BeamSearchDecoder(cell, target_embedding, tf.fill([batch], GO), END, start, beam_width, projection)
    translations, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=10)
    best = translations.predicted_ids[:, :, 0]

random = np.random.RandomState(1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1, steps + 1):
        feed = dict(zip((source, source_lengths, target, target_lengths), sentences(batch_size, random)))
        _, value = sess.run([train, loss], feed)
        if step % 100 == 0 or step == steps:
            print("step %d  loss %.4f" % (step, value))
    sources, lengths, targets, target_sizes = sentences(200, random)
    written = sess.run(best, {source: sources, source_lengths: lengths})
    right = [list(row[:size]) == list(wanted[:size])
             for row, wanted, size in zip(written.tolist(), targets.tolist(), target_sizes)]
    for row, length, wrote in list(zip(sources, lengths, written))[:5]:
        text = [words[word] for word in wrote if word != END and word >= 0]
        print("%s -> %s" % (" ".join(map(str, row[:length])), " ".join(text)))
    print("%d of 200 sentences are right" % sum(right))
