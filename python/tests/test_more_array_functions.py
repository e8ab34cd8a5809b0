"""Functions of arrays in their later forms: batches of indices, bands of diagonals, norms of matrices, claims of shapes."""

import numpy as np
import pytest

import weir as tf


def _value(tensor, feeds=None):
    with tf.Session() as session:
        return session.run(tensor, feeds)


def test_gather_along_an_axis_behind_the_batch():
    x, places = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5), np.array([[1, 0], [3, 3]])
    expected = np.stack([x[i][:, places[i]] for i in range(2)])
    np.testing.assert_array_equal(_value(tf.gather(x, places, axis=2, batch_dims=1)), expected)
    np.testing.assert_array_equal(_value(tf.gather(x, places, axis=-2, batch_dims=1)), expected)


def test_gather_nd_by_batch():
    x, places = np.arange(24).reshape(2, 3, 4), np.array([[[0, 1]], [[2, 3]]])
    np.testing.assert_array_equal(_value(tf.gather_nd(x, places, batch_dims=1)), [[1], [23]])
    with pytest.raises(ValueError, match=r"less than rank\(indices\)"):
        tf.gather_nd(x, places, batch_dims=3)


def test_batch_scatter_update():
    variable = tf.Variable(np.zeros((2, 3), np.float32))
    update = tf.batch_scatter_update(variable, [[1], [2]], [[5.], [7.]])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(update), [[0, 5, 0], [0, 0, 7]])


def test_bands_of_diagonals():
    band = _value(tf.matrix_diag_part([[1, 2, 3], [4, 5, 6]], k=(-1, 1), padding_value=9))
    np.testing.assert_array_equal(band, [[2, 6], [1, 5], [4, 9]])
    np.testing.assert_array_equal(_value(tf.linalg.diag([1, 2], k=1)), [[0, 1, 0], [0, 0, 2], [0, 0, 0]])
    np.testing.assert_array_equal(_value(tf.linalg.set_diag([[1, 2], [3, 4]], [7], k=-1)), [[1, 2], [7, 4]])
    assert tf.matrix_diag([1, 2]).op.type == "MatrixDiag"


def test_bincount():
    np.testing.assert_array_equal(_value(tf.bincount([1, 1, 3], minlength=6)), [0, 2, 0, 1, 0, 0])
    np.testing.assert_array_equal(_value(tf.bincount([1, 1, 3], maxlength=2)), [0, 2])
    np.testing.assert_array_equal(_value(tf.bincount([1, 1, 3], weights=[.5, 1., 2.])), [0, 1.5, 0, 2])
    assert _value(tf.bincount(tf.zeros([0], tf.int32))).shape == (0,)


@pytest.mark.parametrize("order", [1, 2, np.inf, "fro"])
@pytest.mark.parametrize("keep", [False, True])
def test_norms_of_matrices(order, keep):
    x = np.random.RandomState(0).randn(2, 3, 4).astype(np.float32)
    for axis in [(1, 2), (-1, 0)]:
        expected = np.linalg.norm(x, ord=order, axis=axis, keepdims=keep)
        np.testing.assert_allclose(_value(tf.norm(x, ord=order, axis=axis, keepdims=keep)), expected, rtol=1e-5)
        fed = tf.placeholder(tf.float32)
        np.testing.assert_allclose(_value(tf.norm(fed, ord=order, axis=axis, keepdims=keep), {fed: x}), expected, rtol=1e-5)


def test_norms_that_there_are_not():
    with pytest.raises(ValueError, match="supported matrix norm"):
        tf.norm([[1., 2.]], ord=3, axis=(0, 1))
    with pytest.raises(ValueError, match="supported vector norm"):
        tf.norm([1., 2.], ord=-1)
    with pytest.raises(ValueError, match="'axis' must be None"):
        tf.norm([1., 2.], axis=[0])


def test_tensordot_over_axes_of_the_run():
    a, b = np.random.RandomState(1).rand(2, 3, 4), np.random.RandomState(2).rand(4, 3, 5)
    axes = tf.placeholder(tf.int32)
    np.testing.assert_allclose(_value(tf.tensordot(a, b, axes), {axes: [[1, 2], [1, 0]]}),
                               np.tensordot(a, b, [[1, 2], [1, 0]]))


def test_claims_of_shapes():
    x, y = tf.zeros([2, 3]), tf.placeholder(tf.float32, [None, 3])
    tf.debugging.assert_shapes([(x, ("N", "D")), (x, "2."), (x, ("*", 3))])
    with pytest.raises(ValueError, match="Specified by tensor .* dimension 0.  Tensor .* dimension 1 must have size 2"):
        tf.debugging.assert_shapes([(x, ("N", "N"))])
    check = tf.debugging.assert_shapes([(x, ("N", "D")), (y, ("N", "D"))])
    _value(check, {y: np.zeros((2, 3))})
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have size"):
        _value(check, {y: np.zeros((4, 3))})


