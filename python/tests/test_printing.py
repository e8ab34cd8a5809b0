"""tf.print, tf.timestamp, critical sections and recomputed gradients."""

import threading
import time

import numpy as np
import pytest

import weir as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_values_are_printed_where_the_program_says(capfd, tmp_path):
    x = tf.constant([1, 2, 3, 4, 5, 6, 7, 8])
    path = tmp_path / "log"
    with tf.Session() as session:
        session.run(tf.print("x is", x, {"a": tf.constant(2.5)}, summarize=2))
        session.run(tf.print(x, output_stream=__import__("sys").stdout, end=""))
        session.run(tf.print(tf.constant("text"), output_stream=f"file://{path}"))
    out, err = capfd.readouterr()
    assert err == "x is [1 2 ... 7 8] {'a': 2.5}\n"
    assert out == "[1 2 3 ... 6 7 8]"
    assert path.read_text() == "text\n"
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print(x, output_stream="nowhere")


def test_the_time_goes_on():
    with tf.Session() as session:
        before, now, after = time.time(), session.run(tf.timestamp()), time.time()
    assert before <= now <= after


def test_one_run_at_a_time_is_in_a_critical_section():
    value = tf.Variable(0.0)
    section = tf.CriticalSection()

    def slow_increment():
        read = value.read_value()
        with tf.control_dependencies([read]):
            waited, = tf.py_func(lambda x: (time.sleep(0.001), x)[1], [read], [tf.float32])
        waited.set_shape([])
        return tf.assign(value, waited + 1)

    increment = section.execute(slow_increment)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        threads = [threading.Thread(target=lambda: [session.run(increment) for _ in range(5)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run(value) == 20


def test_python_functions_of_one_run_may_wait_for_each_other():
    event = threading.Event()
    waits, = tf.py_func(lambda: event.wait(30), [], [tf.bool])
    sets, = tf.py_func(lambda: (event.set(), True)[1], [], [tf.bool])
    with tf.Session() as session:
        assert session.run([waits, sets]) == [True, True]


def test_a_recomputed_gradient_is_the_same():
    x = tf.constant([[1.0, -2.0]])

    def layer(value):
        weights = tf.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0]])
        return tf.tanh(tf.matmul(value, weights))

    with tf.variable_scope("plain"):
        plain = layer(x)
    with tf.variable_scope("again"):
        again = tf.recompute_grad(layer)(x)
    weights = {v.op.name: v for v in tf.trainable_variables()}
    assert sorted(weights) == ["again/w", "plain/w"]
    grads = [tf.gradients(y, [x, weights[f"{name}/w"]]) for name, y in (("plain", plain), ("again", again))]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        a, b = session.run(grads)
    for one, other in zip(a, b):
        np.testing.assert_allclose(one, other)
