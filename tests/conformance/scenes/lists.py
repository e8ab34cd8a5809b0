"""Scenes: arrays, stacks and lists of tensors, which live for one run."""
import numpy as np

from scenes.scene import scene


class Array(object):
    """The operations of a TensorArray of one version."""

    def __init__(self, s, version, size, **attrs):
        self.s, self.version = s, version
        made = s('TensorArray' + version, size=s.fed(np.int32(size)), dtype='float32', **attrs)
        self.handle, self.flow = made if version == 'V3' else (made, s.constant(0.0))

    def op(self, name, **inputs):
        return self.s('TensorArray%s%s' % (name, self.version), handle=self.handle, **inputs)

    def write(self, index, value):
        self.flow = self.op('Write', index=self.s.fed(np.int32(index)), value=value, flow_in=self.flow)

    def read(self, index):
        return self.op('Read', index=self.s.fed(np.int32(index)), flow_in=self.flow, dtype='float32')

    def gather(self, *indices):
        return self.op('Gather', indices=self.s.fed(indices, 'int32'), flow_in=self.flow, dtype='float32')

    def scatter(self, indices, value):
        self.flow = self.op('Scatter', indices=self.s.fed(indices, 'int32'), value=value, flow_in=self.flow)

    def split(self, value, lengths):
        self.flow = self.op('Split', value=value, lengths=self.s.fed(lengths, 'int64'), flow_in=self.flow)

    def concat(self):
        return self.op('Concat', flow_in=self.flow, dtype='float32')

    def size(self):
        return self.op('Size', flow_in=self.flow)


