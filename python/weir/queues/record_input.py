"""Records of files without end, shuffled on their way: what tf_cnn_benchmarks reads its images with."""

from weir.core.graph import name_scope
from weir.core.op_functions import apply
from weir.ops import array_ops
from weir.python_io import TFRecordOptions


class RecordInput:
    """Records of the files that match ``file_pattern``, epoch by epoch, from a buffer that is shuffled as it fills.

    With ``batches``, a run gives so many batches of ``batch_size`` records each.
    """

    def __init__(self, file_pattern, batch_size=1, buffer_size=1, parallelism=1, shift_ratio=0, seed=0, name=None,
                 batches=None, compression_type=None):
        self._batch_size = batch_size if batches is None else batch_size * batches
        self._batches = batches
        self._file_pattern, self._buffer_size, self._parallelism = file_pattern, buffer_size, parallelism
        self._shift_ratio, self._seed, self._name = shift_ratio, seed, name
        self._compression_type = compression_type

    def get_yield_op(self):
        """A vector of records, other ones in every run; with ``batches`` a list of lists of scalars."""
        records = apply("RecordInput", (), {
            "file_pattern": self._file_pattern, "file_buffer_size": self._buffer_size,
            "file_parallelism": self._parallelism, "file_shuffle_shift_ratio": self._shift_ratio,
            "batch_size": self._batch_size, "file_random_seed": self._seed,
            "compression_type": TFRecordOptions.get_compression_type_string(self._compression_type)}, self._name)
        if self._batches is None:
            return records
        with name_scope(self._name):
            rows = [array_ops.reshape(row, []) for row in array_ops.split(records, self._batch_size, 0)]
        return [rows[first::self._batches] for first in range(self._batches)]
