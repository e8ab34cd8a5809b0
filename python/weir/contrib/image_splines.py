"""Polyharmonic splines, and pictures that are bent so that points of them move."""

import numpy as np

import weir as tf
from weir.contrib.image_warps import dense_image_warp

_SMALL = 1e-10


def _basis(squared, order):
    """The spline's function of the distance, of which these are squares."""
    squared = tf.maximum(squared, _SMALL)
    if order == 1:
        return tf.sqrt(squared)
    if order % 2:
        return squared ** (0.5 * order)
    return 0.5 * squared ** (0.5 * order) * tf.log(squared)


def _squared_distances(a, b):
    return tf.reduce_sum(tf.square(a[:, :, None, :] - b[:, None, :, :]), -1)


def _with_ones(points):
    return tf.concat([points, tf.ones_like(points[:, :, :1])], 2)


def interpolate_spline(train_points, train_values, query_points, order, regularization_weight=0.0, name="interpolate_spline"):
    """The values at ``query_points`` [batch, m, d] of the polyharmonic spline through ``train_values`` [batch, n, k] at
    ``train_points`` [batch, n, d]. Order 2 in a plane is the thin plate."""
    with tf.name_scope(name):
        points, values, queries = (tf.convert_to_tensor(x) for x in (train_points, train_values, query_points))
        matrix = _basis(_squared_distances(points, points), order)
        if regularization_weight > 0:
            matrix += regularization_weight * tf.eye(tf.shape(points)[1], dtype=points.dtype)
        linear = _with_ones(points)
        batch, count, terms = tf.shape(points)[0], tf.shape(points)[1], tf.shape(linear)[2]
        # Nearly zero: points on a line leave the linear part open, and are no error.
        corner = _SMALL * tf.eye(terms, batch_shape=[batch], dtype=points.dtype)
        system = tf.concat([tf.concat([matrix, linear], 2), tf.concat([tf.matrix_transpose(linear), corner], 2)], 1)
        right = tf.concat([values, tf.zeros([batch, terms, tf.shape(values)[2]], values.dtype)], 1)
        solved = tf.matrix_solve(system, right)
        result = tf.matmul(_basis(_squared_distances(queries, points), order), solved[:, :count])
        result += tf.matmul(_with_ones(queries), solved[:, count:])
        result.set_shape([queries.shape[0], queries.shape[1], values.shape[2]])
        return result


def _boundary(height, width, points_per_edge):
    """Points on the boundary of a picture, [count, 2]: row, column."""
    rows, columns = np.meshgrid(np.linspace(0, height - 1, points_per_edge + 2),
                                np.linspace(0, width - 1, points_per_edge + 2), indexing="ij")
    on_boundary = (columns == 0) | (columns == width - 1) | (rows == 0) | (rows == height - 1)
    return np.stack([rows[on_boundary], columns[on_boundary]], -1)


def sparse_image_warp(image, source_control_point_locations, dest_control_point_locations, interpolation_order=2,
                      regularization_weight=0.0, num_boundary_points=0, name="sparse_image_warp"):
    """(the pictures bent so that what was at the source points [batch, n, 2] is at the destinations, how far each pixel came)."""
    if num_boundary_points < 0:
        raise ValueError(f"num_boundary_points must be at least 0, got {num_boundary_points}")
    with tf.name_scope(name):
        image = tf.convert_to_tensor(image)
        source = tf.convert_to_tensor(source_control_point_locations)
        destination = tf.convert_to_tensor(dest_control_point_locations)
        flows = destination - source
        batch, height, width = image.shape.as_list()[:3]

        def for_all(points):
            return tf.tile(tf.constant(points[None], destination.dtype.base_dtype), [tf.shape(image)[0], 1, 1])

        if num_boundary_points > 0:
            edge = for_all(_boundary(height, width, num_boundary_points - 1))
            destination, flows = tf.concat([destination, edge], 1), tf.concat([flows, tf.zeros_like(edge)], 1)
        grid = for_all(np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), -1).reshape(-1, 2))
        dense = interpolate_spline(destination, flows, grid, interpolation_order, regularization_weight)
        dense = tf.reshape(dense, [-1 if batch is None else batch, height, width, 2])
        return dense_image_warp(image, dense), dense
