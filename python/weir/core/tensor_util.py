"""TensorProto messages and values that the graph alone decides."""

from weir import _weir, protos
from weir.core import dtypes
from weir.core.tensor_shape import TensorShape
from weir.core.text import as_bytes

# Types of which a tensor's elements are written as they lie in memory; others, and a tensor of which the last element is
# repeated, are written one by one.
_AS_BYTES = frozenset(("float32", "float64", "int32", "uint8", "int16", "int8", "int64", "quint8", "qint8", "quint16",
                       "qint16", "qint32", "uint32", "uint64"))

# Field of TensorProto that holds the elements of a type.
_FIELDS = {"float32": "float_val", "float64": "double_val", "int32": "int_val", "uint8": "int_val", "int16": "int_val",
           "int8": "int_val", "uint16": "int_val", "int64": "int64_val", "bool": "bool_val", "uint32": "uint32_val",
           "uint64": "uint64_val"}


def constant_value(tensor, partial=False):
    """The value of a tensor as an array if the graph alone decides it, else None."""
    if hasattr(tensor, "_handle"):
        return None
    if not isinstance(tensor, _weir.Tensor):
        return tensor  # a value, which it is already
    return _weir.constant_value(tensor)


get_static_value = constant_value


def ShapeEquals(tensor_proto, shape):  # noqa: N802
    """Whether a TensorProto has that shape: a TensorShapeProto, a list or a tuple."""
    if not isinstance(tensor_proto, protos.TensorProto):
        raise TypeError("tensor_proto is not a tensor_pb2.TensorProto object")
    if isinstance(shape, protos.TensorShapeProto):
        shape = [dim.size for dim in shape.dim]
    elif not isinstance(shape, (list, tuple)):
        raise TypeError("shape is not a list or tuple")
    return [dim.size for dim in tensor_proto.tensor_shape.dim] == list(shape)


def constant_value_as_shape(tensor):
    return TensorShape(_weir.constant_value_as_shape(tensor))


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """A TensorProto of an array, a number, a string or nested lists of them."""
    if isinstance(values, protos.TensorProto):
        return values
    numpy = dtypes._numpy()
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
        if dtype.is_quantized and not hasattr(values, "dtype"):
            raise TypeError(f"Expected {dtype.name}, got {values!r} of type '{type(values).__name__}' instead.")
    text = dtype == dtypes.as_dtype("string")
    array = numpy.asarray(values, dtype=object if text else None if dtype is None else dtype.as_numpy_dtype)
    if array.dtype.kind in "US":
        array = numpy.asarray(values, dtype=object)
    if dtype is None:
        # Python's own numbers are int32 and float32; arrays keep their type.
        if not hasattr(values, "dtype"):
            array = array.astype({"f": numpy.float32}.get(array.dtype.kind, array.dtype), copy=False)
            if array.dtype == numpy.int64 and (array.size == 0 or abs(array).max() < 2**31):
                array = array.astype(numpy.int32)
        dtype = dtypes.as_dtype(array.dtype)
    if shape is None:
        shape = array.shape
    else:
        shape = [int(dim) for dim in shape]
        size = 1
        for dim in shape:
            size *= dim
        if verify_shape and list(array.shape) != shape:
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {array.shape}.")
        if array.size > size and not (size == 0 and array.size == 1):
            raise ValueError(f"Too many elements provided. Needed at most {size}, but received {array.size}")
    proto = protos.TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=TensorShape(shape).as_proto())
    if dtype == dtypes.as_dtype("string"):
        proto.string_val.extend(as_bytes(item) for item in array.ravel())
    elif array.size > 1 and array.size == TensorShape(shape).num_elements() and dtype.name in _AS_BYTES:
        proto.tensor_content = numpy.ascontiguousarray(array).tobytes()
    else:
        _set_elements(proto, dtype, array.ravel())
    return proto


def _set_elements(proto, dtype, values):
    if dtype.name in _FIELDS:
        getattr(proto, _FIELDS[dtype.name]).extend(values.tolist())
    elif dtype.is_quantized:
        proto.int_val.extend(int(value[0]) for value in values)
    elif dtype.is_complex:
        field = proto.scomplex_val if dtype.name == "complex64" else proto.dcomplex_val
        field.extend(part for value in values.tolist() for part in (value.real, value.imag))
    else:  # half: its bits
        proto.half_val.extend(values.view("uint16").tolist())


def make_ndarray(tensor):
    """The array of a TensorProto."""
    numpy = dtypes._numpy()
    shape = [dim.size for dim in tensor.tensor_shape.dim]
    size = 1
    for dim in shape:
        size *= dim
    dtype = dtypes.as_dtype(tensor.dtype)
    if dtype == dtypes.as_dtype("string"):
        values = list(tensor.string_val)
        flat = numpy.array(values + values[-1:] * (size - len(values)), dtype=object)
        return flat.reshape(shape)
    if tensor.tensor_content:
        return numpy.frombuffer(tensor.tensor_content, dtype=dtype.as_numpy_dtype).copy().reshape(shape)
    if dtype.is_quantized:
        flat = numpy.array([(value,) for value in tensor.int_val], dtype=dtype.as_numpy_dtype)
    elif dtype.name in _FIELDS:
        flat = numpy.array(getattr(tensor, _FIELDS[dtype.name]), dtype=dtype.as_numpy_dtype)
    elif dtype.is_complex:
        field = tensor.scomplex_val if dtype.name == "complex64" else tensor.dcomplex_val
        flat = numpy.array([complex(a, b) for a, b in zip(field[::2], field[1::2])], dtype=dtype.as_numpy_dtype)
    elif dtype.name == "float16":
        flat = numpy.array(list(tensor.half_val), dtype=numpy.uint16).view(numpy.float16)
    else:
        raise TypeError(f"Unsupported tensor type: {tensor.dtype}")
    if flat.size == 0 and size:
        return numpy.zeros(shape, dtype=dtype.as_numpy_dtype)
    return numpy.concatenate([flat, numpy.repeat(flat[-1:], size - flat.size)]).reshape(shape)


MakeNdarray = make_ndarray


def from_dlpack(value):
    """An array over the memory of any object with ``__dlpack__`` (torch, jax, numpy): feeds of it are not copied."""
    return dtypes._numpy().from_dlpack(value)
