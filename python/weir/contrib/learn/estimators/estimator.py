"""tf.contrib.learn.Estimator: fit, evaluate, predict, with input functions or arrays."""

import collections
import copy
import os
import tempfile

import numpy as np

import weir as tf
from weir import logging
from weir.contrib.layers.feature_column_ops import infer_real_valued_columns
from weir.contrib.learn import metric_spec, monitors as _monitors
from weir.contrib.learn.estimators.data_feeder import _input_of
from weir.contrib.learn.estimators.interfaces import Evaluable, Trainable
from weir.contrib.learn.estimators.model_fn import MetricKey, ModeKeys, ModelFnOps, ProblemType
from weir.contrib.learn.estimators.run_config import RunConfig
from weir.contrib.training import evaluation
from weir.estimator import export
from weir.estimator.estimator import _device_setter, _step_of_checkpoint, _update_and_values
from weir.estimator.functions import fn_args, wanted
from weir.estimator.results import write_results
from weir.train.steps import _get_or_create_global_step_read

GraphRewriteSpec = collections.namedtuple("GraphRewriteSpec", ["tags", "transforms"])
InputFnOps = collections.namedtuple("InputFnOps", ["features", "labels", "default_inputs"])


class NotFittedError(ValueError, AttributeError):
    """A model is used before it was trained."""


