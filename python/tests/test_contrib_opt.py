"""tf.contrib.opt: three steps of each optimizer, with the numbers of TensorFlow 1.15.5."""

import numpy as np
import pytest

import weir as tf

MAKE = {
    "addsign": lambda opt: opt.AddSignOptimizer(0.1),
    "powersign": lambda opt: opt.PowerSignOptimizer(0.1, base=3.0),
    "adamax": lambda opt: opt.AdaMaxOptimizer(0.1),
    "nadam": lambda opt: opt.NadamOptimizer(0.1),
    "lazy": lambda opt: opt.LazyAdamOptimizer(0.1),
    "adamw": lambda opt: opt.AdamWOptimizer(0.01, 0.1),
    "momw": lambda opt: opt.MomentumWOptimizer(0.01, 0.1, 0.9),
}
WANTED = {  # (optimizer, gradients of rows): weights
    ('adamax', False): [-0.51408, -0.26825, -0.02582, 0.20619, 0.35983, 0.24767, 0.43847, 0.67385],
    ('adamax', True): [-0.51408, -0.26825, -0.3, -0.05, 0.35983, 0.24767, 0.7, 0.95],
    ('adamw', False): [-0.48076, -0.23883, 0.00223, 0.23885, 0.37028, 0.20709, 0.39057, 0.62835],
    ('adamw', True): [-0.48076, -0.23883, -0.3, -0.05, 0.37028, 0.20709, 0.7, 0.95],
    ('addsign', False): [0.0624, 0.2932, 0.1704, 0.2972, 0.2784, 0.3012, 0.3864, 0.3052],
    ('lazy', False): [-0.50138, -0.25202, -0.00354, 0.24036, 0.37444, 0.21195, 0.4074, 0.6531],
    ('lazy', True): [-0.50138, -0.25202, -0.3, -0.05, 0.37444, 0.21195, 0.7, 0.95],
    ('momw', False): [0.24199, 0.75717, 0.26531, 0.48546, 0.28863, 0.21375, 0.31195, -0.05796],
    ('momw', True): [0.24199, 0.75717, -0.3, -0.05, 0.34961, 0.16127, 0.7, 0.95],
    ('nadam', False): [-0.35496, -0.11073, 0.12646, 0.33164, 0.30543, 0.25368, 0.30285, 0.51989],
    ('nadam', True): [-0.35496, -0.11073, -0.3, -0.05, 0.30543, 0.25368, 0.7, 0.95],
    ('powersign', False): [0.2296, 0.42769, 0.2616, 0.35258, 0.2936, 0.27747, 0.3256, 0.20236],
}


@pytest.mark.parametrize("name,sparse", sorted(WANTED))
@pytest.mark.parametrize("use_resource", (False, True))
def test_three_steps_are_tensorflows(name, sparse, use_resource):
    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.Variable(np.arange(8, dtype=np.float32).reshape(4, 2) / 4 - 0.8, use_resource=use_resource)
        x = tf.gather(weights, [0, 2, 2]) if sparse else weights
        loss = tf.reduce_sum(tf.square(x - 0.3) * np.array([1, 2], np.float32))
        step = MAKE[name](tf.contrib.opt).minimize(loss)
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        np.testing.assert_allclose(session.run(weights).ravel(), WANTED[name, sparse], atol=2e-5)


def test_any_optimizer_can_have_weight_decay_and_choose_what_decays():
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.Variable(1.0), tf.Variable(1.0)
        decaying = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
        step = decaying(0.5, 0.1).minimize(a + b, decay_var_list=[a])
        session.run(tf.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run([a, b]), [0.4, 0.9], rtol=1e-6)


def test_scipys_optimizer_under_constraints():
    pytest.importorskip("scipy")
    vector = tf.Variable([7., 7.])
    loss = tf.reduce_sum(tf.square(vector))
    bounded = tf.contrib.opt.ScipyOptimizerInterface(loss, var_to_bounds={vector: ([1, 2], np.inf)})
    constrained = tf.contrib.opt.ScipyOptimizerInterface(loss, equalities=[vector[1] - 1.], inequalities=[vector[0] - 1.],
                                                         method="SLSQP")
    seen = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        bounded.minimize(session, fetches=[loss], loss_callback=seen.append)
        np.testing.assert_allclose(session.run(vector), [1, 2], atol=1e-4)
        assert seen[0] == 98 and min(seen) < 5.01
        constrained.minimize(session)
        np.testing.assert_allclose(session.run(vector), [1, 1], atol=1e-4)
        with pytest.raises(ValueError, match="var_to_bounds"):
            tf.contrib.opt.ScipyOptimizerInterface(loss, bounds=[(0, 1)]).minimize(session)


def test_variables_are_clipped_after_the_update():
    variable = tf.Variable([[3., 4.], [0.3, 0.4]])
    optimizer = tf.contrib.opt.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(1.0), {variable: [1]}, 1.0)
    step = optimizer.apply_gradients([(tf.zeros([2, 2]), variable)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(variable), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)


def test_gradients_of_zero_leave_the_slots_alone():
    variable, grad = tf.Variable([1., 2.]), tf.placeholder(tf.float32, [2])
    inner = tf.train.MomentumOptimizer(0.1, momentum=0.9)
    optimizer = tf.contrib.opt.MultitaskOptimizerWrapper(inner)
    step = optimizer.apply_gradients([(grad, variable)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {grad: [1., 0.]})
        session.run(step, {grad: [0., 0.]})
        np.testing.assert_allclose(session.run(optimizer.get_slot(variable, "momentum")), [1, 0])
        np.testing.assert_allclose(session.run(variable), [0.9, 2])


@pytest.mark.parametrize("use_resource", [False, True])
def test_lars_scales_by_norms(use_resource):
    with tf.variable_scope("lars", use_resource=use_resource):
        variable = tf.get_variable("v", initializer=[3., 4.])
    step = tf.contrib.opt.LARSOptimizer(0.1, momentum=0.0, weight_decay=0.0, eeta=0.5).apply_gradients(
        [(tf.constant([0., 2.]), variable)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(variable), [3, 4 - 0.1 * 0.5 * 5 / 2 * 2], rtol=1e-6)
