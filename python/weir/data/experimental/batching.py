"""Elements together and apart."""

from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape
from weir.core.values import TensorSpec
from weir.data import nest, structure
from weir.data.arguments import flat, int64_argument, known_batch, seeds
from weir.data.dataset import Dataset
from weir.data.function import TracedFunction
from weir.data.iterators import _as_list


def unbatch():
    """The rows of every element as elements."""
    return lambda dataset: dataset.unbatch()


def dense_to_sparse_batch(batch_size, row_shape):
    """Batches of elements of different sizes as SparseTensors."""
    def transform(dataset):
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec):
            raise TypeError("DenseToSparseDataset requires an input whose elements have a single component, whereas the "
                            f"input has {dataset.output_types!r}.")
        shape = TensorShape(row_shape)
        sizes = convert_to_tensor([-1 if d is None else d for d in shape.as_list()], dtype=dtypes.int64)
        batched = structure.SparseTensorSpec(TensorShape([None]).concatenate(shape), spec.dtype)
        return dataset._unary("DenseToSparseBatchDataset", [int64_argument(batch_size, "batch_size"), sizes], batched)

    return transform


def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    """``map(map_func).batch(batch_size)``, with several calls at a time."""
    if num_parallel_batches is None and num_parallel_calls is None:
        num_parallel_calls = batch_size
    elif num_parallel_batches is not None and num_parallel_calls is None:
        num_parallel_calls = batch_size * num_parallel_batches
    elif num_parallel_batches is not None:
        raise ValueError("The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive.")

    def transform(dataset):
        f = TracedFunction(map_func, "tf.data.experimental.map_and_batch()", dataset.element_spec)
        size = int64_argument(batch_size, "batch_size")
        calls = int64_argument(num_parallel_calls, "num_parallel_calls")
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        spec = structure.batched(f.output_spec, known_batch(size, drop))
        variant = f.node("MapAndBatchDataset", (dataset._variant_tensor, f.captured, size, calls, drop),
                         {"f": f.name, **flat(spec)})
        return Dataset._make(variant, spec, [dataset])

    return transform


def batch_and_drop_remainder(batch_size):
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size, padded_shapes, padding_values=None):
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def assert_element_shape(expected_shapes):
    """The elements again, with shapes that the program knows and the run checks."""
    def transform(dataset):
        def check(*element):
            element = element if type(dataset.element_spec) is tuple else element[0]
            shapes = nest.flatten_up_to(dataset.element_spec, expected_shapes)
            for value, shape in zip(nest.flatten(element), shapes):
                value.set_shape(shape)
            return element

        return dataset.map(check)

    return transform


def sliding_window_batch(window_size, stride=None, window_shift=None, window_stride=1):
    """Batches of ``window_size`` elements, each ``window_shift`` behind the one before."""
    if stride is None and window_shift is None:
        window_shift = 1
    elif stride is not None and window_shift is None:
        window_shift = stride
    elif stride is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")

    def transform(dataset):
        spec = structure.batched(dataset.element_spec, None)
        return dataset._unary("SlidingWindowDataset", [
            int64_argument(window_size, "window_size"), int64_argument(window_shift, "window_shift"),
            int64_argument(window_stride, "window_stride")], spec)

    return transform


def get_single_element(dataset):
    """The only element of a data set, as tensors."""
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    spec = dataset.element_spec
    return structure.from_tensors(spec, _as_list(apply("DatasetToSingleElement", (dataset._variant_tensor,), flat(spec),
                                                       None)))


def cardinality(dataset):
    return apply("DatasetCardinality", (dataset._variant_tensor,), {}, None)


INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2


def unique():
    return lambda dataset: dataset._unary("UniqueDataset", [])


def ignore_errors():
    """The elements that can be had."""
    return lambda dataset: dataset._unary("IgnoreErrorsDataset", [])


def enumerate_dataset(start=0):
    return lambda dataset: dataset.enumerate(start)


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """``shuffle(buffer_size, seed).repeat(count)`` that draws across the ends of epochs."""
    def transform(dataset):
        size = int64_argument(buffer_size, "buffer_size")
        repeats = int64_argument(count, "count", -1)
        return dataset._unary("ShuffleAndRepeatDataset", [size, *seeds(seed), repeats])

    return transform