class BaseEstimator(Evaluable, Trainable):
    """What estimators share; subclasses say how models are made."""

    def __init__(self, model_dir=None, config=None):
        self._config = config or RunConfig()
        self._session_config = self._config.session_config or tf.ConfigProto(allow_soft_placement=True)
        own = self._config.model_dir
        if model_dir is not None and own is not None and model_dir != own:
            raise ValueError("model_dir are set both in constructor and RunConfig, but with different values. In "
                             f"constructor: '{model_dir}', in RunConfig: '{own}' ")
        self._model_dir = model_dir or own
        if self._model_dir is None:
            self._model_dir = tempfile.mkdtemp()
            logging.warning("Using temporary folder as model directory: %s", self._model_dir)
        if own is None:
            self._config = self._config.replace(model_dir=self._model_dir)
        logging.info("Using config: %s", vars(self._config))
        self._device_fn = _device_setter(self._config)
        self._labels_like = None  # what labels were when the model was trained

    config = property(lambda self: copy.deepcopy(self._config))
    model_dir = property(lambda self: self._model_dir)

    @property
    def model_fn(self):
        def public_model_fn(features, labels, mode, config):
            return self._call_model_fn(features, labels, mode, config=config)

        return public_model_fn

    def __sklearn_tags__(self):
        """What scikit-learn's pipelines ask of their members from release 1.6 on."""
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)

    def __sklearn_is_fitted__(self):
        return tf.train.latest_checkpoint(self._model_dir) is not None

    def get_params(self, deep=True):
        """The settings, as scikit-learn asks for them."""
        return {key: value for key, value in vars(self).items() if not key.startswith("_")}

    def set_params(self, **params):
        """Changes settings, as scikit-learn does."""
        for key, value in params.items():
            if key not in self.get_params():
                raise ValueError(f"Invalid parameter {key} for estimator {type(self).__name__}")
            setattr(self, key, value)
        return self

    def get_variable_value(self, name):
        return tf.train.load_variable(self.model_dir, name)

    def get_variable_names(self):
        return [name for name, _ in tf.train.list_variables(self.model_dir)]

    def fit(self, x=None, y=None, input_fn=None, steps=None, batch_size=None, monitors=None, max_steps=None):
        """Trains; ``x`` and ``y`` are arrays, ``input_fn`` gives tensors."""
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        input_fn, feed_fn = _input_of(x, y, input_fn, None, batch_size, shuffle=True, epochs=None)
        if max_steps is not None and max_steps <= _step_of_checkpoint(self._model_dir):
            logging.info("Skipping training since max_steps has already saved.")
            return self
        hooks = [tf.train.FeedFnHook(feed_fn)] if feed_fn else []
        hooks += _monitors.replace_monitors_with_hooks(monitors, self)
        if steps is not None or max_steps is not None:
            hooks.append(_StopAtStep(steps, max_steps))
        loss = self._train_model(input_fn, hooks)
        logging.info("Loss for final step: %s.", loss)
        return self

    def partial_fit(self, x=None, y=None, input_fn=None, steps=1, batch_size=None, monitors=None):
        return self.fit(x=x, y=y, input_fn=input_fn, steps=steps, batch_size=batch_size, monitors=monitors)

    def evaluate(self, x=None, y=None, input_fn=None, feed_fn=None, batch_size=None, steps=None, metrics=None, name=None,
                 checkpoint_path=None, hooks=None, log_progress=True):
        """The metrics of the newest checkpoint."""
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        input_fn, feed_fn = _input_of(x, y, input_fn, feed_fn, batch_size)
        results, step = self._evaluate_model(input_fn, steps, feed_fn, metrics, name, checkpoint_path, hooks,
                                             log_progress)
        results["global_step"] = step
        return results

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True, iterate_batches=False):
        """The predictions, one example at a time, or all of the first batch."""
        input_fn, feed_fn = _input_of(x, None, input_fn, None, batch_size)
        if x is not None and not as_iterable:
            return SKCompat(self).predict(x, batch_size, outputs)
        return self._infer_model(input_fn, feed_fn, outputs, as_iterable, iterate_batches)

    def export(self, export_dir, *args, **kwargs):
        raise NotImplementedError("Estimator.export wrote the format of before TensorFlow 1.0; export_savedmodel writes "
                                  "today's.")

    def _checkpoint(self, given=None):
        path = given or tf.train.latest_checkpoint(self._model_dir)
        if not path:
            raise NotFittedError(f"Couldn't find trained model at {self._model_dir}.")
        return path

    def _train_model(self, input_fn, hooks):
        config = self._config
        with tf.Graph().as_default() as graph, graph.device(self._device_fn):
            tf.set_random_seed(config.tf_random_seed)
            step = tf.train.create_global_step(graph)
            features, labels = _features_and_labels(input_fn, hooks)
            self._labels_like = labels
            _get_or_create_global_step_read()
            spec = self._get_train_ops(features, labels)
            tf.add_to_collection(tf.GraphKeys.LOSSES, spec.loss)
            all_hooks = [*hooks, tf.train.NanTensorHook(spec.loss),
                         tf.train.LoggingTensorHook({"loss": spec.loss, "step": step}, every_n_iter=100)]
            scaffold = spec.scaffold or tf.train.Scaffold()
            if not (scaffold.saver or tf.get_collection(tf.GraphKeys.SAVERS)):
                tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver(
                    sharded=True, max_to_keep=config.keep_checkpoint_max,
                    keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours, defer_build=True,
                    save_relative_paths=True))
            chief_hooks = list(spec.training_chief_hooks)
            saves = any(isinstance(hook, tf.train.CheckpointSaverHook)
                        for hook in (*all_hooks, *spec.training_hooks, *chief_hooks))
            if (config.save_checkpoints_secs or config.save_checkpoints_steps) and not saves:
                chief_hooks.insert(0, tf.train.CheckpointSaverHook(
                    self._model_dir, save_secs=config.save_checkpoints_secs, save_steps=config.save_checkpoints_steps,
                    scaffold=scaffold))
            with tf.train.MonitoredTrainingSession(
                    master=config.master, is_chief=config.is_chief, checkpoint_dir=self._model_dir, scaffold=scaffold,
                    hooks=[*all_hooks, *spec.training_hooks], chief_only_hooks=chief_hooks, save_checkpoint_secs=0,
                    save_summaries_steps=config.save_summary_steps, config=self._session_config,
                    max_wait_secs=config.session_creation_timeout_secs) as session:
                loss = None
                while not session.should_stop():
                    _, loss = session.run([spec.train_op, spec.loss])
            return loss

    def _evaluate_model(self, input_fn, steps, feed_fn=None, metrics=None, name="", checkpoint_path=None, hooks=None,
                        log_progress=True):
        checkpoint_path = self._checkpoint(checkpoint_path)
        folder = os.path.join(self._model_dir, f"eval_{name}" if name else "eval")
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(self._config.tf_random_seed)
            step = tf.train.create_global_step(graph)
            hooks = list(hooks or [])
            features, labels = _features_and_labels(input_fn, hooks)
            if self._labels_like is None:
                self._labels_like = labels
            spec = self._get_eval_ops(features, labels, metrics)
            update, values = _update_and_values({key: value for key, value in spec.eval_metric_ops.items()})
            if feed_fn:
                hooks.append(tf.train.FeedFnHook(feed_fn))
            if steps == 0:
                logging.warning("evaluation steps are 0. If `input_fn` does not raise `OutOfRangeError`, the evaluation "
                                "will never stop. Use steps=None if intended.")
            if steps:
                hooks.append(evaluation.StopAfterNEvalsHook(steps, log_progress=log_progress))
            key = "global_step"
            while key in values:
                key = "_" + key
            values[key] = step
            results = evaluation.evaluate_once(
                checkpoint_path=checkpoint_path, master=self._config.evaluation_master, scaffold=spec.scaffold,
                eval_ops=update, final_ops=values, hooks=hooks, config=self._session_config)
            write_results(folder, results, results[key])
        return results, results[key]

    def _infer_model(self, input_fn, feed_fn=None, outputs=None, as_iterable=True, iterate_batches=False):
        checkpoint_path = self._checkpoint()
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(self._config.tf_random_seed)
            tf.train.create_global_step(graph)
            hooks = []
            features, _ = _features_and_labels(input_fn, hooks)
            spec = self._get_predict_ops(features)
            predictions = _chosen(spec.predictions, outputs)
            session = tf.train.MonitoredSession(session_creator=tf.train.ChiefSessionCreator(
                checkpoint_filename_with_path=checkpoint_path, scaffold=spec.scaffold, config=self._session_config),
                hooks=hooks)
            if as_iterable:
                return self._predictions(session, predictions, feed_fn, iterate_batches, graph)
            with session:
                return session.run(predictions, feed_fn() if feed_fn else None)

    @staticmethod
    def _predictions(session, predictions, feed_fn, iterate_batches, graph):
        constant = not graph.get_collection(tf.GraphKeys.QUEUE_RUNNERS) and feed_fn is None and not any(
            op.type.startswith("IteratorGetNext") for op in graph.get_operations())
        with graph.as_default(), session:
            while not session.should_stop():
                try:
                    feeds = feed_fn() if feed_fn else None
                except StopIteration:
                    return
                values = session.run(predictions, feeds)
                if iterate_batches:
                    yield values
                elif not isinstance(predictions, dict):
                    yield from values
                else:
                    for i in range(next(iter(values.values())).shape[0]):
                        yield {key: value[i] for key, value in values.items()}
                if constant:
                    return


