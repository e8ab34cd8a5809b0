"""SIGTERM, as schedulers send it before they take a machine away: the training ends, and saves, instead of being cut off."""

import contextlib
import signal
import threading

from weir import errors
from weir import logging as _logging


class Termination:
    """While it is entered, a SIGTERM that nobody else handles asks for an end (``requested``); a second one ends at once."""

    def __init__(self):
        self.requested = False
        self._entered = False
        self._waits = 0
        if _on_main_thread() and _is_free(signal.getsignal(signal.SIGTERM)):
            signal.signal(signal.SIGTERM, self._on_signal)
            self._entered = True

    def _on_signal(self, number, frame):
        if not self._entered or self._waits:  # left, or waiting, in another thread, where handlers cannot be taken back
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.raise_signal(signal.SIGTERM)
            return
        _logging.warning("SIGTERM: the training ends after this step, and saves.")
        self.requested = True
        self.leave()

    @contextlib.contextmanager
    def waiting(self):
        """While there is no session there is nothing to save: a SIGTERM ends the process at once, whatever the wait is in."""
        if self.requested:
            raise errors.CancelledError(None, None, "the program was told to end, and its session was lost")
        taken_back = self._entered and _on_main_thread() and signal.getsignal(signal.SIGTERM) == self._on_signal
        self._waits += 1
        try:
            if taken_back:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            yield
        finally:
            if taken_back and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                signal.signal(signal.SIGTERM, self._on_signal)
            self._waits -= 1

    def leave(self):
        if self._entered and _on_main_thread():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._entered = False


def _on_main_thread():
    return threading.current_thread() is threading.main_thread()


def _is_free(handler):
    owner = getattr(handler, "__self__", None)
    return handler is signal.SIG_DFL or (isinstance(owner, Termination) and not owner._entered)
