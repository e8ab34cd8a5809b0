"""Functions that programs pass to data sets, as functions of the graph."""

from weir import _weir
from weir.core import stack
from weir.core.graph import control_dependencies, convert_to_tensor
from weir.core.op_functions import apply
from weir.data import nest, structure
from weir.ops.sparse_ops import SparseTensor
from weir.core.values import SparseTensorValue


class TracedFunction:
    """``func`` called once, with placeholders for an element of ``spec``; its nodes make up a function of the graph."""

    def __init__(self, func, transformation, spec):
        self.output_spec = None

        def call(placeholders):
            element = structure.from_tensors(spec, placeholders)
            result = func(*element) if type(element) is tuple else func(element)
            # A list is what functions of several results give (tf.py_func), not a tensor to be.
            result = tuple(result) if isinstance(result, list) else result
            try:
                result = nest.map_structure(_as_value, result)
                self.output_spec = structure.spec_of(result)
            except (TypeError, ValueError):
                raise TypeError(f"Unsupported return value from function passed to {transformation}: {result}.") from None
            return structure.to_tensors(self.output_spec, result)

        name = transformation.replace(".", "_")[:-2] + "_" + _name_of(func)
        self.name, self.captured, _, self._waits = _weir.function(
            stack.get_default_graph(), name, call, structure.flat_types(spec), structure.flat_shapes(spec))

    def node(self, op, inputs, attrs, name=None):
        """A node that calls the function and therefore waits for what the function waits for."""
        return node_with([self], op, inputs, attrs, name)


def node_with(functions, op, inputs, attrs, name=None):
    waits = [wait for function in functions for wait in function._waits]
    if not waits:
        return apply(op, inputs, attrs, name)
    with control_dependencies(waits):
        return apply(op, inputs, attrs, name)


def _as_value(value):
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        return SparseTensor.from_value(value)
    if hasattr(value, "_value_spec"):
        return value
    if value is None:
        raise TypeError("None is no value")
    return convert_to_tensor(value)


def _name_of(func):
    """The function's own name, as far as names of functions in graphs allow."""
    func = getattr(func, "func", func)  # of functools.partial
    name = getattr(func, "__name__", type(func).__name__)
    return "".join(c if c.isalnum() or c == "_" else "" for c in name) or "function"
