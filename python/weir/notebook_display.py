"""IPython.display where IPython is not installed: what programs show outside of a browser is the text of it."""

import os
import sys

from weir import notebook_magics


class DisplayObject:
    """Something that a browser would show."""

    def __init__(self, data=None, *args, **options):
        self.data = data
        name = options.get("filename")
        if name is not None and not os.path.exists(name):
            raise FileNotFoundError(f"[Errno 2] No such file or directory: {name!r}")

    def __repr__(self):
        return f"<{type(self).__name__} object>"


def display(*values, **options):
    for value in values:
        print(value if isinstance(value, str) else repr(value))


def clear_output(wait=False):
    sys.stdout.flush()


_KINDS = (
    "Audio Code FileLink FileLinks GeoJSON HTML IFrame Image JSON Javascript Latex Markdown Math Pretty ProgressBar SVG "
    "ScribdDocument TextDisplayObject Video VimeoVideo YouTubeVideo"
).split()


def fill(module):
    """IPython, IPython.display and IPython.core.display."""
    module.__path__ = []
    module.get_ipython = notebook_magics.get_ipython
    module.embed = lambda *args, **options: None
    module.display = display
    if module.__name__ != "IPython":
        module.clear_output = clear_output
        module.DisplayObject = DisplayObject
        for kind in _KINDS:
            setattr(module, kind, type(kind, (DisplayObject,), {"__module__": module.__name__}))
