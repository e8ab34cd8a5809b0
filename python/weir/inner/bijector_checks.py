"""tensorflow.python.ops.distributions.bijector_test_util: what holds for every bijector."""

import numpy as np

from weir.core.stack import get_default_session
from weir.ops import math_ops, random_ops


def assert_finite(array):
    if not np.all(np.isfinite(array)):
        raise AssertionError(f"array was not all finite. {array[:15]}")


def assert_strictly_increasing(array):
    np.testing.assert_array_less(0.0, np.diff(array))


def assert_strictly_decreasing(array):
    np.testing.assert_array_less(np.diff(array), 0.0)


def assert_strictly_monotonic(array):
    (assert_strictly_increasing if array[0] < array[-1] else assert_strictly_decreasing)(array)


def assert_scalar_congruency(bijector, lower_x, upper_x, n=10000, rtol=0.01, sess=None):
    """A bijector of numbers is monotonic between two of them, its directions undo each other, and its derivatives are
    those of the interval: the integral of the inverse's over what comes out is the length of what went in."""
    sess = sess or get_default_session()
    kind = np.float32 if bijector.dtype is None else bijector.dtype.as_numpy_dtype
    low, high = sorted(sess.run([bijector.forward(lower_x), bijector.forward(upper_x)]))
    x = random_ops.random_uniform([n], lower_x, upper_x, seed=0)
    y = random_ops.random_uniform([n], low, high, seed=1)
    slope = math_ops.exp(bijector.inverse_log_det_jacobian(y, event_ndims=0))
    forward_slope = math_ops.exp(bijector.forward_log_det_jacobian(bijector.inverse(y), event_ndims=0))
    points, x, y, x_again, y_again, slope, forward_slope = sess.run([
        bijector.forward(np.linspace(lower_x, upper_x, 10).astype(kind)), x, y, bijector.inverse(bijector.forward(x)),
        bijector.forward(bijector.inverse(y)), slope, forward_slope])
    assert_strictly_monotonic(points)
    np.testing.assert_allclose(x_again, x, atol=1e-5, rtol=1e-3)
    np.testing.assert_allclose(y_again, y, atol=1e-5, rtol=1e-3)
    np.testing.assert_allclose(upper_x - lower_x, (high - low) * np.mean(slope), atol=0, rtol=rtol)
    np.testing.assert_allclose(slope, 1.0 / forward_slope, atol=1e-5, rtol=1e-3)


def assert_bijective_and_finite(bijector, x, y, event_ndims, atol=0, rtol=1e-5, sess=None):
    """The directions undo each other at these points, with derivatives that do, and all of it is finite."""
    sess = sess or get_default_session()
    forward, inverse = bijector.forward(x), bijector.inverse(y)
    found = sess.run({
        "forward": forward, "inverse": inverse, "x": bijector.inverse(forward), "y": bijector.forward(inverse),
        "inverse of forward": bijector.inverse_log_det_jacobian(forward, event_ndims=event_ndims),
        "forward at x": bijector.forward_log_det_jacobian(x, event_ndims=event_ndims),
        "inverse at y": bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims),
        "forward of inverse": bijector.forward_log_det_jacobian(inverse, event_ndims=event_ndims)})
    for value in (x, y, *found.values()):
        assert_finite(value)
    for actual, expected in ((found["x"], x), (found["y"], y), (-found["inverse of forward"], found["forward at x"]),
                             (-found["inverse at y"], found["forward of inverse"])):
        np.testing.assert_allclose(actual, expected, atol=atol, rtol=rtol)
