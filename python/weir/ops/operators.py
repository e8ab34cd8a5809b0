"""The operators of tensors and variables."""

from weir.core import dispatch, dtypes
from weir.core.graph import control_dependencies, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor import Tensor
from weir.core.variables import Variable
from weir.ops import array_ops, math_ops

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def _variable_subscript(variable, key):
    """A part of a variable's value, which can be assigned to: ``v[2:].assign(x)``."""
    part = array_ops._subscript(variable.value(), key)
    if part.op.type != "StridedSlice":
        return part

    def assign(value, name=None):
        slices, masks = tuple(part.op.inputs)[1:4], {mask: part.op.get_attr(mask) for mask in _MASKS}
        value = convert_to_tensor(value, dtype=variable.dtype.base_dtype)
        if not variable._is_resource:
            return apply("StridedSliceAssign", (variable._handle, *slices, value), masks, name)
        with control_dependencies([apply("ResourceStridedSliceAssign", (variable.handle, *slices, value), masks, name)]):
            return variable.read_value()

    part.assign = assign
    return part


def install():
    """Gives Tensor and Variable their operators."""
    def for_others(function):
        """Leaves operands that define operators for themselves, a ragged tensor for one, to do so."""
        return lambda x, y: NotImplemented if dispatch.types and isinstance(y, dispatch.types) else function(x, y)

    def binary(op, name, swap=False):
        return for_others((lambda x, y: apply(op, (y, x), {}, name)) if swap else (lambda x, y: apply(op, (x, y), {}, name)))

    def through(function, name, swap=False):
        return for_others((lambda x, y: function(y, x, name)) if swap else (lambda x, y: function(x, y, name)))

    def xor(x, y):
        with name_scope(None, "xor", [x, y]) as scope:
            return math_ops.logical_xor(x, y, scope)

    def add_operator(x, y, swap=False):
        if dispatch.types and isinstance(y, dispatch.types):
            return NotImplemented
        first, second = (y, x) if swap else (x, y)
        text = getattr(x, "dtype", None) is not None and x.dtype.base_dtype == dtypes.as_dtype("string")
        return apply("Add" if text else "AddV2", (first, second), {}, "add")

    def multiply(x, y):
        if hasattr(y, "_with_dense") or dispatch.types and isinstance(y, dispatch.types):  # it knows how
            return NotImplemented
        return apply("Mul", (x, y), {}, "mul")

    table = {
        "__add__": add_operator, "__radd__": lambda x, y: add_operator(x, y, True),
        "__sub__": binary("Sub", "sub"), "__rsub__": binary("Sub", "sub", True),
        "__mul__": multiply, "__rmul__": binary("Mul", "mul", True),
        "__truediv__": through(math_ops.truediv, "truediv"), "__rtruediv__": through(math_ops.truediv, "truediv", True),
        "__div__": through(math_ops.div, "div"), "__rdiv__": through(math_ops.div, "div", True),
        "__floordiv__": through(math_ops.floordiv, "floordiv"),
        "__rfloordiv__": through(math_ops.floordiv, "floordiv", True),
        "__mod__": binary("FloorMod", "mod"), "__rmod__": binary("FloorMod", "mod", True),
        "__pow__": binary("Pow", "pow"), "__rpow__": binary("Pow", "pow", True),
        "__matmul__": lambda x, y: math_ops.matmul(x, y, name="matmul"),
        "__rmatmul__": lambda x, y: math_ops.matmul(y, x, name="matmul"),
        "__lt__": binary("Less", None), "__le__": binary("LessEqual", None), "__gt__": binary("Greater", None),
        "__ge__": binary("GreaterEqual", None),
        "__and__": binary("LogicalAnd", "and"), "__rand__": binary("LogicalAnd", "and", True),
        "__or__": binary("LogicalOr", "or"), "__ror__": binary("LogicalOr", "or", True),
        "__xor__": xor, "__rxor__": lambda x, y: xor(y, x),
        "__invert__": lambda x: apply("LogicalNot", (x,), {}, None), "__neg__": lambda x: apply("Neg", (x,), {}, None),
        "__abs__": lambda x: math_ops.abs(x), "__getitem__": array_ops._subscript,
    }
    for name, function in table.items():
        function.__name__ = name
        setattr(Tensor, name, function)
        setattr(Variable, name, lambda x, *rest, _f=function: _f(x.value(), *rest))
    Variable.__getitem__ = _variable_subscript
    Tensor.OVERLOADABLE_OPERATORS = set(table)
