"""tf.contrib.integrate against solutions that are known."""

import numpy as np
import pytest

import weir as tf


def test_steps_are_as_small_as_the_error_asks():
    times = np.linspace(0.0, 1.0, 11)
    with tf.Session() as session:
        y, info = tf.contrib.integrate.odeint(lambda y, t: y, tf.constant(1.0, tf.float64), times, full_output=True)
        assert y.shape.as_list() == [11]
        values, info = session.run([y, info])
    np.testing.assert_allclose(values, np.exp(times), rtol=1e-6)
    assert info["num_func_evals"] == 6 * len(info["integrate_points"]) + 1
    assert (info["error_ratio"] > 1).any()  # the first step is too long and is refused


def test_complex_states():
    k, times = 1j - 0.1, np.linspace(0.0, 1.0, 5)
    with tf.Session() as session:
        y = session.run(tf.contrib.integrate.odeint(lambda y, t: k * y, 1.0 + 0.0j, times))
    np.testing.assert_allclose(y, np.exp(k * times), rtol=1e-6)


@pytest.mark.parametrize("method", ["midpoint", "rk4"])
@pytest.mark.parametrize("dt", [None, 0.02, np.full(4, 0.02)])
def test_fixed_steps(method, dt):
    times = np.linspace(0.0, 2.0, 100) if dt is None else np.array([0.0, 0.1, 0.7, 1.2, 2.0])
    with tf.Session() as session:
        y = session.run(tf.contrib.integrate.odeint_fixed(lambda y, t: tf.stack([y[1], -y[0]]), [0., 1.], times, dt, method))
    np.testing.assert_allclose(y[:, 0], np.sin(times), atol=1e-3)


def test_refusals():
    with pytest.raises(TypeError, match="`y0` must have a floating point"):
        tf.contrib.integrate.odeint(lambda y, t: y, 1, [0., 1.])
    with pytest.raises(ValueError, match="cannot supply `options` without"):
        tf.contrib.integrate.odeint(lambda y, t: y, 1., [0., 1.], options={"first_step": 1.})
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="monotonic increasing"):
        session.run(tf.contrib.integrate.odeint(lambda y, t: y, 1., [1., 0.]))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="max_num_steps"):
        session.run(tf.contrib.integrate.odeint(lambda y, t: y, 1., [0., 1.], method="dopri5", options={"max_num_steps": 0}))