class _StopAtStep(tf.train.StopAtStepHook):
    """Ends also the training of a model that does not count its steps, which would never end: after as many runs."""

    def __init__(self, num_steps, last_step):
        super().__init__(num_steps, last_step)
        self._runs = 0

    def after_create_session(self, session, coord):
        super().after_create_session(session, coord)
        self._first_step = session.run(self._global_step_tensor)
        self._runs_wanted = self._last_step - self._first_step

    def after_run(self, run_context, run_values):
        super().after_run(run_context, run_values)
        self._runs += 1
        if self._runs >= self._runs_wanted and run_context.session.run(self._global_step_tensor) == self._first_step:
            logging.warning("The global step was not increased in %d runs: training ends.", self._runs)
            run_context.request_stop()


def _features_and_labels(input_fn, hooks):
    result = input_fn()
    if isinstance(result, tf.data.Dataset):
        iterator = tf.data.make_one_shot_iterator(result)
        result = iterator.get_next()
    return result if isinstance(result, (list, tuple)) else (result, None)


def _chosen(predictions, outputs):
    if not outputs:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("outputs argument is not valid in case of non-dict predictions.")
    kept = {key: value for key, value in predictions.items() if key in outputs}
    if not kept:
        raise ValueError(f"Expected to run at least one output from {predictions.keys()}, provided {outputs}.")
    return kept


