"""tf.train.Supervisor: a session that is restored or initialised, and threads that save it, write summaries and feed it."""

import contextlib
import os
import time

from weir import errors, graph_util, protos
from weir import logging as _logging
from weir import summary as _summary
from weir.core import dtypes, stack
from weir.core.graph import GraphKeys, add_to_collection, get_collection
from weir.core.variables import (global_variables, global_variables_initializer, local_variables_initializer,
                                 report_uninitialized_variables)
from weir.ops.control_flow_ops import group, tables_initializer
from weir.train.coordinator import Coordinator, LooperThread
from weir.train.meta_graph import export_meta_graph
from weir.train.saver import Saver
from weir.train.session_manager import SessionManager
from weir.train.steps import global_step as _step_value


class Supervisor:
    USE_DEFAULT = 0

    def __init__(self, graph=None, ready_op=USE_DEFAULT, ready_for_local_init_op=USE_DEFAULT, is_chief=True,
                 init_op=USE_DEFAULT, init_feed_dict=None, local_init_op=USE_DEFAULT, logdir=None,
                 summary_op=USE_DEFAULT, saver=USE_DEFAULT, global_step=USE_DEFAULT, save_summaries_secs=120,
                 save_model_secs=600, recovery_wait_secs=30, stop_grace_secs=120, checkpoint_basename="model.ckpt",
                 session_manager=None, summary_writer=USE_DEFAULT, init_fn=None, local_init_run_options=None):
        graph = stack.get_default_graph() if graph is None else graph
        with graph.as_default():
            self._ready_op = _default(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self._ready_for_local_init_op = _default(ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP)
            self._init_op = _default(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self._local_init_op = _default(local_init_op, GraphKeys.LOCAL_INIT_OP,
                                           lambda: group(local_variables_initializer(), tables_initializer()))
            self._saver = _default(saver, GraphKeys.SAVERS, lambda: Saver() if global_variables() else None)
            self._summary_op = _default(summary_op, GraphKeys.SUMMARY_OP, _summary.merge_all)
            self._global_step = _default(global_step, GraphKeys.GLOBAL_STEP, _global_step_tensor)
        self._init_feed_dict, self._init_fn = init_feed_dict, init_fn
        self._graph, self._is_chief = graph, is_chief
        self._meta_graph_def = export_meta_graph(graph=graph, graph_def=graph.as_graph_def(add_shapes=True),
                                                 saver_def=self._saver.saver_def if self._saver else None)
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        self._logdir = logdir if is_chief else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path = os.path.join(logdir, checkpoint_basename) if is_chief and logdir else None
        self._graph_added_to_summary = False
        self._summary_writer = None
        if is_chief and summary_writer is not Supervisor.USE_DEFAULT:
            self._summary_writer = summary_writer
        elif self._logdir:
            self._summary_writer = _summary.FileWriter(self._logdir)
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._local_init_op, ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op, graph=graph, recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options)
        self._verify_setup()
        graph.finalize()

    is_chief = property(lambda self: self._is_chief)
    session_manager = property(lambda self: self._session_manager)
    coord = property(lambda self: self._coord)
    init_op = property(lambda self: self._init_op)
    init_feed_dict = property(lambda self: self._init_feed_dict)
    ready_op = property(lambda self: self._ready_op)
    ready_for_local_init_op = property(lambda self: self._ready_for_local_init_op)
    summary_writer = property(lambda self: self._summary_writer)
    summary_op = property(lambda self: self._summary_op)
    save_summaries_secs = property(lambda self: self._save_summaries_secs)
    global_step = property(lambda self: self._global_step)
    saver = property(lambda self: self._saver)
    save_model_secs = property(lambda self: self._save_model_secs)
    save_path = property(lambda self: self._save_path)

    def _write_graph(self):
        if self._logdir:
            graph_util.write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            self._summary_writer.add_meta_graph(self._meta_graph_def)
            self._graph_added_to_summary = True

    def start_standard_services(self, sess):
        """Threads that write summaries, count steps and save."""
        if not self._is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can "
                               "write events.")
        if not self._logdir:
            _logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._summary_writer:
            log = protos.SessionLog(status=protos.SessionLog.START)
            self._summary_writer.add_session_log(log, _step_value(sess, self._global_step))
        threads = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self.saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def prepare_or_wait_for_session(self, master="", config=None, wait_for_checkpoint=False, max_wait_secs=7200,
                                    start_standard_services=True):
        """A session that is ready, with its services and the runners of its queues at work."""
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            sess = self._session_manager.prepare_session(
                master, init_op=self.init_op, saver=self.saver, checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs, config=config,
                init_feed_dict=self._init_feed_dict, init_fn=self._init_fn)
            self._write_graph()
            if start_standard_services:
                _logging.info("Starting standard services.")
                self.start_standard_services(sess)
        else:
            sess = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            _logging.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    def start_queue_runners(self, sess, queue_runners=None):
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        return [thread for runner in queue_runners
                for thread in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)]

    def loop(self, timer_interval_secs, target, args=None, kwargs=None):
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    def stop(self, threads=None, close_summary_writer=True, ignore_live_threads=False):
        self._coord.request_stop()
        try:
            self._coord.join(threads, stop_grace_period_secs=self._stop_grace_secs,
                             ignore_live_threads=ignore_live_threads)
        finally:
            if close_summary_writer and self._summary_writer:
                self._summary_writer.add_session_log(protos.SessionLog(status=protos.SessionLog.STOP))
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex=None):
        self._coord.request_stop(ex=ex)

    def should_stop(self):
        return self._coord.should_stop()

    def stop_on_exception(self):
        return self._coord.stop_on_exception()

    def wait_for_stop(self):
        self._coord.wait_for_stop()

    def summary_computed(self, sess, summary, global_step=None):
        """Writes a summary that the program has computed."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = _step_value(sess, self.global_step)
        self._summary_writer.add_summary(summary, global_step)

    def _verify_setup(self):
        if self._is_chief:
            return
        for op in self._graph.get_operations():
            if op.type in ("Variable", "VariableV2") and not op.device:
                raise ValueError(f"When using replicas, all Variables must have their device set: {op}")

    @contextlib.contextmanager
    def managed_session(self, master="", config=None, start_standard_services=True, close_summary_writer=True):
        """``with`` it, a session; at the end everything is stopped, and what a thread raised is raised."""
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(master=master, config=config,
                                                    start_standard_services=start_standard_services)
            yield sess
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                with contextlib.suppress(Exception):
                    sess.close()

    # As the first releases had them.
    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _default(given, key, make=None):
    """What the program gives; else the first of the collection; else a new one, which goes there."""
    if given is not Supervisor.USE_DEFAULT:
        return given
    found = get_collection(key)
    if len(found) > 1:
        _logging.info("Found %d %s operations. Returning the first one.", len(found), key)
    if found:
        return found[0]
    made = make() if make else None
    if made is not None:
        add_to_collection(key, made)
    return made


def _global_step_tensor():
    try:
        tensor = stack.get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if tensor.dtype.base_dtype in (dtypes.int32, dtypes.int64):
        return tensor
    _logging.warning("Found 'global_step' is not an int type: %s", tensor.dtype)
    return None


class SVSummaryThread(LooperThread):
    """Writes summaries."""

    def __init__(self, sv, sess):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self):
        if self._sv.global_step is None:
            summaries, step = self._sess.run(self._sv.summary_op), None
        else:
            summaries, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        if self._sv.summary_writer:
            _logging.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summaries, step)


class SVStepCounterThread(LooperThread):
    """Counts steps per second."""

    def __init__(self, sv, sess, step_counter=None):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"

    def start_loop(self):
        self._last_time = time.time()
        self._last_step = _step_value(self._sess, self._step_counter)

    def run_loop(self):
        step, now = _step_value(self._sess, self._step_counter), time.time()
        elapsed = now - self._last_time
        rate = (step - self._last_step) / elapsed if elapsed > 0 else float("inf")
        self._last_step, self._last_time = step, now
        if self._sv.summary_writer:
            value = protos.Summary.Value(tag=self._summary_tag, simple_value=rate)
            self._sv.summary_writer.add_summary(protos.Summary(value=[value]), step)
        _logging.log_first_n(_logging.INFO, "%s: %g", 10, self._summary_tag, rate)


class SVTimerCheckpointThread(LooperThread):
    """Saves."""

    def __init__(self, sv, sess):
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self):
        sv = self._sv
        _logging.info("Saving checkpoint to path %s", sv.save_path)
        sv.saver.save(self._sess, sv.save_path, global_step=sv.global_step)
        if sv.summary_writer and sv.global_step is not None:
            log = protos.SessionLog(status=protos.SessionLog.CHECKPOINT, checkpoint_path=sv.save_path)
            sv.summary_writer.add_session_log(log, _step_value(self._sess, sv.global_step))


def basic_train_loop(supervisor, train_step_fn, args=None, kwargs=None, master=""):
    """Calls ``train_step_fn(session, ...)`` until the supervisor stops; begins anew when a partner was lost."""
    while True:
        try:
            with supervisor.managed_session(master) as sess:
                while not supervisor.should_stop():
                    train_step_fn(sess, *(args or []), **(kwargs or {}))
            return
        except errors.AbortedError:
            continue
