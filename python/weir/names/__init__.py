"""Where names are found: one table (names.tsv) says it for every public name of TensorFlow, and nothing else does.

`import weir`, the alias `tensorflow`, type stubs, `make api` and `weir where` all read it.
"""

import sys

from weir.names.absent import is_absent
from weir.names.modules import Finder as _Finder, FolderFinder as _FolderFinder, at, find, namespace

__all__ = ["at", "find", "is_absent", "namespace"]

if _Finder not in sys.meta_path:
    sys.meta_path.append(_Finder)
    sys.meta_path.insert(0, _FolderFinder)
