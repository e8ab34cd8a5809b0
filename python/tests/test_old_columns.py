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


@pytest.mark.parametrize("turned", [False, True])
def test_a_class_may_derive_from_the_old_and_the_new_class_of_dense_columns(turned):
    feature_column = tf.python.feature_column.feature_column
    feature_column_v2 = tf.python.feature_column.feature_column_v2
    bases = [feature_column._DenseColumn, feature_column_v2.DenseColumn]

    class Doubled(*(bases[::-1] if turned else bases)):
        name = "doubled"
        variable_shape = tf.TensorShape([1])
        parse_example_spec = {}

        def transform_feature(self, transformation_cache, state_manager):
            return transformation_cache.get("x", state_manager) * 2

        def get_dense_tensor(self, transformation_cache, state_manager):
            return transformation_cache.get(self, state_manager)

    y = tf.feature_column.input_layer({"x": tf.constant([[1.0], [3.0]])}, [Doubled()])
    with tf.Session() as session:
        assert session.run(y).tolist() == [[2], [6]]
    numeric = tf.feature_column.numeric_column("x")
    assert all(isinstance(numeric, base) for base in bases) and not isinstance(numeric, Doubled)
    assert not isinstance(numeric, feature_column._CategoricalColumn)
