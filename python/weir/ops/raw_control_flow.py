"""Single nodes of TensorFlow 1's control flow, for programs that build conditionals and loops of them by hand.

A run passes values along and leaves out what is behind the side of a Switch that was not taken. ``tf.cond`` and
``tf.while_loop`` make faster graphs, and loops that can be differentiated.
"""

import collections

from weir import _weir
from weir.core.graph import IndexedSlices, colocate_with, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor import Tensor
from weir.ops import composites as _composites
from weir.ops.sparse_ops import SparseTensor

_Merged = collections.namedtuple("Merge", ["output", "value_index"])


def _tensor(value, by_ref=False):
    if isinstance(value, _weir.Variable):
        return value._ref() if by_ref and not value._is_resource else value._value
    if isinstance(value, (Tensor, IndexedSlices, SparseTensor)):
        return value
    return convert_to_tensor(value)


def switch(data, pred, dtype=None, name=None):
    """``data`` as the first output when ``pred`` is false, as the second when it is true. The other has no value."""
    with name_scope(name, "Switch", [data, pred]) as scope:
        data = convert_to_tensor(data, dtype=dtype, name="data") if dtype else _tensor(data)
        if isinstance(data, Tensor):
            return tuple(apply("Switch", (data, pred), {}, scope))
        sides = [apply("Switch", (part, pred), {}, None) for part in _composites.parts(data)]
        return tuple(_composites.like(data, [side[i] for side in sides]) for i in (0, 1))


def ref_switch(data, pred, name=None):
    """``switch`` of a reference to a variable."""
    return tuple(apply("RefSwitch", (_tensor(data, True), pred), {}, name))


def _SwitchRefOrTensor(data, pred, name="Switch"):
    data = _tensor(data, True)
    with colocate_with(data, ignore_existing=True):
        if isinstance(data, Tensor) and data._is_ref:
            return ref_switch(data, pred, name=name)
        return switch(data, pred, name=name)


def merge(inputs, name=None):
    """Whichever of the inputs has a value, and which of them it is."""
    if any(value is None for value in inputs):
        raise ValueError("At least one of the merge inputs is None: %s" % inputs)
    with name_scope(name, "Merge", inputs) as scope:
        inputs = [_tensor(value, True) for value in inputs]
        if all(isinstance(value, Tensor) for value in inputs):
            refs = all(value._is_ref for value in inputs)
            return _Merged(*apply("RefMerge" if refs else "Merge", (list(inputs),), {}, scope))
        kinds = {_composites.kind(value)[0] for value in inputs}
        if kinds == {IndexedSlices, Tensor} or any(isinstance(value, IndexedSlices) for value in inputs):
            return _merged_slices(inputs)
        if kinds != {SparseTensor}:
            raise TypeError(f"Cannot merge values of different kinds: {inputs}")
        merged = [apply("Merge", (list(parts),), {}, None) for parts in zip(*(_composites.parts(v) for v in inputs))]
        return _Merged(SparseTensor(*(output for output, _ in merged)), merged[0][1])


def _merged_slices(inputs):
    if not all(isinstance(value, IndexedSlices) for value in inputs):
        raise TypeError(f"Cannot merge values of different kinds: {inputs}")
    values, index = apply("Merge", ([value.values for value in inputs],), {}, None)
    long = any(value.indices.dtype.base_dtype.name == "int64" for value in inputs)
    indices = [apply("Cast", (value.indices,), {"DstT": "int64"}, None)
               if long and value.indices.dtype.base_dtype.name != "int64" else value.indices for value in inputs]
    indices, _ = apply("Merge", (indices,), {}, None)
    shapes = [value.dense_shape for value in inputs if value.dense_shape is not None]
    if shapes and len(shapes) < len(inputs):
        raise ValueError("Either all merged IndexedSlices must have a dense_shape, or none must have one.")
    shape = apply("Merge", (shapes,), {}, None)[0] if shapes else None
    return _Merged(IndexedSlices(values, indices, shape), index)


def _passed(op, data, attrs, name, use_ref=True):
    data = _tensor(data, True)
    if not isinstance(data, Tensor):
        return _composites.map_parts(lambda part: _passed(op, part, attrs, name, use_ref), data)
    return apply("Ref" + op if data._is_ref and use_ref else op, (data,), attrs, name)


def _Enter(data, frame_name, is_constant=False, parallel_iterations=10, use_ref=True, use_input_shape=True, name=None):
    """``data`` in the first iteration of the loop ``frame_name``, or in every one of them."""
    return _passed("Enter", data, {"frame_name": frame_name, "is_constant": is_constant,
                                   "parallel_iterations": parallel_iterations}, name, use_ref)


def exit(data, name=None):
    """What leaves a loop."""
    return _passed("Exit", data, {}, name)


def _NextIteration(data, name=None):
    """``data`` in the next iteration."""
    return _passed("NextIteration", data, {}, name)


def ref_select(index, inputs, name=None):
    """The reference to one of several variables."""
    return apply("RefSelect", (index, [_tensor(value, True) for value in inputs]), {}, name)
