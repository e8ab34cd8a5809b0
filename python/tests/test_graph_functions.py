"""tf.function and defun in graphs."""

import numpy as np
import pytest

import weir as tf
from weir.ops import graph_functions


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def _run(value):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(value)


def test_results_keep_their_structure_and_have_gradients():
    @tf.function
    def f(x, factor=2.):
        return {"product": x * factor, "rest": [x + 1., None]}

    x = tf.constant(3.)
    result = f(x)
    assert result["rest"][1] is None
    grad, = tf.gradients(result["product"], x)
    assert _run([result["product"], result["rest"][0], grad]) == [6., 4., 2.]
    assert _run(f(np.float32(4), factor=3.)["product"]) == 12.


def test_effects_happen_in_the_order_of_the_lines_and_before_the_results():
    v = tf.Variable(1., use_resource=True)

    @tf.function
    def f(d):
        v.assign_add(d)
        seen = v + 0.
        v.assign(seen * 10.)
        return seen

    @tf.function
    def g():
        tf.cond(v > 10., lambda: v.assign_add(100.), lambda: v.assign_add(1000.))
        v.assign_add(1.)

    seen, done = f(1.), g()
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(seen) == 2.
        assert sess.run(v) == 20.
        sess.run(done)
        assert sess.run(v) == 121.


def test_variables_are_made_once_for_each_object():
    class Scale:
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable([2., 3.])
            return self.w * x

    first, second = Scale(), Scale()
    results = [first(tf.ones([2])), first(5.), second(1.)]
    assert first.w is not second.w and len(tf.global_variables()) == 2
    for value, wanted in zip(_run(results), ([2, 3], [10, 15], [2, 3])):
        np.testing.assert_array_equal(value, wanted)

    made = []

    @tf.function
    def grows(x):
        made.append(tf.Variable(1.))
        return x + made[-1]

    grows(tf.constant(1.))
    with pytest.raises(ValueError, match="non-first call"):
        grows(tf.constant([1., 2.]))


def test_defun_finds_its_variables_again():
    @graph_functions.defun
    def f(x):
        return tf.get_variable("w", [], initializer=tf.ones_initializer()) * x

    assert _run([f(tf.constant(2.)), f(tf.constant(3.))]) == [2., 3.]
    assert [v.op.name for v in tf.global_variables()] == ["w"]


def test_a_signature_says_what_fits():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def total(x):
        return tf.reduce_sum(x)

    assert _run(total([1., 2., 3.])) == 6.
    with pytest.raises(ValueError, match="incompatible with input_signature"):
        total(tf.ones([2, 2]))
    with pytest.raises(ValueError, match="does not match input_signature"):
        total(tf.ones([2]), tf.ones([2]))
    with pytest.raises(TypeError, match="TensorSpec"):
        tf.function(lambda x: x, input_signature=[3])
    with pytest.raises(TypeError, match="zero or more Tensors"):
        tf.function(lambda: object())()


def test_a_concrete_function_takes_tensors():
    concrete = tf.function(lambda x, y: x - y).get_concrete_function(tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32))
    assert concrete.output_dtypes == [tf.float32]
    assert _run([concrete(5., 3.), concrete(5., y=tf.constant(4.))]) == [2., 1.]
    with pytest.raises(TypeError, match="takes 2 tensors"):
        concrete(1.)


def test_captured_values_of_a_critical_section_are_computed_before_it_is_locked():
    section, v = tf.CriticalSection(shared_name="section"), tf.Variable(1., use_resource=True)
    first = section.execute(lambda: tf.identity(1.))
    second = section.execute(lambda: 1. + first)
    assert _run(second) == 2.
    with pytest.raises(ValueError, match="would cause deadlocks"):
        section.execute(lambda: section.execute(lambda: tf.constant(1.)))
    section.execute(v.read_value)
    with pytest.raises(ValueError, match="exclusive_resource_access"):
        tf.CriticalSection(shared_name="other").execute(v.read_value)
