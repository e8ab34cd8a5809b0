"""tensorflow.contrib.distributions.python.ops.distribution_util, and tensorflow.python.ops.distributions.util: what programs
that write distributions of their own reach for."""

import functools

import numpy as np

import weir as tf
from weir.distributions.discrete import _logits_and_probs


def assert_close(x, y, data=None, summarize=None, message=None, name="assert_close"):
    """An operation that fails unless x and y are equal, but for rounding."""
    with tf.name_scope(name, values=[x, y]):
        x = tf.convert_to_tensor(x, name="x")
        y = tf.convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        if data is None:
            data = [message or "", f"Condition x ~= y did not hold element-wise: x = {x.name}", x, f"y = {y.name}", y]
        if x.dtype.is_integer:
            return tf.assert_equal(x, y, data=data, summarize=summarize)
        tolerance = np.finfo(x.dtype.as_numpy_dtype).resolution
        return tf.Assert(tf.reduce_all(tf.less_equal(tf.abs(x - y), tolerance)), data, summarize=summarize)


def assert_integer_form(x, data=None, summarize=None, message=None, int_dtype=None, name="assert_integer_form"):
    """An operation that fails unless all numbers are whole."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return tf.no_op()
        message = message or f"{x.op.name} has non-integer components"
        whole = tf.floor(x) if int_dtype is None else tf.cast(tf.cast(x, int_dtype), x.dtype)
        return tf.assert_equal(x, whole, data=data or [message, "x has non-integer components", x], summarize=summarize)


def assert_symmetric(matrix):
    """``matrix``, after a check that it is its transpose."""
    with tf.control_dependencies([tf.assert_equal(matrix, tf.matrix_transpose(matrix))]):
        return tf.identity(matrix)


def embed_check_nonnegative_integer_form(x, name="embed_check_nonnegative_integer_form"):
    """``x``, after a check that its numbers are whole and not negative."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        checks = [tf.assert_non_negative(x, message=f"'{x.op.name}' must be non-negative.")]
        if not x.dtype.is_integer:
            checks.append(assert_integer_form(x, message=f"'{x.op.name}' cannot contain fractional components."))
        with tf.control_dependencies(checks):
            return tf.identity(x)


def get_logits_and_probs(logits=None, probs=None, multidimensional=False, validate_args=False,
                         name="get_logits_and_probs", dtype=None):
    """Log-odds and probabilities, of the ones that are given."""
    return _logits_and_probs(logits, probs, validate_args, multidimensional, name)


def get_logits_and_prob(logits=None, p=None, multidimensional=False, validate_args=False, name="GetLogitsAndProb"):
    """``get_logits_and_probs`` as it was before TensorFlow 1.0."""
    return _logits_and_probs(logits, p, validate_args, multidimensional, name)


def log_combinations(n, counts, name="log_combinations"):
    """The logarithm of the number of ways to put n things into boxes, ``counts`` of them into each."""
    with tf.name_scope(name, values=[n, counts]):
        n = tf.convert_to_tensor(n, name="n")
        counts = tf.convert_to_tensor(counts, name="counts", dtype=n.dtype.base_dtype)
        return tf.lgamma(n + 1) - tf.reduce_sum(tf.lgamma(counts + 1), axis=[-1])


def rotate_transpose(x, shift, name="rotate_transpose"):
    """x with its dimensions moved ``shift`` places to the right, the last ones to the front."""
    with tf.name_scope(name, values=[x, shift]):
        x = tf.convert_to_tensor(x, name="x")
        shift = tf.convert_to_tensor(shift, name="shift", preferred_dtype=tf.int32)
        known, rank = tf.contrib.util.constant_value(shift), x.get_shape().ndims
        if known is not None and rank is not None:
            return tf.transpose(x, np.roll(np.arange(rank), int(known)).tolist())
        rank = tf.rank(x)
        return tf.transpose(x, tf.floormod(tf.range(rank) - tf.cast(shift, tf.int32), rank))


def pick_vector(cond, true_vector, false_vector, name="pick_vector"):
    """One of two vectors, which may be of different lengths."""
    with tf.name_scope(name, values=[cond, true_vector, false_vector]):
        cond = tf.convert_to_tensor(cond, name="cond")
        if cond.dtype != tf.bool:
            raise TypeError(f"{cond.name}.dtype={cond.dtype} which is not {tf.bool}")
        known = tf.contrib.util.constant_value(cond)
        if known is not None and cond.op.type == "Const":
            return true_vector if known else false_vector
        true_vector = tf.convert_to_tensor(true_vector, name="true_vector")
        false_vector = tf.convert_to_tensor(false_vector, name="false_vector", dtype=true_vector.dtype.base_dtype)
        length = tf.shape(true_vector)[0]
        return tf.slice(tf.concat([true_vector, false_vector], 0), [tf.where(cond, 0, length)], [tf.where(cond, length, -1)])


