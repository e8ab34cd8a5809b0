"""tf.contrib.cudnn_rnn on the CPU: the same numbers as the compatible cells give step by step."""

import numpy as np
import pytest

import weir as tf

cudnn = tf.contrib.cudnn_rnn
X = np.random.RandomState(0).randn(5, 2, 3).astype("f")  # time, batch, depth


def test_an_lstm_stack_is_its_cells():
    layer = cudnn.CudnnLSTM(2, 4)
    outputs, (h, c) = layer(X)
    again, _ = layer(X, training=False)
    assert [v.op.name for v in tf.trainable_variables()] == [
        f"cudnn_lstm/rnn/multi_rnn_cell/cell_{i}/cudnn_compatible_lstm_cell/{name}" for i in range(2)
        for name in ("kernel", "bias")]
    assert outputs.get_shape().as_list() == [5, 2, 4] and h.get_shape().as_list() == c.get_shape().as_list() == [2, 2, 4]
    with tf.variable_scope("cudnn_lstm", reuse=True):
        cell = tf.nn.rnn_cell.MultiRNNCell([cudnn.CudnnCompatibleLSTMCell(4) for _ in range(2)])
        expected, states = tf.nn.dynamic_rnn(cell, X, dtype=tf.float32, time_major=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run([outputs, again, expected, h, c, states])
    for other in values[1:3]:
        np.testing.assert_allclose(values[0], other, rtol=1e-5)
    np.testing.assert_allclose(values[3], [state.h for state in values[5]], rtol=1e-5)
    np.testing.assert_allclose(values[4], [state.c for state in values[5]], rtol=1e-5)


def test_both_directions_and_lengths():
    layer = cudnn.CudnnGRU(1, 4, direction="bidirectional")
    outputs, (h,) = layer(X, sequence_lengths=[5, 2])
    assert tf.trainable_variables()[0].op.name == (
        "cudnn_gru/stack_bidirectional_rnn/cell_0/bidirectional_rnn/fw/cudnn_compatible_gru_cell/gates/kernel")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values, states = session.run([outputs, h])
    assert values.shape == (5, 2, 8) and states.shape == (2, 2, 4)
    assert not values[2:, 1].any() and np.allclose(states[0, 1], values[1, 1, :4])
    np.testing.assert_allclose(states[1], values[0, :, 4:], rtol=1e-5)
    with pytest.raises(ValueError, match="Invalid direction"):
        cudnn.CudnnLSTM(1, 4, direction="sideways")
