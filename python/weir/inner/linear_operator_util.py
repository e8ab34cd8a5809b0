"""tensorflow.python.ops.linalg.linear_operator_util: products and solutions of batches that are broadcast."""

import weir as tf


def is_ref(x):
    return isinstance(x, tf.Variable)


def broadcast_matrix_batch_dims(batch_matrices, name=None):
    """The matrices with one batch shape, that of all of them broadcast. Known shapes that are equal cost nothing."""
    with tf.name_scope(name or "broadcast_matrix_batch_dims", values=batch_matrices):
        matrices = [tf.convert_to_tensor(matrix) for matrix in batch_matrices]
        if len(matrices) < 2:
            return matrices
        known = matrices[0].get_shape()[:-2]
        for matrix in matrices[1:]:
            known = tf.broadcast_static_shape(known, matrix.get_shape()[:-2])
        if known.is_fully_defined() and all(m.get_shape().is_fully_defined() for m in matrices):
            return [matrix if matrix.get_shape()[:-2].as_list() == known.as_list() else
                    tf.broadcast_to(matrix, known.as_list() + matrix.get_shape()[-2:].as_list()) for matrix in matrices]
        batch = tf.shape(matrices[0])[:-2]
        for matrix in matrices[1:]:
            batch = tf.broadcast_dynamic_shape(batch, tf.shape(matrix)[:-2])
        wide = [tf.broadcast_to(matrix, tf.concat([batch, tf.shape(matrix)[-2:]], 0)) for matrix in matrices]
        for new, matrix in zip(wide, matrices):
            if known.ndims is not None and matrix.get_shape().ndims is not None:
                new.set_shape(known.concatenate(matrix.get_shape()[-2:]))
        return wide


def matmul_with_broadcast(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
                          b_is_sparse=False, name=None):
    return tf.matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, a_is_sparse, b_is_sparse, name)


def cholesky_solve_with_broadcast(chol, rhs, name=None):
    with tf.name_scope(name or "CholeskySolveWithBroadcast", values=[chol, rhs]):
        chol, rhs = broadcast_matrix_batch_dims([chol, rhs])
        return tf.cholesky_solve(chol, rhs)


def matrix_solve_with_broadcast(matrix, rhs, adjoint=False, name=None):
    with tf.name_scope(name or "MatrixSolveWithBroadcast", values=[matrix, rhs]):
        matrix, rhs = broadcast_matrix_batch_dims([matrix, rhs])
        return tf.matrix_solve(matrix, rhs, adjoint=adjoint)


def matrix_triangular_solve_with_broadcast(matrix, rhs, lower=True, adjoint=False, name=None):
    with tf.name_scope(name or "MatrixTriangularSolve", values=[matrix, rhs]):
        matrix, rhs = broadcast_matrix_batch_dims([matrix, rhs])
        return tf.matrix_triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint)


def assert_no_entries_with_modulus_zero(x, message=None, name="assert_no_entries_with_modulus_zero"):
    with tf.name_scope(name, values=[x]):
        x = tf.abs(tf.convert_to_tensor(x, name="x"))
        return tf.assert_less(tf.zeros([], x.dtype), x, message=message)


def assert_zero_imag_part(x, message=None, name="assert_zero_imag_part"):
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        if not x.dtype.is_complex:
            return tf.no_op()
        return tf.assert_equal(tf.zeros([], x.dtype.real_dtype), tf.imag(x), message=message)


def shape_tensor(shape, name=None):
    """A shape as a tensor of int32."""
    return tf.convert_to_tensor(shape, dtype=tf.int32, name=name or "shape")


def assert_compatible_matrix_dimensions(operator, x):
    """An operation that fails unless ``x`` has as many rows as the operator has columns."""
    return tf.assert_equal(tf.shape(x)[-2], operator.domain_dimension_tensor(),
                           message="Dimensions are not compatible.  shape[-2] of argument to be the same as this operator")


def use_operator_or_provided_hint_unless_contradicting(operator, hint_attr_name, provided_hint_value, message):
    """What the operator says of itself or else what is given; ValueError where one says yes and the other no."""
    own = getattr(operator, hint_attr_name)
    if own is not None and provided_hint_value is not None and bool(own) != bool(provided_hint_value):
        raise ValueError(message)
    if own or provided_hint_value:
        return True
    return None if own is None and provided_hint_value is None else False
