"""SIGTERM, as schedulers send it before they take a machine away: the training ends, and saves, instead of being cut off."""

import signal
import threading

from weir import logging as _logging


class Termination:
    """While it is entered, a SIGTERM that nobody else handles asks for an end (``requested``); a second one ends at once."""

    def __init__(self):
        self.requested = False
        self._installed = False
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._on_signal)
            self._installed = True

    def _on_signal(self, number, frame):
        _logging.warning("SIGTERM: the training ends after this step, and saves.")
        self.requested = True
        self.leave()

    def leave(self):
        if self._installed and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._installed = False
