"""Data sets of what files hold: records, lines, fields."""

from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape
from weir.core.values import TensorSpec
from weir.data.arguments import flat, int64_argument
from weir.data.dataset import AUTOTUNE, Dataset, inner_spec
from weir.data.function import TracedFunction
from weir.ops import array_ops

_BUFFER_BYTES = 256 * 1024
_CSV_BUFFER_BYTES = 4 * 1024 * 1024


def _text(value, name):
    return convert_to_tensor("" if value is None else value, dtype=dtypes.string, name=name)


def _filenames(filenames):
    """Names of files, in whatever form, as a data set of them."""
    if isinstance(filenames, Dataset):
        if filenames.output_types != dtypes.string:
            raise TypeError("`filenames` must be a `tf.data.Dataset` of `tf.string` elements.")
        if not filenames.output_shapes.is_compatible_with(TensorShape([])):
            raise TypeError("`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements.")
        return filenames
    filenames = convert_to_tensor(filenames, dtype=dtypes.string)
    return Dataset.from_tensor_slices(array_ops.reshape(filenames, [-1], name="flat_filenames"))


def parallel_interleave(dataset, map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None,
                        prefetch_input_elements=None):
    """The elements of several data sets in turn, each read ahead by a thread of its own."""
    f = TracedFunction(map_func, "tf.data.experimental.parallel_interleave()", dataset.element_spec)
    spec = inner_spec(f)
    cycle, block = int64_argument(cycle_length, "cycle_length"), int64_argument(block_length, "block_length")
    sloppy = convert_to_tensor(sloppy, dtype=dtypes.bool, name="sloppy")
    ahead = int64_argument(buffer_output_elements, "buffer_output_elements", 2 * block_length
                           if isinstance(block_length, int) else 2)
    prefetch = int64_argument(prefetch_input_elements, "prefetch_input_elements", 2 * cycle_length
                              if isinstance(cycle_length, int) else 2)
    variant = f.node("ParallelInterleaveDataset", (dataset._variant_tensor, f.captured, cycle, block, sloppy, ahead,
                                                   prefetch), {"f": f.name, **flat(spec)})
    return Dataset._make(variant, spec, [dataset])


class _FilesDataset(Dataset):
    """The elements of one file after the other; ``read(filename)`` gives a data set of one file."""

    def _open(self, filenames, read, num_parallel_reads):
        self._filenames = _filenames(filenames)

        def read_one(filename):
            return read(convert_to_tensor(filename, dtypes.string, name="filename"))

        if num_parallel_reads is None:
            self._impl = self._filenames.flat_map(read_one)
        elif num_parallel_reads == AUTOTUNE:
            self._impl = self._filenames.interleave(read_one, num_parallel_calls=num_parallel_reads)
        else:
            self._impl = parallel_interleave(self._filenames, read_one, num_parallel_reads)
        super().__init__(self._impl._variant_tensor)

    element_spec = property(lambda self: self._impl.element_spec)

    def _inputs(self):
        return [self._filenames]


_ONE_STRING = TensorSpec([], dtypes.string)


class TFRecordDataset(_FilesDataset):
    """The records of TFRecord files."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None):
        def read(filename):
            return Dataset._make(apply("TFRecordDataset", (filename, _text(compression_type, "compression_type"),
                                                           int64_argument(buffer_size, "buffer_size", _BUFFER_BYTES)),
                                       {}, None), _ONE_STRING)

        self._open(filenames, read, num_parallel_reads)


class TextLineDataset(_FilesDataset):
    """The lines of text files."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None):
        def read(filename):
            return Dataset._make(apply("TextLineDataset", (filename, _text(compression_type, "compression_type"),
                                                           int64_argument(buffer_size, "buffer_size", _BUFFER_BYTES)),
                                       {}, None), _ONE_STRING)

        self._open(filenames, read, num_parallel_reads)


class LMDBDataset(Dataset):
    """The (key, value) pairs of LMDB databases, in the order of their keys."""

    element_spec = (_ONE_STRING, _ONE_STRING)

    def __init__(self, filenames):
        self._filenames = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        super().__init__(apply("LMDBDataset", (self._filenames,), flat(self.element_spec), None))

    def _inputs(self):
        return []


class FixedLengthRecordDataset(_FilesDataset):
    """The records of files in which all have one length."""

    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None,
                 compression_type=None, num_parallel_reads=None):
        def read(filename):
            sizes = [int64_argument(header_bytes, "header_bytes", 0), int64_argument(record_bytes, "record_bytes"),
                     int64_argument(footer_bytes, "footer_bytes", 0),
                     int64_argument(buffer_size, "buffer_size", _BUFFER_BYTES)]
            return Dataset._make(apply("FixedLengthRecordDatasetV2", (filename, *sizes,
                                                                      _text(compression_type, "compression_type")),
                                       {}, None), _ONE_STRING)

        self._open(filenames, read, num_parallel_reads)


class CsvDataset(Dataset):
    """The records of CSV files, a tensor for each column."""

    def __init__(self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False,
                 field_delim=",", use_quote_delim=True, na_value="", select_cols=None):
        filenames = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        defaults = []
        for default in record_defaults:
            if isinstance(default, (type(dtypes.int32), type)) or hasattr(default, "as_numpy_dtype"):
                defaults.append(array_ops.constant([], dtype=dtypes.as_dtype(default)))  # must be there
            else:
                defaults.append(convert_to_tensor(default))
        self._spec = tuple(TensorSpec([], default.dtype) for default in defaults)
        compression = _text(compression_type, "compression_type")
        size = int64_argument(buffer_size, "buffer_size", _CSV_BUFFER_BYTES)
        columns = array_ops.constant([] if select_cols is None else list(select_cols), dtype=dtypes.int64,
                                     name="select_cols")
        super().__init__(apply("CSVDataset", (filenames, compression, size,
                                              convert_to_tensor(header, dtypes.bool, name="header"),
                                              _text(field_delim, "field_delim"),
                                              convert_to_tensor(use_quote_delim, dtypes.bool, name="use_quote_delim"),
                                              _text(na_value, "na_value"), columns, defaults),
                               flat(self._spec), None))

    element_spec = property(lambda self: self._spec)
