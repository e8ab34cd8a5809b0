"""The kinds of linear operators that are composed of others."""

from weir.core.tensor_shape import TensorShape
from weir.ops import array_ops, math_ops
from weir.ops.linear_operator import _KINDS, LinearOperator, _with_common_batch


def _require_one_dtype(operators):
    found = [(op.name, op.dtype) for op in operators]
    if any(dtype != found[0][1] for _, dtype in found):
        raise TypeError(f"Expected all operators to have the same dtype. Found {found}")


def _hints_of_all(operators, what, **hints):
    """Hints of an operator that has a property when all of its parts have it."""
    for hint, value in hints.items():
        if all(getattr(op, hint) for op in operators):
            if value is False:
                kind = hint[len("is_"):].replace("_", " " if hint == "is_positive_definite" else "-")
                raise ValueError(f"The {what} of {kind} operators is always {kind}.")
            hints[hint] = True
    return hints


def _checked(operators, wanted="a non-empty list of operators"):
    operators = list(operators)
    if not operators:
        raise ValueError(f"Expected {wanted}. Found: {operators}")
    _require_one_dtype(operators)
    return operators


class _Composed(LinearOperator):
    """An operator made of others, whose names ``joint`` stands between."""

    def __init__(self, operators, joint, name, **hints):
        self._operators = operators
        super().__init__(operators[0].dtype, [p for op in operators for p in op.graph_parents],
                         name=name or joint.join(op.name for op in operators), **hints)

    operators = property(lambda self: self._operators)

    def _common_batch_shape(self):
        batch = self._operators[0].batch_shape
        for op in self._operators[1:]:
            batch = array_ops.broadcast_static_shape(batch, op.batch_shape)
        return batch


class LinearOperatorComposition(_Composed):
    """One after the other, the last one first."""

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        operators = _checked(operators)
        hints = _hints_of_all(operators, "composition", is_non_singular=is_non_singular)
        super().__init__(operators, "_o_", name, is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite,
                         is_square=is_square, **hints)

    def _shape(self):
        return self._common_batch_shape().concatenate(TensorShape([self._operators[0].range_dimension, self._operators[-1].domain_dimension]))

    def _matmul(self, x, adjoint=False):
        for op in self._operators if adjoint else reversed(self._operators):
            x = op.matmul(x, adjoint=adjoint)
        return x

    def _solve(self, rhs, adjoint=False):
        for op in reversed(self._operators) if adjoint else self._operators:
            rhs = op.solve(rhs, adjoint=adjoint)
        return rhs

    def _to_dense(self):
        dense = self._operators[-1].to_dense()
        for op in reversed(self._operators[:-1]):
            dense = op.matmul(dense)
        return dense

    def _determinant(self):
        result = self._operators[0].determinant()
        for op in self._operators[1:]:
            result *= op.determinant()
        return result

    def _log_abs_determinant(self):
        return sum((op.log_abs_determinant() for op in self._operators[1:]), self._operators[0].log_abs_determinant())


def _of_parts(method):
    """A method that gives what the method of this name gives of each part, composed as the parts are."""
    def composed(self):
        hints = {"is_non_singular": self.is_non_singular, "is_square": True}
        if method != "cholesky":
            hints.update(is_self_adjoint=self.is_self_adjoint, is_positive_definite=self.is_positive_definite)
        return type(self)([getattr(op, method)() for op in self._operators], **hints)

    return composed


class LinearOperatorBlockDiag(_Composed):
    """One below and beside the other."""

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=True, name=None):
        operators = _checked(operators)
        if not is_square or any(op.is_square is False for op in operators):
            raise ValueError("Can only represent a block-diagonal of square matrices.")
        hints = _hints_of_all(operators, "composition", is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                              is_positive_definite=is_positive_definite)
        super().__init__(operators, "_ds_", name, is_square=is_square, **hints)

    def _parts(self, x, adjoint=False):
        sizes = [op.range_dimension_tensor() if adjoint else op.domain_dimension_tensor() for op in self._operators]
        return array_ops.split(x, array_ops.stack(sizes), axis=-2, num=len(sizes)) if len(sizes) > 1 else [x]

    def _matmul(self, x, adjoint=False):
        return _joined([op.matmul(part, adjoint=adjoint) for op, part in zip(self._operators, self._parts(x, adjoint))])

    def _solve(self, rhs, adjoint=False):
        return _joined([op.solve(part, adjoint=adjoint) for op, part in zip(self._operators, self._parts(rhs, not adjoint))])

    def _shape(self):
        sizes = [[getattr(op, which).value for op in self._operators] for which in ("range_dimension", "domain_dimension")]
        return self._common_batch_shape().concatenate(TensorShape([None if None in side else sum(side) for side in sizes]))

    def _shape_tensor(self):
        batch = self._operators[0].batch_shape_tensor()
        for op in self._operators[1:]:
            batch = array_ops.broadcast_dynamic_shape(batch, op.batch_shape_tensor())
        ends = [math_ops.add_n([op.range_dimension_tensor() for op in self._operators]), math_ops.add_n([op.domain_dimension_tensor() for op in self._operators])]
        return array_ops.concat([batch, array_ops.stack(ends)], 0)

    _determinant, _log_abs_determinant = LinearOperatorComposition._determinant, LinearOperatorComposition._log_abs_determinant
    _adjoint_operator, _inverse_operator, _cholesky_operator = _of_parts("adjoint"), _of_parts("inverse"), _of_parts("cholesky")


def _joined(parts):
    """Rows of parts, one below the other, with the batch dimensions of all of them."""
    if len(parts) == 1:
        return parts[0]
    batch = array_ops.shape(parts[0])[:-2]
    for part in parts[1:]:
        batch = array_ops.broadcast_dynamic_shape(batch, array_ops.shape(part)[:-2])
    return array_ops.concat([array_ops.broadcast_to(part, array_ops.concat([batch, array_ops.shape(part)[-2:]], 0)) for part in parts], -2)


class LinearOperatorKronecker(_Composed):
    """Each element of the first times all of the next."""

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        operators = _checked(operators, "a list of >=1 operators")
        hints = _hints_of_all(operators, "Kronecker product", is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                              is_positive_definite=is_positive_definite)
        super().__init__(operators, "_x_", name, is_square=is_square, **hints)

    def _to_dense(self):
        result = self._operators[0].to_dense()
        for op in self._operators[1:]:
            a, b = _with_common_batch(result, op.to_dense())
            sizes_a, sizes_b = array_ops.shape(a), array_ops.shape(b)
            grid = array_ops.expand_dims(array_ops.expand_dims(a, -1), -3) * array_ops.expand_dims(array_ops.expand_dims(b, -2), -4)
            result = array_ops.reshape(grid, array_ops.concat([sizes_a[:-2], sizes_a[-2:] * sizes_b[-2:]], 0))
        return result

    _adjoint_operator, _inverse_operator, _cholesky_operator = _of_parts("adjoint"), _of_parts("inverse"), _of_parts("cholesky")


_KINDS["Composition"] = LinearOperatorComposition
