"""Columns: the tensors they make, of features of all kinds, as TensorFlow 1.15.5 makes them."""

import numpy as np
import pytest

import weir as tf
from weir.feature_column.base import FeatureTransformationCache

fc, layers = tf.feature_column, tf.contrib.layers


def _run(value):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(value)


def _sparse(rows, shape, dtype=None):
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    return tf.SparseTensor(indices, tf.constant([value for row in rows for value in row], dtype), shape)


def test_an_input_layer_has_the_columns_in_the_order_of_their_names():
    features = {"b": tf.constant([[1.0, 2.0], [3.0, 4.0]]), "a": tf.constant([5, 25]), "c": tf.constant(["x", "q"])}
    columns = [fc.numeric_column("b", shape=2), fc.bucketized_column(fc.numeric_column("a"), [10, 20, 30]),
               fc.indicator_column(fc.categorical_column_with_vocabulary_list("c", ["x", "y"], num_oov_buckets=1))]
    np.testing.assert_array_equal(_run(fc.input_layer(features, columns)),
                                  [[1, 0, 0, 0, 1, 2, 1, 0, 0], [0, 0, 1, 0, 3, 4, 0, 0, 1]])


def test_embeddings_are_combined_and_may_be_shared():
    features = {"c": _sparse([["x", "y"], [], ["nothing"]], [3, 2]), "d": tf.constant(["y", "", "x"])}
    vocabulary = ["x", "y"]
    c, d = (fc.categorical_column_with_vocabulary_list(key, vocabulary) for key in "cd")
    own = fc.embedding_column(c, 2, initializer=lambda shape, dtype, partition_info=None: tf.constant([[2.0, 4.0], [6.0, 8.0]]))
    shared = fc.shared_embedding_columns([d, c], 1, combiner="sum", initializer=tf.ones_initializer())
    values = {}
    result = fc.input_layer(features, [own, *shared], cols_to_vars=values)
    np.testing.assert_array_equal(_run(result), [[4, 6, 2, 1], [0, 0, 0, 0], [0, 0, 0, 1]])
    assert [v.op.name for v in tf.global_variables()] == [
        "input_layer/c_embedding/embedding_weights", "input_layer/c_d_shared_embedding/embedding_weights"]
    assert [v.op.name for v in values[own]] == ["input_layer/c_embedding/embedding_weights"]


def test_weights_of_classes_count():
    features = {"c": _sparse([["x", "y"], ["q"]], [2, 2]), "w": _sparse([[0.5, 2.0], [3.0]], [2, 2])}
    c = fc.categorical_column_with_vocabulary_list("c", ["x", "y"])
    weighted = fc.weighted_categorical_column(c, "w")
    np.testing.assert_array_equal(_run(fc.input_layer(features, [fc.indicator_column(weighted)])), [[0.5, 2], [0, 0]])
    assert fc.make_parse_example_spec([weighted]) == {"c": tf.VarLenFeature(tf.string), "w": tf.VarLenFeature(tf.float32)}


def test_hashes_and_crosses_are_tensorflows():
    features = {"a": tf.constant([["x"], ["y"]]), "b": tf.constant([[1], [2]])}
    a = fc.categorical_column_with_hash_bucket("a", 10)
    crossed = fc.crossed_column(["a", fc.categorical_column_with_identity("b", 3)], 100)
    assert crossed.name == "a_X_b"
    cache = FeatureTransformationCache(features)
    assert [values.tolist() for values in _run([cache.get(a).values, cache.get(crossed).values])] == [[0, 5], [59, 4]]


def test_classes_that_are_outside():
    features = {"n": tf.constant([[7], [1]])}
    with pytest.raises(tf.errors.InvalidArgumentError):
        _run(fc.input_layer(features, [fc.indicator_column(fc.categorical_column_with_identity("n", 3))]))
    kept = fc.indicator_column(fc.categorical_column_with_identity("n", 3, default_value=0))
    np.testing.assert_array_equal(_run(fc.input_layer(features, [kept])), [[1, 0, 0], [0, 1, 0]])


def test_a_linear_model_adds_its_columns():
    features = {"a": tf.constant([[1.0], [2.0]]), "c": tf.constant(["x", "y"])}
    variables = {}
    columns = [fc.numeric_column("a"), fc.categorical_column_with_vocabulary_list("c", ["x", "y"])]
    result = fc.linear_model(features, columns, units=2, cols_to_vars=variables)
    assert [v.op.name for v in tf.global_variables()] == ["linear_model/a/weights", "linear_model/c/weights",
                                                          "linear_model/bias_weights"]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run([variables[columns[0]][0].assign([[2.0, 3.0]]), variables[columns[1]][0].assign([[10.0, 0], [0, 20]]),
                     variables["bias"][0].assign([0.5, 0.25])])
        np.testing.assert_allclose(session.run(result), [[12.5, 3.25], [4.5, 26.25]])


