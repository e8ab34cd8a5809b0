"""tf.contrib.grid_rnn: shapes, variables, and a grid of one dimension, which is its inner cell."""

import numpy as np
import pytest

import weir as tf


def _run(cell, inputs, state):
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
        outputs = cell(inputs, state)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(outputs)


def test_two_dimensions_with_a_flat_one():
    cell = tf.contrib.grid_rnn.Grid2LSTMCell(2, tied=True, non_recurrent_fn=tf.nn.relu, use_peepholes=True)
    assert cell.state_size == ((2, 2),) and cell.output_size == (2,)
    (out,), ((c, h),) = _run(cell, tf.constant([[1., 1., 1.]]), ((tf.constant([[0.1, 0.2]]), tf.constant([[0.3, 0.4]])),))
    assert out.shape == c.shape == h.shape == (1, 2)
    names = [v.op.name for v in tf.global_variables()]
    assert {"root/Grid2LSTMCell/project_m_0", "root/Grid2LSTMCell/recurrent/lstm_cell/w_f_diag",
            "root/Grid2LSTMCell/non_recurrent/fully_connected/weights"} <= set(names)


def test_one_joined_state():
    cell = tf.contrib.grid_rnn.Grid2GRUCell(2, state_is_tuple=False, output_is_tuple=False)
    assert cell.state_size == 4 and cell.output_size == 2
    out, state = _run(cell, tf.constant([[1., 1.]]), tf.constant([[0.1, 0.2, 0.3, 0.4]]))
    assert out.shape == (1, 2) and state.shape == (1, 4)


def test_one_dimension_is_its_cell():
    x, m = np.array([[1., 1.]], np.float32), np.array([[0.1, 0.1]], np.float32)
    (out,), (state,) = _run(tf.contrib.grid_rnn.Grid1BasicRNNCell(2), tf.constant(x), (tf.constant(m),))
    projected = x @ np.full((2, 2), 0.5)  # stands for the state
    np.testing.assert_allclose(out, np.tanh(projected @ np.full((2, 2), 0.5)), rtol=1e-6)
    np.testing.assert_allclose(out, state)


def test_refusals():
    with pytest.raises(ValueError, match="Invalid dims"):
        tf.contrib.grid_rnn.GridRNNCell(2, num_dims=2, input_dims=2)
    with pytest.raises(TypeError, match="RNNCell instance"):
        tf.contrib.grid_rnn.GridRNNCell(2, cell_fn=lambda units: object())
