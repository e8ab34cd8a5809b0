"""TPUEstimator: an estimator whose functions are given a batch size in ``params``."""

import collections

import weir as tf
from weir.contrib.tpu.tpu_config import RunConfig
from weir.estimator.estimator import Estimator
from weir.estimator.functions import fn_args, wanted
from weir.estimator.model_fn import EstimatorSpec, ModeKeys
from weir.train.session_run_hook import SessionRunArgs, SessionRunHook

_RESERVED = ("batch_size", "context")
_NO_TPU = ("Weir has no TPUs: TPUEstimator runs on CPUs and GPUs with use_tpu=False, which programs usually have a flag for.")


class TPUEstimatorSpec(collections.namedtuple("TPUEstimatorSpec", [
        "mode", "predictions", "loss", "train_op", "eval_metrics", "export_outputs", "scaffold_fn", "host_call",
        "training_hooks", "evaluation_hooks", "prediction_hooks"])):
    """EstimatorSpec with metrics and scaffold as functions: a TPU's host calls them."""

    def __new__(cls, mode, predictions=None, loss=None, train_op=None, eval_metrics=None, export_outputs=None,
                scaffold_fn=None, host_call=None, training_hooks=None, evaluation_hooks=None, prediction_hooks=None):
        for name, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            _check_call(name, call)
        hooks = [tuple(given or ()) for given in (training_hooks, evaluation_hooks, prediction_hooks)]
        for hook in (hook for given in hooks for hook in given):
            if not isinstance(hook, tf.train.SessionRunHook):
                raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
        return super().__new__(cls, mode, predictions, loss, train_op, eval_metrics, export_outputs, scaffold_fn,
                               host_call, *hooks)

    def as_estimator_spec(self):
        metrics = None if self.eval_metrics is None else _called(self.eval_metrics)
        hooks = () if self.host_call is None else (_HostCallHook(_called(self.host_call)),)
        return EstimatorSpec(mode=self.mode, predictions=self.predictions, loss=self.loss, train_op=self.train_op,
                             eval_metric_ops=metrics, export_outputs=self.export_outputs,
                             scaffold=self.scaffold_fn() if self.scaffold_fn else None,
                             training_hooks=self.training_hooks + hooks,
                             evaluation_hooks=self.evaluation_hooks + hooks,
                             prediction_hooks=self.prediction_hooks + hooks)


def _check_call(name, call):
    if call is None:
        return
    if not isinstance(call, (tuple, list)):
        raise ValueError(f"{name} should be tuple or list")
    if len(call) != 2:
        raise ValueError(f"{name} should have two elements.")
    if not callable(call[0]):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(call[1], (tuple, list, dict)):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")


def _called(call):
    function, tensors = call
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


class _HostCallHook(SessionRunHook):
    """Runs what a TPU's host would run beside each step."""

    def __init__(self, tensors):
        self._tensors = tensors

    def before_run(self, run_context):
        return None if self._tensors is None else SessionRunArgs(self._tensors)


class TPUEstimator(Estimator):
    """An estimator whose input and model functions find the batch size of a mode in ``params["batch_size"]``."""

    def __init__(self, model_fn=None, model_dir=None, config=None, params=None, use_tpu=True, train_batch_size=None,
                 eval_batch_size=None, predict_batch_size=None, batch_axis=None, eval_on_tpu=True, export_to_tpu=True,
                 export_to_cpu=True, warm_start_from=None, embedding_config_spec=None, export_saved_model_api_version=None):
        if config is None or not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{list(_RESERVED)} are reserved keys but existed in params {params}.")
        if use_tpu:
            raise NotImplementedError(_NO_TPU)
        self._batch_sizes = {ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size,
                             ModeKeys.PREDICT: predict_batch_size}
        self._given_model_fn, self._mode = model_fn, None
        own = None if model_fn is None else self._adapted(model_fn)
        super().__init__(own, model_dir=model_dir, config=config, params=params or {}, warm_start_from=warm_start_from)

    def _adapted(self, model_fn):
        """A function that gives an EstimatorSpec, of one that may give a TPUEstimatorSpec."""
        arguments = fn_args(model_fn)
        if "params" not in arguments:
            raise ValueError(f"model_fn ({model_fn}) does not include params argument, required by TPUEstimator to pass "
                             'batch size as params["batch_size"]')

        def adapted(features, labels, mode, config, params):
            if "labels" not in arguments and labels is not None:
                raise ValueError("model_fn does not take labels, but input_fn returns labels.")
            offered = {"labels": labels, "mode": mode, "config": config, "params": self._with_batch_size(params, mode)}
            spec = model_fn(features=features, **wanted(model_fn, offered))
            return spec.as_estimator_spec() if hasattr(spec, "as_estimator_spec") else spec

        return adapted

    def _with_batch_size(self, params, mode):
        size = self._batch_sizes.get(mode)
        if size is None:
            return params
        if hasattr(params, "add_hparam"):
            params.add_hparam("batch_size", size)
        else:
            params["batch_size"] = size
        return params

    def _call_input_fn(self, input_fn, mode, input_context=None):
        arguments = fn_args(input_fn)
        if "params" not in arguments:
            raise ValueError(f"input_fn ({input_fn}) does not include params argument, required by TPUEstimator to pass "
                             'batch size as params["batch_size"]')
        offered = {"mode": mode, "config": self.config, "params": self._with_batch_size(self.params, mode)}
        with tf.device("/device:CPU:0"):
            return input_fn(**wanted(input_fn, offered))
