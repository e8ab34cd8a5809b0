"""Evaluating checkpoints as they come."""

import time

from weir import logging, names
from weir.core.graph import GraphKeys, control_dependencies, get_collection
from weir.core.variable_scope import get_variable
from weir.ops import state_ops
from weir.ops.init_ops import zeros_initializer
from weir.train.checkpoints import latest_checkpoint
from weir.train.session_run_hook import SessionRunArgs, SessionRunHook


def get_or_create_eval_step():
    """The counter of evaluations, a local variable."""
    found = get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return get_variable("eval_step", shape=[], dtype="int64", initializer=zeros_initializer(), trainable=False,
                        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP])


def wait_for_new_checkpoint(checkpoint_dir, last_checkpoint=None, seconds_to_sleep=1, timeout=None):
    """The path of a checkpoint that is not ``last_checkpoint``; None when there is none in time."""
    logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    end = None if timeout is None else time.time() + timeout
    while True:
        path = latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
            logging.info("Found new checkpoint at %s", path)
            return path
        if end is not None and time.time() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """Gives each new checkpoint, until ``timeout`` seconds without one and ``timeout_fn()``, if given, agrees."""
    path = None
    while True:
        new = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if new is None:
            if not timeout_fn:
                logging.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        begin, path = time.time(), new
        yield path
        rest = begin + min_interval_secs - time.time()
        if rest > 0:
            time.sleep(rest)


class StopAfterNEvalsHook(SessionRunHook):
    """Ends an evaluation after a number of batches, and logs about ten times on the way."""

    def __init__(self, num_evals, log_progress=True):
        self._num_evals, self._evals_completed = num_evals, None
        self._log_frequency = 1 if num_evals is None or num_evals < 20 else int(num_evals / 10)
        self._log_progress = log_progress

    def _set_evals_completed_tensor(self, updated_eval_step):
        self._evals_completed = updated_eval_step

    def before_run(self, run_context):
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context, run_values):
        completed = int(run_values.results["evals_completed"])
        if self._log_progress and (completed % self._log_frequency == 0 or completed == self._num_evals):
            logging.info("Evaluation [%d/%s]", completed, self._num_evals)
        if self._num_evals is not None and completed >= self._num_evals:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes the summaries at the end of an evaluation."""

    def __init__(self, log_dir=None, summary_writer=None, summary_op=None, feed_dict=None):
        if (log_dir is None) == (summary_writer is None):
            raise ValueError("Exactly one of log_dir and summary_writer should be provided.")
        self._log_dir, self._summary_writer = log_dir, summary_writer
        self._summary_op, self._feed_dict = summary_op, feed_dict

    def begin(self):
        train, summary = names.find("tf.train"), names.find("tf.summary")
        if self._summary_writer is None:
            self._summary_writer = summary.FileWriterCache.get(self._log_dir)
        if self._summary_op is None:
            self._summary_op = summary.merge_all()
        self._global_step = train.get_or_create_global_step()

    def end(self, session):
        step = int(session.run(self._global_step))
        self._summary_writer.add_summary(session.run(self._summary_op, self._feed_dict), step)
        self._summary_writer.flush()


def _with_eval_step(eval_ops, step):
    """The operations of a batch, which count it as well."""
    update = state_ops.assign_add(step, 1)
    if isinstance(eval_ops, dict):
        return {**eval_ops, "update_eval_step": update}
    return [*eval_ops, update] if isinstance(eval_ops, (list, tuple)) else [eval_ops, update]


def _step_after(eval_ops, step):
    """The counter as it is when a batch has been evaluated."""
    operations = list(eval_ops.values()) if isinstance(eval_ops, dict) else eval_ops
    with control_dependencies(operations):
        return step.read_value()


def evaluate_once(checkpoint_path, master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None,
                  final_ops_feed_dict=None, hooks=None, config=None):
    """Evaluates one checkpoint: runs ``eval_ops`` until a hook ends it, then ``final_ops``, whose values it gives."""
    monitored = names.find("tf.train")
    eval_step = get_or_create_eval_step()
    hooks, final_hook = list(hooks or []), None
    if eval_ops is not None:
        eval_ops = _with_eval_step(eval_ops, eval_step)
        counters = [hook for hook in hooks if hasattr(hook, "_set_evals_completed_tensor")]
        if counters:
            completed = _step_after(eval_ops, eval_step)
            for hook in counters:
                hook._set_evals_completed_tensor(completed)
    logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    if final_ops is not None:
        final_hook = monitored.FinalOpsHook(final_ops, final_ops_feed_dict)
        hooks.append(final_hook)
    creator = monitored.ChiefSessionCreator(scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path,
                                            master=master, config=config)
    with monitored.MonitoredSession(session_creator=creator, hooks=hooks) as session:
        while eval_ops is not None and not session.should_stop():
            session.run(eval_ops, feed_dict)
    logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    return None if final_hook is None else final_hook.final_ops_values


def evaluate_repeatedly(checkpoint_dir, master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None,
                        final_ops_feed_dict=None, eval_interval_secs=60, hooks=None, config=None,
                        max_number_of_evaluations=None, timeout=None, timeout_fn=None):
    """Evaluates each new checkpoint of a folder."""
    values, count = None, 0
    for path in checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn):
        values = evaluate_once(path, master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks,
                               config)
        count += 1
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            break
    return values
