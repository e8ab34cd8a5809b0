"""tf.train's optimizers where Python takes part: one object over several graphs, constraints, steps of a program's own."""

import numpy as np
import pytest
import weir as tf


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetch) for fetch in fetches]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def variable(value, resource, name=None, **options):
    return tf.get_variable(name or "v", initializer=tf.constant(value), use_resource=resource, **options)


@pytest.mark.parametrize("resource", [False, True])
def test_a_class_of_the_program_does_the_steps_that_it_defines(resource):
    class Halving(tf.train.Optimizer):
        def __init__(self):
            super().__init__(False, "Halving")

        def _create_slots(self, var_list):
            for var in var_list:
                self._zeros_slot(var, "sum", self._name)

        def _prepare(self):
            self.rate = tf.convert_to_tensor(0.1)

        def _apply_dense(self, grad, var):
            total = self.get_slot(var, "sum")
            return var.assign_sub(self.rate * total.assign(0.5 * total + grad)).op

        _resource_apply_dense = _apply_dense

    v = variable([1.0, 2.0], resource)
    optimizer = Halving()
    train = optimizer.minimize(v * v)
    _, value, _, total = run(train, v, train, optimizer.get_slot(v, "sum"))
    np.testing.assert_allclose(value, [0.8, 1.6])
    np.testing.assert_allclose(total, [2.6, 5.2])
    assert optimizer.get_slot_names() == ["sum"]
    assert optimizer.get_slot(v, "sum").op.name == "v/Halving"


@pytest.mark.parametrize("resource", [False, True])
def test_a_class_may_extend_an_optimizer(resource):
    class Decayed(tf.train.AdamOptimizer):
        def _apply_dense(self, grad, var):
            with tf.control_dependencies([var.assign_sub(0.5 * var)]):
                return super()._apply_dense(grad, var)

        _resource_apply_dense = _apply_dense

    v = variable([1.0, 2.0], resource)
    optimizer = Decayed(0.001)
    _, value = run(optimizer.minimize(v * 0.0), v)
    np.testing.assert_allclose(value, [0.5, 1.0])
    assert optimizer.get_slot_names() == ["m", "v"]
    assert [power.op.name for power in optimizer._get_beta_accumulators()] == ["beta1_power", "beta2_power"]


def test_a_class_without_a_rule_says_so():
    class Empty(tf.train.Optimizer):
        pass

    v = variable([1.0], False)
    with pytest.raises(NotImplementedError):
        Empty(False, "Empty").minimize(v * v)


def test_an_optimizer_serves_one_graph_after_the_other():
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    assert optimizer.get_slot_names() == [] and optimizer.variables() == []
    for name in ("a", "b"):
        with tf.Graph().as_default():
            v = variable([1.0], False, name)
            optimizer.minimize(v * v)
            assert [slot.op.name for slot in optimizer.variables()] == [f"{name}/Momentum"]


@pytest.mark.parametrize("resource", [False, True])
def test_a_constraint_follows_the_update(resource):
    v = variable([1.0, 2.0], resource, constraint=lambda x: tf.clip_by_value(x, -0.1, 0.0))
    _, value = run(tf.train.GradientDescentOptimizer(3.0).minimize(5 * v), v)
    np.testing.assert_allclose(value, [-0.1, -0.1])


def test_gradients_of_tensors_cannot_be_applied():
    x = tf.constant(3.0)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    pairs = optimizer.compute_gradients(x * x, [x])
    assert pairs[0][1] is x and run(pairs[0][0]) == [6.0]
    with pytest.raises(NotImplementedError):
        optimizer.apply_gradients(pairs)
    with pytest.raises(TypeError, match="Gradient must be convertible"):
        optimizer.apply_gradients([(object(), variable([1.0], False))])


def test_ftrl_slots_may_have_names_of_their_own():
    v = variable([1.0], False)
    optimizer = tf.train.FtrlOptimizer(1.0, accum_name="squares", linear_name="line")
    optimizer.minimize(v * v)
    assert [optimizer.get_slot(v, slot).op.name for slot in ("accum", "linear")] == ["v/squares", "v/line"]


def test_schedules_take_numbers_as_steps():
    rates = [tf.train.exponential_decay(0.05, 5, 10, 0.96), tf.train.cosine_decay_restarts(1.0, 17, 10),
             tf.train.linear_cosine_decay(1.0, 3, 10)]
    np.testing.assert_allclose(run(*rates), [0.05 * 0.96 ** 0.5, 0.726995, 0.7 * 0.793893 + 0.001], rtol=1e-5)
    with pytest.raises(ValueError, match="same dtype as x"):
        tf.train.piecewise_constant(tf.constant(1), [0.5], [1.0, 2.0])


def test_updates_lock_their_variables_when_asked_to():
    v = variable([1.0], False)
    for optimizer, op in ((tf.train.AdamOptimizer, "ApplyAdam"), (tf.train.GradientDescentOptimizer, "ApplyGradientDescent")):
        for locks in (True, False):
            train = optimizer(0.1, use_locking=locks).minimize(v * v, name=f"{op}{locks}")
            assert train.graph.get_operation_by_name(f"{op}{locks}/update_v/{op}").get_attr("use_locking") is locks


def test_what_stands_for_a_tensor_is_minimized():
    class Loss:
        def __init__(self, tensor):
            self.tensor, self.graph = tensor, tensor.graph

    tf.register_tensor_conversion_function(Loss, lambda value, dtype=None, name=None, as_ref=False: value.tensor)
    w = tf.Variable(1.0)
    train = tf.train.GradientDescentOptimizer(0.25).minimize(Loss(w * w))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run(w) == 0.5
