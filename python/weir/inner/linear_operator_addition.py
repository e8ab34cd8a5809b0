"""tensorflow.python.ops.linalg.linear_operator_addition: sums of operators."""

import weir as tf
from weir.ops.linear_operators import (LinearOperatorDiag, LinearOperatorFullMatrix, LinearOperatorIdentity,
                                       LinearOperatorLowerTriangular, LinearOperatorScaledIdentity)

_IDENTITIES = (LinearOperatorIdentity, LinearOperatorScaledIdentity)
_TIERS = (_IDENTITIES, (LinearOperatorDiag,), (LinearOperatorLowerTriangular,))  # each is in the next: what is cheap first


def _tier(operator):
    return next((i for i, kinds in enumerate(_TIERS) if isinstance(operator, kinds)), len(_TIERS))


def add_operators(operators, operator_name=None, addition_tiers=None, name=None):
    """A list of operators with the same sum: one of them, since every pair here can be added."""
    operators = list(operators)
    if not operators:
        raise ValueError(f"Argument operators must contain at least one operator.  Found: {operators}")
    if len({operator.dtype for operator in operators}) > 1:
        raise TypeError("Operators must have the same dtype.")
    with tf.name_scope(name or "add_operators"):
        total = operators[0]
        for operator in operators[1:]:
            total = _sum(total, operator, operator_name)
        return [total]


def _sum(a, b, name):
    hints = {hint: True if getattr(a, hint) and getattr(b, hint) else None for hint in ("is_self_adjoint",
                                                                                        "is_positive_definite")}
    hints["is_non_singular"] = True if hints["is_positive_definite"] else None
    tier = max(_tier(a), _tier(b))
    name = name or f"Add/{a.name}__{b.name}/"
    if tier == 0:
        rows = a.range_dimension_tensor()
        multipliers = [getattr(o, "multiplier", None) for o in (a, b)]
        multipliers = [tf.ones(o.batch_shape_tensor(), o.dtype) if m is None else m for m, o in zip(multipliers, (a, b))]
        return LinearOperatorScaledIdentity(rows, multipliers[0] + multipliers[1], name=name, **hints)
    if tier == 1:
        return LinearOperatorDiag(a.diag_part() + b.diag_part(), name=name, **hints)
    special, other = (a, b) if _tier(a) <= _tier(b) else (b, a)
    dense = special.add_to_tensor(other.to_dense())
    return (LinearOperatorLowerTriangular if tier == 2 else LinearOperatorFullMatrix)(dense, name=name, **hints)