def test_sequences_have_lengths():
    features = {"s": _sparse([["x", "y", "x"], ["y"]], [2, 3]), "n": _sparse([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7.0, 8.0]], [2, 6])}
    columns = [fc.indicator_column(fc.sequence_categorical_column_with_vocabulary_list("s", ["x", "y"])),
               fc.sequence_numeric_column("n", shape=2)]
    dense, lengths = tf.contrib.feature_column.sequence_input_layer(features, columns)
    values, found = _run([dense, lengths])
    assert found.tolist() == [3, 1]
    np.testing.assert_array_equal(values, [[[1, 2, 1, 0], [3, 4, 0, 1], [5, 6, 1, 0]], [[7, 8, 0, 1], [0] * 4, [0] * 4]])


@pytest.mark.parametrize("make, message", [
    (lambda: fc.numeric_column("a", shape=0), "greater than 0"),
    (lambda: fc.numeric_column("a", dtype=tf.string), "convertible to float"),
    (lambda: fc.bucketized_column(fc.numeric_column("a"), [2, 1]), "sorted list"),
    (lambda: fc.categorical_column_with_hash_bucket("a", 0), "at least 1"),
    (lambda: fc.categorical_column_with_vocabulary_list("a", ["x", "x"]), "Duplicate keys"),
    (lambda: fc.categorical_column_with_vocabulary_file("a", "/no/such/file"), "does not exist"),
    (lambda: fc.embedding_column(fc.categorical_column_with_identity("a", 3), 0), "Invalid dimension"),
    (lambda: fc.crossed_column(["a"], 10), "length > 1"),
    (lambda: fc.input_layer({"a": tf.ones([2])}, [fc.categorical_column_with_identity("a", 3)]), "_DenseColumn"),
    (lambda: fc.input_layer({}, [fc.numeric_column("a")]), "not in features dictionary"),
    (lambda: fc.input_layer({"a": tf.ones([2])}, [fc.numeric_column("a")] * 2), "Duplicate feature column name"),
])
def test_wrong_columns_say_so(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_columns_of_contrib_layers_are_in_tensorflows_order():
    features = {"age": tf.constant([[20.0], [35.0], [60.0]]), "job": _sparse([["a"], ["b", "c"], ["zz"]], [3, 2]),
                "w": _sparse([[0.5], [0.2, 0.3], [0.9]], [3, 2])}
    age, job = layers.real_valued_column("age"), layers.sparse_column_with_keys("job", ["a", "b", "c"])
    bucketized, hashed = layers.bucketized_column(age, [18, 30.0, 50]), layers.sparse_column_with_hash_bucket("job", 10)
    crossed = layers.crossed_column([bucketized, hashed], 20, hash_key=956888297470)
    weighted = layers.weighted_sparse_column(job, "w")
    ones = tf.ones_initializer()
    result = layers.input_from_feature_columns(features, [
        age, bucketized, layers.one_hot_column(job), layers.embedding_column(hashed, 2, initializer=ones),
        layers.one_hot_column(weighted), layers.embedding_column(crossed, 3, initializer=ones, combiner="sum")])
    sums, _, _ = layers.weighted_sum_from_feature_columns(features, [age, bucketized, hashed, crossed, weighted], 2)
    np.testing.assert_allclose(_run(result), [
        [0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0.5, 0, 0, 20], [0, 0, 1, 0, 2, 2, 2, 1, 1, 0, 1, 1, 0, 0.2, 0.3, 35],
        [0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 60]])
    assert [v.op.name for v in tf.global_variables()][2:] == [
        f"weighted_sum_from_feature_columns/{name}" for name in (
            "age_bucketized/weights", "age_bucketized_X_job/weights", "age/weight", "job/weights",
            "job_weighted_by_w/weights", "bias_weight")]
    assert not _run(sums).any()


def test_limits_of_embeddings_may_be_numbers_of_numpy():
    features = {"n": tf.constant([[0], [1]])}
    column = fc.embedding_column(fc.categorical_column_with_identity("n", 2), 4, max_norm=np.sqrt(1.0),
                                 initializer=tf.constant_initializer(1.0))
    np.testing.assert_allclose(_run(fc.input_layer(features, [column])), np.full((2, 4), 0.5), rtol=1e-6)
    np.testing.assert_allclose(_run(tf.clip_by_norm(tf.constant([3.0, 4.0]), np.float64(1.0))), [0.6, 0.8], rtol=1e-6)
