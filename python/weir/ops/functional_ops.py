"""Functions applied to sequences: tf.map_fn, tf.scan, tf.foldl, tf.foldr."""

from weir import nest
from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.core.tensor_shape import TensorShape
from weir.ops import array_ops
from weir.ops.control_flow_ops import while_loop
from weir.ops.sparse_ops import SparseTensor
from weir.ops.tensor_array_ops import TensorArray


class _Sequences:
    """Tensors of one length, read element by element in the structure that they were given in."""

    def __init__(self, elems):
        self._structure = elems
        flat = nest.flatten(elems)
        if any(isinstance(elem, SparseTensor) for elem in flat):
            raise TypeError("To perform a map on the values of a sparse tensor use either "
                            " SparseTensor(input.indices, fn(input.values), input.dense_shape) or "
                            " SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)")
        self.tensors = [convert_to_tensor(elem, name="elem") for elem in flat]
        length = TensorShape([None])
        for tensor in self.tensors:
            if tensor.shape.ndims == 0:
                raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar" if len(flat) == 1 else
                                 "elements in elems must be 1+ dimensional Tensors, not scalars")
            length = length.merge_with(tensor.shape[:1])
        self.static_length = length if length.ndims == 1 else TensorShape([None])
        # Where sizes differ in a run, the first decides: reading behind the end of another is an error.
        self.length = self.static_length.as_list()[0]
        if self.length is None:
            self.length = array_ops.shape(self.tensors[0])[0]
        self._arrays = [TensorArray(tensor.dtype, flow=tensor)._filled_with_rows(tensor) for tensor in self.tensors]

    def __getitem__(self, index):
        return nest.pack_sequence_as(self._structure, [array.read(index) for array in self._arrays])

    def stacked(self, arrays):
        """Arrays as long as the sequences, each as one tensor."""
        results = [array.stack() for array in arrays]
        for result in results:
            result.set_shape(self.static_length.concatenate(result.shape[1:]))
        return results


def _require_callable(fn):
    if not callable(fn):
        raise TypeError("fn must be callable.")


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None):
    """``fn`` of each element of ``elems`` along the first dimension, stacked.

    ``dtype`` says what ``fn`` gives, as a structure of types, where that is not the structure of ``elems``.
    """
    _require_callable(fn)
    with name_scope(name, "map", nest.flatten(elems)):
        sequences = _Sequences(elems)
        if dtype is None:
            dtype = nest.pack_sequence_as(elems, [tensor.dtype for tensor in sequences.tensors])
        arrays = [TensorArray(dtypes.as_dtype(each), size=sequences.length, infer_shape=infer_shape)
                  for each in nest.flatten(dtype)]

        def step(i, arrays):
            values = fn(sequences[i])
            nest.assert_same_structure(dtype, values)
            return i + 1, [array.write(i, value) for array, value in zip(arrays, nest.flatten(values))]

        _, arrays = while_loop(lambda i, _: i < sequences.length, step, (convert_to_tensor(0), arrays),
                               parallel_iterations=parallel_iterations or 10, back_prop=back_prop,
                               swap_memory=swap_memory)
        return nest.pack_sequence_as(dtype, sequences.stacked(arrays))


def _fold(fn, elems, initializer, options, scope, backwards):
    _require_callable(fn)
    with name_scope(options.pop("name"), scope, nest.flatten(elems)):
        sequences = _Sequences(elems)
        n = sequences.length
        first = 0 if initializer is not None else 1
        start = (n - 1 if backwards else 0) if first else None
        value = initializer if start is None else sequences[start]

        def step(done, value):
            return done + 1, fn(value, sequences[n - 1 - done if backwards else done])

        return while_loop(lambda done, _: done < n, step, (convert_to_tensor(first), value), **options)[1]


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """``fn(... fn(fn(initializer, elems[0]), elems[1]) ..., elems[-1])``."""
    return _fold(fn, elems, initializer, {"parallel_iterations": parallel_iterations, "back_prop": back_prop,
                                          "swap_memory": swap_memory, "name": name}, "foldl", backwards=False)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """``fn(... fn(fn(initializer, elems[-1]), elems[-2]) ..., elems[0])``."""
    return _fold(fn, elems, initializer, {"parallel_iterations": parallel_iterations, "back_prop": back_prop,
                                          "swap_memory": swap_memory, "name": name}, "foldr", backwards=True)


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    """Every value that ``foldl`` (or, ``reverse``, ``foldr``) goes through, stacked."""
    _require_callable(fn)
    with name_scope(name, "scan", nest.flatten(elems)):
        sequences = _Sequences(elems)
        n = sequences.length
        structure = elems if initializer is None else initializer

        def at(done):
            return n - 1 - done if reverse else done

        if initializer is None:
            values, first = nest.flatten(sequences[at(0)]), 1
        else:
            values, first = [convert_to_tensor(value) for value in nest.flatten(initializer)], 0
        arrays = [TensorArray(value.dtype, size=n, element_shape=value.shape if infer_shape else None,
                              infer_shape=infer_shape) for value in values]
        if initializer is None:
            arrays = [array.write(at(0), value) for array, value in zip(arrays, values)]

        def step(done, values, arrays):
            result = fn(nest.pack_sequence_as(structure, values), sequences[at(done)])
            nest.assert_same_structure(structure, result)
            values = nest.flatten(result)
            return done + 1, values, [array.write(at(done), value) for array, value in zip(arrays, values)]

        _, _, arrays = while_loop(lambda done, *_: done < n, step, (convert_to_tensor(first), values, arrays),
                                  parallel_iterations=parallel_iterations, back_prop=back_prop,
                                  swap_memory=swap_memory)
        return nest.pack_sequence_as(structure, sequences.stacked(arrays))
