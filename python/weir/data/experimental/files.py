"""Data sets of whole directories of files: CSV and tf.Example records; and records written from a data set."""

import csv
import gzip
from collections import OrderedDict

from weir import gfile, names
from weir.core import dtypes
from weir.core.graph import Tensor, convert_to_tensor
from weir.core.op_functions import apply

from weir.data.dataset import AUTOTUNE, Dataset
from weir.data.experimental.batching import ignore_errors as _ignore_errors, shuffle_and_repeat
from weir.data.options import Options
from weir.data.readers import CsvDataset, TFRecordDataset, parallel_interleave
from weir.ops import array_ops

_CSV_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


def _file_names(pattern, shuffle):
    """The files that match a pattern, a list of names, or a list of patterns."""
    if isinstance(pattern, (list, tuple)):
        if not pattern:
            raise ValueError("File pattern is empty.")
        files = [path for each in pattern for path in gfile.Glob(each)]
    else:
        files = list(gfile.Glob(pattern))
    if not files:
        raise ValueError(f"No files match {pattern}.")
    if not shuffle:
        files.sort()
    return files


def _shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed):
    if num_epochs != 1 and shuffle:
        return dataset.apply(shuffle_and_repeat(shuffle_buffer_size, num_epochs, shuffle_seed))
    if shuffle:
        return dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    return dataset.repeat(num_epochs) if num_epochs != 1 else dataset


def make_csv_dataset(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None,
                     select_columns=None, field_delim=",", use_quote_delim=True, na_value="", header=True,
                     num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                     prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False, num_rows_for_inference=100,
                     compression_type=None, ignore_errors=False):
    """Batches of CSV records as dictionaries of columns, with the label beside them if there is one."""
    files = _file_names(file_pattern, False)
    dataset = Dataset.from_tensor_slices(files)
    if shuffle:
        dataset = dataset.shuffle(len(files), shuffle_seed)

    def rows(path):
        if compression_type in (None, ""):
            file = open(path, newline="", encoding="utf-8", errors="surrogateescape")
        elif compression_type == "GZIP":
            file = gzip.open(path, "rt", newline="")
        else:
            raise ValueError(f"compression_type ({compression_type}) is not supported for probing columns")
        with file:
            quoting = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
            yield from csv.reader(file, delimiter=field_delim, quoting=quoting)

    if column_names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        column_names = _column_names(files, rows)
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    if select_columns is not None:
        select_columns = _column_numbers(select_columns, column_names)
    if column_defaults is not None:
        column_defaults = [default if isinstance(default, Tensor) or default not in _CSV_TYPES
                           else array_ops.constant([], dtype=default) for default in column_defaults]
    else:
        column_defaults = _column_defaults(files, rows, len(column_names), na_value, header, num_rows_for_inference,
                                           select_columns)
    if select_columns is not None and len(column_defaults) != len(select_columns):
        raise ValueError("If specified, column_defaults and select_columns must have same length.")
    if select_columns is not None and len(column_names) > len(select_columns):
        column_names = [column_names[i] for i in select_columns]
    if label_name is not None and label_name not in column_names:
        raise ValueError("`label_name` provided must be one of the columns.")

    def one_file(path):
        records = CsvDataset(path, column_defaults, field_delim=field_delim, use_quote_delim=use_quote_delim,
                             na_value=na_value, select_cols=select_columns, header=header,
                             compression_type=compression_type)
        return records.apply(_ignore_errors()) if ignore_errors else records

    def as_features(*columns):
        features = OrderedDict(zip(column_names, columns))
        return features if label_name is None else (features, features.pop(label_name))

    if num_parallel_reads == AUTOTUNE:
        options = Options()
        options.experimental_deterministic = not sloppy
        dataset = dataset.interleave(one_file, num_parallel_calls=AUTOTUNE).with_options(options)
    else:
        dataset = parallel_interleave(dataset, one_file, num_parallel_reads or 1, sloppy=sloppy)
    dataset = _shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(as_features)
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _column_names(files, rows):
    columns = None
    for path in files:
        first = next(rows(path), None)
        if first is None:
            raise ValueError(f"Received StopIteration when reading the header line of {path}.  Empty file?")
        if columns is not None and columns != first:
            raise ValueError("Files have different column names in the header row.")
        columns = first
    return columns


def _column_numbers(select_columns, column_names):
    numbers = {name: i for i, name in enumerate(column_names)}
    if not select_columns:
        raise ValueError("`select_columns` must not be empty.")
    chosen = []
    for column in select_columns:
        if isinstance(column, int):
            if not 0 <= column < len(column_names):
                raise ValueError("`select_columns` must be valid column indices.")
            chosen.append(column)
        elif column in numbers:
            chosen.append(numbers[column])
        else:
            raise ValueError(f"Value '{column}' specified in `select_columns` not in `column_names`.")
    if len(set(chosen)) != len(chosen):
        raise ValueError("`select_columns` contains duplicate columns")
    return sorted(chosen)