def fill_lower_triangular(x, validate_args=False, name="fill_lower_triangular"):
    """A lower triangular matrix, filled row by row."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        size = x.get_shape()[-1].value
        if size is None:
            raise ValueError("the last dimension of x must be known")
        n = int(round((np.sqrt(1.0 + 8.0 * size) - 1.0) / 2.0))
        if n * (n + 1) // 2 != size:
            raise ValueError(f"{size} numbers do not fill a triangle")
        places = np.full([n, n], size, np.int32)
        places[np.tril_indices(n)] = np.arange(size)
        padded = tf.concat([x, tf.zeros_like(x[..., :1])], -1)  # where nothing belongs, the zero behind the last
        matrix = tf.gather(padded, places.reshape(-1), axis=-1)
        return tf.reshape(matrix, tf.concat([tf.shape(x)[:-1], [n, n]], 0))


# Scales of multivariate distributions as linear operators.


def _nonsingular(diagonal, validate_args, assert_positive):
    """A diagonal, with a check in the run that its matrix has an inverse (or is positive)."""
    if not validate_args:
        return diagonal
    if assert_positive:
        check = tf.assert_positive(diagonal, message="diagonal part must be positive")
    else:
        check = tf.assert_none_equal(diagonal, tf.zeros([], diagonal.dtype), message="diagonal part must be non-zero")
    with tf.control_dependencies([check]):
        return tf.identity(diagonal)


def make_diag_scale(loc=None, scale_diag=None, scale_identity_multiplier=None, shape_hint=None, validate_args=False,
                    assert_positive=False, name=None):
    """The diagonal, plus a multiple of the identity; the identity alone when neither is given."""
    with tf.name_scope(name, "make_diag_scale", [loc, scale_diag, scale_identity_multiplier]):
        multiplier = None if scale_identity_multiplier is None else tf.convert_to_tensor(scale_identity_multiplier)
        if scale_diag is not None:
            diagonal = tf.convert_to_tensor(scale_diag, name="scale_diag")
            diagonal = diagonal if multiplier is None else diagonal + multiplier[..., None]
            return tf.linalg.LinearOperatorDiag(_nonsingular(diagonal, validate_args, assert_positive), is_non_singular=True,
                                                is_self_adjoint=True, is_positive_definite=assert_positive)
        if loc is None and shape_hint is None:
            raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
        loc = None if loc is None else tf.convert_to_tensor(loc, name="loc")
        size = loc.get_shape()[-1].value if shape_hint is None else shape_hint
        if multiplier is None:
            return tf.linalg.LinearOperatorIdentity(size, dtype=tf.float32 if loc is None else loc.dtype.base_dtype,
                                                    is_self_adjoint=True, is_positive_definite=True,
                                                    assert_proper_shapes=validate_args)
        return tf.linalg.LinearOperatorScaledIdentity(
            size, _nonsingular(multiplier, validate_args, assert_positive), is_non_singular=True, is_self_adjoint=True,
            is_positive_definite=assert_positive, assert_proper_shapes=validate_args)


def make_tril_scale(loc=None, scale_tril=None, scale_diag=None, scale_identity_multiplier=None, shape_hint=None,
                    validate_args=False, assert_positive=False, name=None):
    """The lower triangle, plus what make_diag_scale makes of the rest."""
    if scale_tril is None:
        return make_diag_scale(loc, scale_diag, scale_identity_multiplier, shape_hint, validate_args, assert_positive, name)
    with tf.name_scope(name, "make_tril_scale", [scale_tril, scale_diag, scale_identity_multiplier]):
        triangle = tf.matrix_band_part(tf.convert_to_tensor(scale_tril, name="scale_tril"), -1, 0)
        diagonal = tf.matrix_diag_part(triangle)
        if scale_diag is not None:
            diagonal += tf.convert_to_tensor(scale_diag, name="scale_diag")
        if scale_identity_multiplier is not None:
            diagonal += tf.convert_to_tensor(scale_identity_multiplier)[..., None]
        triangle = tf.matrix_set_diag(triangle, _nonsingular(diagonal, validate_args, assert_positive))
        return tf.linalg.LinearOperatorLowerTriangular(triangle, is_non_singular=True, is_self_adjoint=False,
                                                       is_positive_definite=assert_positive)


def is_diagonal_scale(scale):
    if not isinstance(scale, tf.linalg.LinearOperator):
        raise TypeError(f"Expected argument 'scale' to be instance of LinearOperator. Found: {scale}")
    return isinstance(scale, (tf.linalg.LinearOperatorIdentity, tf.linalg.LinearOperatorScaledIdentity,
                              tf.linalg.LinearOperatorDiag))


def shapes_from_loc_and_scale(loc, scale, name="shapes_from_loc_and_scale"):
    """(batch shape, event shape) of loc + scale x; arrays where they are known."""
    with tf.name_scope(name):
        event_size = scale.range_dimension_tensor()
        known = tf.contrib.util.constant_value(event_size)
        event_shape = event_size[None] if known is None else known.reshape([1])
        batch_shape = scale.batch_shape_tensor()
        if loc is not None:
            size = loc.get_shape()[-1].value if loc.get_shape().ndims is not None else None
            if size not in (None, 1) and known is not None and size != known:
                raise ValueError(f"Event size of 'scale' ({size}) could not be broadcast up to that of 'loc' ({known}).")
            batch_shape = tf.broadcast_dynamic_shape(batch_shape, _batch_shape_of(loc))
        known = tf.contrib.util.constant_value(batch_shape)
        return (batch_shape if known is None else known), event_shape


def _batch_shape_of(loc):
    shape = loc.get_shape()
    if shape.ndims is not None and shape[:-1].is_fully_defined():
        return tf.constant(shape[:-1].as_list(), tf.int32)
    return tf.shape(loc)[:-1]


# Shapes.


def get_broadcast_shape(*tensors):
    """The shape that tensors have together: a list where it is known, else a tensor."""
    shape = functools.reduce(tf.broadcast_static_shape, (tensor.get_shape() for tensor in tensors))
    if shape.is_fully_defined():
        return shape.as_list()
    return functools.reduce(tf.broadcast_dynamic_shape, (tf.shape(tensor) for tensor in tensors))


def move_dimension(x, source_idx, dest_idx):
    """x with one dimension at another place."""
    rank = x.get_shape().ndims
    if rank is not None and not isinstance(source_idx, tf.Tensor) and not isinstance(dest_idx, tf.Tensor):
        order = [i for i in range(rank) if i != source_idx % rank]
        order.insert(dest_idx % rank, source_idx % rank)
        return x if order == sorted(order) else tf.transpose(x, order)
    rank = tf.rank(x)
    source, target = (tf.floormod(tf.cast(at, tf.int32), rank) for at in (source_idx, dest_idx))
    order = tf.boolean_mask(tf.range(rank), tf.not_equal(tf.range(rank), source))
    return tf.transpose(x, tf.concat([order[:target], [source], order[target:]], 0))


# Mixtures.


def pad_mixture_dimensions(x, mixture_distribution, categorical_distribution, event_ndims):
    """Weights of components with dimensions for the batch of the mixture and for events."""
    with tf.name_scope("pad_mix_dims", values=[x]):
        batch, weights = (tf.size(d.batch_shape_tensor()) for d in (mixture_distribution, categorical_distribution))
        padding = tf.where(categorical_distribution.is_scalar_batch(), batch, batch - weights)
        shape = tf.shape(x)
        return tf.reshape(x, tf.concat([shape[:-1], tf.ones([padding], tf.int32), shape[-1:],
                                        tf.ones([event_ndims], tf.int32)], 0))


def mixture_stddev(mixture_weight_vector, mean_vector, stddev_vector):
    """The standard deviations of mixtures: [batch] of weights, means and deviations [batch, components]."""
    for name, value in (("mixture weight", mixture_weight_vector), ("mean", mean_vector), ("stddev", stddev_vector)):
        if value.get_shape().ndims not in (None, 2):
            raise ValueError(f"Shape {value.get_shape()} of the {name} vector must have rank 2")
    mean = tf.reduce_sum(mixture_weight_vector * mean_vector, axis=1)
    squares = tf.reduce_sum(mixture_weight_vector * (tf.square(stddev_vector) + tf.square(mean_vector)), axis=1)
    return tf.sqrt(squares - tf.square(mean))
