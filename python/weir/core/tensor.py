"""Tensor, IndexedSlices and Operation: the parts of a graph."""

import re

from weir import _weir, protos
from weir.core import declared_ops, dtypes, stack, unfinished_ops
from weir.core.control_flow_context import context_of
from weir.core.device import canonical_name
from weir.core.tensor_shape import TensorShape
from weir.core.tensor_util import constant_value
from weir.core.type_spec import CompositeTensor, TypeSpec
from weir.core.values import IndexedSlicesValue, TensorSpec


def _session_for(graph, session, what, how):
    if session is None:
        session = stack.get_default_session()
        if session is None:
            raise ValueError(f"Cannot {what} using `{how.split('(')[0]}()`: No default session is registered. Use `with "
                             f"sess.as_default()` or pass an explicit session to `{how}`")
        if session.graph is not graph:
            raise ValueError(f"Cannot use the default session to {what}: the tensor's graph is different from the "
                             f"session's graph. Pass an explicit session to `{how}`.")
    elif session.graph is not graph:
        raise ValueError(f"Cannot use the given session to {what}: the tensor's graph is different from the session's "
                         "graph.")
    return session


class _Reference:
    """What stands for a tensor or a variable in dictionaries and sets: it is compared by identity."""

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def deref(self):
        return self._wrapped

    def __eq__(self, other):
        return isinstance(other, _Reference) and self._wrapped is other._wrapped

    def __hash__(self):
        return id(self._wrapped)

    def __repr__(self):
        return f"<Reference wrapping {self._wrapped!r}>"


class Tensor(_weir.Tensor):
    """A value that a run of the graph computes: one output of an operation."""

    __array_priority__ = 100  # numpy leaves `array * tensor` to us
    __hash__ = object.__hash__
    OVERLOADABLE_OPERATORS = set()

    def __getattr__(self, name):
        if name == "assign" and self.op.type == "StridedSlice":
            return self._refuse_assignment
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @staticmethod
    def _refuse_assignment(value, name=None):
        raise ValueError("Sliced assignment is only supported for variables")

    @property
    def shape(self):
        return TensorShape(self._shape_tuple())

    def get_shape(self):
        return TensorShape(self._shape_tuple())

    def set_shape(self, shape):
        """Adds knowledge of the shape; raises ValueError when it contradicts what is known."""
        self._set_shape(TensorShape(shape)._dims)

    @property
    def dtype(self):
        dtype = _weir.Tensor.dtype.__get__(self)
        return dtype._as_ref if self._is_ref else dtype

    def eval(self, feed_dict=None, session=None):
        return _session_for(self.graph, session, "evaluate tensor", "eval(session=sess)").run(self, feed_dict)

    def _as_graph_element(self):
        return self

    def _as_node_def_input(self):
        """What the NodeDef of a reader says of it."""
        return f"{self.op.name}:{self.value_index}" if self.value_index else self.op.name

    @property
    def _value_index(self):
        return self.value_index

    @property
    def _op(self):
        return self.op

    def _as_tf_output(self):
        return self  # what functions of TensorFlow's C API take for a tensor

    @property
    def _consumers(self):
        """The operations that read it, each as often as it does."""
        return [op for op in self.consumers() for read in op.inputs if read is self]

    def _shape_as_list(self):
        dims = self._shape_tuple()
        return None if dims is None else list(dims)

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def experimental_ref(self):
        """A key for dictionaries and sets, equal for the same tensor; ``deref()`` gives it back."""
        return _Reference(self)

    def __iter__(self):
        raise TypeError("'Tensor' object is not iterable.: iterating over `tf.Tensor` is not allowed in Graph execution.")

    def __len__(self):
        raise TypeError(f"object of type 'Tensor' has no len(): it is not well defined for a symbolic Tensor. ({self.name}) "
                        "Please call `x.shape` rather than `len(x)` for shape information.")

    def __bool__(self):
        raise TypeError(
            "Using a `tf.Tensor` as a Python `bool` is not allowed. Use `if t is not None:` instead of `if t:` to test "
            "if a tensor is defined, and use TensorFlow ops such as tf.cond to execute subgraphs conditioned on the "
            "value of a tensor: using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution.")

    __nonzero__ = __bool__  # as libraries that run on Python 2 too ask for it

    def __array__(self, *args, **kwargs):
        raise NotImplementedError(f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array.")

    def __str__(self):
        shape = "" if self._shape_tuple() is None else f", shape={self.shape}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'

    def __repr__(self):
        dims = self._shape_tuple()
        return f"<tf.Tensor '{self.name}' shape={TensorShape(dims)} dtype={self.dtype.name}>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


TensorSpec.value_type = Tensor


class IndexedSlicesSpec(TypeSpec):
    """Of IndexedSlices: the shape of the whole, the types of values, indices and shape, and how many rows are given."""

    def __init__(self, shape=None, dtype=dtypes.float32, indices_dtype=dtypes.int64, dense_shape_dtype=None,
                 indices_shape=None):
        self._shape, self._values_dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    value_type = property(lambda self: IndexedSlices)

    def _serialize(self):
        return self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    @property
    def _component_specs(self):
        rows = self._indices_shape.concatenate(self._shape[1:])
        specs = [TensorSpec(rows, self._values_dtype), TensorSpec(self._indices_shape, self._indices_dtype)]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.ndims], self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value):
        parts = (value.values, value.indices)
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, components):
        if all(isinstance(part, dtypes._numpy().ndarray) for part in components):
            return IndexedSlicesValue(*components, *[None] * (3 - len(components)))
        return self.value_type(*components)


