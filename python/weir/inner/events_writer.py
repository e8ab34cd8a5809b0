"""pywrap_tensorflow.EventsWriter: an event file by its prefix, which TensorFlow 1's own summaries and tests write with."""

import socket
import time

from weir import protos, python_io


class EventsWriter:
    """The file is made when its name is asked for, or the first event comes."""

    def __init__(self, file_prefix):
        self._prefix = file_prefix.decode() if isinstance(file_prefix, bytes) else file_prefix
        self._suffix, self._name, self._writer = "", None, None

    def InitWithSuffix(self, suffix):  # noqa: N802
        self._suffix = suffix.decode() if isinstance(suffix, bytes) else suffix
        return self._open() is not None

    def FileName(self):  # noqa: N802
        self._open()
        return self._name.encode()

    def WriteEvent(self, event):  # noqa: N802
        if not hasattr(event, "SerializeToString"):
            raise TypeError(f"Expected an event_pb2.Event proto, but got {type(event)}: {event}")
        self._write(event.SerializeToString())

    def _WriteSerializedEvent(self, event_str):  # noqa: N802
        self._write(event_str)

    def Flush(self):  # noqa: N802
        if self._writer is not None:
            self._writer.flush()
        return True

    def Close(self):  # noqa: N802
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        return True

    def _open(self):
        if self._writer is None:
            now = time.time()
            self._name = f"{self._prefix}.out.tfevents.{int(now):010d}.{socket.gethostname()}{self._suffix}"
            self._writer = python_io.TFRecordWriter(self._name)
            self._writer.write(protos.Event(wall_time=now, file_version="brain.Event:2").SerializeToString())
        return self._writer

    def _write(self, serialized):
        self._open().write(serialized)
