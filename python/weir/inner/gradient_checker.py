"""Numeric checks of gradients: tf.test.compute_gradient."""

import numpy as np

import weir


def _shape_list(shape):
    return [int(length) for length in (shape.as_list() if hasattr(shape, "as_list") else shape)]


def _numbers(array):
    """All real numbers of an array in a row; a complex one counts as two. Shares memory with a contiguous array."""
    flat = np.asarray(array).reshape(-1)
    return flat.view(flat.real.dtype)


def _theoretical_jacobian(x, x_values, y, y_shape, extra_feed):
    """[numbers of x, numbers of y]: column by column of what tf.gradients builds."""
    dy = weir.placeholder(y.dtype.base_dtype, shape=y_shape)
    # A scalar may be said to have shape [1].
    fits = y.shape.is_compatible_with(y_shape)
    dx = weir.gradients(y, x, grad_ys=dy if fits else weir.reshape(dy, weir.shape(y)))[0]
    seed = np.zeros(y_shape, y.dtype.base_dtype.as_numpy_dtype)
    seed_numbers = _numbers(seed)
    jacobian = np.zeros((_numbers(x_values).size, seed_numbers.size), x_values.real.dtype)
    if dx is None:
        return jacobian
    session = weir.get_default_session()
    for column in range(seed_numbers.size):
        seed_numbers[column] = 1
        value = session.run(dx, {**extra_feed, x: x_values, dy: seed})
        seed_numbers[column] = 0
        if hasattr(value, "indices"):  # IndexedSlices: rows may repeat
            dense = np.zeros(x_values.shape, x_values.dtype)
            np.add.at(dense, value.indices, value.values)
            value = dense
        jacobian[:, column] = _numbers(value)
    return jacobian


def _numeric_jacobian(x, x_values, y, y_shape, delta, extra_feed):
    """[numbers of x, numbers of y] by central differences."""
    session = weir.get_default_session()
    moved = x_values.copy()
    moved_numbers = _numbers(moved)
    y_numbers = _numbers(np.empty(y_shape, y.dtype.base_dtype.as_numpy_dtype)).size
    jacobian = np.zeros((moved_numbers.size, y_numbers), x_values.real.dtype)
    for row in range(moved_numbers.size):
        values = []
        here = moved_numbers[row]
        for there in (here + delta, here - delta):
            moved_numbers[row] = there
            values.append(_numbers(session.run(y, {**extra_feed, x: moved})).astype(np.float64))
        moved_numbers[row] = here
        jacobian[row] = (values[0] - values[1]) / (2 * delta)
    return jacobian


def compute_gradient(x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None):
    """The Jacobian of y by x, theoretical and numeric: a pair of [size of x, size of y] arrays.

    `x` may be a list; then so are `x_shape`, `x_init_value` and the result. A complex number counts as two real ones.
    Needs a default session.
    """
    session = weir.get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session")
    if init_targets is not None:
        targets = init_targets if isinstance(init_targets, (list, tuple)) else [init_targets]
        for target in targets:
            session.run(target)
    several = isinstance(x, (list, tuple))
    xs = list(x) if several else [x]
    shapes = list(x_shape) if several else [x_shape]
    given = list(x_init_value) if several and x_init_value is not None else [x_init_value] * len(xs)
    values = []
    for tensor, shape, value in zip(xs, shapes, given):
        dtype = np.dtype(tensor.dtype.base_dtype.as_numpy_dtype)
        if dtype.kind not in "fc":
            raise ValueError(f"compute_gradient takes floating-point and complex tensors, not {tensor.dtype}")
        if value is None:
            value = np.random.random_sample(_shape_list(shape))
            if dtype.kind == "c":
                value = value + 1j * np.random.random_sample(_shape_list(shape))
        value = np.asarray(value, dtype)
        if list(value.shape) != _shape_list(shape):
            raise ValueError(f"x_init_value has shape {value.shape}, x_shape is {_shape_list(shape)}")
        values.append(value)
    extra = dict(extra_feed_dict or {})
    result = []
    for i, tensor in enumerate(xs):
        theoretical = _theoretical_jacobian(tensor, values[i], y, _shape_list(y_shape), extra)
        numeric = _numeric_jacobian(tensor, values[i], y, _shape_list(y_shape), delta, extra)
        result.append((theoretical, numeric))
    return result if several else result[0]


def compute_gradient_error(
    x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None
):
    """The greatest difference between the theoretical and the numeric Jacobian."""
    pairs = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = pairs if isinstance(pairs, list) else [pairs]
    return max((float(np.abs(a - b).max()) for a, b in pairs if a.size), default=0.0)
