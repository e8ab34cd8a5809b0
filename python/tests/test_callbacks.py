"""Functions of the program that the graph calls: gradients and py_func."""

import gc
import itertools
import weakref

import numpy as np
import pytest

import weir as tf

_names = (f"TestGradient{i}" for i in itertools.count())  # registered for the whole process


def test_an_override_decides_what_a_node_is_differentiated_as(sess):
    name = next(_names)

    @tf.RegisterGradient(name)
    def _guided(op, grad):
        return tf.where(grad > 0, op.outputs[0] * grad * 3, tf.zeros_like(grad))

    x = tf.constant([-1.0, 2.0])
    graph = tf.get_default_graph()
    with graph.gradient_override_map({"Relu": name}):
        guided = tf.nn.relu(x)
    with graph.gradient_override_map({"Relu": "Identity"}):
        passed = tf.nn.relu(x)
    plain = tf.nn.relu(x)
    grads = [tf.gradients(y, x)[0] for y in (guided, passed, plain)]
    assert [g.tolist() for g in sess.run(grads)] == [[0.0, 6.0], [1.0, 1.0], [0.0, 1.0]]
    assert guided.op.get_attr("_gradient_op_type") == name.encode()
    assert grads[0].op.name.startswith("gradients/Relu_grad")


def test_optimizers_ask_for_registered_gradients(sess):
    name = next(_names)
    tf.RegisterGradient(name)(lambda op, grad: 10 * grad)
    v = tf.Variable([1.0])
    with tf.get_default_graph().gradient_override_map({"Identity": name}):
        loss = tf.reduce_sum(tf.identity(v.value() * 1.0))
    (grad, _), = tf.train.GradientDescentOptimizer(1.0).compute_gradients(loss)
    sess.run(tf.global_variables_initializer())
    assert sess.run(grad).tolist() == [10.0]


def test_a_gradient_is_registered_once_and_fits_the_inputs():
    name = next(_names)
    tf.RegisterGradient(name)(lambda op, grad: [grad, grad])
    with pytest.raises(KeyError):
        tf.RegisterGradient(name)(lambda op, grad: grad)
    x = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Square": name}):
        y = tf.square(x)
    with pytest.raises(ValueError, match="2 gradients for 1 inputs"):
        tf.gradients(y, x)


def test_exceptions_of_gradient_functions_reach_the_program():
    name = next(_names)

    @tf.RegisterGradient(name)
    def _fails(op, grad):
        raise ArithmeticError("on purpose")

    x = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Square": name}):
        y = tf.square(x)
    with pytest.raises(ArithmeticError, match="on purpose"):
        tf.gradients(y, x)
    assert tf.identity(x).name == "Identity:0"  # the scope of the failed walk is closed


def test_custom_gradient_replaces_the_derivative(sess):
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    x = tf.constant(100.0)
    y = log1pexp(x)
    assert sess.run(tf.gradients(y, x)[0]) == 1.0  # and not NaN

    @tf.custom_gradient
    def two(a, b):
        return [a * b, a + b], lambda da, db: (da, 7 * db)

    outputs = two(x, tf.constant(2.0))
    assert isinstance(outputs, list) and sess.run(outputs) == [200.0, 102.0]
    assert sess.run(tf.gradients(outputs, x)) == [1.0]


def test_py_func_calls_the_function_with_arrays(sess):
    seen = []

    def work(a, b):
        seen.append((type(a), a.dtype, b.tolist()))
        return a + 1, "text", np.array([b.size], np.int64)

    x = tf.placeholder(tf.float32, [2])
    y, text, size = tf.py_func(work, [x, [b"u", b"v"]], [tf.float32, tf.string, tf.int64])
    assert y.op.type == "PyFunc" and y.shape.ndims is None
    values = sess.run([y, text, size], {x: [1, 2]})
    assert values[0].tolist() == [2, 3] and values[1] == b"text" and values[2].tolist() == [2]
    assert seen == [(np.ndarray, np.dtype("float32"), [b"u", b"v"])]
    y.set_shape([2])
    assert sess.run(tf.reduce_sum(y), {x: [3, 4]}) == 9.0


def test_py_func_converts_to_the_types_that_were_asked_for(sess):
    assert sess.run(tf.py_func(lambda: 3, [], tf.float32)).dtype == np.float32
    nothing = tf.py_func(lambda a: None, [1.0], [])
    assert nothing == [] or isinstance(nothing, tf.Operation)


@pytest.mark.parametrize("raised, error", [
    (ValueError, tf.errors.InvalidArgumentError), (StopIteration, tf.errors.OutOfRangeError),
    (NotImplementedError, tf.errors.UnimplementedError), (OSError, tf.errors.UnknownError)])
def test_exceptions_of_py_func_become_errors_of_the_run(sess, raised, error):
    def fail():
        raise raised("on purpose")

    with pytest.raises(error, match=f"{raised.__name__}: on purpose"):
        sess.run(tf.py_func(fail, [], tf.float32))


def test_py_func_with_too_few_results_fails(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="1 results; 2 were expected"):
        sess.run(tf.py_func(lambda: 1.0, [], [tf.float32, tf.float32]))


def test_the_function_lives_as_long_as_its_graph():
    class Function:
        def __call__(self):
            return np.float32(5)

    function = Function()
    watched = weakref.ref(function)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        y = tf.py_func(function, [], tf.float32)
        del function
        gc.collect()
        assert session.run(y) == 5
    del graph, session, y
    gc.collect()
    assert watched() is None
