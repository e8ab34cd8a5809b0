"""Python 2's modules StringIO and cStringIO: a file in memory that holds text or bytes, whichever the program puts in."""

import io


class StringIO:
    """A file in memory. It holds text until bytes are written: Python 2's strings were both."""

    def __init__(self, buf=""):
        self._file = io.StringIO(buf, newline="") if isinstance(buf, str) else io.BytesIO(buf)

    def write(self, data):
        if isinstance(self._file, io.StringIO):
            if not isinstance(data, str):
                self._hold_bytes()
        elif isinstance(data, str):
            data = data.encode("utf-8")
        self._file.write(data)

    def _hold_bytes(self):
        text, place = self._file.getvalue(), self._file.tell()
        self._file = io.BytesIO(text.encode("utf-8"))
        self._file.seek(len(text[:place].encode("utf-8")))

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def next(self):
        return next(self._file)

    __next__ = next

    def __iter__(self):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    len = property(lambda self: len(self.getvalue()))
    pos = property(lambda self: self._file.tell())
    buf = property(lambda self: self.getvalue())

    def __getattr__(self, name):
        if name == "_file":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self._file, name)


def fill(module):
    """Makes a module StringIO or cStringIO."""
    module.StringIO = module.InputType = module.OutputType = StringIO
