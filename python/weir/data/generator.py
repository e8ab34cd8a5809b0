"""Dataset.from_generator: elements that a generator of the program gives."""

import threading

from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.tensor_shape import TensorShape
from weir.data import nest, structure
from weir.data.arguments import flat
from weir.data.function import TracedFunction, node_with
from weir.ops.script_ops import numpy_function


class _Generators:
    """The generators of the iterations that are under way."""

    def __init__(self, generator):
        self._generator, self._lock = generator, threading.Lock()
        self._arguments, self._iterators, self._next = {}, {}, 0

    def begin(self, *arguments):
        with self._lock:
            number, self._next = self._next, self._next + 1
            self._arguments[number] = arguments
        return dtypes._numpy().array(number, dtype="int64")

    def get(self, number):
        number = int(number)
        iterator = self._iterators.get(number)
        if iterator is None:
            iterator = self._iterators[number] = iter(self._generator(*self._arguments.pop(number)))
        return iterator

    def end(self, number):
        self._iterators.pop(int(number), None)
        self._arguments.pop(int(number), None)
        return dtypes._numpy().array(0, dtype="int64")


def from_generator(dataset, generator, output_types, output_shapes, args):
    """A data set, of the class ``dataset``, of what ``iter(generator(*args))`` gives."""
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    types = [dtypes.as_dtype(t) for t in nest.flatten(output_types)]
    if output_shapes is None:
        shapes = [TensorShape(None)] * len(types)
    else:
        shapes = [TensorShape(s) for s in nest.flatten_up_to(output_types, output_shapes)]
    arguments = [convert_to_tensor(a, name=f"args_{i}") for i, a in enumerate(args or ())]
    state = _Generators(generator)

    def next_element(number):
        value = next(state.get(number))
        try:
            flat_value = nest.flatten_up_to(output_types, value)
        except (TypeError, ValueError):
            raise TypeError("`generator` yielded an element that did not match the expected structure. The expected "
                            f"structure was {output_types}, but the yielded element was {value}.") from None
        return [_array(*part) for part in zip(flat_value, types, shapes)]

    def next_tensors(number):
        tensors = numpy_function(next_element, [number], types)
        for tensor, shape in zip(tensors, shapes):
            tensor.set_shape(shape)
        return nest.pack_sequence_as(output_types, tensors)

    def elements(dummy):
        begin = TracedFunction(lambda _: numpy_function(state.begin, arguments, dtypes.int64),
                               "Dataset.from_generator()", structure.spec_of(dummy))
        step = TracedFunction(next_tensors, "Dataset.from_generator()", begin.output_spec)
        end = TracedFunction(lambda number: numpy_function(state.end, [number], dtypes.int64),
                             "Dataset.from_generator()", begin.output_spec)
        variant = node_with([begin, step, end], "GeneratorDataset", ([dummy] + begin.captured, step.captured, end.captured),
                            {"init_func": begin.name, "next_func": step.name, "finalize_func": end.name,
                             **flat(step.output_spec)})
        return dataset._make(variant, step.output_spec)

    # Every iteration calls the function, and so has a generator of its own.
    return dataset.from_tensors(0).flat_map(elements)


def _array(value, dtype, shape):
    numpy = dtypes._numpy()
    wanted = object if dtype == dtypes.string else dtype.as_numpy_dtype
    try:
        if dtype == dtypes.string:
            array = numpy.asarray(value, order="C")
            if array.dtype.kind not in "SUO":
                raise TypeError("no text")
        else:
            array = numpy.asarray(value, dtype=wanted, order="C")
    except (TypeError, ValueError):
        raise TypeError("`generator` yielded an element that could not be converted to the expected type. The expected "
                        f"type was {dtype.name}, but the yielded element was {value}.") from None
    if not shape.is_compatible_with(array.shape):
        raise ValueError(f"`generator` yielded an element of shape {array.shape} where an element of shape {shape} was "
                         "expected.")
    return array
