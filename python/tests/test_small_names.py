"""Small functions that stand for themselves: distances of sequences, fingerprints, tf.io.gfile."""

import mmap

import numpy as np
import pytest

import weir as tf


def test_edit_distance_counts_changes():
    hypothesis = tf.SparseTensor([[0, 0], [1, 0]], ["a", "b"], [2, 1])
    truth = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "c", "b"], [2, 2])
    with tf.Session() as sess:
        assert sess.run(tf.edit_distance(hypothesis, truth, normalize=False)).tolist() == [1, 0]
        assert sess.run(tf.edit_distance(hypothesis, truth)).tolist() == [0.5, 0]


def test_fingerprints_are_eight_bytes_a_row():
    rows = tf.fingerprint([["a"], ["b"], ["a"]])
    with tf.Session() as sess:
        values = sess.run(rows)
    assert values.shape == (3, 8) and values.dtype == np.uint8
    assert (values[0] == values[2]).all() and (values[0] != values[1]).any()


def test_functions_that_are_zero_where_x_is():
    with tf.Session() as sess:
        assert sess.run([tf.math.xlogy(0.0, 0.0), tf.math.xdivy(0.0, 0.0)]) == [0, 0]


def test_new_names_of_file_functions(tmp_path):
    folder = str(tmp_path / "a" / "b")
    tf.io.gfile.makedirs(folder)
    with tf.io.gfile.GFile(folder + "/one.txt", "w") as file:
        file.write("text")
    tf.io.gfile.copy(folder + "/one.txt", folder + "/two.txt")
    tf.io.gfile.rename(folder + "/two.txt", folder + "/three.txt")
    assert tf.io.gfile.listdir(folder) == ["one.txt", "three.txt"]
    assert tf.io.gfile.glob(folder + "/t*.txt") == [folder + "/three.txt"]
    assert tf.io.gfile.stat(folder + "/three.txt").length == 4
    assert [files for _, _, files in tf.io.gfile.walk(str(tmp_path))][-1] == ["one.txt", "three.txt"]
    tf.io.gfile.rmtree(str(tmp_path / "a"))
    assert not tf.io.gfile.exists(folder) and tf.io.gfile.isdir(str(tmp_path))


def test_memory_is_measured_when_it_is_asked_for(sess):
    now, most, limit = (op() for op in (tf.contrib.memory_stats.BytesInUse, tf.contrib.memory_stats.MaxBytesInUse,
                                        tf.contrib.memory_stats.BytesLimit))
    assert now.dtype == tf.int64 and now.shape.ndims == 0
    before = sess.run(now)
    kept = np.frombuffer(mmap.mmap(-1, 64 << 20), np.uint8)  # memory that the process cannot have had before
    kept[:] = 1
    after = sess.run(now)
    peak, total = sess.run([most, limit])  # afterwards: the process may grow between two operations of one run
    assert after - before > kept.nbytes // 2 and after <= peak < total


def test_a_scope_for_bfloat16_keeps_variables_in_float32():
    with tf.contrib.tpu.bfloat16_scope():
        v = tf.get_variable("v", [2], tf.bfloat16, initializer=tf.ones_initializer())
        w = tf.get_variable("w", [2])
    assert v.dtype == tf.bfloat16 and w.dtype.base_dtype == tf.float32
    assert [x.dtype.base_dtype for x in tf.trainable_variables()] == [tf.float32, tf.float32]


def test_there_are_no_shards_of_tpus():
    tpu_function = tf.contrib.tpu.python.tpu.tpu_function
    assert tpu_function.get_tpu_context().number_of_shards is None
    with tpu_function.tpu_shard_context(4):
        assert tpu_function.get_tpu_context().number_of_shards == 4
        with pytest.raises(NotImplementedError, match="nested"), tpu_function.tpu_shard_context(2):
            pass
    assert tpu_function.get_tpu_context().number_of_shards is None
