"""Derivatives."""

from weir import _weir
from weir.framework.graph import IndexedSlices, Tensor
from weir.framework.stack import get_default_graph as _graph
from weir.framework.variables import Variable
from weir.ops import public_names


class AggregationMethod:
    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class UnconnectedGradients:
    NONE = "none"
    ZERO = "zero"


def _as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
              aggregation_method=None, stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
    """d(sum of ys)/dx for each x: a Tensor, IndexedSlices, or None where no y depends on x."""
    ys, xs = _as_list(ys), _as_list(xs)
    graph = next((v.graph for v in ys + xs if isinstance(v, (Tensor, Variable, IndexedSlices))), _graph())
    graph._check_not_finalized()
    ys = [y.values if isinstance(y, IndexedSlices) else y for y in ys]
    for x in xs:
        if not isinstance(x, (Tensor, Variable, IndexedSlices)):
            raise TypeError(f"xs must be tensors or variables, got {x!r}")
    if grad_ys is not None:
        grad_ys = [g.values if isinstance(g, IndexedSlices) else g for g in _as_list(grad_ys)]
        if len(grad_ys) != len(ys):
            raise ValueError("Passed %d grad_ys for %d ys" % (len(grad_ys), len(ys)))
    result = _weir.gradients(graph, ys, [x.values if isinstance(x, IndexedSlices) else x for x in xs], grad_ys,
                             None if stop_gradients is None else _as_list(stop_gradients),
                             bool(colocate_gradients_with_ops), name)
    if unconnected_gradients in (UnconnectedGradients.ZERO, "zero"):
        from weir.ops import array_ops

        result = [array_ops.zeros_like(x) if g is None else g for x, g in zip(xs, result)]
    return result


__all__ = public_names(globals())
