"""Nodes of operations that Weir does not have: programs build them by name, with the types that they say.

They have their place in graphs, files and pictures; only running them is an error."""

from weir import _weir
from weir.core.dtypes import as_dtype

_shape_functions = {}


def _register_shape(op_type, function):
    """``function(op)`` gives the shapes of the outputs of such an operation. KeyError for a second one."""
    if op_type in _shape_functions:
        raise KeyError(f"Registering two shape functions with name '{op_type}'! (Previous registration was in "
                       f"{_shape_functions[op_type]})")
    _shape_functions[op_type] = function


def _is_known(op_type):
    return _weir.op_spec(op_type) is not None


def _create(graph, op_type, inputs, output_types, input_types=None, name=None, attrs=None):
    """The new Operation. Inputs are values unless their ``input_types`` say that they are references."""
    inputs = list(inputs)
    if input_types is None:
        types = [tensor.dtype.base_dtype for tensor in inputs]
    else:
        types = [as_dtype(dtype) for dtype in input_types]
        if len(types) != len(inputs) or not all(
                dtype.is_compatible_with(tensor.dtype) for tensor, dtype in zip(inputs, types)):
            raise TypeError(f"Inputs are not compatible with expected input types: {types} of {inputs}")
    op = _weir.create_declared_op(graph, op_type, inputs, _pairs(types), _pairs(output_types or []), dict(attrs or {}),
                                  op_type if name is None else name)
    if op_type in _shape_functions:
        for output, shape in zip(op.outputs, _shape_functions[op_type](op)):
            output.set_shape(shape)
    return op


def _pairs(types):
    """(type, whether it is a reference) for each."""
    types = [as_dtype(dtype) for dtype in types]
    return [(dtype.base_dtype, dtype._is_ref_dtype) for dtype in types]
