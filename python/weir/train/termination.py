"""SIGTERM, as schedulers send it before they take a machine away: the training ends, and saves, instead of being cut off."""

import contextlib
import signal
import threading

from weir import errors
from weir import logging as _logging

_lock = threading.Lock()
_entered = 0  # sessions that heed the signal; guarded by the lock
_waits = 0  # of these: waiting for a session, with nothing to save; guarded by the lock
_arrived = False  # a process is told to end once, and for good


class Termination:
    """While one is entered, a SIGTERM that nobody else handles asks for an end (``requested``) of all that are, those within others
    too; a second one ends at once."""

    def __init__(self):
        global _entered
        self._entered = self._was_requested = False
        with _lock:
            if _entered == 0:
                if not _on_main_thread() or signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, _on_signal):
                    return
                if _arrived:
                    raise errors.CancelledError(None, None, "the program was told to end (SIGTERM): no further session is made")
                signal.signal(signal.SIGTERM, _on_signal)
            self._entered = True
            _entered += 1
            self._told_before = _arrived

    @property
    def requested(self):
        return _arrived if self._entered else self._was_requested

    @contextlib.contextmanager
    def waiting(self):
        """While there is no session there is nothing to save: a SIGTERM ends the process at once, whatever the wait is in."""
        global _waits
        if self.requested and not self._told_before:
            raise errors.CancelledError(None, None, "the program was told to end (SIGTERM), and its session was lost")
        entered = self._entered
        with _lock:
            _waits += entered
            taken_back = entered and _nothing_to_save() and _on_main_thread() and _is_ours()
        try:
            if taken_back:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            yield
        finally:
            if taken_back and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                signal.signal(signal.SIGTERM, _on_signal)
            with _lock:
                _waits -= entered

    def leave(self):
        global _entered
        with _lock:
            if not self._entered:
                return
            self._was_requested, self._entered = _arrived, False
            _entered -= 1
            if _entered == 0 and _on_main_thread() and _is_ours():
                signal.signal(signal.SIGTERM, signal.SIG_DFL)


# On the main thread, at any place: it takes no lock.
def _on_signal(number, frame):
    global _arrived
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if _nothing_to_save():  # since another thread, which cannot change handlers, left or began to wait
        signal.raise_signal(signal.SIGTERM)
        return
    _logging.warning("SIGTERM: the training ends after this step, and saves.")
    _arrived = True


def _nothing_to_save():
    return _waits == _entered


def _is_ours():
    return signal.getsignal(signal.SIGTERM) is _on_signal


def _on_main_thread():
    return threading.current_thread() is threading.main_thread()
