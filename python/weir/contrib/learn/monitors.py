"""tf.contrib.learn.monitors: hooks of before there were hooks, called around steps."""

import copy
import time

import weir as tf
from weir import logging, names as _names
from weir.estimator.estimator import Estimator as _CoreEstimator
from weir.estimator.functions import fn_args
from weir.train.session_run_hook import SessionRunArgs, SessionRunHook


class BaseMonitor:
    """Called around each step of training. ``step_begin`` says which tensors ``step_end`` is to be given; a step_end that
    is true ends the training."""

    def __init__(self):
        self._estimator = self._max_steps = None

    run_on_all_workers = property(lambda self: False)

    def set_estimator(self, estimator):
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps=None):
        self._max_steps = max_steps

    def end(self, session=None):
        pass

    def epoch_begin(self, epoch):
        pass

    def epoch_end(self, epoch):
        pass

    def step_begin(self, step):
        return []

    def step_end(self, step, output):
        return False

    def post_step(self, step, session):
        pass


class EveryN(BaseMonitor):
    """Called every so many steps, and for the first and the last ones."""

    def __init__(self, every_n_steps=100, first_n_steps=1):
        super().__init__()
        self._every_n_steps, self._first_n_steps = every_n_steps, first_n_steps
        self._last_successful_step = None
        self._last_active_step, self._active = 0, False

    def every_n_step_begin(self, step):
        return []

    def every_n_step_end(self, step, outputs):
        return False

    def every_n_post_step(self, step, session):
        pass

    def step_begin(self, step):
        self._active = (step <= self._first_n_steps or step >= self._every_n_steps + self._last_active_step
                        or step == self._max_steps)
        return self.every_n_step_begin(step) if self._active else []

    def step_end(self, step, output):
        self._last_successful_step = step
        return self.every_n_step_end(step, output) if self._active else False

    def post_step(self, step, session):
        if self._active:
            self.every_n_post_step(step, session)
            self._last_active_step = step

    def end(self, session=None):
        if self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)


class StopAtStep(BaseMonitor):
    def __init__(self, num_steps=None, last_step=None):
        super().__init__()
        if (num_steps is None) == (last_step is None):
            raise ValueError("Exactly one of num_steps or last_step must be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    run_on_all_workers = property(lambda self: True)

    def step_begin(self, step):
        if self._last_step is None:
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step, output):
        return step >= self._last_step


