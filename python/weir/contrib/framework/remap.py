"""Variables that begin as matrices of a checkpoint whose rows and columns stand in another order: when a vocabulary has grown."""

from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.op_functions import apply
from weir.ops import array_ops, math_ops
from weir.ops.init_ops import zeros_initializer


def _remapping(new_file, old_file, offset, count, old_size):
    return apply("GenerateVocabRemapping", (new_file, old_file), {
        "new_vocab_offset": offset, "num_new_vocab": count, "old_vocab_size": old_size}, None)[0]


def _with_unknown(remapping, extra):
    """Places behind it for words that no vocabulary has."""
    return array_ops.concat([remapping, array_ops.fill([extra], array_ops.constant(-1, dtypes.int64))], 0) if extra else remapping


def _load_and_remap(ckpt_path, old_tensor_name, new_row_vocab_offset, num_rows_to_load, new_col_vocab_size, initializer, old_row_vocab_size=-1,
                    old_row_vocab_file=None, new_row_vocab_file=None, old_col_vocab_file=None, new_col_vocab_file=None,
                    num_row_oov_buckets=0, num_col_oov_buckets=0, max_rows_in_memory=-1):
    """The matrix, or the part of it that a partition holds."""
    if num_row_oov_buckets < 0 or num_col_oov_buckets < 0:
        raise ValueError("the numbers of out-of-vocabulary buckets must not be negative")
    if bool(old_row_vocab_file) != bool(new_row_vocab_file) or bool(old_col_vocab_file) != bool(new_col_vocab_file):
        raise ValueError("old and new vocabulary files must both be specified or both left unspecified")
    if new_row_vocab_file:
        rows = _remapping(new_row_vocab_file, old_row_vocab_file, new_row_vocab_offset, num_rows_to_load, old_row_vocab_size)
    else:
        rows = math_ops.range(array_ops.constant(new_row_vocab_offset, dtypes.int64), array_ops.constant(new_row_vocab_offset + num_rows_to_load, dtypes.int64))
    rows = _with_unknown(rows, num_row_oov_buckets)
    if new_col_vocab_file:
        columns = _with_unknown(_remapping(new_col_vocab_file, old_col_vocab_file, 0, new_col_vocab_size, -1), num_col_oov_buckets)
    elif num_col_oov_buckets:
        columns = _with_unknown(math_ops.range(array_ops.constant(new_col_vocab_size, dtypes.int64)), num_col_oov_buckets)
    else:
        columns = array_ops.constant([], dtypes.int64)
    shape = [num_rows_to_load + num_row_oov_buckets, new_col_vocab_size + num_col_oov_buckets]
    known_columns = columns >= 0 if new_col_vocab_file or num_col_oov_buckets else array_ops.fill([shape[1]], True)
    known = math_ops.logical_and(array_ops.expand_dims(rows >= 0, 1), array_ops.expand_dims(known_columns, 0))
    values = array_ops.boolean_mask(convert_to_tensor(initializer(shape, dtype=dtypes.float32)), math_ops.logical_not(known))
    return apply("LoadAndRemapMatrix", (ckpt_path, old_tensor_name, rows, columns, values), {
        "num_rows": shape[0], "num_cols": shape[1], "max_rows_in_memory": max_rows_in_memory}, None)


def load_and_remap_matrix_initializer(ckpt_path, old_tensor_name, new_row_vocab_size, new_col_vocab_size, old_row_vocab_size=-1,
                                      old_row_vocab_file=None, new_row_vocab_file=None, old_col_vocab_file=None, new_col_vocab_file=None,
                                      num_row_oov_buckets=0, num_col_oov_buckets=0, initializer=None, max_rows_in_memory=-1):
    initializer = initializer or zeros_initializer()

    def make(shape, dtype=dtypes.float32, partition_info=None):
        shape = [int(size) for size in shape]
        if len(shape) != 2:
            raise ValueError(f"shape must be rank 2, but is {shape}")
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        rest = max(0, min(shape[0], new_row_vocab_size - offset))
        if partition_info is None and shape[0] != new_row_vocab_size + num_row_oov_buckets or shape[1] != new_col_vocab_size + num_col_oov_buckets:
            raise ValueError(f"shape {shape} does not fit {new_row_vocab_size} rows and {new_col_vocab_size} columns with {num_row_oov_buckets} and {num_col_oov_buckets} more")
        if rest == 0:  # a part that holds rows of unknown words alone
            return initializer(shape)
        return _load_and_remap(ckpt_path, old_tensor_name, offset, rest, new_col_vocab_size, initializer, old_row_vocab_size, old_row_vocab_file, new_row_vocab_file,
                               old_col_vocab_file, new_col_vocab_file, shape[0] - rest, num_col_oov_buckets, max_rows_in_memory)

    return make


def load_embedding_initializer(ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim, old_vocab_file, new_vocab_file, old_vocab_size=-1,
                               num_oov_buckets=0, initializer=None, max_rows_in_memory=-1):
    return load_and_remap_matrix_initializer(ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim, old_vocab_size, old_vocab_file, new_vocab_file,
                                             num_row_oov_buckets=num_oov_buckets, initializer=initializer, max_rows_in_memory=max_rows_in_memory)


def load_linear_multiclass_bias_initializer(ckpt_path, bias_tensor_name, new_class_vocab_size, old_class_vocab_file, new_class_vocab_file,
                                            num_class_oov_buckets=0, initializer=None, max_rows_in_memory=-1):
    """Biases of classes are a matrix of one column here."""
    return load_and_remap_matrix_initializer(ckpt_path, bias_tensor_name, new_class_vocab_size, 1, -1, old_class_vocab_file, new_class_vocab_file,
                                             num_row_oov_buckets=num_class_oov_buckets, initializer=initializer, max_rows_in_memory=max_rows_in_memory)


def load_variable_slot_initializer(ckpt_path, old_tensor_name, primary_partition_info, new_row_vocab_size, new_col_vocab_size, old_row_vocab_size=-1,
                                   old_row_vocab_file=None, new_row_vocab_file=None, old_col_vocab_file=None, new_col_vocab_file=None,
                                   num_row_oov_buckets=0, num_col_oov_buckets=0, initializer=None, max_rows_in_memory=-1):
    """For a slot that an optimizer keeps beside a variable, cut up as that one is."""
    make = load_and_remap_matrix_initializer(ckpt_path, old_tensor_name, new_row_vocab_size, new_col_vocab_size, old_row_vocab_size, old_row_vocab_file,
                                             new_row_vocab_file, old_col_vocab_file, new_col_vocab_file, num_row_oov_buckets, num_col_oov_buckets,
                                             initializer, max_rows_in_memory)
    return lambda shape, dtype=dtypes.float32, partition_info=None: make(shape, dtype, primary_partition_info)
