"""Sessions that initialise themselves, restore, save, start the runners of queues, and call hooks around every run."""

import abc
import inspect
import sys
import time

from weir import errors, protos
from weir import logging as _logging
from weir import summary as _summary
from weir.core import stack
from weir.core.graph import GraphKeys, add_to_collection, get_collection
from weir.core.variables import (global_variables, global_variables_initializer, local_variables_initializer,
                                 report_uninitialized_variables)
from weir.ops.control_flow_ops import group, tables_initializer
from weir.train import basic_session_run_hooks as hooks_
from weir.train.coordinator import Coordinator
from weir.train.queue_runner import start_queue_runners
from weir.train.saver import _get_saver_or_default
from weir.train.session_manager import SessionManager
from weir.train.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunValues
from weir.train.termination import Termination

# A partner of the session went away, and may come back.
_PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)
USE_DEFAULT = object()


class Scaffold:
    """The operations that make a session ready, those of the program or the usual ones."""

    def __init__(self, init_op=None, init_feed_dict=None, init_fn=None, ready_op=None, ready_for_local_init_op=None,
                 local_init_op=None, summary_op=None, saver=None, copy_from_scaffold=None):
        if copy_from_scaffold is not None:
            if not isinstance(copy_from_scaffold, Scaffold):
                raise TypeError("copy_from_scaffold is not a Scaffold instance.")
            other = copy_from_scaffold
            init_op = other.init_op if init_op is None else init_op
            init_feed_dict = other.init_feed_dict if init_feed_dict is None else init_feed_dict
            init_fn = other._user_init_fn if init_fn is None else init_fn
            ready_op = other.ready_op if ready_op is None else ready_op
            if ready_for_local_init_op is None:
                ready_for_local_init_op = other.ready_for_local_init_op
            local_init_op = other.local_init_op if local_init_op is None else local_init_op
            summary_op = other.summary_op if summary_op is None else summary_op
            saver = other.saver if saver is None else saver
        self._user_init_fn = init_fn
        self._init_fn = (lambda sess: init_fn(self, sess)) if init_fn else None
        self._init_op, self._init_feed_dict = init_op, init_feed_dict
        self._ready_op, self._ready_for_local_init_op = ready_op, ready_for_local_init_op
        self._local_init_op, self._summary_op, self._saver = local_init_op, summary_op, saver

    def finalize(self):
        """Adds what the program has not given, and finalizes the graph."""
        def default(name, given, key, make):
            return Scaffold.get_or_default(name, key, make) if given is None else given

        self._init_op = default("init_op", self._init_op, GraphKeys.INIT_OP,
                                lambda: group(global_variables_initializer()))
        self._ready_op = default("ready_op", self._ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
        self._ready_for_local_init_op = default(
            "ready_for_local_init_op", self._ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP,
            lambda: report_uninitialized_variables(global_variables()))
        self._local_init_op = default("local_init_op", self._local_init_op, GraphKeys.LOCAL_INIT_OP,
                                      Scaffold.default_local_init_op)
        self._summary_op = default("summary_op", self._summary_op, GraphKeys.SUMMARY_OP, _summary.merge_all)
        if self._saver is None:
            self._saver = _get_saver_or_default()
        if hasattr(self._saver, "build"):
            self._saver.build()
        stack.get_default_graph().finalize()
        _logging.info("Graph was finalized.")
        return self

    init_fn = property(lambda self: self._init_fn)
    init_op = property(lambda self: self._init_op)
    ready_op = property(lambda self: self._ready_op)
    ready_for_local_init_op = property(lambda self: self._ready_for_local_init_op)
    local_init_op = property(lambda self: self._local_init_op)
    summary_op = property(lambda self: self._summary_op)
    saver = property(lambda self: self._saver)
    init_feed_dict = property(lambda self: self._init_feed_dict)

    @staticmethod
    def get_or_default(arg_name, collection_key, default_constructor):
        """What the collection has, or a new one, which goes there."""
        elements = get_collection(collection_key)
        if len(elements) > 1:
            raise RuntimeError(f'More than one item in the collection "{collection_key}". Please indicate which one to '
                               f"use by passing it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to "
                               "use)")
        if elements:
            return elements[0]
        op = default_constructor()
        if op is not None:
            add_to_collection(collection_key, op)
        return op

    @staticmethod
    def default_local_init_op():
        return group(local_variables_initializer(), tables_initializer())


def _either(steps, secs, default_steps, default_secs):
    """Every so many steps or seconds: the one that is given, or the usual."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default_steps, default_secs
    return None if steps is USE_DEFAULT else steps, None if secs is USE_DEFAULT else secs


def MonitoredTrainingSession(master="", is_chief=True, checkpoint_dir=None, scaffold=None, hooks=None,
                             chief_only_hooks=None, save_checkpoint_secs=USE_DEFAULT, save_summaries_steps=USE_DEFAULT,
                             save_summaries_secs=USE_DEFAULT, config=None, stop_grace_period_secs=120,
                             log_step_count_steps=100, max_wait_secs=7200, save_checkpoint_steps=USE_DEFAULT,
                             summary_dir=None):
    """A MonitoredSession for training: it saves and restores, writes summaries and counts steps."""
    summary_steps, summary_secs = _either(save_summaries_steps, save_summaries_secs, 100, None)
    checkpoint_steps, checkpoint_secs = _either(save_checkpoint_steps, save_checkpoint_secs, None, 600)
    scaffold = scaffold or Scaffold()
    if not is_chief:
        creator = WorkerSessionCreator(scaffold=scaffold, master=master, config=config, max_wait_secs=max_wait_secs)
        return MonitoredSession(creator, hooks or [], stop_grace_period_secs)

    def wanted(count):
        return bool(count and count > 0)

    all_hooks = list(chief_only_hooks or [])
    creator = ChiefSessionCreator(scaffold=scaffold, checkpoint_dir=checkpoint_dir, master=master, config=config)
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir and wanted(log_step_count_steps):
        all_hooks.append(hooks_.StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
    if summary_dir and (wanted(summary_steps) or wanted(summary_secs)):
        all_hooks.append(hooks_.SummarySaverHook(scaffold=scaffold, save_steps=summary_steps, save_secs=summary_secs,
                                                 output_dir=summary_dir))
    if checkpoint_dir and (wanted(checkpoint_steps) or wanted(checkpoint_secs)):
        all_hooks.append(hooks_.CheckpointSaverHook(checkpoint_dir, save_steps=checkpoint_steps,
                                                    save_secs=checkpoint_secs, scaffold=scaffold))
    all_hooks.extend(hooks or [])
    return MonitoredSession(creator, all_hooks, stop_grace_period_secs)


class SessionCreator(metaclass=abc.ABCMeta):
    @abc.abstractmethod
    def create_session(self):
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class ChiefSessionCreator(SessionCreator):
    """Restores or initialises."""

    def __init__(self, scaffold=None, master="", config=None, checkpoint_dir=None, checkpoint_filename_with_path=None):
        self._scaffold = scaffold or Scaffold()
        self._master, self._config = master, config
        self._checkpoint_dir, self._checkpoint_filename_with_path = checkpoint_dir, checkpoint_filename_with_path
        self._session_manager = None

    def _get_session_manager(self):
        if self._session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op, ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op, graph=stack.get_default_graph())
        return self._session_manager

    def create_session(self):
        self._scaffold.finalize()
        return self._get_session_manager().prepare_session(
            self._master, saver=self._scaffold.saver, checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path, config=self._config,
            init_op=self._scaffold.init_op, init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn)


class WorkerSessionCreator(SessionCreator):
    """Waits until the chief has initialised."""

    def __init__(self, scaffold=None, master="", config=None, max_wait_secs=30 * 60):
        self._scaffold = scaffold or Scaffold()
        self._master, self._config, self._max_wait_secs = master, config, max_wait_secs
        self._session_manager = None

    _get_session_manager = ChiefSessionCreator._get_session_manager

    def create_session(self):
        self._scaffold.finalize()
        return self._get_session_manager().wait_for_session(self._master, config=self._config,
                                                            max_wait_secs=self._max_wait_secs)


class _MonitoredSession:
    def __init__(self, session_creator, hooks, should_recover, stop_grace_period_secs=120):
        self._graph_was_finalized = stack.get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        session_creator = session_creator or ChiefSessionCreator()
        self._termination = Termination()
        self._coordinated_creator = self._CoordinatedSessionCreator(session_creator, self._hooks, stop_grace_period_secs,
                                                                    self._termination)
        try:
            self._sess = (_RecoverableSession(self._coordinated_creator, self._termination) if should_recover
                          else self._coordinated_creator.create_session())
        except BaseException:
            self._termination.leave()
            raise

    @property
    def graph(self):
        return None if self._tf_sess() is None else self._tf_sess().graph

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn):
        """Calls ``step_fn(step_context)``, which may run the session without hooks or with them."""
        arguments = tuple(inspect.signature(step_fn).parameters)
        if arguments not in (("step_context",), ("self", "step_context")):
            raise ValueError("`step_fn` may either have one `step_context` argument, or `self` and `step_context` "
                             f"arguments if it's an instance method. Got {arguments} instead.")
        return self._sess.run_step_fn(step_fn, self._tf_sess(), run_with_hooks=None)

    class StepContext:
        def __init__(self, session, run_with_hooks_fn):
            self._session, self._run_with_hooks_fn = session, run_with_hooks_fn

        session = property(lambda self: self._session)

        def run_with_hooks(self, *args, **kwargs):
            return self._run_with_hooks_fn(*args, **kwargs)

        def request_stop(self):
            raise StopIteration("step_fn has requested the iterations to stop.")

    def should_stop(self):
        return self._sess is None or self._termination.requested or self._sess.should_stop()

    def close(self):
        self._close_internal()

    def __enter__(self):
        return self

    def __exit__(self, exception_type, exception_value, traceback):
        if exception_type in (errors.OutOfRangeError, StopIteration):
            exception_type = None
        self._close_internal(exception_type)
        # Nothing further is to be done with a failed session; the program's exception goes on.
        return exception_type is None

    class _CoordinatedSessionCreator(SessionCreator):
        """Makes sessions with a coordinator, runners at work, and hooks that know of it."""

        def __init__(self, session_creator, hooks, stop_grace_period_secs, termination):
            self._session_creator, self._hooks, self._termination = session_creator, hooks, termination
            self.coord = self.tf_sess = None
            self._stop_grace_period_secs = stop_grace_period_secs

        def create_session(self):
            with self._termination.waiting():
                self.tf_sess = self._session_creator.create_session()
            # Errors of runners come out of run() rather than out of the end of the session.
            self.coord = Coordinator(clean_stop_exception_types=[])
            if get_collection(GraphKeys.QUEUE_RUNNERS):
                start_queue_runners(sess=self.tf_sess, coord=self.coord)
            for hook in self._hooks:
                hook.after_create_session(self.tf_sess, self.coord)
            return _CoordinatedSession(_HookedSession(self.tf_sess, self._hooks), self.coord,
                                       self._stop_grace_period_secs)

    def _close_internal(self, exception_type=None):
        try:
            if not exception_type:
                for hook in self._hooks:
                    hook.end(self._coordinated_creator.tf_sess)
        finally:
            try:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                self._sess.close()
            finally:
                self._sess = None
                self._coordinated_creator.tf_sess = None
                self._coordinated_creator.coord = None
                if not self._graph_was_finalized:
                    stack.get_default_graph()._unsafe_unfinalize()
                self._termination.leave()

    def _is_closed(self):
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self):
        return self._coordinated_creator.tf_sess


class MonitoredSession(_MonitoredSession):
    """A session with hooks, which is made again when a partner was lost."""

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120):
        super().__init__(session_creator, hooks, should_recover=True, stop_grace_period_secs=stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """A session with hooks that is made once, and can be used by itself (``raw_session``)."""

    def __init__(self, hooks=None, scaffold=None, master="", config=None, checkpoint_dir=None,
                 stop_grace_period_secs=120, checkpoint_filename_with_path=None):
        creator = ChiefSessionCreator(scaffold=scaffold, master=master, config=config, checkpoint_dir=checkpoint_dir,
                                      checkpoint_filename_with_path=checkpoint_filename_with_path)
        super().__init__(creator, hooks, should_recover=False, stop_grace_period_secs=stop_grace_period_secs)

    def raw_session(self):
        return self._tf_sess()


class _WrappedSession:
    """A session around another one."""

    def __init__(self, sess):
        self._sess = sess
        self._wrapped_is_stoppable = isinstance(sess, _WrappedSession)

    graph = property(lambda self: self._sess.graph)
    sess_str = property(lambda self: self._sess.sess_str)

    def should_stop(self):
        if self._check_stop():
            return True
        if self._sess:
            return self._wrapped_is_stoppable and self._sess.should_stop()
        return True

    def _check_stop(self):
        return False

    def close(self):
        if self._sess:
            try:
                self._sess.close()
            except _PREEMPTION_ERRORS as error:
                _logging.warning("An error occurred when attempting to close the session: %s", error)
            finally:
                self._sess = None

    def run(self, *args, **kwargs):
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn, raw_session, run_with_hooks):
        return step_fn(_MonitoredSession.StepContext(raw_session, run_with_hooks or self.run))


class _RecoverableSession(_WrappedSession):
    """Makes another session when one was lost, and tries again."""

    def __init__(self, sess_creator, termination):
        self._sess_creator, self._termination = sess_creator, termination
        # A partner that is being started again takes a while; one that refuses us need not be asked without a break.
        self._pause = 0.0
        super().__init__(self._create_session())

    def _create_session(self):
        while True:
            with self._termination.waiting():
                time.sleep(self._pause)
            self._pause = min(max(0.1, 2 * self._pause), 5.0)
            try:
                return self._sess_creator.create_session()
            except _PREEMPTION_ERRORS as error:
                _logging.info("An error was raised while a session was being created; another one will be. Error: %s",
                              error)

    def _check_stop(self):
        try:
            return self._sess._check_stop() if self._sess else True
        except _PREEMPTION_ERRORS as error:
            self._lose(error)
            self._sess = self._create_session()
            return False
        except Exception:  # the next run raises it
            return True

    def _lose(self, error):
        _logging.info("The session was lost and will be made again. Error: %s", error)
        self.close()
        self._sess = None

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        return self._persistently(lambda: self._sess.run(fetches, feed_dict=feed_dict, options=options,
                                                         run_metadata=run_metadata))

    def run_step_fn(self, step_fn, raw_session, run_with_hooks):
        first = self._sess

        def work():
            # After a loss the function gets the session that was made then.
            raw = raw_session if self._sess is first else getattr(self._sess_creator, "tf_sess", raw_session)
            return self._sess.run_step_fn(step_fn, raw, self._sess.run)

        return self._persistently(work)

    def _persistently(self, work):
        while True:
            try:
                if not self._sess:
                    self._sess = self._create_session()
                result = work()
                self._pause = 0.0
                return result
            except _PREEMPTION_ERRORS as error:
                self._lose(error)


class _CoordinatedSession(_WrappedSession):
    """Ends with its coordinator, whose threads end with it."""

    def __init__(self, sess, coord, stop_grace_period_secs=120):
        super().__init__(sess)
        self._coord, self._stop_grace_period_secs = coord, stop_grace_period_secs

    def _check_stop(self):
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self):
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            try:
                super().close()
            except Exception:  # what ended the session counts
                pass

    def run(self, *args, **kwargs):
        try:
            return self._sess.run(*args, **kwargs)
        except _PREEMPTION_ERRORS:
            raise
        except Exception as error:
            # A thread that lost its partner closes the queues, and the run ends because of that.
            original = sys.exc_info()[2]
            try:
                self._coord.raise_requested_exception()
            except _PREEMPTION_ERRORS:
                raise
            except Exception:
                pass
            raise error.with_traceback(original)


class _HookedSession(_WrappedSession):
    """Calls the hooks around each run."""

    def __init__(self, sess, hooks):
        super().__init__(sess)
        self._hooks, self._should_stop = hooks, False

    def _check_stop(self):
        return self._should_stop

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        wanted = {"caller": fetches}
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        options = options or protos.RunOptions()
        feed_dict = self._call_hook_before_run(context, wanted, feed_dict, options)
        run_metadata = run_metadata or protos.RunMetadata()
        outputs = super().run(fetches=wanted, feed_dict=feed_dict, options=options, run_metadata=run_metadata)
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(outputs.get(hook), options, run_metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return outputs["caller"]

    def _call_hook_before_run(self, run_context, fetch_dict, user_feed_dict, options):
        """Adds what the hooks want; gives the feeds of all."""
        feeds = {}
        for hook in self._hooks:
            request = hook.before_run(run_context)
            if request is None:
                continue
            if request.fetches is not None:
                fetch_dict[hook] = request.fetches
            if request.feed_dict:
                _raise_if_feeds_intersects(feeds, request.feed_dict, "Same tensor is fed by two hooks.")
                feeds.update(request.feed_dict)
            if request.options:
                _merge_run_options(options, request.options)
        if not feeds:
            return user_feed_dict
        if user_feed_dict:
            _raise_if_feeds_intersects(user_feed_dict, feeds, "Same tensor is fed by a SessionRunHook and user.")
            feeds.update(user_feed_dict)
        return feeds


def _merge_run_options(options, more):
    for field in ("trace_level", "timeout_in_ms", "inter_op_thread_pool", "output_partition_graphs",
                  "report_tensor_allocations_upon_oom"):
        setattr(options, field, max(getattr(options, field), getattr(more, field)))
    if more.HasField("debug_options"):
        options.debug_options.debug_tensor_watch_opts.extend(more.debug_options.debug_tensor_watch_opts)
        options.debug_options.reset_disk_byte_usage |= more.debug_options.reset_disk_byte_usage


def _raise_if_feeds_intersects(first, second, message):
    both = set(first) & set(second)
    if both:
        raise RuntimeError(f"{message} Conflict(s): {list(both)}")
