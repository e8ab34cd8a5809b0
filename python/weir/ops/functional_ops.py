"""Functions applied to sequences: tf.map_fn, tf.scan, tf.foldl, tf.foldr."""

from weir import _weir, nest
from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.stack import get_default_graph as _graph
from weir.ops.sparse_ops import SparseTensor


def _sequences(elems):
    flat = nest.flatten(elems)
    if any(isinstance(elem, SparseTensor) for elem in flat):
        raise TypeError("To perform a map on the values of a sparse tensor use either "
                        " SparseTensor(input.indices, fn(input.values), input.dense_shape) or "
                        " SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)")
    return [convert_to_tensor(elem, name="elem") for elem in flat]


def _require_callable(fn):
    if not callable(fn):
        raise TypeError("fn must be callable.")


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None):
    """``fn`` of each element of ``elems`` along the first dimension, stacked.

    ``dtype`` says what ``fn`` gives, as a structure of types, where that is not the structure of ``elems``.
    """
    _require_callable(fn)
    tensors = _sequences(elems)
    if dtype is None:
        dtype = nest.pack_sequence_as(elems, [tensor.dtype for tensor in tensors])

    types = [dtypes.as_dtype(each) for each in nest.flatten(dtype)]

    def step(now):
        values = fn(nest.pack_sequence_as(elems, now))
        nest.assert_same_structure(dtype, values)
        return [convert_to_tensor(value, preferred_dtype=each) for value, each in zip(nest.flatten(values), types)]

    results = _weir.map_fn(_graph(), step, tensors, types, parallel_iterations or 10, back_prop, infer_shape, name)
    return nest.pack_sequence_as(dtype, results)


def _fold(kind, fn, elems, initializer, parallel_iterations, back_prop, name, infer_shape=True, reverse=False):
    _require_callable(fn)
    tensors = _sequences(elems)
    structure = elems if initializer is None else initializer
    first = [] if initializer is None else [convert_to_tensor(value) for value in nest.flatten(initializer)]

    def step(before, now):
        result = fn(nest.pack_sequence_as(structure, before), nest.pack_sequence_as(elems, now))
        nest.assert_same_structure(structure, result)
        return nest.flatten(result)

    results = _weir.fold(_graph(), kind, step, tensors, first, parallel_iterations, back_prop, infer_shape, reverse, name)
    return nest.pack_sequence_as(structure, results)


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """``fn(... fn(fn(initializer, elems[0]), elems[1]) ..., elems[-1])``."""
    return _fold("foldl", fn, elems, initializer, parallel_iterations, back_prop, name)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """``fn(... fn(fn(initializer, elems[-1]), elems[-2]) ..., elems[0])``."""
    return _fold("foldr", fn, elems, initializer, parallel_iterations, back_prop, name)


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    """Every value that ``foldl`` (or, ``reverse``, ``foldr``) goes through, stacked."""
    return _fold("scan", fn, elems, initializer, parallel_iterations, back_prop, name, infer_shape, reverse)
