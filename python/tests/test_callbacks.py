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


def test_an_override_is_part_of_the_graph_definition(sess):
    name = next(_names)
    tf.RegisterGradient(name)(lambda op, grad: 10 * grad)
    with tf.get_default_graph().gradient_override_map({"Square": name}):
        tf.square(tf.placeholder(tf.float32, [], name="x"), name="y")
    definition = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(3.0)
        y, = tf.import_graph_def(definition, {"x:0": x}, ["y:0"])
        assert session.run(tf.gradients(y, x)) == [10.0]


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


def test_what_has_a_gradient_is_not_registered_again():
    with pytest.raises(KeyError, match="Registering two gradient with name 'Relu'"):
        tf.RegisterGradient("Relu")(lambda op, grad: grad)
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.RegisterGradient(tf.nn.relu)
    for name in (tf.NotDifferentiable, tf.NoGradient, tf.no_gradient):
        with pytest.raises(KeyError):
            name("Size")
    with pytest.raises(TypeError):
        tf.get_default_graph().gradient_override_map(["Relu"])
    with pytest.raises(TypeError):
        with tf.get_default_graph().gradient_override_map({"Relu": 1}):
            pass


def test_an_override_that_nobody_registered_is_an_error_of_gradients_alone(sess):
    x = tf.constant(-1.0)
    with tf.get_default_graph().gradient_override_map({"Relu": "NobodyKnows"}):
        y = tf.nn.relu(x)
    assert sess.run(y) == 0.0
    with pytest.raises(LookupError, match="No gradient defined for operation 'Relu'"):
        tf.gradients(y, x)


def test_not_differentiable_types_stop_gradients():
    name = next(_names)
    tf.NotDifferentiable(name)
    x = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Square": name}):
        y = tf.square(x)
    assert tf.gradients(y, x) == [None]


def test_gradient_functions_may_give_sparse_gradients_and_none(sess):
    name = next(_names)

    @tf.RegisterGradient(name)
    def _sparse(op, grad):
        return tf.IndexedSlices(2 * grad, op.inputs[1], tf.shape(op.inputs[0])), None

    x = tf.Variable([[1.0], [2.0]])
    with tf.get_default_graph().gradient_override_map({"Gather": name, "GatherV2": name, "ResourceGather": name}):
        node = tf.raw_ops.Gather(params=x, indices=[1, 1])
    grad = tf.gradients(node, x)[0]
    assert isinstance(grad, tf.IndexedSlices)
    assert sess.run(tf.convert_to_tensor(grad)).tolist() == [[0], [4]]


def test_gradient_functions_with_a_wrong_shape_are_caught():
    name = next(_names)
    tf.RegisterGradient(name)(lambda op, grad: tf.constant([1.0, 2.0]))
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.get_default_graph().gradient_override_map({"Square": name}):
        y = tf.square(x)
    with pytest.raises(ValueError, match="shape"):
        tf.gradients(y, x)


def test_py_functions_get_gradients_by_an_override(sess):
    name = next(_names)

    @tf.RegisterGradient(name)
    def _cosh(op, *grads):
        assert grads[1] is None  # of an integer
        return grads[0] * tf.cosh(op.inputs[0])

    x = tf.constant([0.0, 1.0])
    with tf.get_default_graph().gradient_override_map({"PyFunc": name}):
        y, _ = tf.py_func(lambda a: (np.sinh(a), np.int64(1)), [x], [tf.float32, tf.int64])
    np.testing.assert_allclose(sess.run(tf.gradients(y, x)[0]), np.cosh([0.0, 1.0]), rtol=1e-6)


def test_registered_gradients_work_in_branches_and_loops(sess):
    name = next(_names)
    tf.RegisterGradient(name)(lambda op, grad: 3 * grad * op.inputs[0])
    x = tf.constant(2.0)
    with tf.get_default_graph().gradient_override_map({"Square": name}):
        branch = tf.cond(x > 0, lambda: tf.square(x), lambda: x)
        _, last = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, tf.square(v)), (0, x))
    assert sess.run([tf.gradients(branch, x)[0], tf.gradients(last, x)[0]]) == [6.0, 72.0]


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


