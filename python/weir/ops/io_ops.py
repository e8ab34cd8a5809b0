"""Readers: records of files whose names come from a queue."""

from weir.core import dtypes
from weir.core.graph import Tensor
from weir.core.op_functions import apply
from weir.python_io import TFRecordOptions


class ReaderBase:
    """What gives the records of files one after the other: the base of tf.TFRecordReader and its kind."""

    def __init__(self, reader_ref, supports_serialize=False):
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    reader_ref = property(lambda self: self._reader_ref)
    supports_serialize = property(lambda self: self._supports_serialize)

    def _apply(self, op, inputs, name):
        is_resource = self._reader_ref.dtype == dtypes.resource
        return apply(op + "V2" if is_resource else op, (self._reader_ref, *inputs), {}, name)

    def _queue_handle(self, queue):
        handle = queue if isinstance(queue, Tensor) else queue.queue_ref
        if self._reader_ref.dtype == dtypes.resource or handle.dtype != dtypes.resource:
            return handle
        # A reader with a reference wants a queue with one.
        return apply("FakeQueue", (handle,), {}, None)

    def read(self, queue, name=None):
        """The next record, as (key, value). Waits for the queue when it needs the next file."""
        return self._apply("ReaderRead", (self._queue_handle(queue),), name)

    def read_up_to(self, queue, num_records, name=None):
        """Up to that many records of one file, as (keys, values)."""
        return self._apply("ReaderReadUpTo", (self._queue_handle(queue), num_records), name)

    def num_records_produced(self, name=None):
        return self._apply("ReaderNumRecordsProduced", (), name)

    def num_work_units_completed(self, name=None):
        return self._apply("ReaderNumWorkUnitsCompleted", (), name)

    def serialize_state(self, name=None):
        return self._apply("ReaderSerializeState", (), name)

    def restore_state(self, state, name=None):
        return self._apply("ReaderRestoreState", (state,), name)

    def reset(self, name=None):
        return self._apply("ReaderReset", (), name)


class WholeFileReader(ReaderBase):
    """Whole files: the key is the name, the value the contents."""

    def __init__(self, name=None):
        super().__init__(apply("WholeFileReaderV2", (), {}, name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """Lines of text files; keys are "file:line"."""

    def __init__(self, skip_header_lines=None, name=None):
        super().__init__(apply("TextLineReaderV2", (), {"skip_header_lines": skip_header_lines or 0}, name))


class FixedLengthRecordReader(ReaderBase):
    """Records that all have one length; keys are "file:record"."""

    def __init__(self, record_bytes, header_bytes=None, footer_bytes=None, hop_bytes=None, name=None, encoding=None):
        super().__init__(apply("FixedLengthRecordReaderV2", (), {
            "record_bytes": record_bytes, "header_bytes": header_bytes or 0, "footer_bytes": footer_bytes or 0,
            "hop_bytes": hop_bytes or 0, "encoding": encoding or ""}, name))


class TFRecordReader(ReaderBase):
    """Records of TFRecord files; keys are "file:offset"."""

    def __init__(self, name=None, options=None):
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(apply("TFRecordReaderV2", (), {"compression_type": compression}, name))


class LMDBReader(ReaderBase):
    """The keys and values of LMDB databases."""

    def __init__(self, name=None, options=None):
        super().__init__(apply("LMDBReader", (), {}, name))


class IdentityReader(ReaderBase):
    """What the queue holds, as key and as value."""

    def __init__(self, name=None):
        super().__init__(apply("IdentityReaderV2", (), {}, name), supports_serialize=True)
