"""Strategies: replicas on several devices train as one model does on all of their data."""

import numpy as np
import pytest

import weir as tf


def _model_fn(features, labels, mode):
    predicted = tf.layers.dense(features, 1, kernel_initializer=tf.zeros_initializer())[:, 0]
    loss = tf.losses.mean_squared_error(labels, predicted)
    if mode != tf.estimator.ModeKeys.TRAIN:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = tf.train.AdamOptimizer(0.1)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, tf.train.get_global_step()))


def _data():
    x = np.random.RandomState(0).randn(64, 3).astype("f")
    return x, x.dot([1.0, -2.0, 0.5]).astype("f")


def _trained(folder, strategy, batch_size):
    config = tf.estimator.RunConfig(train_distribute=strategy)
    estimator = tf.estimator.Estimator(_model_fn, str(folder), config)
    estimator.train(lambda: tf.data.Dataset.from_tensor_slices(_data()).repeat().batch(batch_size), steps=10)
    return estimator


@pytest.mark.parametrize("devices", [["/gpu:0", "/gpu:1"], ["/cpu:0"]])
def test_replicas_train_as_one_model_with_larger_batches(tmp_path, devices):
    alone = _trained(tmp_path / "alone", None, 16)
    together = _trained(tmp_path / "together", tf.distribute.MirroredStrategy(devices), 16 // len(devices))
    assert together.get_variable_names() == alone.get_variable_names() == [
        "beta1_power", "beta2_power", "dense/bias", "dense/bias/Adam", "dense/bias/Adam_1", "dense/kernel",
        "dense/kernel/Adam", "dense/kernel/Adam_1", "global_step"]
    assert together.get_variable_value("global_step") == 10
    np.testing.assert_allclose(together.get_variable_value("dense/kernel"), alone.get_variable_value("dense/kernel"),
                               rtol=1e-4)
    x, y = _data()
    results = together.evaluate(lambda: tf.data.Dataset.from_tensors((x, y)))
    assert results["loss"] < np.mean(y ** 2)


def test_functions_are_called_for_each_replica():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:0"])
    with strategy.scope():
        assert tf.distribute.has_strategy() and tf.distribute.in_cross_replica_context()
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(4))

        def step(x):
            v = tf.get_variable("v", initializer=10, dtype=tf.int32)
            return tf.cast(x, tf.int32) + v + tf.distribute.get_replica_context().replica_id_in_sync_group

        found = strategy.experimental_run_v2(step, args=(iterator.get_next(),))
        total = strategy.reduce(tf.distribute.ReduceOp.SUM, found)
    assert [v.op.name for v in tf.global_variables()] == ["v"] and strategy.num_replicas_in_sync == 2
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), iterator.initialize()])
        assert session.run([total, *strategy.unwrap(found)]) == [22, 10, 12]
    with pytest.raises(ValueError, match="not divisible"):
        tf.distribute.InputContext(1, 0, 2).get_per_replica_batch_size(3)
