"""Pictures read between their pixels, and the loss of machines with a margin."""

import numpy as np
import pytest

import weir as tf


def _picture():
    return np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)


def test_resampled_pictures_fall_to_zero_outside():
    warp = [[[1, 2], [0.5, 0.25], [-0.5, 0], [3.25, 1], [9, 9], [-3, 1]]]  # x, y
    with tf.Graph().as_default(), tf.Session() as session:
        values = session.run(tf.contrib.resampler.resampler(_picture(), tf.constant(warp, tf.float32)))
        np.testing.assert_allclose(values[0, :, 0], [9, 1.5, 0, 0.75 * 7, 0, 0])
        with pytest.raises(ValueError, match="last dimension of warp should be 2"):
            tf.contrib.resampler.resampler(_picture(), tf.zeros([1, 3]))


def test_resampling_has_gradients_for_the_picture_and_the_coordinates():
    with tf.Graph().as_default(), tf.Session():
        data, warp = tf.constant(_picture()), tf.constant([[[1.3, 0.6], [2.2, 1.7]]])
        out = tf.contrib.resampler.resampler(data, warp)
        assert tf.test.compute_gradient_error([data, warp], [[1, 3, 4, 1], [1, 2, 2]], out, [1, 2, 1]) < 1e-2


def test_a_picture_is_warped_by_a_flow_and_goes_on_at_its_border():
    picture = _picture()
    flow = np.zeros([1, 3, 4, 2], np.float32)
    flow[..., 1] = 1  # each pixel comes from its left
    flow[0, 2, 3] = [0.5, 0]
    with tf.Graph().as_default(), tf.Session() as session:
        image = tf.placeholder(tf.float32, [None, None, None, 1])
        warped = session.run(tf.contrib.image.dense_image_warp(image, flow), {image: picture})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Grid height must be at least 2"):
            session.run(tf.contrib.image.dense_image_warp(image, flow[:, :1]), {image: picture[:, :1]})
    np.testing.assert_allclose(warped[0, :, :, 0], [[0, 0, 1, 2], [4, 4, 5, 6], [8, 8, 9, 9]])


def test_the_multiclass_hinge_loss_is_the_margin_that_is_missing():
    with tf.Graph().as_default(), tf.Session() as session:
        logits = tf.constant([[1.2, -1.4, 0.8], [1.4, 1.8, 4.0], [1.5, 1.8, -1.0]])
        hinge = tf.contrib.kernel_methods.sparse_multiclass_hinge_loss
        assert session.run(hinge(tf.constant([0, 2, 1]), logits)) == pytest.approx(1.3 / 3, rel=1e-5)
        assert session.run(hinge(tf.constant([[0], [2], [1]]), logits, [1.0, 0.0, 0.0])) == pytest.approx(0.6, rel=1e-5)
        with pytest.raises(ValueError, match="logits should have rank 2"):
            hinge(tf.constant([0]), tf.constant([1.0]))
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(hinge(tf.constant([0, 3, 1]), logits))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_spline_goes_through_its_points_and_keeps_straight_lines(order):
    random = np.random.RandomState(0)
    points, values = random.rand(2, 5, 2).astype("f"), random.rand(2, 5, 1).astype("f")
    at_points = tf.contrib.image.interpolate_spline(points, values, points, order)
    queries = random.rand(2, 3, 2).astype("f")
    straight = tf.contrib.image.interpolate_spline(points, points.sum(2, keepdims=True), queries, order)
    assert straight.shape.as_list() == [2, 3, 1]
    smooth = tf.contrib.image.interpolate_spline(points, values, points, order, regularization_weight=10.0)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(at_points), values, atol=1e-3)
        np.testing.assert_allclose(session.run(straight), queries.sum(2, keepdims=True), atol=1e-3)
        assert np.abs(session.run(smooth) - values).max() > 1e-2


def test_a_thin_plate_has_tensorflows_values():
    points = np.float32([[[0, 0], [1, 0], [0, 1], [1, 1], [0.5, 0.25]]])
    y = tf.contrib.image.interpolate_spline(points, np.float32([[[1], [2], [3], [5], [4]]]), [[[0.3, 0.6]]], 2)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(y), [[[3.931476]]], rtol=1e-4)


def test_pictures_are_bent_at_points():
    image = np.random.RandomState(0).rand(1, 8, 9, 1).astype("f")
    corners, down = np.float32([[[2, 2], [2, 6], [5, 3]]]), np.float32([1, 0])
    moved, flow = tf.contrib.image.sparse_image_warp(image, corners, corners + down)
    still = tf.contrib.image.sparse_image_warp(image, corners, corners, num_boundary_points=2)[0]
    held = tf.contrib.image.sparse_image_warp(image, corners, corners + down, num_boundary_points=3)[1]
    assert moved.shape.as_list() == [1, 8, 9, 1] and flow.shape.as_list() == [1, 8, 9, 2]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(moved)[0, 1:], image[0, :-1], atol=1e-4)
        np.testing.assert_allclose(session.run(still), image, atol=1e-4)
        edge = session.run(held)[0, 0]
        np.testing.assert_allclose(edge[[0, -1]], 0, atol=1e-3)