def test_custom_gradients_fit_the_arguments():
    x, y = tf.constant(1.0), tf.constant(2.0)
    product = tf.custom_gradient(lambda a, b: (a * b, lambda dy: dy))(x, y)
    with pytest.raises(ValueError, match="expected to return 2 gradients but returned 1"):
        tf.gradients(product, x)
    with pytest.raises(ValueError, match="keywords"):
        tf.custom_gradient(lambda a: (a, lambda dy: dy))(a=x)


def test_custom_gradients_keep_nested_results(sess):
    @tf.custom_gradient
    def f(x):
        return {"a": x, "b": (2 * x, [3 * x])}, lambda da, db, dc: da + 10 * db + 100 * dc

    x = tf.constant(1.0)
    result = f(x)
    assert sess.run(result) == {"a": 1.0, "b": (2.0, [3.0])}
    assert sess.run(tf.gradients([result["a"], result["b"][1][0]], x)) == [101.0]


def test_custom_gradients_name_the_variables_that_they_use(sess):
    with tf.variable_scope("scope", use_resource=True):
        w = tf.get_variable("w", initializer=3.0)

    @tf.custom_gradient
    def scaled(x):
        def grad(dy, variables=None):
            assert variables == [w]
            return [10 * dy], [20 * dy]

        return w * x, grad

    x = tf.constant(2.0)
    y = scaled(x)
    sess.run(tf.global_variables_initializer())
    assert sess.run([y] + tf.gradients(y, [x, w])) == [6.0, 10.0, 20.0]
    with pytest.raises(TypeError, match="must accept a keyword argument 'variables'"):
        tf.custom_gradient(lambda x: (w * x, lambda dy: dy))(x)
    with pytest.raises(TypeError, match="use_resource=True"):
        tf.custom_gradient(lambda x: (2 * x, lambda dy, variables=None: dy))(x)


def test_gradients_pass_through(sess):
    x = tf.constant([0.4, 1.6])
    with tf.variable_scope("scope", use_resource=True):
        rounded = tf.grad_pass_through(tf.round)(x)
    assert sess.run(rounded).tolist() == [0, 2]
    assert sess.run(tf.gradients(rounded, x)[0]).tolist() == [1, 1]


def test_py_func_computes_with_denormals_as_the_program_does(sess):
    x = tf.constant(np.float32([1e-38]))  # below it are the denormals, which runs take for zero
    theirs, ours = sess.run([tf.py_func(lambda a: a / np.float32(4), [x], tf.float32), tf.placeholder_with_default(x, [1]) / 4])
    assert theirs[0] > 0 and ours[0] == 0


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


def test_py_func_takes_results_of_the_types_that_were_promised(sess):
    assert sess.run(tf.py_func(lambda: 3, [], tf.int64)) == 3
    assert sess.run(tf.py_func(lambda: ["a", "bc"], [], [tf.string, tf.string])) == [b"a", b"bc"]
    assert sess.run(tf.py_func(lambda: np.array(["a", "bcd"]), [], tf.string)).tolist() == [b"a", b"bcd"]
    assert sess.run(tf.py_func(lambda: np.arange(3, dtype=">i4"), [], tf.int32)).tolist() == [0, 1, 2]
    for given, wanted in ((1.0, tf.float32), (3, tf.float32), ("a", tf.int32), (1, tf.string)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="0-th value returned by pyfunc_"):
            sess.run(tf.py_func(lambda: given, [], wanted))


def test_py_func_without_results_runs_for_what_it_does(sess):
    seen = []
    for function in (lambda a: seen.append(float(a)), lambda a: seen.append(float(a)) or []):
        operation = tf.py_func(function, [1.5], [])
        assert isinstance(operation, tf.Operation) and sess.run(operation) is None
    assert seen == [1.5, 1.5]


def test_py_func_may_change_its_arguments(sess):
    def clear(a):
        a[:] = 0
        return a

    x = tf.constant([1.0, 2.0])
    assert [v.tolist() for v in sess.run([tf.py_func(clear, [x], tf.float32), x])] == [[0, 0], [1, 2]]


