"""Derivatives."""

from weir import _weir
from weir.core.graph import IndexedSlices, Tensor, convert_to_tensor
from weir.core.stack import get_default_graph as _graph
from weir.ops import array_ops
from weir.ops.control_flow_ops import while_loop
from weir.ops.tensor_array_ops import TensorArray


class AggregationMethod:
    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class UnconnectedGradients:
    NONE = "none"
    ZERO = "zero"


def _as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _tensor_of(x):
    element = getattr(x, "_as_graph_element", lambda: None)()
    if isinstance(element, Tensor):
        return element
    return convert_to_tensor(x, name="x")  # of a number: a constant, which nothing depends on


def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
              aggregation_method=None, stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
    """d(sum of ys)/dx for each x: a Tensor, IndexedSlices, or None where no y depends on x."""
    if unconnected_gradients not in ("none", "zero"):
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}")
    ys, xs = _as_list(ys), _as_list(xs)
    graph = next((v.graph for v in ys + xs if isinstance(v, (Tensor, _weir.Variable, IndexedSlices))), _graph())
    ys = [y.values if isinstance(y, IndexedSlices) else y for y in ys]
    # What stands for a tensor, a random variable of Edward's for one, is differentiated by that.
    xs = [x if isinstance(x, (Tensor, _weir.Variable, IndexedSlices)) else _tensor_of(x) for x in xs]
    if grad_ys is not None:
        grad_ys = [g.values if isinstance(g, IndexedSlices) else g for g in _as_list(grad_ys)]
        if len(grad_ys) != len(ys):
            raise ValueError("Passed %d grad_ys for %d ys" % (len(grad_ys), len(ys)))
    result = _weir.gradients(graph, ys, [x.values if isinstance(x, IndexedSlices) else x for x in xs], grad_ys,
                             None if stop_gradients is None else _as_list(stop_gradients),
                             bool(colocate_gradients_with_ops), name)
    if unconnected_gradients in (UnconnectedGradients.ZERO, "zero"):
        result = [array_ops.zeros_like(x) if g is None else g for x, g in zip(xs, result)]
    return result


def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None):
    """For each x the second derivatives of the sum of ys: of shape ``x.shape + x.shape``."""
    options = {"colocate_gradients_with_ops": colocate_gradients_with_ops, "gate_gradients": gate_gradients,
               "aggregation_method": aggregation_method}
    xs, results = _as_list(xs), []
    for first, x in zip(gradients(ys, xs, **options), xs):
        if first is None:
            raise ValueError(f"No derivative of ys with respect to {x.name}.")
        rows = array_ops.reshape(first, [-1])
        count = array_ops.size(x)

        def step(j, hessian, rows=rows, x=x):
            return j + 1, hessian.write(j, gradients(rows[j], x, **options)[0])

        _, hessian = while_loop(lambda j, _, count=count: j < count, step, (0, TensorArray(x.dtype.base_dtype, size=count)))
        shape = array_ops.shape(x)
        results.append(array_ops.reshape(hessian.stack(), array_ops.concat([shape, shape], 0)))
    return results


def _hessian_vector_product(ys, xs, v):
    """The matrix of second derivatives of ``ys`` times the vectors ``v``, without the matrix."""
    if len(v) != len(xs):
        raise ValueError("xs and v must have the same length.")
    products = [grad * array for grad, array in zip(gradients(ys, xs), v) if grad is not None]
    return gradients(products, xs)
