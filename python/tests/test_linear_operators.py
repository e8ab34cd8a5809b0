"""Linear operators do what their dense matrices do."""

import numpy as np
import pytest

import weir as tf

RANDOM = np.random.RandomState(5)


def normal(*shape):
    return RANDOM.randn(*shape).astype(np.float32)


def positive_definite(n):
    a = normal(n, n)
    return a @ a.T + n * np.eye(n, dtype=np.float32)


def kinds():
    """name: (operator, its matrix)."""
    full, lower, diagonal, axis = normal(3, 3) + 3 * np.eye(3, dtype=np.float32), normal(2, 3, 3) + 3 * np.eye(3, dtype=np.float32), normal(2, 3) + 3, normal(3)
    definite, u, spectrum = positive_definite(3), normal(3, 2), np.array([3.0, 2.0, 2.0], np.float32)
    unit = axis / np.linalg.norm(axis)
    op = tf.linalg.LinearOperatorFullMatrix
    return {
        "full": (op(full), full),
        "definite": (op(definite, is_self_adjoint=True, is_positive_definite=True), definite),
        "lower": (tf.linalg.LinearOperatorLowerTriangular(lower), np.tril(lower)),
        "diag": (tf.linalg.LinearOperatorDiag(diagonal), np.stack([np.diag(d) for d in diagonal])),
        "identity": (tf.linalg.LinearOperatorIdentity(3), np.eye(3, dtype=np.float32)),
        "scaled": (tf.linalg.LinearOperatorScaledIdentity(3, 2.5), 2.5 * np.eye(3, dtype=np.float32)),
        "composition": (tf.linalg.LinearOperatorComposition([op(full), op(definite)]), full @ definite),
        "adjoint": (op(full).adjoint(), full.T),
        "inversion": (op(full).inverse(), np.linalg.inv(full)),
        "householder": (tf.linalg.LinearOperatorHouseholder(axis), np.eye(3, dtype=np.float32) - 2 * np.outer(unit, unit)),
        "update": (tf.linalg.LinearOperatorLowRankUpdate(op(definite), u, [0.5, 1.0]), definite + u @ np.diag([0.5, 1.0]).astype(np.float32) @ u.T),
        "toeplitz": (tf.linalg.LinearOperatorToeplitz([4.0, 1.0, 2.0], [4.0, 7.0, 8.0]), np.array([[4, 7, 8], [1, 4, 7], [2, 1, 4]], np.float32)),
        "circulant": (tf.linalg.LinearOperatorCirculant(spectrum, input_output_dtype=tf.float32),
                      np.real(np.fft.ifft(np.fft.fft(np.eye(3), axis=0) * spectrum[:, None], axis=0)).astype(np.float32)),
    }


