"""tf.contrib.solvers: iterations that solve linear systems and factor matrices with products alone.

An operator is what has ``shape`` ([rows, columns], numbers or a tensor), ``dtype``, ``apply(x)`` and
``apply_adjoint(x)`` for a matrix x with one column."""

from collections import namedtuple

import weir as tf

LinearOperator = namedtuple("LinearOperator", ["shape", "dtype", "apply", "apply_adjoint"])
CGState = namedtuple("CGState", ["i", "x", "r", "p", "gamma"])
CGLSState = namedtuple("CGLSState", ["i", "x", "r", "p", "gamma"])
LanczosBidiagState = namedtuple("LanczosBidiagState", ["u", "v", "alpha", "beta"])


def create_operator(matrix):
    """The operator of a dense matrix."""
    shape = matrix.get_shape()
    return LinearOperator(shape.as_list() if shape.is_fully_defined() else tf.shape(matrix), matrix.dtype,
                          lambda x: tf.matmul(matrix, x), lambda x: tf.matmul(matrix, x, adjoint_a=True))


def identity_operator(matrix):
    """The operator that leaves vectors as they are, with the shape and type of a matrix."""
    shape = matrix.get_shape()
    return LinearOperator(shape.as_list() if shape.is_fully_defined() else tf.shape(matrix), matrix.dtype,
                          lambda x: x, lambda x: x)


def dot(x, y):
    return tf.reduce_sum(tf.conj(x) * y)


def l2norm_squared(v):
    return tf.reduce_sum(tf.square(v))


def l2norm(v):
    return tf.sqrt(l2norm_squared(v))


def l2normalize(v):
    """(v of length 1, its length)"""
    norm = l2norm(v)
    return v / norm, norm


def _iterate(state_class, step, limit, max_iter, state):
    """Repeats ``step`` until gamma, the square of a residual's length, is below ``limit``. Columns become vectors."""

    def keep_on(i, *rest):
        return tf.logical_and(i < max_iter, rest[-1] > limit)

    def next_state(*values):
        found = step(state_class(*values))
        for before, after in zip(values, found):
            after.set_shape(before.get_shape())  # which products with a matrix of unknown shape do not tell
        return tuple(found)

    i, x, r, p, gamma = tf.while_loop(keep_on, next_state, list(state))
    return state_class(i, tf.squeeze(x, [-1]), tf.squeeze(r, [-1]), tf.squeeze(p, [-1]), gamma)


def conjugate_gradient(operator, rhs, preconditioner=None, x=None, tol=1e-4, max_iter=20, name="conjugate_gradient"):
    """Solves A x = rhs for a positive definite A, until |rhs - A x| <= tol |rhs| or max_iter steps are done."""
    precondition = preconditioner.apply if preconditioner is not None else lambda r: r

    def step(state):
        z = operator.apply(state.p)
        alpha = state.gamma / dot(state.p, z)
        r = state.r - alpha * z
        q = precondition(r)
        gamma = dot(r, q)
        return CGState(state.i + 1, state.x + alpha * state.p, r, q + gamma / state.gamma * state.p, gamma)

    with tf.name_scope(name):
        rhs = tf.expand_dims(rhs, -1)
        start = tf.zeros(operator.shape[1:], dtype=rhs.dtype.base_dtype) if x is None else x
        start = tf.expand_dims(start, -1)
        r = rhs if x is None else rhs - operator.apply(start)
        p = precondition(r)
        state = CGState(tf.constant(0), start, r, p, dot(r, p))
        return _iterate(CGState, step, tol * tol * l2norm_squared(rhs), max_iter, state)


def cgls(operator, rhs, tol=1e-6, max_iter=20, name="cgls"):
    """Minimises |A x - rhs|, until |A* (rhs - A x)| <= tol |A* rhs| or max_iter steps are done."""

    def step(state):
        q = operator.apply(state.p)
        alpha = state.gamma / l2norm_squared(q)
        r = state.r - alpha * q
        s = operator.apply_adjoint(r)
        gamma = l2norm_squared(s)
        return CGLSState(state.i + 1, state.x + alpha * state.p, r, s + gamma / state.gamma * state.p, gamma)

    with tf.name_scope(name):
        rhs = tf.expand_dims(rhs, -1)
        s = operator.apply_adjoint(rhs)
        gamma = l2norm_squared(s)
        x = tf.expand_dims(tf.zeros(operator.shape[1:], dtype=rhs.dtype.base_dtype), -1)
        return _iterate(CGLSState, step, tol * tol * gamma, max_iter, CGLSState(tf.constant(0), x, rhs, s, gamma))


def _with_row(rows, i, column):
    """``rows`` with a column as its row i, which was zero."""
    row = tf.one_hot(i, tf.shape(rows)[0], dtype=rows.dtype)
    changed = rows + tf.expand_dims(row, -1) * tf.transpose(column)
    changed.set_shape(rows.get_shape())
    return changed


def _orthogonal_to(rows, column):
    """What a vector has beside the rows, which are orthonormal or zero. Twice, because once leaves rounding errors."""
    for _ in range(2):
        column = column - tf.matmul(rows, tf.matmul(rows, column), transpose_a=True)
    return column


def lanczos_bidiag(operator, k, orthogonalize=True, starting_vector=None, name="lanczos_bidiag"):
    """k steps of bidiagonalization: A V = U B and A* U[:, :-1] = V B[:-1]*, B with ``alpha`` on the diagonal and ``beta``
    below it. The columns of U and of V are orthonormal."""

    def step(i, u_rows, v_rows, alphas, betas):
        u = tf.expand_dims(u_rows[i], -1)
        before = tf.maximum(i - 1, 0)  # at the first step its beta is zero
        r = operator.apply_adjoint(u) - betas[before] * tf.expand_dims(v_rows[before], -1)
        v, alpha = l2normalize(_orthogonal_to(v_rows, r) if orthogonalize else r)
        p = operator.apply(v) - alpha * u
        u, beta = l2normalize(_orthogonal_to(u_rows, p) if orthogonalize else p)
        place = tf.one_hot(i, k, dtype=alphas.dtype)
        return i + 1, _with_row(u_rows, i + 1, u), _with_row(v_rows, i, v), alphas + place * alpha, betas + place * beta

    with tf.name_scope(name):
        dtype = operator.dtype.base_dtype
        m, n = operator.shape[0], operator.shape[1]
        if starting_vector is None:
            starting_vector = tf.random_uniform([m], -1, 1, dtype=dtype)
        u, _ = l2normalize(starting_vector)
        u_rows = _with_row(tf.zeros([k + 1, m], dtype), 0, tf.expand_dims(u, -1))
        state = [tf.constant(0), u_rows, tf.zeros([k, n], dtype), tf.zeros([k], dtype), tf.zeros([k], dtype)]
        _, u_rows, v_rows, alphas, betas = tf.while_loop(lambda i, *_: i < k, step, state)
        return LanczosBidiagState(tf.transpose(u_rows), tf.transpose(v_rows), alphas, betas)


def bidiag_matmul(matrix, alpha, beta, adjoint_b=False, name="bidiag_matmul"):
    """A B for the lower bidiagonal B [k+1, k] of ``lanczos_bidiag``, or A B[:-1]*."""
    with tf.name_scope(name):
        if not adjoint_b:
            return matrix[:, :-1] * alpha + matrix[:, 1:] * beta
        return matrix * alpha + tf.pad(matrix[:, :-1] * beta[:-1], [[0, 0], [1, 0]])
