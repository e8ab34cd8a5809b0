"""Which of the exported models of a folder to keep: tensorflow_estimator.python.estimator.gc.

A filter takes Paths and gives those it wants, in the order of their versions.
"""

import collections
import heapq
import math
import os

from weir import gfile

Path = collections.namedtuple("Path", ("path", "export_version"))


def _sorted(paths):
    return sorted(paths, key=lambda path: (path.export_version is not None, path.export_version, path.path))


def _largest_export_versions(n):
    """The newest ``n``."""
    return lambda paths: _sorted(heapq.nlargest(n, paths, key=lambda path: path.export_version))


def _one_of_every_n_export_versions(n):
    """The newest of each ``n`` versions: of 1 to n, of n + 1 to 2n, ..."""

    def keep(paths):
        newest = {}
        for path in _sorted(paths):
            newest[max(math.ceil(path.export_version / n) - 1, 0)] = path
        return _sorted(newest.values())

    return keep


def _mod_export_version(n):
    """Those whose version ``n`` divides."""
    return lambda paths: _sorted(path for path in paths if path.export_version % n == 0)


def _union(first, second):
    """What either filter wants."""
    return lambda paths: _sorted(set(first(paths)) | set(second(paths)))


def _negation(chosen):
    """What the filter does not want."""
    return lambda paths: _sorted(set(paths) - set(chosen(paths)))


def _get_paths(base_dir, parser):
    """The Paths of a folder's entries; ``parser`` fills in the version of each, or gives None for what is no export."""
    found = []
    for name in gfile.ListDirectory(base_dir):
        name = name.decode() if isinstance(name, bytes) else name
        path = parser(Path(os.path.join(os.fspath(base_dir) if not isinstance(base_dir, bytes) else base_dir.decode(),
                                        name.rstrip("/")), None))
        if path:
            found.append(path)
    return _sorted(found)


largest_export_versions, one_of_every_n_export_versions = _largest_export_versions, _one_of_every_n_export_versions
mod_export_version, union, negation, get_paths = _mod_export_version, _union, _negation, _get_paths
