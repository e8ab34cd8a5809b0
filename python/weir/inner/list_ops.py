"""tensorflow.python.ops.list_ops: lists of tensors, with shapes of elements as programs write them."""

from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.op_functions import raw_ops
from weir.core.tensor import Tensor
from weir.core.tensor_shape import Dimension, TensorShape
from weir.ops import control_flow_ops


def _build_element_shape(shape):
    """A shape with None in it as one with -1; an unknown one is -1."""
    if isinstance(shape, Tensor):
        return shape
    if isinstance(shape, TensorShape):
        shape = shape.as_list() if shape else None
    if shape is None:
        return -1
    if not hasattr(shape, "__len__"):
        return shape
    if len(shape) == 0:
        return convert_to_tensor([], dtype=dtypes.int32)
    sizes = [size.value if isinstance(size, Dimension) else size for size in shape]
    return [-1 if size is None else size for size in sizes]


def empty_tensor_list(element_shape, element_dtype, max_num_elements=None, name=None):
    return raw_ops.EmptyTensorList(element_shape=_build_element_shape(element_shape), element_dtype=element_dtype,
                                   max_num_elements=-1 if max_num_elements is None else max_num_elements, name=name)


def tensor_list_reserve(element_shape, num_elements, element_dtype, name=None):
    return raw_ops.TensorListReserve(element_shape=_build_element_shape(element_shape), num_elements=num_elements,
                                     element_dtype=element_dtype, name=name)


def tensor_list_from_tensor(tensor, element_shape, name=None):
    return raw_ops.TensorListFromTensor(tensor=tensor, element_shape=_build_element_shape(element_shape), name=name)


def tensor_list_get_item(input_handle, index, element_dtype, element_shape=None, name=None):
    return raw_ops.TensorListGetItem(input_handle=input_handle, index=index,
                                     element_shape=_build_element_shape(element_shape), element_dtype=element_dtype,
                                     name=name)


def tensor_list_pop_back(input_handle, element_dtype, name=None):
    return raw_ops.TensorListPopBack(input_handle=input_handle, element_shape=-1, element_dtype=element_dtype, name=name)


def tensor_list_gather(input_handle, indices, element_dtype, element_shape=None, name=None):
    return raw_ops.TensorListGather(input_handle=input_handle, indices=indices,
                                    element_shape=_build_element_shape(element_shape), element_dtype=element_dtype,
                                    name=name)


def tensor_list_scatter(tensor, indices, element_shape=None, input_handle=None, name=None):
    """The rows of a tensor as elements of a new list, or of ``input_handle``."""
    if input_handle is not None:
        return raw_ops.TensorListScatterIntoExistingList(input_handle=input_handle, tensor=tensor, indices=indices, name=name)
    return raw_ops.TensorListScatterV2(tensor=tensor, indices=indices, element_shape=_build_element_shape(element_shape),
                                       num_elements=-1, name=name)


def tensor_list_stack(input_handle, element_dtype, num_elements=-1, element_shape=None, name=None):
    return raw_ops.TensorListStack(input_handle=input_handle, element_shape=_build_element_shape(element_shape),
                                   element_dtype=element_dtype, num_elements=num_elements, name=name)


def tensor_list_concat(input_handle, element_dtype, element_shape=None, name=None):
    return raw_ops.TensorListConcatV2(input_handle=input_handle, element_dtype=element_dtype,
                                      element_shape=_build_element_shape(element_shape),
                                      leading_dims=convert_to_tensor([], dtype=dtypes.int64), name=name)[0]


def tensor_list_split(tensor, element_shape, lengths, name=None):
    return raw_ops.TensorListSplit(tensor=tensor, element_shape=_build_element_shape(element_shape), lengths=lengths,
                                   name=name)


def tensor_list_set_item(input_handle, index, item, resize_if_index_out_of_bounds=False, name=None):
    if resize_if_index_out_of_bounds:
        length = raw_ops.TensorListLength(input_handle=input_handle)
        given = input_handle
        input_handle = control_flow_ops.cond(
            index >= length, lambda: raw_ops.TensorListResize(input_handle=given, size=index + 1), lambda: given)
    return raw_ops.TensorListSetItem(input_handle=input_handle, index=index, item=item, name=name)