class PrintTensor(EveryN):
    """Logs tensors."""

    def __init__(self, tensor_names, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._tensor_names = tensor_names if isinstance(tensor_names, dict) else {name: name for name in tensor_names}

    def every_n_step_begin(self, step):
        return list(self._tensor_names.values())

    def every_n_step_end(self, step, outputs):
        values = [f"{tag} = {outputs[name]}" for tag, name in self._tensor_names.items() if name in outputs]
        logging.info("Step %d: %s", step, ", ".join(values))


class SummarySaver(EveryN):
    def __init__(self, summary_op, save_steps=100, output_dir=None, summary_writer=None, scaffold=None):
        super().__init__(every_n_steps=save_steps)
        self._summary_op, self._scaffold, self._summary_writer = summary_op, scaffold, summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = tf.summary.FileWriterCache.get(output_dir)

    def set_estimator(self, estimator):
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = tf.summary.FileWriterCache.get(estimator.model_dir)

    def every_n_step_begin(self, step):
        op = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
        return [] if op is None else [op]

    def every_n_step_end(self, step, outputs):
        for value in outputs.values():
            if self._summary_writer and isinstance(value, bytes):
                self._summary_writer.add_summary(value, step)
        return False

    def end(self, session=None):
        super().end(session=session)
        if self._summary_writer:
            self._summary_writer.flush()


class ValidationMonitor(EveryN):
    """Evaluates checkpoints while the model is trained, and stops when it gets no better."""

    def __init__(self, x=None, y=None, input_fn=None, batch_size=None, eval_steps=None, every_n_steps=100, metrics=None,
                 hooks=None, early_stopping_rounds=None, early_stopping_metric="loss",
                 early_stopping_metric_minimize=True, name=None, check_interval_secs=5):
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self.x, self.y, self.input_fn, self.batch_size = x, y, input_fn, batch_size
        self.eval_steps, self.metrics, self.hooks, self.name = eval_steps, metrics, hooks, name
        self.early_stopping_rounds, self.early_stopping_metric = early_stopping_rounds, early_stopping_metric
        self.early_stopping_metric_minimize = early_stopping_metric_minimize
        self._best_value_step = self._best_value = self._best_metrics = self._latest_path = None
        self._early_stopped, self._last_check, self._interval = False, None, check_interval_secs

    early_stopped = property(lambda self: self._early_stopped)
    best_step = property(lambda self: self._best_value_step)
    best_value = property(lambda self: self._best_value)
    best_metrics = property(lambda self: self._best_metrics)

    def _evaluate_estimator(self):
        if isinstance(self._estimator, _CoreEstimator):
            if any(given is not None for given in (self.x, self.y, self.batch_size, self.metrics)):
                raise ValueError("tf.estimator.Estimator does not support following arguments: x, y, batch_size, metrics. "
                                 "Should set as `None` in ValidationMonitor")
            return self._estimator.evaluate(input_fn=self.input_fn, steps=self.eval_steps, hooks=self.hooks,
                                            name=self.name)
        return self._estimator.evaluate(x=self.x, y=self.y, input_fn=self.input_fn, batch_size=self.batch_size,
                                        steps=self.eval_steps, metrics=self.metrics, hooks=self.hooks, name=self.name)

    def every_n_step_end(self, step, outputs):
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        now = time.time()
        if self._interval is not None and self._last_check is not None and now - self._last_check <= self._interval:
            return False
        self._last_check = now
        path = tf.train.latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._latest_path:
            return False
        self._latest_path = path
        results = self._evaluate_estimator()
        logging.info("Validation (step %d): %s", step, ", ".join(f"{name} = {value}" for name, value in results.items()))
        return self.early_stopping_rounds is not None and self._is_worse_for_long(step, results)

    def _is_worse_for_long(self, step, results):
        if self.early_stopping_metric not in results:
            raise ValueError(f"Metric {self.early_stopping_metric} missing from outputs {set(results)}.")
        value, best = results[self.early_stopping_metric], self._best_value
        if best is None or (value < best if self.early_stopping_metric_minimize else value > best):
            self._best_value, self._best_value_step = value, step
            self._best_metrics = copy.deepcopy(results)
        if step - self._best_value_step < self.early_stopping_rounds:
            return False
        logging.info("Stopping. Best step: %s with %s = %s.", self._best_value_step, self.early_stopping_metric,
                     self._best_value)
        self._early_stopped = True
        return True


class CaptureVariable(EveryN):
    """Keeps the values of a variable."""

    def __init__(self, var_name, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._var_name, self._values = var_name, {}

    values = property(lambda self: self._values)

    def every_n_step_begin(self, step):
        return [self._var_name]

    def every_n_step_end(self, step, outputs):
        self._values[step] = outputs[self._var_name]


class NanLoss(EveryN):
    """Ends the training when the loss is no number."""

    def __init__(self, loss_tensor, every_n_steps=100, fail_on_nan_loss=True):
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor, self._fail = loss_tensor, fail_on_nan_loss

    def every_n_step_begin(self, step):
        return [self._loss_tensor]

    def every_n_step_end(self, step, outputs):
        value = outputs[self._loss_tensor]
        if value == value:
            return False
        logging.error("Model diverged with loss = NaN.")
        if self._fail:
            raise tf.train.NanLossDuringTrainingError
        return True


class CheckpointSaver(BaseMonitor):
    """Saves every so many seconds or steps."""

    def __init__(self, checkpoint_dir, save_secs=None, save_steps=None, saver=None, checkpoint_basename="model.ckpt",
                 scaffold=None):
        super().__init__()
        self._hook = tf.train.CheckpointSaverHook(checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename,
                                                  scaffold)
        self._begun = False

    def begin(self, max_steps=None):
        super().begin(max_steps)
        self._hook.begin()

    def post_step(self, step, session):
        if self._hook._timer.should_trigger_for_step(step):
            self._hook._timer.update_last_triggered_step(step)
            self._hook._save(session, step)

    def end(self, session=None):
        self._hook._save(session, session.run(tf.train.get_global_step()))


class StepCounter(EveryN):
    """Writes how many steps a second are made."""

    def __init__(self, every_n_steps=100, output_dir=None, summary_writer=None):
        super().__init__(every_n_steps=every_n_steps)
        self._summary_writer, self._last = summary_writer, None
        if summary_writer is None and output_dir:
            self._summary_writer = tf.summary.FileWriterCache.get(output_dir)

    def set_estimator(self, estimator):
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = tf.summary.FileWriterCache.get(estimator.model_dir)

    def every_n_step_end(self, current_step, outputs):
        now = time.time()
        if self._last is not None and self._summary_writer is not None:
            step, then = self._last
            value = tf.Summary.Value(tag="global_step/sec", simple_value=(current_step - step) / max(now - then, 1e-9))
            self._summary_writer.add_summary(tf.Summary(value=[value]), current_step)
        self._last = current_step, now
        return False


class RunHookAdapterForMonitors(SessionRunHook):
    """Monitors as a hook."""

    def __init__(self, monitors):
        self._monitors = monitors

    def begin(self):
        self._last_step, self._step = None, tf.train.get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context):
        if self._last_step is None:
            self._last_step = int(run_context.session.run(self._step)) + 1
        fetches = []
        for monitor in self._monitors:
            wanted = monitor.step_begin(self._last_step)
            if wanted:
                if not isinstance(wanted, list):
                    raise ValueError("Monitor.step_begin should return a list.")
                fetches.extend(wanted)
        request = {"step": self._step}
        if fetches:
            request["monitors"] = {fetch: _element(fetch) for fetch in fetches}
        return SessionRunArgs(request)

    def after_run(self, run_context, run_values):
        result = run_values.results.get("monitors", {})
        for monitor in self._monitors:
            if monitor.step_end(self._last_step, result):
                run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._last_step, run_context.session)
        self._last_step = int(run_values.results["step"]) + 1

    def end(self, session):
        self._last_step = None
        for monitor in self._monitors:
            if "session" in fn_args(monitor.end):
                monitor.end(session=session)
            else:
                monitor.end()


def _element(fetch):
    if not isinstance(fetch, str):
        return fetch
    return tf.get_default_graph().as_graph_element(fetch if ":" in fetch else fetch + ":0")


def get_default_monitors(loss_op=None, summary_op=None, save_summary_steps=100, output_dir=None, summary_writer=None):
    """Monitors that write summaries and log the loss."""
    found = []
    if loss_op is not None:
        found.append(PrintTensor(tensor_names={"loss": loss_op.name}))
    if summary_op is not None:
        found.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return found


def replace_monitors_with_hooks(monitors_or_hooks, estimator):
    """Hooks of monitors and hooks."""
    given = list(monitors_or_hooks or [])
    hooks = [hook for hook in given if isinstance(hook, SessionRunHook)]
    own = [monitor for monitor in given if not isinstance(monitor, SessionRunHook)]
    if not estimator.config.is_chief:
        own = [monitor for monitor in own if monitor.run_on_all_workers]
    for monitor in own:
        monitor.set_estimator(estimator)
    return hooks + ([RunHookAdapterForMonitors(own)] if own else [])


__getattr__, __dir__ = _names.namespace(__name__)
