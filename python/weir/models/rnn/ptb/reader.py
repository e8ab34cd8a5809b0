"""tensorflow.models.rnn.ptb.reader: the words of the Penn Tree Bank as numbers, in batches of rows of steps."""

import collections
import os
import sys

import numpy


def _read_words(path):
    with open(path, encoding="utf-8") as file:
        return file.read().replace("\n", "<eos>").split()


def _build_vocab(path):
    """Numbers of the words, from the most frequent on; equally frequent ones by the alphabet."""
    counts = collections.Counter(_read_words(path))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: number for number, word in enumerate(words)}


def _file_to_word_ids(path, word_to_id):
    return [word_to_id[word] for word in _read_words(path) if word in word_to_id]


def ptb_raw_data(data_path=None):
    """(train, valid, test, size of the vocabulary) from ptb.train.txt, ptb.valid.txt and ptb.test.txt of a folder."""
    paths = [os.path.join(data_path, f"ptb.{part}.txt") for part in ("train", "valid", "test")]
    word_to_id = _build_vocab(paths[0])
    return (*(_file_to_word_ids(path, word_to_id) for path in paths), len(word_to_id))


def ptb_iterator(raw_data, batch_size, num_steps):
    """Pairs of arrays [batch_size, num_steps], the second one a word later than the first."""
    words = numpy.array(raw_data, dtype=numpy.int32)
    length = len(words) // batch_size
    rows = words[: batch_size * length].reshape(batch_size, length)
    steps = (length - 1) // num_steps
    if steps == 0:
        raise ValueError("epoch_size == 0, decrease batch_size or num_steps")
    for i in range(steps):
        begin = i * num_steps
        yield rows[:, begin:begin + num_steps], rows[:, begin + 1:begin + num_steps + 1]


def ptb_producer(raw_data, batch_size, num_steps, name=None):
    """The same as tensors, through a queue: (x, y), each [batch_size, num_steps] int32."""
    tf = sys.modules["weir"]
    with tf.name_scope(name, "PTBProducer", [raw_data, batch_size, num_steps]):
        raw_data = tf.convert_to_tensor(raw_data, name="raw_data", dtype=tf.int32)
        length = tf.size(raw_data) // batch_size
        data = tf.reshape(raw_data[0:batch_size * length], [batch_size, length])
        steps = (length - 1) // num_steps
        check = tf.assert_positive(steps, message="epoch_size == 0, decrease batch_size or num_steps")
        with tf.control_dependencies([check]):
            steps = tf.identity(steps, name="epoch_size")
        i = tf.train.range_input_producer(steps, shuffle=False).dequeue()
        x = tf.strided_slice(data, [0, i * num_steps], [batch_size, (i + 1) * num_steps])
        x.set_shape([batch_size, num_steps])
        y = tf.strided_slice(data, [0, i * num_steps + 1], [batch_size, (i + 1) * num_steps + 1])
        y.set_shape([batch_size, num_steps])
        return x, y
