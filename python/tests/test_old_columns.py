"""Columns of contrib.layers in the models of tf.feature_column, and columns of as many numbers as examples have."""

import numpy as np
import pytest

import weir as tf

layers = tf.contrib.layers


def run(tensor):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(tensor)


def features():
    return {"kind": tf.SparseTensor([[0, 0], [1, 0]], ["b", "a"], [2, 1]), "price": tf.constant([[1.0], [20.0]])}


def test_the_input_layer_of_feature_column_takes_them():
    kind = layers.sparse_column_with_keys("kind", ["a", "b"])
    price = layers.real_valued_column("price")
    columns = [layers.one_hot_column(kind), price, layers.bucketized_column(price, [10.0])]
    found = run(tf.feature_column.input_layer(features(), columns))
    np.testing.assert_allclose(found, [[0, 1, 1, 1, 0], [1, 0, 20, 0, 1]])


def test_the_linear_model_of_feature_column_takes_them():
    columns = [layers.sparse_column_with_keys("kind", ["a", "b"]), layers.real_valued_column("price")]
    model = tf.feature_column.linear_model(features(), columns)
    with tf.variable_scope("linear_model", reuse=True):
        weights = tf.get_variable("kind/weights")
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(weights.assign([[1.0], [2.0]]))
        np.testing.assert_allclose(session.run(model), [[2.0], [1.0]])


def test_columns_of_any_length_are_parsed_with_their_default():
    column = layers.feature_column._real_valued_var_len_column("x", default_value=2)
    assert column.config["x"].default_value == 2.0 and column.config["x"].allow_missing
    sparse = layers.feature_column._real_valued_var_len_column("x", is_sparse=True)
    assert isinstance(sparse.config["x"], tf.VarLenFeature)
    with pytest.raises(ValueError, match="default_value must be provided"):
        layers.feature_column._real_valued_var_len_column("x")
