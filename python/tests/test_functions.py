"""Operations that call functions of the graph: by TensorFlow's names, and as raw operations."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import weir as tf
from weir.ops import function_calls
from weir.ops.defun import Defun


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


@Defun(tf.float32, tf.float32)
def _product(x, y):
    """Its gradients are y and x."""
    return x * y


def test_a_call_runs_the_function_and_has_its_gradient():
    x, y = tf.constant([1., 2.]), tf.constant([3., 4.])
    (z,) = function_calls.partitioned_call([x, y], _product)
    assert z.op.type == "StatefulPartitionedCall"
    dx, dy = tf.gradients(z, [x, y])
    assert dx.op.type == "SymbolicGradient"
    with tf.Session() as sess:
        for value, wanted in zip(sess.run([z, dx, dy]), ([3, 8], [3, 4], [1, 2])):
            np.testing.assert_array_equal(value, wanted)


def test_raw_operations_take_functions_of_the_program():
    x, y = tf.constant(2.), tf.constant(5.)
    called = tf.raw_ops.PartitionedCall(args=[x, y], Tout=[tf.float32], f=_product)
    gradient = tf.raw_ops.SymbolicGradient(input=[x, y, 1.], Tout=[tf.float32, tf.float32], f=_product)
    with tf.Session() as sess:
        assert sess.run(called) == [10.]
        assert sess.run(gradient) == [5., 2.]


def test_functions_travel_in_graph_definitions():
    x = tf.placeholder(tf.float32, [], name="x")
    tf.identity(tf.raw_ops.SymbolicGradient(input=[x, x, 1.], Tout=[tf.float32, tf.float32], f=_product)[0], name="z")
    definition = tf.get_default_graph().as_graph_def()
    assert [function.signature.name for function in definition.library.function] == ["_product"]
    with tf.Graph().as_default(), tf.Session() as sess:
        z, = tf.import_graph_def(definition, return_elements=["z:0"], name="")
        assert sess.run(z, {"x:0": 7.}) == 7.


def test_functional_if_while_and_for():
    ops = function_calls

    @Defun(tf.float32)
    def twice(x):
        return x * 2.

    @Defun(tf.float32)
    def small(x):
        return x < 50.

    @Defun(tf.int32, tf.float32)
    def add(i, x):
        return x + tf.cast(i, tf.float32)

    with tf.Session() as sess:
        assert sess.run(ops.If(3, [4.], twice, lambda x: x)) == [8.]
        assert sess.run(ops.If(tf.constant(False), [4.], twice, lambda x: x + 0.)) == [4.]
        assert sess.run(ops.While([3.], small, twice)) == [96.]
        assert sess.run(ops.For(1, 7, 2, [0.], add)) == [9.]
        assert sess.run(ops.For(7, 1, -2, [0.], add)) == [15.]
        assert sess.run(ops.Gradient([3., 4., 1.], _product)) == [4., 3.]


def test_a_case_of_the_graph():
    branches = [_times(factor) for factor in (1., 10., 100.)]
    index = tf.placeholder(tf.int32, [])
    x = tf.constant(3.)
    (chosen,) = tf.raw_ops.Case(branch_index=index, input=[x], Tout=[tf.float32], branches=branches)
    (gradient,) = tf.gradients(chosen, x)
    with tf.Session() as sess:
        assert [sess.run(chosen, {index: i}) for i in (0, 1, 2, 9)] == [3., 30., 300., 300.]
        assert [sess.run(gradient, {index: i}) for i in (0, 1, 2, -1)] == [1., 10., 100., 100.]


def _times(factor):
    @Defun(tf.float32, func_name=f"times_{int(factor)}")
    def times(x):
        return x * factor
    return times


def test_calls_of_several_runs_are_one():
    sizes = []

    @tf.nondifferentiable_batch_function(1, 6, 3600 * 1000000)
    def twice(x):
        count = tf.py_func(lambda rows: sizes.append(len(rows)) or np.float32(2), [x], tf.float32)
        return x * count

    x = tf.placeholder(tf.float32, [None])
    doubled = twice(x)[0]
    with tf.Session() as sess:
        with ThreadPoolExecutor(3) as pool:
            results = list(pool.map(lambda i: sess.run(doubled, {x: [i, i + 1]}).tolist(), range(3)))
    assert results == [[2 * i, 2 * i + 2] for i in range(3)]
    assert sizes == [6]


def test_nothing_depends_on_numbers_that_gradients_are_asked_for():
    x = tf.constant(2.0)
    slope, *others = tf.gradients(x * x, [x, 0.65, np.float32(3), [1.0, 2.0], np.ones(2)])
    assert others == [None] * 4
    with tf.Session() as sess:
        assert sess.run(slope) == 4
    with pytest.raises((TypeError, ValueError)):
        tf.gradients(x * x, [None])


def test_a_defined_function_tells_its_definition():
    @Defun(tf.float32, tf.float32, func_name="APlus2B", noinline=True)
    def a_plus_2b(a, b):
        """Adds twice."""
        return a + b * 2, tf.Print(a, [a])

    definition = a_plus_2b.definition
    assert definition.signature.name == "APlus2B" and definition.signature.description == "Adds twice."
    assert len(definition.signature.input_arg) == len(definition.signature.output_arg) == 2
    assert definition.attr["_noinline"].b and a_plus_2b.stateful_ops == [("Print", "Print")]

    @Defun()
    def twice(x):
        return x * 2

    whole = twice.instantiate([tf.int32])
    assert whole.name == "twice_int32" and whole.definition.signature.input_arg[0].type == tf.int32.as_datatype_enum
    assert whole.instantiate([tf.int32]) is whole


def test_a_batch_has_any_number_of_rows():
    from weir.ops.batch_ops import batch_function

    with tf.Graph().as_default(), tf.Session() as session:
        @batch_function(1, 10, 100000)
        def doubled(x):
            assert x.shape.as_list() == [None]
            return x * 2

        x = tf.placeholder_with_default([1], [1])
        assert session.run(doubled(x))[0].tolist() == [2]
