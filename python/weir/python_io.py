"""tf.python_io: record files."""

import os

from weir import _weir, errors


class TFRecordCompressionType:
    NONE, ZLIB, GZIP = 0, 1, 2


class TFRecordOptions:
    """How a record file is packed: ``compression_type`` "ZLIB", "GZIP" or "" (or TFRecordCompressionType), and zlib's
    settings. Buffer sizes and flush modes are accepted and ignored."""

    compression_type_map = {TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP",
                            TFRecordCompressionType.NONE: ""}

    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None,
                 window_bits=None, compression_level=None, compression_method=None, mem_level=None,
                 compression_strategy=None):
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size, self.output_buffer_size = input_buffer_size, output_buffer_size
        self.window_bits, self.compression_level = window_bits, compression_level
        self.compression_method, self.mem_level = compression_method, mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options):
        """"ZLIB", "GZIP" or "", of options, a TFRecordCompressionType or a string."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if isinstance(options, str) and options in cls.compression_type_map.values():
            return options
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        raise ValueError(f'Not a valid compression_type: "{options}"')


def _compression(options):
    return {"": 0, "GZIP": 1, "ZLIB": 2}[TFRecordOptions.get_compression_type_string(options)]


def _zlib_settings(options):
    if not isinstance(options, TFRecordOptions):
        options = TFRecordOptions()
    given = (options.compression_level, options.window_bits, options.mem_level, options.compression_strategy)
    return [default if value is None else value for value, default in zip(given, (-1, 15, 8, 0))]


class TFRecordWriter:
    """Writes records (bytes) to a file."""

    def __init__(self, path, options=None):
        self._writer = _weir.RecordWriter(os.fsdecode(path), _compression(options), *_zlib_settings(options))
        self._closed = False

    def write(self, record):
        self._writer.write(record.encode() if isinstance(record, str) else record)

    def flush(self):
        if self._closed:
            raise errors.FailedPreconditionError(None, None, "Writer not initialized or previously closed")
        self._writer.flush()

    def close(self):
        self._writer.close()
        self._closed = True

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
        return False


def tf_record_iterator(path, options=None):
    """The records of a file, each as bytes. Damage raises DataLossError."""
    yield from _weir.RecordReader(os.fsdecode(path), _compression(options))
