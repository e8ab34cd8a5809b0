"""Metrics added to a ready model."""

from weir.estimator.estimator import Estimator
from weir.estimator.functions import fn_args, wanted
from weir.estimator.model_fn import ModeKeys

_ARGUMENTS = {"features", "labels", "predictions", "config"}


def add_metrics(estimator, metric_fn):
    """A new estimator with the metrics that ``metric_fn`` gives, beside those it has."""
    unknown = list(set(fn_args(metric_fn)) - _ARGUMENTS)
    if unknown:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {unknown}")

    def model_fn(features, labels, mode, config):
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        offered = {"features": features, "labels": labels, "predictions": spec.predictions, "config": estimator.config}
        metrics = {**(spec.eval_metric_ops or {}), **metric_fn(**wanted(metric_fn, offered))}
        return spec._replace(eval_metric_ops=metrics)

    return Estimator(model_fn=model_fn, model_dir=estimator.model_dir, config=estimator.config,
                     warm_start_from=estimator._warm_start_settings)
