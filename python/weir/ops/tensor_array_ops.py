"""tf.TensorArray: a list of tensors that loops read and write one by one."""

from weir import names
from weir.core import dtypes, tensor_util
from weir.core.graph import Tensor, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape, as_shape
from weir.ops import array_ops, math_ops


def _sizes(shape):
    """A shape as the list operations want it: a vector with -1 for unknown sizes, or -1 alone."""
    if shape.ndims is None:
        return convert_to_tensor(-1, dtype="int32")
    return convert_to_tensor([-1 if size is None else size for size in shape.as_list()], dtype="int32")


class TensorArray:
    """A list of tensors of one type.

    Methods that write give a new array and leave this one as it is, so use what they return. The tensors travel in
    ``flow``, a list in the graph: loops and branches carry it, and gradients go through it. Elements that were never
    written are zeros when the shape of elements is known, and may be written more than once.
    """

    def __new__(cls, dtype=None, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                flow=None, *args, **kwargs):
        if isinstance(handle, Tensor) and handle.dtype.base_dtype.name == "resource" and flow is not None:
            # An array of another graph, by its handle.
            return names.at("weir.ops.array_resources:ResourceTensorArray")(dtype, handle, flow,
                                                                            kwargs.get("element_shape"))
        return super().__new__(cls)

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        if handle is not None and tensor_array_name:
            raise ValueError("Cannot construct with both handle and tensor_array_name")
        if handle is not None and not isinstance(handle, Tensor):
            raise TypeError("Handle must be a Tensor")
        if handle is None and flow is None and size is None:
            raise ValueError("Size must be provided if handle is not provided")
        for value, what in ((size, "size"), (element_shape, "element_shape"), (dynamic_size, "dynamic_size"),
                            (clear_after_read, "clear_after_read")):
            if handle is not None and value is not None:
                raise ValueError(f"Cannot provide both a handle and {what} at the same time")
        if handle is not None and flow is None:
            raise ValueError("flow must not be None if handle is not None.")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._infer_shape = infer_shape
        # One cell for all arrays that come of this one: a write inside a loop tells what is read behind the loop.
        self._element_shape = [as_shape(element_shape)]
        self._gradients = {}
        if flow is not None:
            self._flow = flow
            return
        with name_scope(name, "TensorArray", [size]):
            self._flow = apply("TensorListReserve",
                               (_sizes(self.element_shape), convert_to_tensor(size, dtype="int32", name="size")),
                               {"element_dtype": self._dtype, "shape_type": "int32"}, None)

    flow = property(lambda self: self._flow)
    # Where a program hands an array on as handle and flow, the flow is all there is to it.
    handle = property(lambda self: self._flow)
    dtype = property(lambda self: self._dtype)
    element_shape = property(lambda self: self._element_shape[0])
    dynamic_size = property(lambda self: self._dynamic_size)

    def _with_flow(self, flow):
        """This array with other elements."""
        array = TensorArray.__new__(TensorArray)
        array._dtype, array._dynamic_size, array._infer_shape = self._dtype, self._dynamic_size, self._infer_shape
        array._element_shape, array._flow, array._gradients = self._element_shape, flow, self._gradients
        return array

    def _merge_element_shape(self, shape):
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.element_shape} ")
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(shape)

    def _value(self, value):
        value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        if value.dtype.base_dtype != self._dtype:
            have, want = value.dtype.base_dtype.name, self._dtype.name
            raise TypeError(f"Input value {value.name} has dtype {have}, but expected dtype {want}. (TensorArray dtype is "
                            f"{want} but Op is trying to write dtype {have}.)")
        return value

    def _elements(self, op, inputs, name):
        return apply(op, inputs, {"element_dtype": self._dtype}, name)

    def _large_enough(self, count):
        """The flow, grown to ``count()`` elements when the array may grow."""
        if not self._dynamic_size:
            return self._flow
        return apply("TensorListResize", (self._flow, apply("Maximum", (self.size(), count()), {}, None)), {}, None)

    def identity(self):
        return self._with_flow(apply("Identity", (self._flow,), {}, None))

    def grad(self, source, flow=None, name=None):
        """An array of this one's size whose writes add up, one for each ``source``.

        ``tf.gradients`` does without it: gradients go through the flow by themselves.
        """
        arrays = self._gradients
        if source not in arrays:
            with name_scope(name, "TensorArrayGrad", [self._flow]):
                handle, after = apply("TensorArrayV3", (self.size(),),
                                      {"dtype": self._dtype, "element_shape": self.element_shape,
                                       "dynamic_size": self._dynamic_size}, None)
                resources = names.at("weir.ops.array_resources:ResourceTensorArray")
                arrays[source] = resources(self._dtype, handle, after, self.element_shape, False).grad(source)
        return arrays[source]

    # Of the versions before TensorFlow 1.0, under the names that they kept for a while.

    def _legacy_pack(self, name=None):
        return self.stack(name)

    def _legacy_unpack(self, value, name=None):
        return self.unstack(value, name)

    def read(self, index, name=None):
        """The element at ``index``."""
        value = self._elements("TensorListGetItem",
                               (self._flow, convert_to_tensor(index, dtype="int32"), _sizes(self.element_shape)),
                               name or "TensorArrayReadV3")
        value.set_shape(self.element_shape)
        return value

    def write(self, index, value, name=None):
        """The array with ``value`` at ``index``."""
        with name_scope(name, "TensorArrayWrite", [index, value]):
            value = self._value(value)
            self._merge_element_shape(value.shape)
            index = convert_to_tensor(index, dtype="int32", name="index")
            flow = self._large_enough(lambda: index + 1)
            return self._with_flow(self._elements("TensorListSetItem", (flow, index, value), "TensorArrayWriteV3"))

    def stack(self, name=None):
        """All elements as one tensor."""
        with name_scope(name, "TensorArrayStack", []):
            return self._rows("TensorListStack", (self._flow, _sizes(self.element_shape)))

    def pack(self, name=None):
        """``stack`` before TensorFlow 1.0."""
        return self.stack(name)

    def unpack(self, value, name=None):
        """``unstack`` before TensorFlow 1.0."""
        return self.unstack(value, name)

    def gather(self, indices, name=None):
        """The elements at ``indices`` as one tensor."""
        with name_scope(name, "TensorArrayGather", [indices]):
            indices = convert_to_tensor(indices, dtype="int32", name="indices")
            return self._rows("TensorListGather", (self._flow, indices, _sizes(self.element_shape)))

    def _rows(self, op, inputs):
        value = self._elements(op, inputs, "TensorArrayGatherV3")
        value.set_shape(TensorShape([None]).concatenate(self.element_shape))
        return value

    def concat(self, name=None):
        """All elements one after the other along their first dimension."""
        with name_scope(name, "TensorArrayConcat", []):
            rows = TensorShape([None]).concatenate(self.element_shape[1:])
            element = self.element_shape if self._infer_shape else rows  # of those that were never written
            value, _ = apply("TensorListConcatV2", (self._flow, _sizes(element), convert_to_tensor([], dtype="int64")),
                             {"element_dtype": self._dtype, "shape_type": "int32"}, "TensorArrayConcatV3")
            value.set_shape(rows)
            return value

    def unstack(self, value, name=None):
        """The array with the rows of ``value`` from index 0 on."""
        with name_scope(name, "TensorArrayUnstack", [value]):
            value = self._value(value)
            return self.scatter(math_ops.range(0, array_ops.shape(value)[0]), value)

    def _filled_with_rows(self, value):
        """An array of the rows of ``value`` and nothing else: what ``unstack`` makes of one that is just as long."""
        self._merge_element_shape(value.shape[1:])
        return self._with_flow(apply("TensorListFromTensor", (value, _sizes(self.element_shape)), {}, None))

    def scatter(self, indices, value, name=None):
        """The array with row i of ``value`` at ``indices[i]``."""
        with name_scope(name, "TensorArrayScatter", [value, indices]):
            value = self._value(value)
            self._merge_element_shape(value.shape[1:])
            indices = convert_to_tensor(indices, dtype="int32", name="indices")
            # Of no indices the largest is the smallest number there is, and one more than that is no size.
            flow = self._large_enough(lambda: math_ops.maximum(math_ops.reduce_max(indices), -1) + 1)
            return self._with_flow(self._elements("TensorListScatterIntoExistingList", (flow, value, indices),
                                                  "TensorArrayScatterV3"))

    def split(self, value, lengths, name=None):
        """The array whose elements are successive pieces of ``value``, of so many rows each."""
        with name_scope(name, "TensorArraySplit", [value, lengths]):
            value = self._value(value)
            lengths = math_ops.cast(lengths, "int64")
            known = tensor_util.constant_value(lengths)
            if known is not None and known.size and known.min() == known.max():
                self._merge_element_shape(TensorShape([int(known[0])]).concatenate(value.shape[1:]))
            shape = self.element_shape if known is not None else TensorShape(None)
            flow = apply("TensorListSplit", (value, _sizes(shape), lengths), {"shape_type": "int32"},
                         "TensorArraySplitV3")
            return self._with_flow(flow)

    def size(self, name=None):
        return apply("TensorListLength", (self._flow,), {}, name or "TensorArraySizeV3")

    def mark_used(self):
        """Nothing: TensorFlow warns of arrays that nobody uses unless this is called."""

    def close(self, name=None):
        """Nothing: an array is gone when nobody reads it any more."""
        return apply("NoOp", (), {}, name)
