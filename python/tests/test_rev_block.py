"""Reversible blocks of contrib.layers, and functions that are computed again for their gradients."""

import numpy as np

import weir as tf


def test_reversible_blocks_have_the_gradients_of_plain_ones():
    def part(x, side=None):
        y = tf.layers.dense(tf.nn.tanh(x), 3, kernel_initializer=tf.constant_initializer(0.3))
        return y if side is None else y * side[0]

    x1, x2 = tf.constant([[1.0, 2, 3]]), tf.constant([[0.5, -1, 2]])
    side = tf.constant([[2.0, 1, 0.5]])

    def build(scope, is_training):
        with tf.variable_scope(scope):
            y1, y2 = tf.contrib.layers.rev_block(x1, x2, part, [part, part], num_layers=2, f_side_input=[side],
                                                 is_training=is_training)
        variables = tf.trainable_variables(scope)
        grads = tf.gradients(tf.reduce_sum(y1 * y2), [x1, x2, side, *variables])
        return [v.op.name[len(scope):] for v in variables], [y1, y2, *grads]

    names, efficient = build("a", True)
    assert names[::2] == [f"/revblock/revlayer_{i}/{f}/dense/kernel" for i in (0, 1) for f in "fg"]
    assert build("b", False)[0] == names
    plain = build("c", False)[1]
    with tf.variable_scope("d"):
        block = tf.contrib.layers.RevBlock(part, part, num_layers=2)
        inputs = block.backward(*block.forward(x1, x2))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for a, b in zip(*session.run([efficient, plain])):
            np.testing.assert_allclose(a, b, rtol=1e-4)
        for a, b in zip(session.run(inputs), session.run([x1, x2])):
            np.testing.assert_allclose(a, b, rtol=1e-4)


def test_reversible_blocks_move_averages_once():
    x = tf.constant([[1.0, 2, 3]])

    def part(x):
        return tf.layers.batch_normalization(x, training=True)

    y1, y2 = tf.contrib.layers.rev_block(x, x, part, part)
    updates = len(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    tf.gradients(y1 + y2, x)
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == updates == 4


def test_a_variable_that_two_recomputed_functions_share_gets_each_gradient_once():
    v = tf.get_variable("v", initializer=3.0)

    def times(x):
        with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):
            return x * tf.get_variable("v", initializer=3.0)

    again = tf.contrib.layers.recompute_grad(times)
    gradient = tf.gradients(again(again(tf.constant(2.0))), v)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(gradient) == 12
