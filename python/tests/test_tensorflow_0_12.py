"""What programs of TensorFlow 0.12 expect and later ones do not contradict."""

import pytest

import weir as tf


@pytest.mark.parametrize("check", [lambda x: tf.assert_equal(x, [1, 2, 4], message="why"),
                                   lambda x: tf.assert_negative(x, message="why"),
                                   lambda x: tf.assert_less(x, 3, message="why")])
def test_a_claim_that_constants_break_fails_in_the_run(check):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1, 2, 3], name="x")
        op = check(x)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)why.*x:0"):
            session.run(op)


def test_a_closed_writer_of_events_ignores_what_comes(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(tf.Summary())
    writer.reopen()
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=1.0)]), 1)
    writer.close()
    tags = [value.tag for path in sorted(tmp_path.iterdir()) for event in tf.train.summary_iterator(str(path))
            for value in event.summary.value]
    assert tags == ["a"]


def test_complex_numbers_of_doubles_are_double():
    import numpy as np

    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.complex(tf.constant(np.array([1.5])), tf.constant(np.array([2.5])))
        assert made.dtype == tf.complex128 and session.run(made) == [1.5 + 2.5j]
        with pytest.raises(TypeError, match="real and imag have incorrect types: float32 float64"):
            tf.complex(tf.constant(1.0), tf.constant(np.float64(1.0)))


def test_an_empty_list_is_one_of_truth_values():
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run([tf.reduce_all([]), tf.reduce_any([])]) == [True, False]


def test_arrays_become_quantised_numbers():
    import numpy as np

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.array([0, 128, 255]), dtype=tf.quint8)
        np.testing.assert_allclose(session.run(tf.dequantize(x, 0.0, 6.0)), [0.0, 128 * 6 / 255, 6.0], rtol=1e-6)


def test_an_operation_on_several_variables_leaves_the_device_scope_around_as_it_is():
    with tf.Graph().as_default() as graph, graph.device("/device:CPU:0"):
        a, b, c = (tf.Variable([1.0]) for _ in range(3))
        tf.raw_ops.ApplyAdam(var=a, m=b, v=c, beta1_power=0.9, beta2_power=0.9, lr=0.1, beta1=0.9, beta2=0.99,
                             epsilon=1e-8, grad=[1.0])
        assert tf.constant(1.0).device == "/device:CPU:0"