def _column_defaults(files, rows, columns, na_value, header, limit, select_columns):
    """Zeros of the narrowest types that the first rows fit."""
    chosen = range(columns) if select_columns is None else select_columns
    types = [None] * len(chosen)
    seen = 0
    for path in files:
        for number, row in enumerate(rows(path)):
            if header and number == 0:
                continue
            if len(row) != columns:
                raise ValueError("Problem inferring types: CSV row has different number of fields than expected.")
            types = [_wider(row[column], known, na_value) for column, known in zip(chosen, types)]
            seen += 1
            if limit is not None and seen >= limit:
                break
        if limit is not None and seen >= limit:
            break
    return [array_ops.constant([0 if kind is not dtypes.string else ""], dtype=kind or dtypes.string)
            if kind is not None else array_ops.constant([""]) for kind in types]


def _wider(text, known, na_value):
    if text in ("", na_value):
        return known
    kinds = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)
    return next(kind for kind in kinds[kinds.index(known) if known is not None else 0:] if _fits(text, kind))


def _fits(text, kind):
    try:
        if kind in (dtypes.int32, dtypes.int64):
            return -(1 << (31 if kind is dtypes.int32 else 63)) <= int(text) < 1 << (31 if kind is dtypes.int32 else 63)
        if kind is dtypes.string:
            return True
        value = float(text)
        return kind is dtypes.float64 or value != value or abs(value) in (float("inf"), 0.0) or 1e-37 < abs(value) < 3.4e38
    except ValueError:
        return False


def make_batched_features_dataset(file_pattern, batch_size, features, reader=TFRecordDataset, label_key=None,
                                  reader_args=None, num_epochs=None, shuffle=True, shuffle_buffer_size=10000,
                                  shuffle_seed=None, prefetch_buffer_size=None, reader_num_threads=None,
                                  parser_num_threads=None, sloppy_ordering=False, drop_final_batch=False):
    """Batches of tf.Example records as dictionaries of features, with the label beside them if there is one."""
    files = _file_names(file_pattern, shuffle)
    dataset = Dataset.from_tensor_slices(files)
    if shuffle:
        dataset = dataset.shuffle(len(files), shuffle_seed)
    arguments = reader_args or []
    if reader_num_threads == AUTOTUNE:
        dataset = dataset.interleave(lambda path: reader(path, *arguments), num_parallel_calls=AUTOTUNE)
    else:
        dataset = parallel_interleave(dataset, lambda path: reader(path, *arguments), reader_num_threads or 1,
                                      sloppy=sloppy_ordering)
    if dataset.output_types == (dtypes.string, dtypes.string):
        dataset = dataset.map(lambda _, value: value)  # of readers that give keys
    dataset = _shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, num_parallel_calls=parser_num_threads or 2))
    if label_key:
        if label_key not in features:
            raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys.")
        dataset = dataset.map(lambda x: (x, x.pop(label_key)))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def read_batch_features(file_pattern, batch_size, features, reader=TFRecordDataset, reader_args=None, randomize_input=True,
                        num_epochs=None, capacity=10000):
    """The tensors of one batch, from an iterator that begins by itself."""
    dataset = make_batched_features_dataset(file_pattern, batch_size, features, reader=reader, reader_args=reader_args,
                                            shuffle=randomize_input, num_epochs=num_epochs, shuffle_buffer_size=capacity)
    return dataset.make_one_shot_iterator().get_next()


def parse_example_dataset(features, num_parallel_calls=1):
    """Batches of serialized examples as dictionaries of features."""
    def transform(dataset):
        if dataset.output_types != dtypes.string:
            raise TypeError("Input dataset should be a dataset of vectors of strings")
        parse = names.find("tf.io.parse_example")
        return dataset.map(lambda records: parse(records, features), num_parallel_calls=num_parallel_calls)

    return transform


class TFRecordWriter:
    """Writes the elements of a data set of strings as a TFRecord file, when the operation of ``write`` runs."""

    def __init__(self, filename, compression_type=None):
        self._filename = convert_to_tensor(filename, dtypes.string, name="filename")
        self._compression = convert_to_tensor(compression_type or "", dtypes.string, name="compression_type")

    def write(self, dataset):
        if not isinstance(dataset, Dataset):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        if dataset.output_types != dtypes.string or not dataset.output_shapes.is_compatible_with([]):
            raise TypeError("`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape "
                            f"{dataset.output_shapes!r} and types {dataset.output_types!r}")
        return apply("DatasetToTFRecord", (dataset._variant_tensor, self._filename, self._compression), {}, None)