@scene('', 'V2', 'V3')
def array(s, version):
    differentiable = version == 'V3'
    x, y = s.fed([1.0, 2.0]), s.fed([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    array = Array(s, version, 3, clear_after_read=False)
    array.write(1, x * 2.0)
    array.write(0, x * 3.0)
    array.write(2, x)
    s.run(array.read(0), array.read(1), array.gather(2, 0), array.size(), gradient=[])
    s.run(array.read(0), array.read(0), array.gather(2, 0), gradient=[x] if differentiable else [])
    s.run(array.concat(), gradient=[x] if differentiable else [])
    array = Array(s, version, 3)
    array.scatter([2, 0, 1], y)
    s.run(array.gather(0, 1, 2), gradient=[y] if differentiable else [])
    array = Array(s, version, 2)
    array.split(y, [1, 2])
    s.run(array.concat(), gradient=[y] if differentiable else [])
    array = Array(s, version, 2)
    array.split(y, [1, 2])
    s.run(array.read(1), gradient=[y] if differentiable else [])
    # What cannot be: outside, twice, not written, of another shape, cleared.
    array = Array(s, version, 2)
    array.write(2, x)
    s.run(array.flow)
    array = Array(s, version, 2)
    array.write(1, x)
    array.write(1, x)
    s.run(array.flow)
    array = Array(s, version, 2)
    s.run(array.read(0))
    array.write(0, x)
    first = array.read(0)
    with s.after(first):
        s.run(first, array.read(0))
    array = Array(s, version, 2)
    array.split(y, [1, 1])
    s.run(array.flow)
    array = Array(s, version, 1, dynamic_size=True)
    array.write(3, x)
    s.run(array.size(), array.read(3))
    array = Array(s, version, 2)
    s.run(array.op('Close'))


@scene()
def pack_and_unpack(s):
    y = s.fed([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    array = Array(s, '', 3)
    array.flow = s('TensorArrayUnpack', handle=array.handle, value=y, flow_in=array.flow)
    s.run(s('TensorArrayPack', handle=array.handle, flow_in=array.flow, dtype='float32'))


@scene('', 'V2', 'V3')
def gradient_array(s, version):
    x = s.fed([1.0, 2.0])
    array = Array(s, version, 2)
    array.write(0, x)
    array.write(1, x * 2.0)
    handle = s('Identity', input=array.handle) if version == '' else array.handle
    made = s('TensorArrayGrad' + version, handle=handle, flow_in=array.flow, source='gradients')
    grad = Array(s, version, 2)
    grad.handle, grad.flow = made if version == 'V3' else (made, array.flow)
    grad.write(0, x * 5.0)
    grad.write(0, x * 7.0)  # gradients add up
    s.run(grad.read(0), grad.size())


@scene()
def gradients_of_more_dimensions(s):
    x = s.fed([1.0, 2.0])
    array = Array(s, 'V3', 2)
    array.write(0, x)
    handle, flow = s('TensorArrayGradWithShape', handle=array.handle, flow_in=array.flow,
                     shape_to_prepend=s.fed([3], 'int32'), source='gradients')
    grad = Array(s, 'V3', 2)
    grad.handle, grad.flow = handle, flow
    grad.write(0, s.fed(np.ones((3, 2))))
    s.run(grad.read(0))


@scene('', 'V2')
def stack(s, version):
    size = dict(max_size=s.fed(np.int32(2))) if version else {}
    handle = s('Stack' + version, elem_type='float32', **size)
    first = s('StackPush' + version, handle=handle, elem=s.fed([1.0, 2.0]))
    with s.after(first):
        second = s('StackPush' + version, handle=handle, elem=s.fed([3.0]))
    with s.after(second):
        top = s('StackPop' + version, handle=handle, elem_type='float32')
    with s.after(top):
        below = s('StackPop' + version, handle=handle, elem_type='float32')
    with s.after(below):
        end = s('StackClose' + version, handle=handle)
    s.run(first, second, top, below, end)
    with s.after(below):
        s.run(s('StackPop' + version, handle=handle, elem_type='float32'))  # of nothing


ROW = [2]


@scene()
def list_of_tensors(s):
    x, row = s.fed([1.0, 2.0]), s.fed(ROW, 'int32')
    y = s.fed([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    number = {i: s.fed(np.int32(i)) for i in (0, 1, 2, 3, 5)}
    value = dict(element_dtype='float32')

    def item(of, i):
        return s('TensorListGetItem', input_handle=of, index=number[i], element_shape=row, **value)

    def stacked(of):
        return s('TensorListStack', input_handle=of, element_shape=row, **value)

    def shape_of(of):
        return s('TensorListElementShape', input_handle=of, shape_type='int64')

    def length(of):
        return s('TensorListLength', input_handle=of)

    empty = s('EmptyTensorList', element_shape=row, max_num_elements=number[3], **value)
    pushed = s('TensorListPushBack', input_handle=empty, tensor=x * 2.0)
    pushed = s('TensorListPushBack', input_handle=pushed, tensor=x)
    s.run(stacked(pushed), length(pushed), shape_of(pushed))
    s.run(stacked(pushed), gradient=[x])
    rest, popped = s('TensorListPopBack', input_handle=pushed, element_shape=row, **value)
    s.run(popped, stacked(rest), gradient=[x])
    s.run(s('TensorListPopBack', input_handle=empty, element_shape=row, **value).tensor)
    more = s('TensorListPushBack', input_handle=s('TensorListPushBack', input_handle=pushed, tensor=x), tensor=x)
    s.run(length(more))  # more than the list may hold
    reserved = s('TensorListReserve', element_shape=row, num_elements=number[2], **value)
    s.run(length(reserved), item(reserved, 1))  # not set: zeros
    items = s('TensorListSetItem', input_handle=reserved, index=number[1], item=x * 3.0)
    s.run(stacked(items), gradient=[x])
    s.run(item(items, 1), gradient=[x])
    s.run(item(items, 3))
    of_rows = s('TensorListFromTensor', tensor=y, element_shape=row)
    s.run(stacked(of_rows), item(of_rows, 2), gradient=[y])
    s.run(s('TensorListGather', input_handle=of_rows, indices=s.fed([2, 0], 'int32'), element_shape=row, **value), gradient=[y])
    for size in (5, 1):
        s.run(length(s('TensorListResize', input_handle=of_rows, size=number[size])))
    s.run(stacked(s('TensorListResize', input_handle=of_rows, size=number[1])), gradient=[y])
    order = s.fed([1, 2, 0], 'int32')
    s.run(stacked(s('TensorListScatter', tensor=y, indices=order, element_shape=row)), gradient=[y])
    wide = s('TensorListScatterV2', tensor=y, indices=order, element_shape=row, num_elements=number[5])
    s.run(stacked(wide), gradient=[y])
    s.run(stacked(s('TensorListScatterIntoExistingList', input_handle=wide, tensor=y, indices=order)), gradient=[y])
    dims = s.fed([2, 2, 2], 'int64')
    s.run(s('TensorListConcatV2', input_handle=of_rows, element_shape=row, leading_dims=dims, **value), gradient=[y])
    split = s('TensorListSplit', tensor=y, element_shape=s.fed([-1, 2], 'int32'), lengths=s.fed([1, 2], 'int64'))
    s.run(s('TensorListGetItem', input_handle=split, index=number[1], element_shape=s.fed([2, 2], 'int32'), **value), gradient=[y])
    s.run(s('TensorListConcat', input_handle=split, **value), gradient=[y])
    s.run(length(s('TensorListSplit', tensor=y, element_shape=s.fed([-1, 2], 'int32'), lengths=s.fed([1, 1], 'int64'))))
    s.run(stacked(s('TensorListConcatLists', input_a=of_rows, input_b=pushed, **value)))
    batch = s('Pack', values=[of_rows, pushed])
    first = s('Unpack', value=s('TensorListPushBackBatch', input_handles=batch, tensor=s.fed([[7.0, 8.0], [9.0, 10.0]])), num=2)
    s.run(stacked(first[0]), stacked(first[1]))