def test_kernels_that_keep_norms():
    kernel = _value(tf.contrib.framework.convolutional_orthogonal_2d(gain=2.0)([3, 3, 4, 4]))
    x = np.random.RandomState(3).randn(1, 8, 8, 4).astype(np.float32)
    around = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), "wrap")  # norms are kept on a ring
    y = _value(tf.nn.conv2d(around, kernel, [1, 1, 1, 1], "VALID"))
    np.testing.assert_allclose(np.linalg.norm(y), 2 * np.linalg.norm(x), rtol=1e-4)
    delta = _value(tf.contrib.framework.convolutional_delta_orthogonal()([3, 3, 2, 4]))
    np.testing.assert_allclose(delta[1, 1] @ delta[1, 1].T, np.eye(2), atol=1e-5)
    assert np.count_nonzero(delta) == 8


def test_orthogonal_values_differ_from_run_to_run():
    value = tf.orthogonal_initializer()([5, 3])
    with tf.Session() as session:
        first, second = session.run(value), session.run(value)
    np.testing.assert_allclose(first.T @ first, np.eye(3), atol=1e-5)
    assert not np.allclose(first, second)


def test_paths_of_nested_structures():
    nest = tf.contrib.framework.nest
    tree = {"b": [1, (2,)], "a": 3}
    paths = tf.nest.flatten(tree) == [3, 1, 2] and nest.flatten_with_tuple_paths(tree)
    assert paths == [(("a",), 3), (("b", 0), 1), (("b", 1, 0), 2)]
    assert nest.flatten_with_tuple_paths_up_to({"b": 0, "a": 0}, tree) == [(("a",), 3), (("b",), [1, (2,)])]
    assert nest.map_structure_with_tuple_paths(lambda path, x, y: (len(path), x + y), tree, tree) == {
        "a": (1, 6), "b": [(2, 2), ((3, 4),)]}


def test_bins_of_a_histogram():
    bins = _value(tf.histogram_fixed_width_bins([[-1., 0., 1.5], [2., 5., 15.]], [0., 5.], nbins=5))
    np.testing.assert_array_equal(bins, [[0, 0, 1], [2, 4, 4]])
    with pytest.raises(ValueError, match="maxlen must be scalar"):
        tf.sequence_mask([1, 2], maxlen=[3, 4])


def test_volume_patches_are_blocks_of_a_volume():
    volume = np.arange(2 * 4 * 4 * 4 * 3, dtype=np.float32).reshape(2, 4, 4, 4, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        patches = session.run(tf.extract_volume_patches(volume, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID"))
    assert patches.shape == (2, 2, 2, 2, 24)
    np.testing.assert_array_equal(patches[1, 1, 0, 1], volume[1, 2:4, 0:2, 2:4].ravel())


def test_quantized_numbers_are_convolved_and_pooled():
    pixels, weights = np.arange(16, dtype=np.uint8).reshape(1, 4, 2, 2), np.array([[[[1, 2], [3, 4]]]], np.uint8)
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.constant(pixels, dtype=tf.quint8), tf.constant(weights, dtype=tf.quint8)
        product = tf.nn.quantized_conv2d(x, w, 0.0, 255.0, 0.0, 255.0, strides=[1, 1, 1, 1], padding="VALID")
        whole = session.run(tf.bitcast(product.output, tf.int32))
        np.testing.assert_array_equal(whole[0], pixels[0].astype(int) @ weights[0, 0])
        for pool, expected in ((tf.nn.quantized_max_pool, pixels.max((1, 2))), (tf.nn.quantized_avg_pool, pixels.mean((1, 2)))):
            pooled = pool(x, 0.0, 255.0, ksize=[1, 4, 2, 1], strides=[1, 1, 1, 1], padding="VALID")
            np.testing.assert_array_equal(session.run(tf.bitcast(pooled.output, tf.uint8))[0, 0], expected)
        cut = tf.nn.quantized_relu_x(x, 5.0, 0.0, 255.0)
        np.testing.assert_array_equal(session.run(tf.bitcast(cut.activations, tf.uint8)), np.minimum(pixels, 5))


def test_the_spectral_norm_of_complex_matrices_is_real():
    x = np.random.RandomState(2).randn(3, 2, 4) + 1j * np.random.RandomState(3).randn(3, 2, 4)
    with tf.Graph().as_default(), tf.Session() as session:
        norms = session.run(tf.norm(tf.constant(x), ord=2, axis=[1, 2]))
    np.testing.assert_allclose(norms, np.linalg.norm(x, ord=2, axis=(1, 2)))