class Estimator(BaseEstimator):
    """A model by a function: ``model_fn(features, labels, mode, params, config, model_dir)`` gives ModelFnOps, or
    (predictions, loss, train_op)."""

    def __init__(self, model_fn=None, model_dir=None, config=None, params=None, feature_engineering_fn=None):
        super().__init__(model_dir=model_dir, config=config)
        if model_fn is not None and params is not None and "params" not in fn_args(model_fn):
            raise ValueError(f"Estimator's model_fn ({model_fn}) does not have a params argument, but params ({params}) "
                             "were passed to the Estimator's constructor.")
        self._model_fn, self.params = model_fn, params
        self._feature_engineering_fn = feature_engineering_fn or (lambda features, labels: (features, labels))

    def _call_model_fn(self, features, labels, mode, metrics=None, config=None):
        features, labels = self._feature_engineering_fn(features, labels)
        offered = {"mode": mode, "params": self.params, "config": config or self.config, "model_dir": self.model_dir}
        result = self._model_fn(features, labels, **wanted(self._model_fn, offered))
        if not isinstance(result, ModelFnOps):
            if len(result) != 3:
                raise ValueError("Unrecognized value returned by model_fn, please return ModelFnOps.")
            result = ModelFnOps(mode=mode, predictions=result[0], loss=result[1], train_op=result[2])
        if metrics:
            result.eval_metric_ops.update(metric_spec._metric_ops(metrics, features, labels, result.predictions))
        return result

    def _get_train_ops(self, features, labels):
        return self._call_model_fn(features, labels, ModeKeys.TRAIN)

    def _get_eval_ops(self, features, labels, metrics):
        spec = self._call_model_fn(features, labels, ModeKeys.EVAL, metrics)
        if MetricKey.LOSS not in spec.eval_metric_ops:
            spec.eval_metric_ops[MetricKey.LOSS] = tf.metrics.mean(spec.loss)
        return spec

    def _get_predict_ops(self, features):
        return self._call_model_fn(features, _placeholders_like(self._labels_like), ModeKeys.INFER)

    def export_savedmodel(self, export_dir_base, serving_input_fn, default_output_alternative_key=None,
                          assets_extra=None, as_text=False, checkpoint_path=None,
                          graph_rewrite_specs=(GraphRewriteSpec(("serve",), ()),), strip_default_attrs=False):
        """Writes a SavedModel into a new folder below the given one."""
        if serving_input_fn is None:
            raise ValueError("serving_input_fn must be defined.")
        checkpoint_path = self._checkpoint(checkpoint_path)
        export_dir = export.get_timestamped_export_dir(export_dir_base)
        temporary = export.get_temp_export_dir(export_dir)
        builder = tf.saved_model.builder.SavedModelBuilder(temporary)
        with tf.Graph().as_default() as graph:
            tf.train.create_global_step(graph)
            inputs = serving_input_fn()
            receivers = getattr(inputs, "default_inputs", None) or getattr(inputs, "receiver_tensors", None)
            spec = self._call_model_fn(inputs.features, None, ModeKeys.INFER)
            outputs = spec.output_alternatives
            if not outputs:
                predictions = spec.predictions
                if not isinstance(predictions, dict):
                    predictions = {"output": predictions}
                outputs = {default_output_alternative_key or "default": (ProblemType.UNSPECIFIED, predictions)}
            default = default_output_alternative_key
            if default is None and len(outputs) == 1:
                default = next(iter(outputs))
            if default not in outputs:
                raise ValueError(f"Requested default_output_alternative: {default}, but available output_alternatives "
                                 f"are: {sorted(map(str, outputs))}")
            from_outputs = ModelFnOps(mode=ModeKeys.INFER, predictions=spec.predictions, output_alternatives={
                "serving_default" if key == default else str(key): value for key, value in outputs.items()})
            signatures = export.build_all_signature_defs(
                receivers, {**from_outputs.estimator_spec("serving_default").export_outputs})
            init = tf.group(tf.local_variables_initializer(), tf.tables_initializer())
            with tf.Session(config=self._session_config) as session:
                saver = (spec.scaffold.saver if spec.scaffold else None) or tf.train.Saver(sharded=True)
                saver.restore(session, checkpoint_path)
                builder.add_meta_graph_and_variables(
                    session, list(graph_rewrite_specs[0].tags), signature_def_map=signatures, main_op=init,
                    assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS))
        for target, source in (assets_extra or {}).items():
            path = os.path.join(temporary, b"assets.extra", os.fsencode(target))
            tf.gfile.MakeDirs(os.path.dirname(path))
            tf.gfile.Copy(source, path)
        builder.save(as_text)
        tf.gfile.Rename(temporary, export_dir)
        return export_dir


def _placeholders_like(labels):
    """Placeholders of the type and shape that labels had in training."""
    if labels is None:
        return None
    if isinstance(labels, dict):
        return {key: _placeholders_like(value) for key, value in labels.items()}
    if isinstance(labels, tf.SparseTensor):
        return tf.sparse_placeholder(labels.dtype)
    shape = labels.get_shape()
    return tf.placeholder(labels.dtype, None if shape.ndims is None else [None, *shape.as_list()[1:]])


class SKCompat:
    """An estimator with scikit-learn's interface: arrays in, arrays out."""

    def __init__(self, estimator):
        self._estimator = estimator

    def fit(self, x, y, batch_size=128, steps=None, max_steps=None, monitors=None):
        input_fn, feed_fn = _input_of(x, y, None, None, batch_size, shuffle=True, epochs=None)
        self._estimator.fit(input_fn=input_fn, steps=steps, max_steps=max_steps,
                            monitors=[tf.train.FeedFnHook(feed_fn), *(monitors or [])])
        return self

    def score(self, x, y, batch_size=128, steps=None, metrics=None, name=None):
        input_fn, feed_fn = _input_of(x, y, None, None, batch_size)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        results, step = self._estimator._evaluate_model(input_fn, steps, feed_fn, metrics, name)
        results["global_step"] = step
        return results

    def predict(self, x, batch_size=128, outputs=None):
        input_fn, feed_fn = _input_of(x, None, None, None, batch_size)
        results = list(self._estimator._infer_model(input_fn, feed_fn, outputs, True, True))
        if not isinstance(results[0], dict):
            return np.concatenate(results, axis=0)
        return {key: np.concatenate([result[key] for result in results], axis=0) for key in results[0]}

    def get_params(self, deep=True):
        return self._estimator.get_params(deep)


def infer_real_valued_columns_from_input_fn(input_fn):
    """A column of numbers for each feature that an input function gives."""
    with tf.Graph().as_default():
        features, _ = input_fn()
        return infer_real_valued_columns(features)


def infer_real_valued_columns_from_input(x):
    """A column of numbers for each feature of arrays."""
    return infer_real_valued_columns_from_input_fn(_input_of(x, None, None, None, None)[0])
