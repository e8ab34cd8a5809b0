"""Elements by key, by length, and with a state."""

from weir.core import dtypes
from weir.core.graph import control_dependencies, convert_to_tensor, name_scope
from weir.core.tensor_shape import TensorShape, dimension_value
from weir.core.values import TensorSpec
from weir.data import nest, structure
from weir.data.arguments import flat
from weir.data.dataset import Dataset, inner_spec, stateful_function
from weir.data.function import TracedFunction, node_with
from weir.ops import array_ops, check_ops, math_ops

_SMALLEST, _LARGEST = -(1 << 31), (1 << 31) - 1
_KEY = TensorSpec([], dtypes.int64)


def _require_key(function, message):
    if not (isinstance(function.output_spec, TensorSpec) and function.output_spec.is_compatible_with(_KEY)):
        raise ValueError(f"{message} Got {function.output_spec}.")


def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    """What ``reduce_func(key, data set)`` makes of every ``window_size`` elements of one key."""
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")
    if window_size is not None:
        def window_size_func(_):
            return convert_to_tensor(window_size, dtype=dtypes.int64)

    def transform(dataset):
        spec = dataset.element_spec
        name = "tf.data.experimental.group_by_window()"
        key = TracedFunction(key_func, name, spec)
        _require_key(key, "`key_func` must return a single tf.int64 tensor.")
        reduce = TracedFunction(reduce_func, name, (_KEY, structure.DatasetSpec(spec)))
        result = inner_spec(reduce)

        def size_of(value):
            return math_ops.cast(window_size_func(value), dtypes.int64)

        size = TracedFunction(size_of, name, _KEY)
        _require_key(size, "`window_size_func` must return a single tf.int64 scalar tensor.")
        variant = node_with([key, reduce, size], "GroupByWindowDataset",
                            (dataset._variant_tensor, key.captured, reduce.captured, size.captured),
                            {"key_func": key.name, "reduce_func": reduce.name, "window_size_func": size.name,
                             **flat(result)})
        return Dataset._make(variant, result, [dataset])

    return transform


class Reducer:
    """Three functions: of a state's beginning, its steps and its end."""

    def __init__(self, init_func, reduce_func, finalize_func):
        self._init_func, self._reduce_func, self._finalize_func = init_func, reduce_func, finalize_func

    init_func = property(lambda self: self._init_func)
    reduce_func = property(lambda self: self._reduce_func)
    finalize_func = property(lambda self: self._finalize_func)


def group_by_reducer(key_func, reducer):
    """One element for each key: what ``reducer`` makes of all of its elements."""
    def transform(dataset):
        spec, name = dataset.element_spec, "tf.data.experimental.group_by_reducer()"
        key = TracedFunction(key_func, name, spec)
        _require_key(key, "`key_func` must return a single tf.int64 tensor.")
        init = TracedFunction(reducer.init_func, name, _KEY)
        reduce, state = stateful_function(reducer.reduce_func, name, init.output_spec, spec, lambda given: (given, None))
        finalize = TracedFunction(reducer.finalize_func, name, state)
        result = finalize.output_spec
        variant = node_with([key, init, reduce, finalize], "GroupByReducerDataset",
                            (dataset._variant_tensor, key.captured, init.captured, reduce.captured, finalize.captured),
                            {"key_func": key.name, "init_func": init.name, "reduce_func": reduce.name,
                             "finalize_func": finalize.name, **flat(result)})
        return Dataset._make(variant, result, [dataset])

    return transform


def scan(initial_state, scan_func):
    """``scan_func(state, element)`` gives the next state and an element."""
    def transform(dataset):
        with name_scope("initial_state"):
            start = structure.normalize_element(initial_state)

        def parts(spec):
            if not (isinstance(spec, tuple) and len(spec) == 2):
                raise TypeError("The scan function must return a pair comprising the new state and the output value.")
            return spec

        f, state = stateful_function(scan_func, "tf.data.experimental.scan()", structure.spec_of(start),
                                     dataset.element_spec, parts)
        result = f.output_spec[1]
        variant = f.node("ScanDataset", (dataset._variant_tensor, structure.to_tensors(state, start), f.captured),
                         {"f": f.name, **flat(result)})
        return Dataset._make(variant, result, [dataset])

    return transform


def take_while(predicate):
    """The elements before the first for which ``predicate`` does not hold."""
    def transform(dataset):
        f = TracedFunction(predicate, "tf.data.experimental.take_while()", dataset.element_spec)
        if not (isinstance(f.output_spec, TensorSpec) and f.output_spec.is_compatible_with(TensorSpec([], dtypes.bool))):
            raise ValueError("`predicate` must return a scalar boolean tensor.")
        variant = f.node("TakeWhileDataset", (dataset._variant_tensor, f.captured),
                         {"predicate": f.name, **flat(dataset.element_spec)})
        return Dataset._make(variant, dataset.element_spec, [dataset])

    return transform


def Counter(start=0, step=1, dtype=dtypes.int64):
    """start, start + step, ... without end."""
    with name_scope("counter"):
        first = convert_to_tensor(start, dtype=dtype, name="start")
        by = convert_to_tensor(step, dtype=dtype, name="step")
        return Dataset.from_tensors(0).repeat(None).apply(scan(first, lambda state, _: (state + by, state)))


def bucket_by_sequence_length(element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
                              padding_values=None, pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False):
    """Padded batches of elements of similar lengths."""
    with name_scope("bucket_by_seq_length"):
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
        batch_sizes = array_ops.constant(bucket_batch_sizes, dtype=dtypes.int64)

        def bucket_of(*element):
            length = element_length_func(*element)
            boundaries = list(bucket_boundaries)
            inside = math_ops.logical_and(math_ops.less_equal([_SMALLEST] + boundaries, length),
                                          math_ops.less(length, boundaries + [_LARGEST]))
            return math_ops.reduce_min(array_ops.where(inside))

        def size_of(bucket):
            return batch_sizes[bucket]

        def padded(shapes, filler):
            def fill(shape):
                return [filler if dimension_value(d) is None else dimension_value(d) for d in TensorShape(shape)]

            return nest.pack_sequence_as(shapes, [fill(shape) for shape in nest.flatten(shapes)])

        def batch(bucket, group):
            size = size_of(bucket)
            if no_padding:
                return group.batch(size, drop_remainder=drop_remainder)
            filler = None
            if pad_to_bucket_boundary:
                check = check_ops.assert_less(
                    bucket, array_ops.constant(len(bucket_batch_sizes) - 1, dtype=dtypes.int64),
                    message="When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries).")
                with control_dependencies([check]):
                    filler = array_ops.constant(bucket_boundaries, dtype=dtypes.int64)[bucket] - 1
            shapes = padded(padded_shapes or group.output_shapes, filler)
            return group.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)

        def transform(dataset):
            return dataset.apply(group_by_window(bucket_of, batch, window_size_func=size_of))

        return transform
