"""TensorArrays by handle: arrays that change in place, as TensorFlow's own operations have them.

``tf.TensorArray`` is a list that never changes; this is for handles of such arrays (in graphs that come from elsewhere) and for
``TensorArray.grad``, which is one array for everybody who asks for it.
"""

from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape, as_shape
from weir.ops import array_ops, math_ops


class ResourceTensorArray:
    """The array behind ``handle``, after ``flow``. Methods that write give the array with the next flow."""

    def __init__(self, dtype, handle, flow, element_shape=None, infer_shape=True):
        self._dtype, self._handle, self._flow = dtypes.as_dtype(dtype).base_dtype, handle, flow
        self._element_shape, self._infer_shape = [as_shape(element_shape)], infer_shape

    flow = property(lambda self: self._flow)
    handle = property(lambda self: self._handle)
    dtype = property(lambda self: self._dtype)
    element_shape = property(lambda self: self._element_shape[0])

    def _with_flow(self, flow):
        array = ResourceTensorArray(self._dtype, self._handle, flow, None, self._infer_shape)
        array._element_shape = self._element_shape
        return array

    def _op(self, op, *inputs, name=None, **attrs):
        return apply(op, (self._handle, *inputs, self._flow), attrs, name)

    def identity(self):
        return self._with_flow(apply("Identity", (self._flow,), {}, None))

    def grad(self, source, flow=None, name=None):
        """The array in which the gradients of ``source`` add up."""
        flow = self._flow if flow is None else flow
        with name_scope(name, "TensorArrayGrad", [self._handle]):
            handle, after = apply("TensorArrayGradV3", (self._handle, flow), {"source": source}, None)
        return ResourceTensorArray(self._dtype, handle, after, self.element_shape, False)

    def read(self, index, name=None):
        value = self._op("TensorArrayReadV3", index, name=name, dtype=self._dtype)
        value.set_shape(self.element_shape)
        return value

    def write(self, index, value, name=None):
        with name_scope(name, "TensorArrayWrite", [index, value]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            return self._with_flow(self._op("TensorArrayWriteV3", index, value))

    def gather(self, indices, name=None):
        value = self._op("TensorArrayGatherV3", indices, name=name, dtype=self._dtype, element_shape=self.element_shape)
        value.set_shape(TensorShape([None]).concatenate(self.element_shape))
        return value

    def stack(self, name=None):
        with name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(math_ops.range(0, self.size()))

    pack = stack

    def scatter(self, indices, value, name=None):
        value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        return self._with_flow(self._op("TensorArrayScatterV3", indices, value, name=name))

    def unstack(self, value, name=None):
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            return self.scatter(math_ops.range(0, array_ops.shape(value)[0]), value)

    unpack = unstack

    def concat(self, name=None):
        return self._op("TensorArrayConcatV3", name=name, dtype=self._dtype)[0]

    def split(self, value, lengths, name=None):
        value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        return self._with_flow(self._op("TensorArraySplitV3", value, math_ops.cast(lengths, "int64"), name=name))

    def size(self, name=None):
        return self._op("TensorArraySizeV3", name=name)

    def mark_used(self):
        """Nothing: TensorFlow warns of arrays that nobody uses unless this is called."""

    def close(self, name=None):
        """Lets the elements go; who uses the array afterwards gets an error."""
        return apply("TensorArrayCloseV3", (self._handle,), {}, name)


def _GetGradSource(op_or_tensor):
    """The part of a name that says which call of tf.gradients made it."""
    tokens = op_or_tensor.name.split("/")
    places = [i for i, token in enumerate(tokens) if token.startswith("gradients")]
    if not places:
        raise ValueError("Expected op/tensor name to start with gradients (excluding scope), got: " + op_or_tensor.name)
    return "/".join(tokens[:places[-1] + 1])
