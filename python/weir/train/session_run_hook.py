"""tf.train.SessionRunHook: what is done around the runs of a monitored session."""

from collections import namedtuple


class SessionRunHook:
    """Programs subclass it; each function may be left as it is."""

    def begin(self):
        """Before the session is made: the last moment to add to the graph."""

    def after_create_session(self, session, coord):
        """After the session was made, also after it was made again."""

    def before_run(self, run_context):
        """May give SessionRunArgs: what to fetch and feed besides."""
        return None

    def after_run(self, run_context, run_values):
        """With what was fetched. ``run_context.request_stop()`` ends the loop."""

    def end(self, session):
        """At the end of the session, unless an exception ended it."""


class SessionRunArgs(namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"])):
    def __new__(cls, fetches, feed_dict=None, options=None):
        return super().__new__(cls, fetches, feed_dict, options)


SessionRunValues = namedtuple("SessionRunValues", ["results", "options", "run_metadata"])


class SessionRunContext:
    """A run: what the program asked for, in which session; whether this is to be the last."""

    def __init__(self, original_args, session):
        self._original_args, self._session, self._stop_requested = original_args, session, False

    original_args = property(lambda self: self._original_args)
    session = property(lambda self: self._session)
    stop_requested = property(lambda self: self._stop_requested)

    def request_stop(self):
        self._stop_requested = True
