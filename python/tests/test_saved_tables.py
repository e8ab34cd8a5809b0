"""Mutable tables are saved and restored with the variables."""

import numpy as np
import pytest

import weir as tf


def _hash_table():
    return tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="table")


def _table_of_vectors():
    return tf.contrib.lookup.MutableHashTable(tf.string, tf.float32, [-1.0, -2.0], name="table")


def _dense_table():
    return tf.contrib.lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, empty_key=0, name="table")


@pytest.mark.parametrize("make, keys, values, default", [
    (_hash_table, ["a", "b"], [1, 2], -1),
    (_table_of_vectors, ["a", "b"], [[1.0, 2.0], [3.0, 4.0]], [-1.0, -2.0]),
    (_dense_table, np.array([11, 12]), np.array([1, 2]), -1),
])
def test_a_saver_of_everything_saves_tables(make, keys, values, default, tmp_path):
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        v, table = tf.Variable(3.0, name="v"), make()
        session.run([v.initializer, table.insert(keys, values)])
        tf.train.Saver().save(session, path)
    assert {name for name, _ in tf.train.list_variables(path)} == {"v", "table-keys", "table-values"}
    with tf.Graph().as_default(), tf.Session() as session:
        v, table = tf.Variable(0.0, name="v"), make()
        session.run([v.initializer, table.insert(keys[1:], [default])])
        tf.train.Saver().restore(session, path)
        assert session.run(v) == 3.0
        np.testing.assert_array_equal(session.run(table.lookup(tf.constant(keys))), values)


def test_a_table_that_is_no_checkpoints_is_not_saved():
    with tf.Graph().as_default():
        tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, checkpoint=False)
        assert tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS) == []
        with pytest.raises(ValueError, match="No variables to save"):
            tf.train.Saver()


def test_a_graph_with_a_table_and_no_variables_has_a_saver(tmp_path):
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        table = _hash_table()
        saver = tf.train.Saver()
        session.run(table.insert(["a"], [7]))
        saver.save(session, path)
        session.run(table.insert(["a"], [8]))
        saver.restore(session, path)
        assert session.run(table.lookup(tf.constant("a"))) == 7


def test_a_saved_model_has_the_tables_of_its_graph(tmp_path):
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        table, key = _hash_table(), tf.placeholder(tf.string, [], name="key")
        value = tf.identity(table.lookup(key), name="value")
        session.run(table.insert(["a"], [7]))
        tf.saved_model.simple_save(session, path, {"key": key}, {"value": value})
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], path)
        assert session.run("value:0", {"key:0": "a"}) == 7
