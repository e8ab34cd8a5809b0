"""Functions as TensorFlow 0.12 and 1.0 had them: other names, other argument orders, told apart by the arguments."""

import numpy as np
import pytest

import weir as tf

X = [[1.0, 2.0], [3.0, 4.0]]


def test_concat_takes_the_dimension_first_as_in_0_12(sess):
    a, b = tf.constant([[1, 2]]), tf.constant([[3, 4]])
    assert sess.run(tf.concat(0, [a, b])).tolist() == [[1, 2], [3, 4]]
    assert sess.run(tf.concat(1, [a, b])).tolist() == [[1, 2, 3, 4]]
    assert sess.run(tf.concat(concat_dim=1, values=[a, b])).tolist() == [[1, 2, 3, 4]]
    assert sess.run(tf.concat([a, b], 1)).tolist() == [[1, 2, 3, 4]]
    assert sess.run(tf.concat_v2([a, b], 0)).tolist() == [[1, 2], [3, 4]]


def test_split_takes_the_dimension_and_the_number_first_as_in_0_12(sess):
    x = tf.constant([[1, 2, 3, 4]])
    for parts in (tf.split(1, 2, x), tf.split(split_dim=1, num_split=2, value=x), tf.split(x, 2, 1),
                  tf.split(value=x, num_or_size_splits=2, axis=1)):
        assert [p.tolist() for p in sess.run(parts)] == [[[1, 2]], [[3, 4]]]


def test_pack_and_unpack_are_stack_and_unstack(sess):
    assert sess.run(tf.pack([1, 2])).tolist() == [1, 2]
    assert [float(v) for v in sess.run(tf.unpack(tf.constant([1.0, 2.0])))] == [1, 2]


def test_arithmetic_of_0_12(sess):
    x = tf.constant(X)
    results = sess.run([tf.mul(x, 2.0), tf.sub(x, 1.0), tf.neg(x), tf.inv(x), tf.complex_abs(tf.constant([3 + 4j]))])
    assert results[0].tolist() == [[2, 4], [6, 8]] and results[1].tolist() == [[0, 1], [2, 3]]
    assert results[2].tolist() == [[-1, -2], [-3, -4]]
    assert np.allclose(results[3], 1 / np.array(X)) and results[4] == 5


def test_reductions_take_reduction_indices_and_keep_dims(sess):
    assert sess.run(tf.reduce_sum(X, reduction_indices=[1])).tolist() == [3, 7]
    assert sess.run(tf.reduce_mean(X, 0, True)).tolist() == [[2, 3]]
    assert sess.run(tf.reduce_max(X, axis=1, keep_dims=True)).tolist() == [[2], [4]]
    assert sess.run(tf.argmax(X, dimension=1)).tolist() == [1, 1]


def test_cross_entropies_take_logits_first_as_in_0_12(sess):
    logits, labels = tf.constant([[1.0, 2.0]]), tf.constant([[0.0, 1.0]])
    old = tf.nn.softmax_cross_entropy_with_logits(logits, labels)
    new = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    assert np.allclose(*sess.run([old, new])) and not np.allclose(sess.run(new), 0)
    old = tf.nn.sparse_softmax_cross_entropy_with_logits(logits, [1])
    new = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=logits)
    assert np.allclose(*sess.run([old, new]))
    old = tf.nn.sigmoid_cross_entropy_with_logits(logits, labels)
    new = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    assert np.allclose(*sess.run([old, new]))
    assert np.allclose(*sess.run([tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, targets=labels), new]))


def test_a_reversal_takes_a_bool_for_each_dimension_as_in_0_12(sess):
    assert sess.run(tf.reverse(tf.constant(X), [False, True])).tolist() == [[2, 1], [4, 3]]
    assert sess.run(tf.reverse(tf.constant(X), [1])).tolist() == [[2, 1], [4, 3]]


def test_initializers_of_0_12_are_functions_and_later_ones_are_classes(sess):
    assert sess.run(tf.zeros_initializer([2])).tolist() == [0, 0]
    assert sess.run(tf.ones_initializer([2], tf.int32)).tolist() == [1, 1]
    for name, initializer in (("a", tf.zeros_initializer), ("b", tf.zeros_initializer()), ("c", tf.constant_initializer(0.0))):
        variable = tf.get_variable(name, [2], initializer=initializer)
        sess.run(variable.initializer)
        assert sess.run(variable).tolist() == [0, 0]


def test_selection_and_matrix_products_of_0_12(sess):
    assert sess.run(tf.select([True, False], [1, 2], [3, 4])).tolist() == [1, 4]
    a = np.ones((2, 3, 4), np.float32)
    assert sess.run(tf.batch_matmul(a, a, adj_y=True)).shape == (2, 3, 3)


def test_old_names_of_collections_and_initialisation(sess):
    variable = tf.Variable(1.0)
    assert tf.all_variables() == [variable] and tf.GraphKeys.VARIABLES == tf.GraphKeys.GLOBAL_VARIABLES
    sess.run(tf.initialize_all_variables())
    sess.run(tf.initialize_variables([variable]))
    sess.run(tf.initialize_local_variables())
    assert sess.run(variable) == 1


def test_scopes_of_0_x(sess):
    x = tf.constant(1.0)
    with tf.op_scope([x], None, "default") as scope:
        assert scope == "default/"
    with tf.variable_op_scope([x], None, "layer") as scope:
        assert tf.get_variable("w", [1]).name == "layer/w:0"
    with tf.variable_scope("layer") as scope:
        scope.reuse_variables()
        assert tf.get_variable("w", [1]).name == "layer/w:0"


@pytest.mark.parametrize("call", [
    lambda x: tf.nn.softmax(x, dim=1), lambda x: tf.nn.l2_normalize(x, dim=1), lambda x: tf.squeeze(x, squeeze_dims=[]),
    lambda x: tf.expand_dims(x, dim=0), lambda x: tf.nn.dropout(x, 1.0), lambda x: tf.nn.moments(x, [0], keep_dims=True)[0],
])
def test_old_argument_names_are_taken(sess, call):
    assert np.isfinite(sess.run(call(tf.constant(X)))).all()