def test_an_update_with_negative_weights_is_solved_whatever_the_hints_say(sess):
    base, u = np.diag([2.0, 3.0, 4.0]).astype(np.float32), normal(3, 2)
    operator = tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag([2.0, 3.0, 4.0], is_positive_definite=True), u, [-0.1, 5.0],
                                                     is_self_adjoint=True, is_positive_definite=True)
    matrix, x = base + u @ np.diag([-0.1, 5.0]).astype(np.float32) @ u.T, normal(3, 2)
    solved, determinant, logarithm = sess.run([operator.solve(x), operator.determinant(), operator.log_abs_determinant()])
    np.testing.assert_allclose(solved, np.linalg.solve(matrix, x), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose([determinant, logarithm], [np.linalg.det(matrix), np.log(np.abs(np.linalg.det(matrix)))], rtol=1e-3)


@pytest.mark.parametrize("kind", ["full", "definite", "lower", "diag", "identity", "scaled", "composition", "adjoint", "inversion", "householder", "update",
                                  "toeplitz", "circulant"])
def test_an_operator_is_its_matrix(kind, sess):
    operator, matrix = kinds()[kind]
    x, v = normal(3, 2), normal(3)
    close = lambda a, b: np.testing.assert_allclose(sess.run(a), b, rtol=2e-3, atol=2e-3)  # noqa: E731
    assert operator.shape.as_list() == list(matrix.shape)
    close(operator.to_dense(), matrix)
    close(operator.matmul(x), matrix @ x)
    close(operator.matmul(x, adjoint=True), np.swapaxes(matrix, -1, -2) @ x)
    close(operator.matvec(v), matrix @ v)
    close(operator.solve(x), np.linalg.solve(matrix, np.broadcast_to(x, matrix.shape[:-2] + x.shape)))
    close(operator.solve(x, adjoint=True), np.linalg.solve(np.swapaxes(matrix, -1, -2), np.broadcast_to(x, matrix.shape[:-2] + x.shape)))
    close(operator.determinant(), np.linalg.det(matrix))
    close(operator.log_abs_determinant(), np.log(np.abs(np.linalg.det(matrix))))
    close(operator.trace(), np.trace(matrix, axis1=-2, axis2=-1))
    close(operator.diag_part(), np.diagonal(matrix, axis1=-2, axis2=-1))
    close(operator.add_to_tensor(np.broadcast_to(np.ones((3, 3), np.float32), matrix.shape)), matrix + 1)


def test_blocks_and_products_of_operators(sess):
    a, b = normal(2, 2), normal(3, 3)
    ops = [tf.linalg.LinearOperatorFullMatrix(a), tf.linalg.LinearOperatorFullMatrix(b)]
    blocks = tf.linalg.LinearOperatorBlockDiag(ops)
    dense = np.block([[a, np.zeros((2, 3), np.float32)], [np.zeros((3, 2), np.float32), b]])
    assert blocks.shape.as_list() == [5, 5]
    np.testing.assert_allclose(sess.run(blocks.to_dense()), dense, atol=1e-5)
    x = normal(5, 1)
    np.testing.assert_allclose(sess.run(blocks.solve(x)), np.linalg.solve(dense, x), rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(sess.run(tf.linalg.LinearOperatorKronecker(ops).to_dense()), np.kron(a, b), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(sess.run(ops[0].matmul(ops[0]).to_dense()), a @ a, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(sess.run(tf.linalg.LinearOperatorZeros(2).matmul(a)), np.zeros((2, 2)))
    definite = positive_definite(2)
    factor = tf.linalg.LinearOperatorFullMatrix(definite, is_self_adjoint=True, is_positive_definite=True).cholesky()
    np.testing.assert_allclose(sess.run(factor.to_dense()), np.linalg.cholesky(definite), rtol=1e-4)


def test_hints_must_agree():
    with pytest.raises(ValueError, match="always non-singular"):
        tf.linalg.LinearOperatorFullMatrix([[1.0]], is_positive_definite=True, is_non_singular=False)
    with pytest.raises(ValueError, match="always square"):
        tf.linalg.LinearOperatorFullMatrix([[1.0]], is_non_singular=True, is_square=False)
    with pytest.raises(ValueError, match="always self adjoint"):
        tf.linalg.LinearOperatorDiag([1.0], is_self_adjoint=False)
    with pytest.raises(NotImplementedError, match="singular"):
        tf.linalg.LinearOperatorFullMatrix([[1.0]], is_non_singular=False).solve([[1.0]])
    with pytest.raises(ValueError):
        tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0]]).matmul([[1.0]])


def test_an_operator_of_unknown_shape_has_unknown_dimensions():
    operator = tf.linalg.LinearOperatorFullMatrix(tf.placeholder(tf.float32))
    assert operator.range_dimension.value is None and operator.domain_dimension.value is None


def test_reflections_of_unknown_shape(sess):
    axis = normal(2, 3)
    fed = tf.placeholder(tf.float32)
    dense = np.eye(3) - 2 * axis[:, :, None] * axis[:, None] / np.sum(axis * axis, -1)[:, None, None]
    found = tf.linalg.LinearOperatorHouseholder(fed).to_dense()
    np.testing.assert_allclose(sess.run(found, {fed: axis}), dense, atol=1e-5)


def test_what_holds_for_all_parts_holds_for_blocks_and_products(sess):
    definite = [positive_definite(2), positive_definite(2)]
    parts = [tf.linalg.LinearOperatorFullMatrix(m, is_self_adjoint=True, is_positive_definite=True) for m in definite]
    zero = np.zeros((2, 2), np.float32)
    for kind, dense in ((tf.linalg.LinearOperatorBlockDiag, np.block([[definite[0], zero], [zero, definite[1]]])),
                        (tf.linalg.LinearOperatorKronecker, np.kron(*definite))):
        whole = kind(parts)
        assert whole.is_self_adjoint and whole.is_positive_definite and whole.is_non_singular
        assert isinstance(whole.cholesky(), kind) and isinstance(whole.inverse(), kind)
        np.testing.assert_allclose(sess.run(whole.cholesky().to_dense()), np.linalg.cholesky(dense), rtol=1e-3, atol=1e-4)
        with pytest.raises(ValueError, match="always positive"):
            kind(parts, is_positive_definite=False)
        with pytest.raises(TypeError, match="same dtype"):
            kind([parts[0], tf.linalg.LinearOperatorFullMatrix(np.eye(2))])


def test_diagonal_operators_multiply_and_solve_to_diagonal_ones(sess):
    a = tf.linalg.LinearOperatorDiag([2., 3.], is_non_singular=True)
    b = tf.linalg.LinearOperatorScaledIdentity(2, 4., is_non_singular=True)
    for operator, wanted in ((a.matmul(b), [8, 12]), (a.solve(b), [2, 4 / 3]), (b.solve(a), [0.5, 0.75])):
        assert isinstance(operator, tf.linalg.LinearOperatorDiag)
        np.testing.assert_allclose(sess.run(operator.diag), wanted, rtol=1e-5)


def test_complex_updates_have_determinants(sess):
    base = tf.linalg.LinearOperatorDiag(np.array([2., 3.], np.complex64), is_self_adjoint=True, is_positive_definite=True)
    u = np.array([[1. + 1j], [2.]], np.complex64)
    dense = np.diag([2., 3.]) + u @ u.conj().T
    found = tf.linalg.LinearOperatorLowRankUpdate(base, u).log_abs_determinant()
    assert found.dtype == tf.complex64
    np.testing.assert_allclose(sess.run(found), np.log(np.abs(np.linalg.det(dense))), rtol=1e-4)
