"""tf.gfile: files and folders, with TensorFlow's names and errors (tf.errors instead of OSError).

Paths may be str, bytes or os.PathLike; "file://" in front is understood, other schemes are not implemented.
"""

import errno
import os
import shutil

from weir import errors

_ERROR_BY_ERRNO = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EBUSY: errors.FailedPreconditionError,
    errno.EINVAL: errors.InvalidArgumentError,
    errno.ENAMETOOLONG: errors.InvalidArgumentError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EDQUOT: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
}
_MODES = ("r", "w", "a", "r+", "w+", "a+")


def _path(name):
    name = os.fsdecode(name)
    scheme, separator, rest = name.partition("://")
    if separator and scheme.isalnum():
        if scheme != "file":
            raise errors.UnimplementedError(
                None, None, f"File system scheme '{scheme}' not implemented (file: '{name}')"
            )
        return rest
    return name


class _Translated:
    """Context manager that turns an OSError about `path` into the exception of tf.errors."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if isinstance(error, OSError):
            cls = _ERROR_BY_ERRNO.get(error.errno, errors.UnknownError)
            raise cls(None, None, f"{self._path}; {error.strerror or error}") from None
        return False


class GFile:
    """A file, opened at the first use: a missing one is reported by the first read, not here.

    mode: r, w, a, r+, w+, a+, and b for reading bytes instead of text (UTF-8). `write` takes text and bytes in any
    mode; numbers given to `read` and `seek` count bytes. What is written to a file that is read, too, goes behind what was
    written before, wherever it is read; `seek` and `tell` are about reading then. Not thread-safe.
    """

    def __init__(self, name, mode="r"):
        self._name = name
        self._mode = mode
        plain = mode.replace("b", "")
        if plain not in _MODES:
            raise errors.InvalidArgumentError(None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._binary = "b" in mode
        self._readable = plain == "r" or "+" in plain
        self._writable = plain != "r"
        self._reopen_mode = plain  # a file that is used again after close() must not be emptied again
        self._file = None
        self._written_to = 0  # where the next byte goes, in a file that is read, too

    @property
    def name(self):
        return self._name

    @property
    def mode(self):
        return self._mode

    def _open(self, reading=False, writing=False):
        if reading and not self._readable:
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        if writing and not self._writable:
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if self._file is None:
            path = _path(self._name)
            mode = self._reopen_mode
            if mode == "r+" and writing and not os.path.exists(path):
                mode = "w+"  # TensorFlow makes the file
            with _Translated(path):
                self._file = open(path, mode + "b")
                if self._readable and "a" in mode:
                    self._file.seek(0)  # reading begins there
            self._written_to = 0
            self._reopen_mode = self._reopen_mode.replace("w", "a")
        return self._file

    def _converted(self, data):
        return data if self._binary else data.decode("utf-8")

    def size(self):
        """The size in bytes."""
        if self._file is not None:
            self.flush()
        return Stat(self._name).length

    def read(self, n=-1):
        """The next `n` bytes, or all that is left."""
        file = self._open(reading=True)
        with _Translated(self._name):
            return self._converted(file.read(-1 if n is None else n))

    def readline(self):
        """The next line with its end, or nothing at the end of the file."""
        file = self._open(reading=True)
        with _Translated(self._name):
            return self._converted(file.readline())

    def readlines(self):
        return list(self)

    def write(self, file_content):
        if isinstance(file_content, str):
            file_content = file_content.encode("utf-8")
        elif not isinstance(file_content, (bytes, bytearray, memoryview)):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        file = self._open(writing=True)
        with _Translated(self._name):
            if not self._readable:
                file.write(file_content)
                return
            read_to = file.tell()
            file.seek(self._written_to)
            file.write(file_content)
            self._written_to = file.tell()
            file.seek(read_to)

    def seek(self, offset=None, whence=0, position=None):
        """Moves to byte `offset` from the start, the current place (whence=1) or the end (2)."""
        if offset is None:
            if position is None:
                raise TypeError("seek() needs an offset")
            offset = position  # TensorFlow's old name
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(None, None, f"Invalid whence argument: {whence}")
        file = self._open()
        target = offset + (0 if whence == 0 else self.tell() if whence == 1 else self.size())
        if target < 0:
            raise errors.InvalidArgumentError(None, None, f"Seeking to a negative position: {target}")
        if not self._writable and target > self.size():
            raise errors.OutOfRangeError(None, None, "reached end of file")
        with _Translated(self._name):
            file.seek(target)

    def tell(self):
        return self._open().tell()

    def flush(self):
        if self._file is not None:
            with _Translated(self._name):
                self._file.flush()

    def close(self):
        file, self._file = self._file, None
        if file is not None:
            with _Translated(self._name):
                file.close()

    # What io's wrappers (gzip, TextIOWrapper, csv, PIL) ask a file.
    def readable(self):
        return self._readable

    def writable(self):
        return self._writable

    def seekable(self):
        return True

    @property
    def closed(self):
        return False

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__


class FastGFile(GFile):
    """GFile; TensorFlow once had a faster one."""


class Open(GFile):
    """GFile under another name."""


class FileStatistics:
    """length in bytes, mtime_nsec, is_directory."""

    __slots__ = ("length", "mtime_nsec", "is_directory")

    def __init__(self, length, mtime_nsec, is_directory):
        self.length = length
        self.mtime_nsec = mtime_nsec
        self.is_directory = is_directory

    def __repr__(self):
        return f"FileStatistics(length={self.length}, mtime_nsec={self.mtime_nsec}, is_directory={self.is_directory})"


def Exists(filename):
    return os.path.exists(_path(filename))


def IsDirectory(dirname):
    return os.path.isdir(_path(dirname))


def Stat(filename):
    path = _path(filename)
    with _Translated(path):
        status = os.stat(path)
    return FileStatistics(status.st_size, status.st_mtime_ns, os.path.isdir(path))


def ListDirectory(dirname):
    """The names in a folder, sorted. Raises NotFoundError if it is none."""
    path = _path(dirname)
    if not os.path.isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {path}")
    with _Translated(path):
        return sorted(os.listdir(path))


def MkDir(dirname):
    """Makes one folder; content if it exists."""
    path = _path(dirname)
    if not os.path.exists(path):
        with _Translated(path):
            os.mkdir(path)


def MakeDirs(dirname):
    """Makes a folder and those above it; content if it exists."""
    path = _path(dirname)
    if path and not os.path.exists(path):
        with _Translated(path):
            os.makedirs(path, exist_ok=True)


def Remove(filename):
    """Deletes a file."""
    path = _path(filename)
    with _Translated(path):
        os.remove(path)


def DeleteRecursively(dirname):
    """Deletes a folder and everything in it."""
    path = _path(dirname)
    if not os.path.exists(path):
        raise errors.NotFoundError(None, None, f"{path} not found")
    with _Translated(path):
        shutil.rmtree(path)


def _refuse_existing(path, overwrite):
    if not overwrite and os.path.exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")


def Rename(oldname, newname, overwrite=False):
    """Renames a file or folder. Raises AlreadyExistsError unless it may overwrite."""
    old, new = _path(oldname), _path(newname)
    with _Translated(old):
        os.stat(old)
        _refuse_existing(new, overwrite)
        os.replace(old, new)


def Copy(oldpath, newpath, overwrite=False):
    """Copies a file. Raises AlreadyExistsError unless it may overwrite."""
    old, new = _path(oldpath), _path(newpath)
    with _Translated(old):
        os.stat(old)
        _refuse_existing(new, overwrite)
        shutil.copyfile(old, new)


def Glob(filename):
    """The paths that match a pattern (* ? [set], within one folder level each) or one of a list, sorted."""
    import glob

    patterns = [filename] if isinstance(filename, (str, bytes, os.PathLike)) else filename
    return [path for pattern in patterns for path in sorted(glob.glob(_path(pattern)))]


def Walk(top, in_order=True):
    """Yields (folder, its folders, its files) for `top` and all below, parents first if `in_order`."""
    top = _path(top)
    for folder, folders, files in os.walk(top, topdown=bool(in_order)):
        folders.sort()
        yield folder, list(folders), sorted(files)
