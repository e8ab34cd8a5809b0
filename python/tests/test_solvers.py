"""tf.contrib.solvers beside numpy."""

import numpy as np
import pytest

import weir as tf

RNG = np.random.RandomState(3)
A = RNG.uniform(-1, 1, [7, 4])


@pytest.mark.parametrize("known_shape", [True, False])
def test_conjugate_gradient_solves_a_positive_definite_system(known_shape):
    matrix, rhs = A.T @ A + np.eye(4), RNG.uniform(size=4)
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.constant(matrix) if known_shape else tf.placeholder(tf.float64)
        state = tf.contrib.solvers.conjugate_gradient(tf.contrib.solvers.create_operator(a), tf.constant(rhs), tol=1e-10)
        steps, x = session.run([state.i, state.x], {} if known_shape else {a: matrix})
    np.testing.assert_allclose(x, np.linalg.solve(matrix, rhs), rtol=1e-8)
    assert 0 < steps <= 6


def test_cgls_minimises():
    rhs = RNG.uniform(size=7)
    with tf.Graph().as_default(), tf.Session() as session:
        x = session.run(tf.contrib.solvers.cgls(tf.contrib.solvers.create_operator(tf.constant(A)), tf.constant(rhs)).x)
    np.testing.assert_allclose(x, np.linalg.lstsq(A, rhs, rcond=None)[0], rtol=1e-6)


@pytest.mark.parametrize("orthogonalize", [True, False])
def test_lanczos_bidiagonalizes(orthogonalize):
    solvers = tf.contrib.solvers
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.constant(A)
        state = solvers.lanczos_bidiag(solvers.create_operator(a), 3, orthogonalize=orthogonalize)
        left = [tf.matmul(a, state.v), tf.matmul(a, state.u[:, :-1], adjoint_a=True), tf.matmul(state.u, state.u, adjoint_a=True)]
        right = [solvers.bidiag_matmul(state.u, state.alpha, state.beta),
                 solvers.bidiag_matmul(state.v, state.alpha, state.beta, adjoint_b=True), tf.eye(4, dtype=tf.float64)]
        for found, expected in session.run(list(zip(left, right))):
            np.testing.assert_allclose(found, expected, atol=1e-10)
