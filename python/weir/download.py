"""Fetching the data sets of the tutorials."""

import os
import sys
import tempfile
import urllib.error
import urllib.request

from weir import errors

_BLOCK = 1 << 16


def fetch(url, path, instead):
    """Downloads a file, with a bar on the standard output. The file appears whole or not at all.

    Raises tf.errors.UnavailableError, which says what to do ``instead``, when there is no network.
    """
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    descriptor, part = tempfile.mkstemp(prefix=os.path.basename(path) + ".part.", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _copy(url, file, os.path.basename(path))
        os.replace(part, path)
    except (urllib.error.URLError, OSError) as error:
        raise errors.UnavailableError(None, None, f"{url} cannot be had: {getattr(error, 'reason', error)}. {instead}"
                                      ) from None
    finally:
        if os.path.exists(part):
            os.remove(part)
    return path


def _copy(url, file, name):
    with urllib.request.urlopen(url, timeout=30) as source:
        size = int(source.headers.get("Content-Length") or 0)
        done = 0
        while True:
            block = source.read(_BLOCK)
            if not block:
                break
            file.write(block)
            done += len(block)
            _show(name, done, size)
    if size and done != size:
        raise OSError(f"the connection ended after {done} of {size} bytes")
    sys.stdout.write("\n")
    sys.stdout.flush()


def _show(name, done, size):
    if size:
        filled = 30 * done // size
        text = f"\r>> Downloading {name} [{'#' * filled}{'.' * (30 - filled)}] {100.0 * done / size:5.1f}%"
    else:
        text = f"\r>> Downloading {name} {done >> 20} MB"
    sys.stdout.write(text)
    sys.stdout.flush()
