"""tf.python_io: record files."""

import os

from weir import _weir


class TFRecordCompressionType:
    NONE, ZLIB, GZIP = 0, 1, 2


class TFRecordOptions:
    compression_type_map = {TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP",
                            TFRecordCompressionType.NONE: ""}

    def __init__(self, compression_type=None, **kwargs):
        self.compression_type = compression_type

    @classmethod
    def get_compression_type_string(cls, options):
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            options = options.compression_type
        return cls.compression_type_map.get(options, options) or ""


def _compression(options):
    return {"": 0, "GZIP": 1, "ZLIB": 2}[TFRecordOptions.get_compression_type_string(options)]


class TFRecordWriter:
    """Writes records (bytes) to a file."""

    def __init__(self, path, options=None):
        self._writer = _weir.RecordWriter(os.fspath(path), _compression(options))

    def write(self, record):
        self._writer.write(record)

    def flush(self):
        self._writer.flush()

    def close(self):
        self._writer.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
        return False


def tf_record_iterator(path, options=None):
    """The records of a file, each as bytes. Damage raises DataLossError."""
    yield from _weir.RecordReader(os.fspath(path), _compression(options))
