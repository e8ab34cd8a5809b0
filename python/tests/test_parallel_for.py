"""Functions of every number below a count: tensorflow.python.ops.parallel_for and tf.vectorized_map."""

import numpy as np
import pytest

import weir as tf
from weir.ops.parallel_for import batch_jacobian, for_loop, jacobian, pfor


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_pfor_stacks_what_every_iteration_gives():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    squares, total = pfor(lambda i: (tf.square(tf.gather(x, i)), [tf.reduce_sum(tf.gather(x, i))])[:2], 3)
    assert squares.shape.as_list() == [3, 2]
    squares, total = run([squares, total[0]])
    np.testing.assert_allclose(squares, [[1, 4], [9, 16], [25, 36]])
    np.testing.assert_allclose(total, [3, 7, 11])


def test_pfor_gives_sparse_results_a_dimension_more():
    result = pfor(lambda i: tf.SparseTensor([[1]], [i], [4]), 3)
    value = run(result)
    assert value.indices.tolist() == [[0, 1], [1, 1], [2, 1]]
    assert value.values.tolist() == [0, 1, 2] and value.dense_shape.tolist() == [3, 4]


def test_pfor_runs_operations_in_every_iteration():
    count = tf.Variable(0, use_resource=True)
    done = pfor(lambda i: tf.assign_add(count, i).op, 4)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(done)
        assert session.run(count) == 6


def test_pfor_refuses_iterations_one_by_one():
    with pytest.raises(ValueError, match="Use for_loop instead"):
        pfor(lambda i: i, 3, parallel_iterations=1)


def test_for_loop_gives_none_for_none():
    values, nothing = for_loop(lambda i: [i * 2, None], [tf.int32, tf.int32], 3)
    assert nothing is None and run(values).tolist() == [0, 2, 4]


def test_vectorized_map_finds_the_types_itself():
    result = tf.vectorized_map(lambda pair: tf.strings.as_string(pair[0] + pair[1]), (tf.constant([1, 2]), tf.constant([3, 4])))
    assert run(result).tolist() == [b"4", b"6"]


def test_jacobians_are_the_derivatives_of_every_output():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = tf.square(x) * [[1.0, 10.0]]
    whole, batch = run([jacobian(y, x), batch_jacobian(y, x)])
    assert whole.shape == (2, 2, 2, 2)
    np.testing.assert_allclose(batch, [[[2, 0], [0, 40]], [[6, 0], [0, 80]]])
    np.testing.assert_allclose(whole[0, :, 0], batch[0])
