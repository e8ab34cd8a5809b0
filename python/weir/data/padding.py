"""Dataset.padded_batch."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape
from weir.core.values import TensorSpec
from weir.data import nest, structure
from weir.data.arguments import int64_argument, known_batch


def padded_batch(dataset, batch_size, padded_shapes, padding_values, drop_remainder):
    """Batches of ``dataset`` whose elements are padded to one shape."""
    spec = dataset.element_spec
    if any(not isinstance(leaf, TensorSpec) for leaf in nest.flatten(spec)):
        raise TypeError("Batching of padded sparse tensors is not currently supported")
    size = int64_argument(batch_size, "batch_size")
    leaves = nest.flatten(spec)
    shapes = [_shape_tensor(wanted, leaf.shape)
              for wanted, leaf in zip(nest.flatten_up_to(spec, padded_shapes), leaves)]
    if padding_values is None:
        values = [_zero(leaf.dtype) for leaf in leaves]
    else:
        values = nest.flatten_up_to(spec, padding_values)
    values = [_value_tensor(value, leaf.dtype) for value, leaf in zip(values, leaves)]
    drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
    first = TensorShape([known_batch(size, drop)])
    batched = [TensorSpec(first.concatenate(TensorShape(_weir.constant_value_as_shape(shape))), leaf.dtype)
               for shape, leaf in zip(shapes, leaves)]
    result = nest.pack_sequence_as(spec, batched)
    variant = apply("PaddedBatchDatasetV2", (dataset._variant_tensor, size, shapes, values, drop),
                    {"output_shapes": structure.flat_shapes(result)}, None)
    return dataset._make(variant, result, [dataset])


def _shape_tensor(wanted, own):
    try:
        shape = TensorShape(wanted)
        tensor = convert_to_tensor([-1 if size is None else size for size in shape.as_list()], dtype=dtypes.int64)
    except (TypeError, ValueError):
        tensor = convert_to_tensor(wanted, preferred_dtype=dtypes.int64)
        if tensor.shape.ndims is not None and tensor.shape.ndims != 1:
            raise ValueError(f"Padded shape {wanted} must be a 1-D tensor of tf.int64 values, but its shape was "
                             f"{tensor.shape}.") from None
        if tensor.dtype != dtypes.int64:
            raise TypeError(f"Padded shape {wanted} must be a 1-D tensor of tf.int64 values, but its element type was "
                            f"{tensor.dtype.name}.") from None
        shape = TensorShape(_weir.constant_value_as_shape(tensor))
    if not _can_be_padded(own, shape):
        raise ValueError(f"The padded shape {shape} is not compatible with the corresponding input component shape {own}.")
    return tensor


def _can_be_padded(own, wanted):
    if own.ndims is None or wanted.ndims is None:
        return True
    return own.ndims == wanted.ndims and all(
        a is None or b is None or a <= b for a, b in zip(own.as_list(), wanted.as_list()))


def _zero(dtype):
    if dtype == dtypes.string:
        return ""
    if dtype == dtypes.variant:
        raise TypeError("Unable to create padding for field of type 'variant' because t.base_type == dtypes.variant == "
                        f"{dtype}.")
    return dtypes._numpy().zeros((), dtype.as_numpy_dtype)


def _value_tensor(value, dtype):
    tensor = convert_to_tensor(value, name="padding_value")
    if not tensor.shape.is_compatible_with(TensorShape([])):
        raise ValueError(f"Padding value should be a scalar, but is not: {tensor}")
    if tensor.dtype != dtype:
        raise TypeError(f"Padding value tensor ({tensor}) does not match output type: {dtype}")
    return tensor