def test_py_func_takes_empty_and_scalar_arrays(sess):
    shapes = tf.py_func(lambda a, b: (a, np.array(b.shape, np.int64)), [np.zeros((0, 3), np.float32), 5],
                        [tf.float32, tf.int64])
    empty, shape = sess.run(shapes)
    assert empty.shape == (0, 3) and shape.tolist() == []


def test_py_func_gives_numbers_and_bytes_for_scalars(sess):
    seen = []
    scalars = [tf.constant(2.5), tf.constant(3), tf.constant(True), tf.constant("TRAIN"), tf.constant(["a"])]
    sess.run(tf.py_func(lambda *values: seen.extend(values), scalars, []))
    assert [type(value) for value in seen] == [np.float32, np.int32, np.bool_, bytes, np.ndarray]
    assert seen[3] == b"TRAIN" and {seen[3]: 1, seen[1]: 2}


def test_py_func_checks_its_arguments():
    with pytest.raises(ValueError, match="callable"):
        tf.py_func(3, [], tf.float32)
    with pytest.raises(TypeError, match="Expected list"):
        tf.py_func(np.sinh, tf.constant(1.0), tf.float32)


def test_py_func_has_no_gradient():
    x = tf.constant(1.0)
    assert tf.gradients(tf.py_func(np.sinh, [x], tf.float32), x) == [None]


def test_py_func_runs_in_branches_and_loops(sess):
    x = tf.placeholder(tf.float32, [])

    def doubled(v):
        result = tf.py_func(lambda a: a * 2, [v], tf.float32)
        result.set_shape([])
        return result

    branch = tf.cond(x > 0, lambda: doubled(x), lambda: x)
    _, last = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, doubled(v)), (0, x))
    assert sess.run([branch, last], {x: 1.5}) == [3.0, 12.0]


def test_many_py_funcs_of_one_run_each_get_their_turn(sess):
    parts = [tf.py_func(lambda a, k=k: a + np.float32(k), [tf.zeros([1000])], tf.float32) for k in range(8)]
    for _ in range(20):
        assert sess.run(tf.add_n([tf.reduce_max(p) for p in parts])) == 28.0


@pytest.mark.parametrize("raised, error", [
    (ValueError, tf.errors.InvalidArgumentError), (StopIteration, tf.errors.OutOfRangeError),
    (NotImplementedError, tf.errors.UnimplementedError), (OSError, tf.errors.UnknownError)])
def test_exceptions_of_py_func_become_errors_of_the_run(sess, raised, error):
    def fail():
        raise raised("on purpose")

    with pytest.raises(error, match=f"{raised.__name__}: on purpose") as caught:
        sess.run(tf.py_func(fail, [], tf.float32, name="failing"))
    assert "Traceback" in str(caught.value) and "in fail" in str(caught.value)
    assert 'raise raised("on purpose")' in str(caught.value)  # the line of the function
    assert caught.value.op.name == "failing"


def test_py_func_with_too_few_results_fails(sess):
    for result, wanted in ((np.float32(1), 2), ((np.float32(1),) * 3, 2), (np.float32(1), 0), (None, 1)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"but expects to see {wanted} values"):
            sess.run(tf.py_func(lambda: result, [], [tf.float32] * wanted))


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


def test_values_of_py_function_have_numpy(sess):
    def describe(number, text, vector):
        assert isinstance(text.numpy(), bytes)
        return text.numpy() + str(number.numpy() + vector.numpy().sum()).encode()

    text = tf.py_function(describe, [tf.constant(2.0), tf.constant("sum "), tf.constant([1.0, 2.0])], tf.string)
    assert sess.run(text) == b"sum 5.0"
    same = tf.py_function(lambda *values: list(values), [tf.constant(b"a"), tf.constant([1, 2])], [tf.string, tf.int32])
    assert [value.tolist() if hasattr(value, "tolist") else value for value in sess.run(same)] == [b"a", [1, 2]]