@CompositeTensor.register
class IndexedSlices:
    """Rows ``indices`` of a larger tensor: what the gradient of a gather is."""

    def __init__(self, values, indices, dense_shape=None):
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    values = property(lambda self: self._values)
    indices = property(lambda self: self._indices)
    dense_shape = property(lambda self: self._dense_shape)
    name = property(lambda self: self._values.name)
    device = property(lambda self: self._values.device)
    op = property(lambda self: self._values.op)
    dtype = property(lambda self: self._values.dtype)
    graph = property(lambda self: self._values.graph)

    def _feed_parts(self, value):
        parts = [self._values, self._indices] + ([] if self._dense_shape is None else [self._dense_shape])
        return list(zip(parts, value))

    @property
    def _type_spec(self):
        shape = self._values.shape[1:] if self._values.shape.ndims is not None else TensorShape(None)
        whole = constant_value(self._dense_shape) if self._dense_shape is not None else None
        whole = TensorShape([None]).concatenate(shape) if whole is None else TensorShape(whole)
        return IndexedSlicesSpec(whole, self.dtype, self._indices.dtype,
                                 None if self._dense_shape is None else self._dense_shape.dtype, self._indices.shape)

    def consumers(self):
        return self._values.consumers()

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self):
        shape = f", dense_shape={self._dense_shape}" if self._dense_shape is not None else ""
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"


class Operation(_weir.Operation):
    """A node of a graph."""

    __hash__ = object.__hash__

    def __new__(cls, node_def, g, inputs=None, output_types=None, control_inputs=None, input_types=None,
                original_op=None, op_def=None):
        """A new node of the graph ``g``, under the full name that ``node_def`` gives it."""
        if not re.fullmatch(r"[A-Za-z0-9.][A-Za-z0-9_.\\\-/]*", node_def.name):
            raise ValueError(f"'{node_def.name}' is not a valid node name")
        if op_def is not None and len(inputs or []) < unfinished_ops._inputs_needed(node_def, op_def):
            return unfinished_ops._Unfinished(cls, node_def, g, inputs or [], control_inputs or [], original_op)
        with g.control_dependencies([] if control_inputs is None else control_inputs), g.device(node_def.device or None):
            if declared_ops._is_known(node_def.op) and not input_types:  # they follow from the attributes
                op = _weir.create_op(g, node_def.op, list(inputs or []), dict(node_def.attr), node_def.name + "/")
            else:
                op = declared_ops._create(g, node_def.op, inputs or [], output_types, input_types, node_def.name + "/",
                                         dict(node_def.attr))
        op._original_op = original_op
        return op

    def __init__(self, *args, **kwargs):
        pass  # __new__ has made it

    def _get_control_flow_context(self):
        return context_of(self._bodies_around)

    def _set_control_flow_context(self, context):
        """For libraries that copy operations: a copy stands where it was made."""
        if context is not None and context is not self._get_control_flow_context():
            raise NotImplementedError(f"'{self.name}' cannot be moved into a branch or a loop")

    def _add_control_inputs(self, ops):
        for op in ops:
            self._add_control_input(unfinished_ops._finished(op))

    def run(self, feed_dict=None, session=None):
        _session_for(self.graph, session, "execute operation", "run(session=sess)").run(self, feed_dict)

    def values(self):
        return tuple(self.outputs)

    def _set_device(self, device):
        self._set_device_name(canonical_name(device))

    def get_attr(self, name):
        """An attribute as Python sees it: numbers, bytes, DType, lists; shapes and tensors as messages."""
        value = self._attr(name)
        if isinstance(value, tuple) or value is None:
            return TensorShape(value).as_proto()
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return self.node_def.attr[name].tensor
        return value

    def _set_attr(self, name, value):
        """Gives the node an attribute, an AttrValue message."""
        _weir.set_attr(self, name, value)

    @property
    def node_def(self):
        return protos.NodeDef.FromString(self._node_def())

    @property
    def op_def(self):
        return protos.OpDef.FromString(_weir.op_def(self.type))

    @property
    def traceback(self):
        file, line = self._line
        return [(file, line, "<module>", "")]

    @property
    def _traceback(self):
        return self.__dict__.get("_own_traceback", self.traceback)

    @_traceback.setter
    def _traceback(self, frames):  # libraries take their own lines out
        self._own_traceback = frames

    @property
    def _id(self):
        """Its number in the order in which the operations of the graph were made."""
        return self._index

    _id_value = _id
    _outputs = property(lambda self: self.outputs)  # programs that edit graphs ask for these names
    _output_types = property(lambda self: [output.dtype.as_datatype_enum for output in self.outputs])
    _input_types = property(lambda self: [input.dtype for input in self.inputs])
    _control_inputs = property(lambda self: self.control_inputs)
    _original_op = None  # the operation that it is the gradient of

    def _as_graph_element(self):
        return None

    def __str__(self):
        return str(self.node_def)

    def __repr__(self):
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self
