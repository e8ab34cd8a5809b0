"""Shapes and sums of tensors, conditions that may be known already, names of scopes."""

from weir import _weir
from weir.core import dtypes, stack
from weir.core.graph import Tensor, control_dependencies, convert_to_tensor, name_scope
from weir.core.tensor_shape import TensorShape
from weir.core.variables import Variable
from weir.ops import array_ops, check_ops, control_flow_ops, math_ops
from weir.ops.confusion_matrix import remove_squeezable_dimensions as _remove_squeezable_dimensions


def reduce_sum_n(tensors, name=None):
    """The sum of all elements of all tensors."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [tensor if tensor.shape.ndims == 0 else math_ops.reduce_sum(tensor, name=f"{tensor.op.name}/sum")
                for tensor in map(convert_to_tensor, tensors)]
        return sums[0] if len(sums) == 1 else math_ops.add_n(sums, name=scope)


def remove_squeezable_dimensions(predictions, labels, name=None):
    """Drops a last dimension of 1 that one of the two has and the other not."""
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    labels, predictions = _remove_squeezable_dimensions(labels, predictions, name=name)
    return predictions, labels


def assert_scalar_int(tensor, name=None):
    with name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = convert_to_tensor(tensor)
        if tensor.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Expected int32 or int64 tensor, got {tensor.dtype.name} for tensor {tensor.name}")
        return check_ops.assert_scalar(tensor, name=scope)


def _checked_shape(expected, tensor):
    """``tensor``, after a check of its shape when it runs."""
    actual = array_ops.shape(tensor)
    same = control_flow_ops.cond(
        math_ops.equal(array_ops.rank(tensor), array_ops.size(expected)),
        lambda: math_ops.reduce_all(math_ops.equal(math_ops.cast(expected, "int64"), math_ops.cast(actual, "int64"))),
        lambda: array_ops.constant(False))
    check = control_flow_ops.Assert(same, [f"Wrong shape for {tensor.name} [expected] [actual].", expected, actual])
    with control_dependencies([check]):
        return array_ops.identity(tensor)


def with_shape(expected_shape, tensor):
    """``tensor``, which has that shape: checked now where both are known, else when it runs."""
    if isinstance(tensor, Variable) or not isinstance(tensor, Tensor):
        tensor = convert_to_tensor(tensor)
    known = _weir.constant_value(expected_shape) if isinstance(expected_shape, Tensor) else expected_shape
    if known is not None:
        known = TensorShape([int(size) for size in known] if not isinstance(known, TensorShape) else known)
    if known is None or not tensor.shape.is_fully_defined():
        with name_scope(f"{tensor.op.name}/", values=[tensor]):
            expected = expected_shape
            if not isinstance(expected, Tensor):
                expected = convert_to_tensor(TensorShape(expected_shape).as_list(), dtypes.int32)
            checked = _checked_shape(expected, tensor)
            if known is not None:
                checked.set_shape(known)
            return checked
    if not known.is_compatible_with(tensor.shape):
        raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {known.as_list()}, got "
                         f"{tensor.shape.as_list()}.")
    return tensor


def with_same_shape(expected_tensor, tensor):
    with name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        shape = expected_tensor.get_shape()
        return with_shape(shape.as_list() if shape.is_fully_defined() else array_ops.shape(expected_tensor), tensor)


# Conditions.


def smart_constant_value(pred):
    """True or False where a condition is known when the graph is built, else None."""
    if isinstance(pred, bool) or pred in (0, 1) and isinstance(pred, int):
        return bool(pred)
    if isinstance(pred, Tensor):
        value = _weir.constant_value(pred)
        return None if value is None else bool(value)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is not None:
        return true_fn() if known else false_fn()
    return control_flow_ops.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


def smart_case(pred_fn_pairs, default=None, exclusive=False, name="smart_case"):
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    left = []
    for pred, function in pairs:
        known = smart_constant_value(pred)
        if known and not left:
            return function()
        if known is not False:
            left.append((pred, function))
    if not left and default is not None:
        return default()
    return control_flow_ops.case(left, default=default, exclusive=exclusive, name=name)


# Names and graphs.


def get_graph_from_inputs(op_input_list, graph=None):
    """The graph of tensors, which must be one."""
    found = graph
    for value in op_input_list:
        if isinstance(value, (Tensor, Variable)):
            if found is None:
                found = value.graph
            elif value.graph is not found:
                raise ValueError(f"{value.name} is not from the passed-in graph." if graph is not None else
                                 f"{value.name} must be from the same graph as the others.")
    return stack.get_default_graph() if found is None else found


def get_name_scope():
    return stack.get_default_graph().get_name_scope()


def get_placeholders(graph):
    return [op.outputs[0] for op in graph.get_operations() if op.type in ("Placeholder", "PlaceholderV2")]
