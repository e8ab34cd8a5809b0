"""Hooks that end a training when its evaluations get no better, and one that evaluates in memory."""

import operator
import os

import weir as tf
from weir import logging
from weir.train.session_run_hook import SessionRunArgs, SessionRunHook


def read_eval_metrics(eval_dir):
    """{step: {metric: value}} of all evaluations in a folder, in the order of steps."""
    found = {}
    for path in sorted(tf.gfile.Glob(os.path.join(eval_dir, "*.tfevents.*"))):
        for event in tf.train.summary_iterator(path):
            values = {value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")}
            if values:
                found[event.step] = values
    return dict(sorted(found.items()))


class _StopHook(SessionRunHook):
    """Asks a function every so many steps or seconds whether to stop."""

    def __init__(self, should_stop_fn, run_every_secs=60, run_every_steps=None):
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable")
        self._should_stop, self._timer = should_stop_fn, tf.train.SecondOrStepTimer(
            every_secs=None if run_every_steps else run_every_secs, every_steps=run_every_steps)

    def begin(self):
        self._step = tf.train.get_global_step()

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        step = int(run_values.results)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._should_stop():
                logging.info("Requesting early stopping at global step %d", step)
                run_context.request_stop()


def make_early_stopping_hook(estimator, should_stop_fn, run_every_secs=60, run_every_steps=None):
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    return _StopHook(should_stop_fn, run_every_secs, run_every_steps)


def _threshold_hook(estimator, metric_name, threshold, higher, eval_dir, min_steps, secs, steps):
    folder, better = eval_dir or estimator.eval_dir(), operator.gt if higher else operator.lt

    def should_stop():
        return any(step >= min_steps and better(metrics[metric_name], threshold)
                   for step, metrics in read_eval_metrics(folder).items() if metric_name in metrics)

    return make_early_stopping_hook(estimator, should_stop, secs, steps)


def stop_if_higher_hook(estimator, metric_name, threshold, eval_dir=None, min_steps=0, run_every_secs=60,
                        run_every_steps=None):
    return _threshold_hook(estimator, metric_name, threshold, True, eval_dir, min_steps, run_every_secs, run_every_steps)


def stop_if_lower_hook(estimator, metric_name, threshold, eval_dir=None, min_steps=0, run_every_secs=60,
                       run_every_steps=None):
    return _threshold_hook(estimator, metric_name, threshold, False, eval_dir, min_steps, run_every_secs, run_every_steps)


def _no_better_hook(estimator, metric_name, max_steps, higher, eval_dir, min_steps, secs, steps):
    folder, better = eval_dir or estimator.eval_dir(), operator.gt if higher else operator.lt

    def should_stop():
        best = best_step = None
        for step, metrics in read_eval_metrics(folder).items():
            if step < min_steps or metric_name not in metrics:
                continue
            if best is None or better(metrics[metric_name], best):
                best, best_step = metrics[metric_name], step
            elif step - best_step >= max_steps:
                return True
        return False

    return make_early_stopping_hook(estimator, should_stop, secs, steps)


def stop_if_no_increase_hook(estimator, metric_name, max_steps_without_increase, eval_dir=None, min_steps=0,
                             run_every_secs=60, run_every_steps=None):
    return _no_better_hook(estimator, metric_name, max_steps_without_increase, True, eval_dir, min_steps, run_every_secs,
                           run_every_steps)


def stop_if_no_decrease_hook(estimator, metric_name, max_steps_without_decrease, eval_dir=None, min_steps=0,
                             run_every_secs=60, run_every_steps=None):
    return _no_better_hook(estimator, metric_name, max_steps_without_decrease, False, eval_dir, min_steps, run_every_secs,
                           run_every_steps)
