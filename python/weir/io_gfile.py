"""tf.io.gfile: the functions of tf.gfile under the names that they have since TensorFlow 1.14."""

from weir import gfile as _gfile


def copy(src, dst, overwrite=False):
    _gfile.Copy(src, dst, overwrite)


def exists(path):
    return _gfile.Exists(path)


def glob(pattern):
    return _gfile.Glob(pattern)


def isdir(path):
    return _gfile.IsDirectory(path)


def listdir(path):
    return _gfile.ListDirectory(path)


def makedirs(path):
    _gfile.MakeDirs(path)


def mkdir(path):
    _gfile.MkDir(path)


def remove(path):
    _gfile.Remove(path)


def rename(src, dst, overwrite=False):
    _gfile.Rename(src, dst, overwrite)


def rmtree(path):
    _gfile.DeleteRecursively(path)


def stat(path):
    return _gfile.Stat(path)


def walk(top, topdown=True, onerror=None):
    return _gfile.Walk(top, topdown)
