"""tf.train.Coordinator: ends threads together."""

import sys
import threading
import time
from contextlib import contextmanager

from weir import _weir, errors
from weir import logging as _logging


class Coordinator:
    """Ends threads together: whichever of them ends first, by an error or because its input is exhausted, ends all.

    ``join`` raises the first error that was given to ``request_stop``, unless it is of ``clean_stop_exception_types``
    (``tf.errors.OutOfRangeError``, the end of the input)."""

    def __init__(self, clean_stop_exception_types=None):
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        self._clean_stop_exception_types = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop = _weir.Coordinator()  # what the loops of queue runners look at, in C++
        self._exc_info_to_raise = None
        self._joined = False
        self._registered_threads = set()

    def request_stop(self, ex=None):
        """Asks the threads to stop. ``ex`` is the exception that is being handled, or its ``sys.exc_info()``."""
        with self._lock:
            value = ex[1] if isinstance(ex, tuple) else ex
            if isinstance(value, self._clean_stop_exception_types):
                ex = None
            if ex is not None and self._joined:
                # Nobody will join again to hear of it.
                _raise(ex if isinstance(ex, tuple) else sys.exc_info())
            if self._stop.should_stop():
                return
            if ex is not None:
                self._exc_info_to_raise = self._reported(ex)
        self._stop.request_stop()

    @staticmethod
    def _reported(ex):
        """What ``join`` will raise for ``ex``."""
        info = ex if isinstance(ex, tuple) else sys.exc_info()
        if isinstance(ex, tuple):
            _logging.info("Error reported to Coordinator: %s", ex[1], exc_info=ex)
        else:
            _logging.info("Error reported to Coordinator: %s, %s", type(ex), ex)
        if len(info) == 3 and info[0] and info[1]:
            return info
        try:
            raise ValueError(f"ex must be a tuple or sys.exc_info must return the current exception: {info}")
        except ValueError:
            return sys.exc_info()

    def clear_stop(self):
        with self._lock:
            self._joined = False
            self._exc_info_to_raise = None
            self._stop.clear_stop()

    def should_stop(self):
        return self._stop.should_stop()

    @contextmanager
    def stop_on_exception(self):
        """``with`` it, an exception asks the threads to stop, and is raised by ``join``."""
        try:
            yield
        except:  # noqa: E722: whatever it is
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout=None):
        """Waits for so many seconds at most; says whether a stop was requested."""
        return self._stop.wait_for_stop(timeout)

    def register_thread(self, thread):
        """``join`` waits for the thread, too."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        """Waits until the threads have ended, or a stop was requested and the grace period is over. RuntimeError names
        those that are still running then."""
        with self._lock:
            threads = list(self._registered_threads.union(threads or ()))
        while any(t.is_alive() for t in threads) and not self.wait_for_stop(0.1):
            pass
        deadline = time.monotonic() + stop_grace_period_secs
        for thread in threads:
            while thread.is_alive() and time.monotonic() < deadline:
                thread.join(max(0, deadline - time.monotonic()))
        stragglers = " ".join(t.name for t in threads if t.is_alive())
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._exc_info_to_raise:
                _raise(self._exc_info_to_raise)
        if stragglers and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {stragglers}")
        if stragglers:
            _logging.info("Coordinator stopped with threads still running: %s", stragglers)

    joined = property(lambda self: self._joined)

    def raise_requested_exception(self):
        """Raises the exception that was given to ``request_stop``, if there is one."""
        with self._lock:
            if self._exc_info_to_raise:
                _raise(self._exc_info_to_raise)


def _raise(exc_info):
    raise exc_info[1].with_traceback(exc_info[2])


class LooperThread(threading.Thread):
    """A thread that calls ``target``, or its own ``run_loop``, again and again until the coordinator stops: every
    ``timer_interval_secs`` seconds, or without a pause when that is None."""

    def __init__(self, coord, timer_interval_secs, target=None, args=None, kwargs=None):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        if not target and (args or kwargs):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        super().__init__()
        self.daemon = True
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._target, self._args, self._kwargs = target, args or (), kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(coord, timer_interval_secs, target, args=None, kwargs=None):
        """Starts such a thread."""
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self):
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                next_time = time.time()
                while not self._coord.wait_for_stop(next_time - time.time()):
                    next_time += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self):
        """Called when the thread starts."""

    def stop_loop(self):
        """Called when it ends."""

    def run_loop(self):
        if self._target:
            self._target(*self._args, **self._kwargs)
