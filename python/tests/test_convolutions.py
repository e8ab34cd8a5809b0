"""tf.nn's convolutions and pools in one, two and three dimensions."""

import numpy as np
import pytest
import weir as tf


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def spread(filters, rates):
    """Filters with holes filled by zeros."""
    sizes = [(size - 1) * rate + 1 for size, rate in zip(filters.shape, rates)]
    wide = np.zeros(sizes + list(filters.shape[-2:]), np.float32)
    wide[tuple(slice(None, None, rate) for rate in rates)] = filters
    return wide


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("sizes, taps, rates", [([9], [3], [2]), ([9, 10], [2, 3], [3, 2]), ([7, 6, 8], [3, 2, 2], [2, 1, 3])])
def test_dilation_is_a_filter_with_holes(session, padding, sizes, taps, rates):
    random = np.random.RandomState(0)
    x, f = random.rand(2, *sizes, 2).astype(np.float32), random.rand(*taps, 2, 3).astype(np.float32)
    with_rate = tf.nn.convolution(x, f, padding, dilation_rate=rates)
    with_holes = tf.nn.convolution(x, spread(f, rates), padding)
    np.testing.assert_allclose(*session.run([with_rate, with_holes]), rtol=1e-4)


@pytest.mark.parametrize("kind", ["MAX", "AVG"])
@pytest.mark.parametrize("sizes", [[7], [6, 7], [5, 6, 7]])
def test_pool_looks_at_every_rate_th_element(session, kind, sizes):
    x = np.random.RandomState(0).rand(2, *sizes, 3).astype(np.float32)
    dims = len(sizes)
    pooled = session.run(tf.nn.pool(x, [2] * dims, kind, "VALID", dilation_rate=[2] * dims))
    corners = [x[(slice(None), *(slice(2, None) if corner >> d & 1 else slice(0, -2) for d in range(dims)))]
               for corner in range(2 ** dims)]
    np.testing.assert_allclose(pooled, np.max(corners, 0) if kind == "MAX" else np.mean(corners, 0), rtol=1e-6)


def test_space_to_batch_takes_rates_that_are_fed(session):
    rate = tf.placeholder(tf.int32, [2])
    x = np.random.RandomState(0).rand(2, 9, 8, 2).astype(np.float32)
    same = tf.nn.with_space_to_batch(x, rate, "VALID", lambda value, dims, padding: tf.identity(value))
    for rates in ([2, 3], [1, 4]):
        np.testing.assert_array_equal(session.run(same, {rate: rates}), x)


def test_strides_are_given_for_all_spatial_dimensions_or_each(session):
    x, f = np.ones([1, 7, 7, 1], np.float32), np.ones([2, 2, 1, 1], np.float32)
    for strides in (2, [2], [2, 2], [1, 2, 2, 1]):
        assert tf.nn.conv2d(x, f, strides, "VALID").shape.as_list() == [1, 3, 3, 1]
    with pytest.raises(ValueError, match="strides should be of length 1, 2 or 4 but was 3"):
        tf.nn.conv2d(x, f, [1, 2, 2], "VALID")


def test_explicit_paddings_reach_the_gradients(session):
    padding = [[0, 0], [1, 2], [0, 1], [0, 0]]
    x, f = tf.constant(np.ones([1, 3, 3, 1], np.float32)), tf.constant(np.ones([2, 2, 1, 1], np.float32))
    y = tf.nn.conv2d(x, f, 1, padding)
    padded = tf.nn.conv2d(tf.pad(x, padding), f, 1, "VALID")
    ones = tf.ones_like(y)
    got = [y, tf.nn.conv2d_backprop_input([1, 3, 3, 1], f, ones, 1, padding), tf.gradients(y, f)[0]]
    want = [padded, tf.gradients(padded, x)[0], tf.gradients(padded, f)[0]]
    for a, b in session.run(list(zip(got, want))):
        np.testing.assert_allclose(a, b)
    for bad in (padding[:3], [[0, 0, 0]] * 4, [0] * 4):
        with pytest.raises(ValueError):
            tf.nn.conv2d(x, f, 1, bad)


def test_mistakes_are_errors_of_building_and_of_running():
    with pytest.raises(tf.errors.InvalidArgumentError, match="strides in the batch and depth"):
        tf.nn.conv2d(tf.placeholder(tf.float32), tf.placeholder(tf.float32), [2, 1, 1, 1], "SAME")
    with pytest.raises(ValueError, match="Negative dimension size"):
        tf.nn.max_pool(tf.placeholder(tf.float32, [1, 2, 2, 1]), 3, 1, "VALID")
    with pytest.raises(tf.errors.UnimplementedError, match="not yet supported on the batch"):
        tf.nn.avg_pool(tf.placeholder(tf.float32), [2, 1, 1, 1], [1, 1, 1, 1], "SAME")


def test_argmax_of_a_pool(session):
    x = np.array([1, 1, 1, 1, 0, 1, 1, 1, 1], np.float32).reshape(1, 3, 3, 1)
    output, places = tf.nn.max_pool_with_argmax(x, 2, 1, "VALID")
    assert session.run(places).ravel().tolist() == [0, 1, 3, 5] and places.dtype == tf.int64
    assert session.run(tf.nn.max_pool_with_argmax(x, 2, 1, "VALID", Targmax=tf.int32)[1]).dtype == np.int32


@pytest.mark.parametrize("axis", [0, 1, -2, 2])
def test_softmax_along_any_axis_of_a_tensor_of_unknown_rank(session, axis):
    value = np.random.RandomState(0).rand(2, 3, 4).astype(np.float32)
    logits = tf.placeholder(tf.float32)
    e = np.exp(value)
    np.testing.assert_allclose(session.run(tf.nn.softmax(logits, axis), {logits: value}),
                               e / e.sum(axis, keepdims=True), rtol=1e-5)
