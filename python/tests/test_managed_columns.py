"""Columns whose variables a layer's state manager keeps, and columns as dictionaries."""

import json

import numpy as np
import pytest

import weir as tf
from weir.feature_column import managed, serialization

fc = tf.feature_column


def run(tensor):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(tensor)


def kinds():
    return fc.categorical_column_with_identity("kind", 3)


def features():
    return {"kind": tf.constant([[0], [2]]), "price": tf.constant([[1.0], [5.0]])}


def test_a_linear_model_shares_its_variables_between_calls():
    model = managed.LinearModel([kinds(), fc.numeric_column("price")])
    first, second = model(features()), model(features())
    assert [v.op.name for v in model.variables] == ["linear_model/kind/weights", "linear_model/price/weights",
                                                    "linear_model/bias_weights"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variable, value in zip(model.variables, ([[1.0], [2.0], [3.0]], [[10.0]], [5.0])):
            session.run(variable.assign(value))
        np.testing.assert_allclose(session.run([first, second]), [[[16.0], [58.0]]] * 2)


def test_dense_features_take_embeddings_that_share_vectors():
    one, two = managed.shared_embedding_columns_v2([kinds(), fc.categorical_column_with_identity("other", 3)], dimension=2)
    layer = managed.DenseFeatures([one, two])
    result = layer({"kind": [[1]], "other": [[1]]})
    assert [v.op.name for v in tf.global_variables()] == ["kind_other_shared_embedding"]
    assert layer.compute_output_shape((None,)) == (None, 4)
    values = run(result)
    np.testing.assert_allclose(values[:, :2], values[:, 2:])


def test_sequence_features_give_steps_and_lengths():
    column = fc.embedding_column(fc.sequence_categorical_column_with_identity("kind", 3), 2,
                                 initializer=tf.ones_initializer())
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 1, 2], tf.int64), [2, 2])
    steps, lengths = run(managed.SequenceFeatures([column])({"kind": sparse}))
    np.testing.assert_allclose(steps, [[[1, 1], [1, 1]], [[1, 1], [0, 0]]])
    assert lengths.tolist() == [2, 1]


def test_a_plain_column_is_no_sequence():
    with pytest.raises(ValueError, match="must be of type SequenceCategoricalColumn to use SequenceFeatures"):
        managed.SequenceFeatures([fc.embedding_column(kinds(), 2)])({"kind": tf.SparseTensor([[0, 0]], [1], [1, 1])})


def test_columns_come_back_from_their_descriptions():
    price = fc.bucketized_column(fc.numeric_column("price", shape=2), [0.0, 1.0])
    columns = [price, fc.indicator_column(kinds()), fc.crossed_column(["a", price], 5)]
    described = serialization.serialize_feature_columns(columns)
    again = serialization.deserialize_feature_columns(json.loads(json.dumps(described)))
    assert again == columns and again[2].keys[1] is again[0]
    assert columns[1].parents == [kinds()]
    with pytest.raises(ValueError, match="Unknown feature_column_v2: Nothing"):
        serialization.deserialize_feature_column({"class_name": "Nothing", "config": {}})


def test_columns_of_a_program_may_be_written_either_way():
    class Doubled(managed.DenseColumn):
        name = "doubled"
        parse_example_spec = {}
        variable_shape = tf.TensorShape([1])

        def transform_feature(self, transformation_cache, state_manager):
            return 2.0 * transformation_cache.get("price", state_manager)

        def get_dense_tensor(self, transformation_cache, state_manager):
            return transformation_cache.get(self, state_manager)

    np.testing.assert_allclose(run(fc.input_layer(features(), [Doubled()])), [[2.0], [10.0]])
    np.testing.assert_allclose(run(managed.DenseFeatures([Doubled()])(features())), [[2.0], [10.0]])
